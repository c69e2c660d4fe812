"""What holds for every passage: its sentences are supported, a changed number never is, quotes are exact."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citegraph.citations.claims import find_markers, split_claims
from citegraph.citations.repair import MARK, Treatment, repair
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify
from citegraph.language.claim_tokens import sentence_spans

PASSAGES = {
    "supply.txt": (
        "The Supplier shall deliver 4,200 valves to the Purchaser within 45 days of each order. Late deliveries are "
        "charged at 1.5% of the order value per week, but not more than 12% in total.\nThe Purchaser may return "
        "defective goods within ninety (90) days. Neither party is liable for lost profits. Invoices are due on 30 "
        "June 2024 at the latest."
    ),
    "blatt.md": (
        "# Reiniger K-40\n\nFlammpunkt: 82 °C\nDichte bei 20 °C: 0,95 g/cm³\n\nDas Gemisch darf nicht in die "
        "Kanalisation gelangen. Die Abfüllung erfolgt in Gebinden zu 2,5 kg. Überarbeitet am 17.03.2022."
    ),
    "beleg-9": "KIOSK AM HAFEN\nBELEG NR. 2023-0917\nKAFFEE 2 x 3,40  6,80\nWASSER  2,10\nSUMME EUR  8,90\nBAR EUR  10,00",
}
EVIDENCE = [Evidence(f"e-{d}", d, t, 50) for d, t in PASSAGES.items()]
SENTENCES = [
    (d, t[a:b]) for d, t in PASSAGES.items() for a, b in sentence_spans(t) if len(t[a:b].split()) > 3
]
NUMBERED = [(d, s) for d, s in SENTENCES if re.search(r"(?<![\w-])\d[\d.,]*", s)]


def test_every_sentence_word_for_word_is_supported() -> None:
    for doc_id, sentence in SENTENCES:
        claims = verify(f"{sentence.rstrip('.')} [{doc_id}].", EVIDENCE).claims
        assert [c.verdict for c in claims] == ["supported"], sentence


@given(st.sampled_from(NUMBERED), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
@pytest.mark.slow
def test_a_sentence_with_one_changed_digit_is_never_supported(row: tuple[str, str], rng: object) -> None:
    doc_id, sentence = row
    spots = [m.start() for m in re.finditer(r"\d", sentence)]
    spot = rng.choice(spots)  # type: ignore[attr-defined]
    new = rng.choice([d for d in "123456789" if d != sentence[spot]])  # type: ignore[attr-defined]
    changed = sentence[:spot] + new + sentence[spot + 1 :]
    claims = verify(f"{changed.rstrip('.')} [{doc_id}].", EVIDENCE).claims
    assert not any(c.verdict in ("supported", "derived", "misattributed") for c in claims), changed


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), st.sampled_from([*PASSAGES, "ghost-1"]))
@settings(max_examples=60, deadline=None)
@pytest.mark.slow
def test_quotes_are_exact_and_repair_leaves_nothing_to_repair(
    rows: list[tuple[str, str]], other: str
) -> None:
    lines = [f"- {s.rstrip('.')} [{d}]." for d, s in rows[:-1]] + [f"- {rows[-1][1].rstrip('.')} [{other}]."]
    answer = "\n".join(lines)
    report = verify(answer, EVIDENCE)
    for claim in report.claims:
        assert answer[claim.start : claim.end].strip()
        if claim.quote:
            assert claim.quote == PASSAGES[claim.doc_id][claim.quote_start - 50 : claim.quote_end - 50]
    text, _ = repair(answer, report)
    again = verify(text, EVIDENCE)
    assert again.unknown_markers == ()
    assert {c.verdict for c in again.claims} <= {"supported"}
    assert again.recall == 1.0


@given(st.text(alphabet=st.sampled_from("ab 1.,;:|[]()-*#\n\"'$%é中"), max_size=120))
@settings(max_examples=200, deadline=None)
@pytest.mark.slow
def test_any_text_is_split_verified_and_repaired(answer: str) -> None:
    for claim in split_claims(answer, list(PASSAGES)):
        assert 0 <= claim.start < claim.end <= len(answer)
    report = verify(answer, EVIDENCE)
    assert 0.0 <= report.precision <= 1.0
    repair(answer, report)


def broken(sentence: str) -> str:
    """Return a sentence with another number in it, or with a fact that no passage has."""
    match = re.search(r"\d", sentence)
    changed = "7" if match and match.group() != "7" else "8"
    at = match.start() if match else 0
    return sentence[:at] + changed + sentence[at + 1 :] if match else f"{sentence} in Ravenna since 1871"


GHOSTS = ["[ghost-1]", "[12]", "[^3]", "【7】", "[doc_99, p. 4]", "[source: Lost_B.pdf]"]
MARKS = st.one_of(
    st.sampled_from([*GHOSTS, ""]),
    st.lists(st.sampled_from([*PASSAGES, *(e.evidence_id for e in EVIDENCE)]), min_size=1, max_size=2).map(
        lambda ids: f"[{', '.join(ids)}]"
    ),
)


@given(
    st.lists(st.tuples(st.sampled_from(SENTENCES), st.booleans(), MARKS, MARKS), min_size=1, max_size=4),
    st.sampled_from(["cut", "mark"]),
    st.sampled_from(["\n", "\n- ", " "]),
)
@settings(max_examples=120, deadline=None)
@pytest.mark.slow
def test_repair_leaves_no_dangling_marker_and_cites_only_what_says_it(
    rows: list[tuple[tuple[str, str], bool, str, str]], treatment: Treatment, joint: str
) -> None:
    sentences = [broken(s) if wrong else s for (_, s), wrong, _, _ in rows]
    answer = joint + joint.join(
        f"{s.rstrip('.')} {one} {two}.".replace(" .", ".")
        for s, (_, _, one, two) in zip(sentences, rows, strict=True)
    )
    text, _ = repair(answer, verify(answer, EVIDENCE), treatment=treatment)
    names = {**{d: d for d in PASSAGES}, **{e.evidence_id: e.doc_id for e in EVIDENCE}}
    assert [i for m in find_markers(text, names) for i in m.ids if i not in names] == []
    assert not re.search(r"[\[【](?:\W*\d+|[^\]】]*(?:ghost|Lost|doc_99)[^\]】]*)[\]】]", text), text
    again = verify(text, EVIDENCE)
    for claim in again.claims:
        assert claim.verdict == ("unsupported" if MARK in claim.text else "supported"), claim
        for marker in claim.markers:
            passage = " ".join(PASSAGES[names[marker]].split())
            assert claim.text.rstrip(".").lstrip("# ") in passage, (claim, text)
    if treatment == "cut":
        assert MARK not in text
