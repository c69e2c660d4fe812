"""What holds for every passage: its sentences are supported, a changed number never is, quotes are exact."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from citations.claims import split_claims
from citations.repair import repair
from citations.tokens import sentence_spans
from citations.types import Evidence
from citations.verify import verify

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
def test_any_text_is_split_verified_and_repaired(answer: str) -> None:
    for claim in split_claims(answer, list(PASSAGES)):
        assert 0 <= claim.start < claim.end <= len(answer)
    report = verify(answer, EVIDENCE)
    assert 0.0 <= report.precision <= 1.0
    repair(answer, report)
