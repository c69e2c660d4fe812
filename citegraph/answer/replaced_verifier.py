"""Let a verifier of the user's own rule on the claims of an answer; where it fails, the built-in checks stand."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from citegraph.citations.judging import Case
from citegraph.citations.verifier import Judgement
from citegraph.errors import CitegraphError
from citegraph.run.asking_parts import time_for
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.part_kinds import Verdict
from citegraph.run.state import State, Update

if TYPE_CHECKING:
    from citegraph.run.replacements import Part
    from citegraph.run.services import Services

VERDICT: TypeAdapter[Verdict | None] = TypeAdapter(Verdict | None)


async def rulings_of(
    services: "Services", part: "Part", cases: Sequence[Case], state: State, context: Context
) -> tuple[dict[Case, Judgement], Update]:
    """Return what the verifier says of each case, in order, and the state update.

    All cases share the time of the step. One that fails ends it, without any ruling: the ladder has judged the claims
    already, so nothing is raised, and a note says so.
    """
    ends = time.monotonic() + time_for(services, part, state, context)
    rulings: dict[Case, Judgement] = {}
    for claim, evidence in cases:
        try:
            said = await part.ask(VERDICT, ends - time.monotonic(), claim=claim, evidence=evidence)
        except CitegraphError as failure:
            line = f"the claims were judged by the built-in checks: {failure}"[:300]
            return {}, {
                "usage": {"fallbacks": 1},
                "notes": [note("verify", "fallback", line, failure=failure)],
            }
        if said is not None:
            rulings[claim, evidence] = Judgement(said, f"judged {said} by {part.title}")
    return rulings, {}
