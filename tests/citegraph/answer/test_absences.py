"""Sentences about absence, looked up in whole documents: marked by a model or not, in one document or several."""

from citegraph.answer.absences import looked_up, silences
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
    unsure = looked_up(corpus, draft(said), SHEETS, "?")["found"]
    assert unsure == [], "of two documents one has to state it more surely"
    assert silence.stated == (place["doc"], place["start"], place["end"])
    kept = looked_up(corpus, draft("The lease does not state who pays the stamp duty."), SHEETS, "?")
    assert (kept["absent"], kept["found"]) == ([], [])


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
