"""When a part of the user's own is asked again in a run."""

from pathlib import Path
from typing import cast

import pytest
from pydantic import TypeAdapter

from citegraph.errors import Rejected
from citegraph.run.model_calls import note, own_part
from citegraph.run.services import Services
from citegraph.run.state import State
from citegraph.settings import Settings


async def test_a_part_rests_after_it_failed_whatever_notes_say_of_it(tmp_path: Path) -> None:
    part = "tests.parts_of_users:raises"
    services = Services(settings=Settings(home=tmp_path, parts={"reviewer": part, "composer": part}))
    reviewer = services.parts["reviewer"]
    with pytest.raises(Rejected) as caught:
        await reviewer.ask(TypeAdapter(str), 5)
    named = note("review", "linked value", f"{reviewer.title} was matched")
    assert own_part(services, "reviewer", cast(State, {"notes": [named]})) is reviewer
    failed = note("review", "fallback", "it failed", failure=caught.value)
    state = cast(State, {"notes": [named, failed]})
    assert own_part(services, "reviewer", state) is None
    assert own_part(services, "composer", state) is services.parts["composer"]
    unfit = note("review", "fallback", "it failed", failure=reviewer.rejected("named nothing"))
    assert own_part(services, "reviewer", cast(State, {"notes": [unfit]})) is None
