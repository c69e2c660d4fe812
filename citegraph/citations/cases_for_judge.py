"""A judge model asked ahead: what it would be asked is collected first, then its answers are looked up."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from citegraph.citations.report_types import Absence, Claim, Derivation, Evidence, Place, Report
from citegraph.citations.verify_answer import Judgement, verify

OPEN_TO_OBJECTION = frozenset({"supported", "misattributed"})
"""Verdicts that rest on a passage; what was derived from several values rests on a computation."""
Case = tuple[str, str]
"""A claim and the evidence text that it is held against: all that a judge sees."""


def key_of(case: Case) -> str:
    """Return what tells a case from others, 16 hexadecimal digits: a ruling is kept by it where no text may be."""
    return hashlib.sha256("\n".join(case).encode()).hexdigest()[:16]


@dataclass(slots=True)
class Collector:
    """A judge that decides nothing and remembers what it was asked, in order."""

    asked: dict[Case, None] = field(default_factory=dict)

    def __call__(self, claim: str, evidence: str) -> Judgement | None:
        """Remember the case."""
        self.asked.setdefault((claim, evidence))
        return None


@dataclass(frozen=True, slots=True)
class Rulings:
    """A judge that gives what was ruled before, and nothing on other cases."""

    given: Mapping[Case, Judgement]

    def __call__(self, claim: str, evidence: str) -> Judgement | None:
        """Return the ruling on the case, None when there is none."""
        return self.given.get((claim, evidence))


def verify_undecided(
    answer_text: str,
    evidence: Sequence[Evidence],
    derivations: Sequence[Derivation] = (),
    question: str = "",
    absent: Sequence[Absence] = (),
    pointed: Mapping[str, Sequence[Place]] | None = None,
) -> tuple[Report, list[Case]]:
    """Verify without a judge; return the report and the cases for a judge, in order: the claims whose values stand.

    Claims of which a fact is nowhere in the source are not among them, nor those that stand there word for word.
    """
    collector = Collector()
    report = verify(
        answer_text,
        evidence,
        derivations=derivations,
        judge=collector,
        question=question,
        absent=absent,
        pointed=pointed,
    )
    return report, list(collector.asked)


def stated_cases(report: Report, evidence: Sequence[Evidence]) -> list[Case]:
    """Return the claims that a passage supports, each with the text of that passage, once."""
    texts = {item.evidence_id: item.text for item in evidence}
    return list(
        dict.fromkeys(
            (claim.text, texts[claim.evidence_id])
            for claim in report.claims
            if claim.verdict in OPEN_TO_OBJECTION and claim.evidence_id in texts
        )
    )


def objected(report: Report, evidence: Sequence[Evidence], rulings: Mapping[Case, Judgement]) -> Report:
    """Return the report in which supported claims fall to which a judge objects; no claim rises."""
    texts = {item.evidence_id: item.text for item in evidence}

    def after(claim: Claim) -> Claim:
        ruling = rulings.get((claim.text, texts.get(claim.evidence_id, "")))
        if ruling is None or ruling.verdict == "supported" or claim.verdict not in OPEN_TO_OBJECTION:
            return claim
        return replace(claim, verdict=ruling.verdict, reason=ruling.reason, backed_by=())

    return replace(report, claims=tuple(after(claim) for claim in report.claims))
