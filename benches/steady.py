"""A model that answers every step of a few questions right: what benches and the fault matrix run against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Said = str | Json | Callable[[str], str | Json]
"""A reply: text, an object, or a function of the prompt that returns one of them."""

ENOUGH: Json = {"status": "enough", "reason": "the evidence says it", "next_calls": []}


@dataclass(frozen=True)
class Example:
    """A question over the sample corpus, the right reply of each step, and the most model calls it may take.

    `holds` is what the answer must state, `documents` what it must rest on.
    """

    name: str
    question: str
    bound: int
    holds: tuple[str, ...]
    documents: frozenset[str]
    replies: Mapping[str, Said] = field(default_factory=dict)

    def reply(self, step: str, prompt: str) -> str | Json:
        """Return the right reply of a step.

        Raises:
            KeyError: the step is not part of this example.
        """
        said = self.replies[step]
        return said(prompt) if callable(said) else said


def decomposition(intent: str, buckets: list[str], **more: Any) -> Json:
    """Return a decomposition with nothing in it but what is given."""
    empty: Json = {"entities": [], "constraints": [], "topic_terms": [], "subqueries": []}
    return (
        {"intent": intent, "aggregate": "none", "primary_buckets": buckets, "format": "prose"} | empty | more
    )


def planned(bucket: str, *filters: Json, **more: Any) -> Json:
    """Return a search plan over one bucket."""
    none: Json = {"aggregate": "none", "aggregate_field": "", "group_by": [], "order_by": "", "limit": 0}
    plan = {"bucket": bucket, "filters": list(filters)} | none | more
    return {"plans": [plan], "whole_set": False, "strategy": "hybrid", "queries": []}


VCEO = "The collector-emitter voltage VCEO of the NV2N517 is 45 V at most [nv2n517]."

ONE_HOP = Example(
    name="one-hop",
    question="What is the maximum collector-emitter voltage VCEO of the NV2N517?",
    bound=4,
    holds=("45 V",),
    documents=frozenset({"nv2n517"}),
    replies={
        "decompose": decomposition(
            "qa",
            ["datasheets"],
            entities=[{"name": "NV2N517", "role": "identifier"}],
            topic_terms=["collector-emitter voltage"],
        ),
        "route": {"routes": [{"bucket": "datasheets", "score": 1.0, "reason": "a part is named"}]},
        "schema_plan": planned("datasheets"),
        "review": ENOUGH,
        "compose": VCEO,
        "verify": {
            "rulings": [{"number": 1, "verdict": "supported", "reason": "the limiting values say so"}]
        },
    },
)
