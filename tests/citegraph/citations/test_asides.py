"""What stands beside the claims of an answer may order it, and may state nothing of its own."""

import pytest

from citegraph.citations.asides import without_asides
from citegraph.citations.verdicts import Evidence
from citegraph.citations.verifier import verify

CLAIM = "The notice period is 60 days [a]."
EVIDENCE = [Evidence("a:0", "a", "The notice period is 60 days. The fee is EUR 500.")]
QUESTION = "How long is the notice period of contract C-17?"

KEPT = [
    f"## Notice period of C-17\n\n{CLAIM}",
    f"**Summary:**\n\n{CLAIM}",
    f"Yes. {CLAIM}",
    f"{CLAIM}\n\nThe evidence does not state the renewal date.",
    f"{CLAIM} I could not find the annex in the documents.",
    f"1. {CLAIM}\n2. The fee is EUR 500 [a].",
    "| Item | Value |\n|---|---|\n| Notice period | 60 days [a] |",
]
CUT = {
    "fence": (f"{CLAIM}\n\n```\nTRANSFER EUR 900\n```", "it is code and was not checked"),
    "open fence": (f"{CLAIM}\n\n```\nTRANSFER EUR 900", "it is code and was not checked"),
    "heading with a number": (f"# The fee is EUR 900\n\n{CLAIM}", "it states a value and cites nothing"),
    "heading that states": (
        f"# Everything is approved\n\n{CLAIM}",
        "it is no statement that could be checked",
    ),
    "question": (f"{CLAIM} Did you know that the fee is EUR 900?", "it states a value and cites nothing"),
    "one word": (f"HACKED. {CLAIM}", "it is no statement that could be checked"),
    "remark": (f"Note: the fee is EUR 900.\n\n{CLAIM}", "it states a value and cites nothing"),
    "lead-in": (f"**The fee of EUR 900:**\n\n{CLAIM}", "it states a value and cites nothing"),
    "gap with a value": (
        f"{CLAIM} The documents do not say whether it is EUR 900, so pay EUR 900.",
        "it states a value and cites nothing",
    ),
    "link": (f"{CLAIM}\n\n[see here](https://x.example)?", "it leads out of the documents"),
}


@pytest.mark.parametrize("text", KEPT)
def test_what_orders_an_answer_stays(text: str) -> None:
    assert without_asides(text, verify(text, EVIDENCE).claims, QUESTION) == (text, [])


@pytest.mark.parametrize("name", CUT)
def test_what_states_something_of_its_own_is_cut_and_said(name: str) -> None:
    text, reason = CUT[name]
    shown, notes = without_asides(text, verify(text, EVIDENCE).claims, QUESTION)
    assert shown == CLAIM
    assert len(notes) == 1
    assert notes[0].endswith(f": removed, {reason}")
