"""The parts of a run that a user may replace by their own: what each kind is asked, and what it must return.

A part is named in CITEGRAPH_PARTS by its dotted path: a function, or a class whose objects have the method of its
kind (or can be called). Arguments are passed by name, and a part takes those of them that it wants. It may be `async`;
one that is not runs in a thread of its own. What it returns is plain data: text, numbers, lists, tuples, dicts.

A part may raise anything. Then, and when it takes too long or returns another shape, what it replaces answers, and
a note in the answer says so. No part widens what a run may see: filters, access, budgets and verification are held
by the code around it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.llm.prompt_assembly import Passage
from citegraph.run.state_types import Decomposed

T = TypeVar("T")
Result: TypeAlias = T | Awaitable[T]
"""What a part returns, at once or awaited."""

Kind = Literal["searcher", "reranker", "rewriter", "decomposer", "router", "reviewer", "composer", "verifier"]
Verdict = Literal["supported", "unsupported", "contradicted"]


class Searcher(Protocol):
    """Finds passages of one bucket, in the place of the index; within half of CITEGRAPH_SEARCH_TIMEOUT."""

    def search(self, request: SearchRequest) -> Result[Sequence[str | tuple[str, float]]]:
        """Return ids of chunks or of documents, 200 at most, best first, each alone or with a score (higher is better).

        A document stands for its best passages. What the run's filters, its choice of documents or the access of
        whoever asks do not allow is left out afterwards. An empty list means that nothing was found; ids of which the
        bucket holds none count as a failure.
        """
        ...


class Reranker(Protocol):
    """Orders the passages of a search; within CITEGRAPH_SEARCH_TIMEOUT. CITEGRAPH_RERANKER is not used beside it."""

    def rerank(self, question: str, passages: Sequence[str]) -> Result[Sequence[float]]:
        """Return one number for each passage (50 at most) in their order, higher for a better one."""
        ...


class Rewriter(Protocol):
    """Makes a message a question that stands alone; within the time of the step `rewrite`."""

    def rewrite(self, message: str, turns: Sequence[tuple[str, str]]) -> Result[str]:
        """Return the question, at most 2,000 characters.

        `turns` holds the earlier questions of the thread with the head of their answers, oldest first.
        """
        ...


class Decomposer(Protocol):
    """Says what a question asks for; within the time of the step `decompose`."""

    def decompose(self, question: str, buckets: Mapping[str, str]) -> Decomposed:
        """Return any of the fields of `nodes.decompose.Decomposition`; rules fill those that are left out.

        They are `intent`, `aggregate`, `primary_buckets`, `entities`, `constraints`, `topic_terms`, `subqueries`
        and `format`. `buckets` maps the names of the buckets that may be searched to their descriptions.
        """
        ...


class Router(Protocol):
    """Chooses the buckets to search; within the time of the step `route`. Not asked where the caller chose them."""

    def route(self, question: str, buckets: Mapping[str, str]) -> Result[Sequence[str]]:
        """Return names of `buckets` (name -> description), best first; three are taken.

        Names that are not among them, and buckets without the field of one of the caller's filters, are passed over.
        """
        ...


class Reviewer(Protocol):
    """Decides what comes after a round of searches; within the time of the step `review`.

    Asked where the rules have found passages that seem to answer; what they settle themselves stays: sets that the
    database answers, questions back to the user, a search for what is plainly missing.
    """

    def review(
        self, question: str, passages: Sequence[Passage], searches: Sequence[str]
    ) -> Result[Mapping[str, Any]]:
        """Return `{"status": "enough" | "more" | "clarify"}`, and what `citegraph.evidence.review_by_model.ReviewDecision` has besides.

        With "more", `next_calls` lists up to three `{"bucket", "query"}`; `doc_id`, `tool`, `filters` and
        `keep_filters` may stand in each. A search that was made before, or that no budget allows, is not made.
        With "clarify", `question` or `candidates` (document ids) say what to ask the user. `searches` are the
        lines of the run's log.
        """
        ...


class Composer(Protocol):
    """Writes the answer from passages; within the time of the step `compose`.

    Lists and numbers that the database gives are not written by it.
    """

    def compose(self, question: str, passages: Sequence[Passage], format: str, feedback: str) -> Result[str]:
        """Return the text, at most 40,000 characters, each statement followed by the `marker` of its passage.

        `format` is prose, list or table. Every claim is verified as a model's are; when some fail and a correction
        is left, the part is asked once more with `feedback`, one line for each of them; else it is "".
        """
        ...


class Verifier(Protocol):
    """Rules on single claims of an answer; all of them within the time of the step `verify`, one after the other.

    It may object to any claim that a passage supports, and may support one that words alone leave undecided. A claim
    of which a number, date, name or other hard fact fails is not put to it, nor are rows and results of the database.
    """

    def verify(self, claim: str, evidence: str) -> Result[Verdict | None]:
        """Return the verdict on the claim held against the passage it cites; None for no opinion."""
        ...


PROTOCOLS: Mapping[Kind, type] = {
    "searcher": Searcher,
    "reranker": Reranker,
    "rewriter": Rewriter,
    "decomposer": Decomposer,
    "router": Router,
    "reviewer": Reviewer,
    "composer": Composer,
    "verifier": Verifier,
}
"""The kinds in the order of this page, each with its Protocol of one method."""


def method_of(kind: Kind) -> tuple[str, inspect.Signature]:
    """Return the name and signature of the one method of a kind's Protocol, without `self`."""
    protocol = PROTOCOLS[kind]
    name = next(name for name in vars(protocol) if not name.startswith("_"))
    signature = inspect.signature(getattr(protocol, name))
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    return name, signature.replace(parameters=own)


def signature_of(kind: Kind) -> str:
    """Return how a part of a kind is called, as people write it: `route(question: str, ...) -> Sequence[str]`."""
    name, signature = method_of(kind)
    return name + re.sub(r"Result\[(.*)\]$", r"\1", str(signature).replace("'", ""))
