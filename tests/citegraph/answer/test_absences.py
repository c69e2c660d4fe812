"""Sentences about absence, looked up in whole documents: marked by a model or not, in one document or several."""

import pytest

from citegraph.answer.absences import looked_up, silences, stated_in
from citegraph.answer.extracts import Passage
from citegraph.run.services import Corpus
from citegraph.run.state_types import Draft

SHEETS = ["nv2n517", "bukit-seraya-lease"]
MAKER = "Who is the manufacturer of the NV2N517?"


def draft(text: str, **more: object) -> Draft:
    return Draft(text=text, by="model", **more)  # type: ignore[typeddict-item]


def test_a_sentence_without_a_mark_is_looked_up_by_its_own_words(corpus: Corpus) -> None:
    said = "The lease does not state how large the offices are."
    told = looked_up(corpus, draft(said.replace(".", " [bukit-seraya-lease].")), SHEETS, "?")
    (place,) = told["found"]
    assert place["doc"] == "bukit-seraya-lease"
    (silence,) = silences(told)
    assert (silence.text, silence.asked) == (said, "")
    assert silence.stated == (place["doc"], place["start"], place["end"])
    kept = looked_up(corpus, draft("The lease does not state who pays the stamp duty."), SHEETS, "?")
    assert (kept["absent"], kept["found"]) == ([], [])


@pytest.mark.parametrize(("logit", "documents"), [(0.1, 1), (1.0, 2)])
def test_of_more_documents_one_has_to_state_it_more_surely(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, logit: float, documents: int
) -> None:
    said = [(Passage(0, 9, "Elm Lane.", 1.0), logit)]
    monkeypatch.setattr("citegraph.answer.absences.somewhere", lambda *_: said)
    read = list(corpus.documents.all_of(SHEETS).values())
    found = [bool(stated_in(corpus, MAKER, read[:count], 4)) for count in (1, 2)]
    assert found == [True, documents == 2]


def test_only_the_documents_that_are_meant_are_read(corpus: Corpus) -> None:
    absence = {"claim": "No maker.", "asked": MAKER, "docs": ["bukit-seraya-lease"]}
    told = looked_up(corpus, draft("No maker.", absent=[absence]), SHEETS, "?")
    assert told["absent"] == [absence]
    absence["docs"] = []
    told = looked_up(corpus, draft("No maker.", absent=[absence]), SHEETS, "?")
    assert told["absent"][0]["stated"]["doc"] == "nv2n517"


def test_what_was_looked_up_once_is_kept(corpus: Corpus) -> None:
    place = {"doc": "nv2n517", "start": 3, "end": 9}
    known = {"claim": "No maker.", "asked": MAKER, "docs": [], "stated": place}
    told = looked_up(corpus, draft("No maker.", absent=[known], found=[place]), SHEETS, "?")
    assert (told["absent"], told["found"]) == ([known], [place])
