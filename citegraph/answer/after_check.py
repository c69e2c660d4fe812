"""What a verified draft becomes: repaired, without unchecked asides, or handed over to the extracts."""

from collections.abc import Sequence

from citegraph.answer.statements import derivations_of
from citegraph.citations.asides import without_asides
from citegraph.citations.claims import says_not_found
from citegraph.citations.judging import Rulings
from citegraph.citations.orders import unbacked
from citegraph.citations.repair import Treatment, repair
from citegraph.citations.verdicts import Evidence, Report
from citegraph.citations.verifier import verify
from citegraph.run.model_calls import note
from citegraph.run.pieces import Draft, StoredNote

BACKED = frozenset({"supported", "derived"})
MANY = 3
"""Statements of the database that are not printed, which are named one by one."""
HANDED_OVER = note(
    "compose",
    "fallback",
    "nothing that was written could be verified, so the passages themselves are shown",
)


def written(draft: Draft) -> bool:
    """Tell whether a model or a composer of the user's own wrote the draft, not code from what it had found."""
    return draft.get("by") in {"model", "own"}


def nothing_holds(draft: Draft, report: Report) -> bool:
    """Tell whether no claim of a written answer is backed, though it does not say that nothing was found."""
    backed = any(claim.verdict in BACKED or claim.verdict == "misattributed" for claim in report.claims)
    return written(draft) and not backed and not says_not_found(draft["text"])


def amended(
    draft: Draft,
    report: Report,
    evidence: Sequence[Evidence],
    judge: Rulings | None,
    *,
    treatment: Treatment,
    question: str,
) -> tuple[str, list[str], Report]:
    """Return the text that is shown, a line for people about each change, and the report on that text; blocking."""
    text = draft["text"]
    if rows_of_the_database(draft):
        return text, unprinted(report), report
    text, lines = repair(text, report, treatment=treatment)
    if text != draft["text"]:
        report = checked_again(text, draft, evidence, judge, question)
    if written(draft):
        text, removed = without_asides(text, report.claims, question)
        if removed:
            return text, [*lines, *removed], checked_again(text, draft, evidence, judge, question)
    return text, lines, report


def checked_again(
    text: str, draft: Draft, evidence: Sequence[Evidence], judge: Rulings | None, question: str
) -> Report:
    """Return the report on a text that a draft became; blocking."""
    report = verify(text, evidence, derivations=derivations_of(draft), judge=judge, question=question)
    return unbacked(report, evidence)


def orders_found(evidence: Sequence[Evidence]) -> list[StoredNote]:
    """Return the note on documents that speak to the program that reads them."""
    speaking = dict.fromkeys(item.doc_id for item in evidence if item.blanked)
    if not speaking:
        return []
    line = f"Text that speaks to the program that reads it was not taken as evidence: {', '.join(speaking)}."
    return [note("verify_citations", "orders ignored", line)]


def rows_of_the_database(draft: Draft) -> bool:
    """Tell whether code wrote the draft from a database query: its rows stand, whatever their documents print."""
    return draft.get("by") == "rules" and draft.get("matched") is not None


def unprinted(report: Report) -> list[str]:
    """Return a line about each row whose values are not found in the document's own text, one line for many."""
    bad = [
        claim for claim in report.claims if claim.verdict in {"unsupported", "contradicted"} and claim.markers
    ]
    if len(bad) > MANY:
        few = ", ".join(f"“{claim.text[:100]}”" for claim in bad[:MANY])
        return [
            f"{len(bad)} statements, such as {few}, are from the annotations; what is cited was not found to say them."
        ]
    return [
        f"“{claim.text[:100]}” is from the annotations; the document's text was not found to say it."
        for claim in bad
    ]
