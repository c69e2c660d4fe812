"""The question tagger: what is wanted, in six languages, and which words are conditions, left out or asked for."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from citegraph.encoder.multilingual import LONGEST
from citegraph.encoder.question_tagger import INTENTS, tag_question


def said(question: str, words: str, slot: str) -> float:
    """Return the probability of a slot for some words of a question."""
    start = question.index(words)
    return tag_question(question).slot(start, start + len(words), slot)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Which kiln permits were granted in Tromsdal in 2019?", "list"),
        ("wieviele Kanalgutachten gibt es aus Brunnheim", "count"),
        ("Quelle part des baux de Corvelle arrive à échéance cette année ?", "share"),
        ("¿En cuánto aumentaron las inspecciones de 2021 a 2022?", "change"),
        ("Qual è la durata media delle licenze rilasciate ad Aldovrini?", "average"),
        ("Hoeveel verschillende leveranciers staan er in de bestelbonnen?", "distinct"),
        ("tariff per harbour for the pilotage orders", "group"),
        ("Who signed the lease of Marrow Lane 4?", "fact"),
    ],
)
def test_what_is_wanted_is_read(question: str, intent: str) -> None:
    tagged = tag_question(question)
    assert tagged.intent == intent
    assert sum(tagged.intents.values()) == pytest.approx(1.0, abs=1e-4)
    assert set(tagged.intents) == set(INTENTS)


@pytest.mark.parametrize(
    ("question", "kept", "dropped"),
    [
        ("Permits from Tromsdal please, the ones from Hollund I have already", "Tromsdal", "Hollund"),
        ("Gutachten aus Brunnheim, die von Prof. Ellwanger interessieren nicht", "Brunnheim", "Ellwanger"),
        ("les baux de Corvelle, je ne veux pas voir Martigues", "Corvelle", "Martigues"),
        ("avisos de 2022, descarta los de Peralta", "2022", "Peralta"),
    ],
)
def test_what_is_left_out_is_told_from_what_is_not(question: str, kept: str, dropped: str) -> None:
    assert said(question, dropped, "excluded") > 0.5 > said(question, kept, "excluded")
    assert said(question, kept, "included") > 0.5


def test_a_text_without_words_has_no_intent() -> None:
    tagged = tag_question("   ")
    assert tagged.tokens == ()
    assert tagged.certainty == pytest.approx(1 / len(INTENTS))


def test_of_a_long_question_the_beginning_is_read() -> None:
    tagged = tag_question("Which permits were granted? " + "and so on " * 400)
    assert 0 < len(tagged.tokens) <= LONGEST
    assert tagged.slot(3_000, 3_010, "included") == 0.0


def test_threads_read_alike() -> None:
    questions = [f"How many permits did office {number} grant?" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(tag_question, questions))
    tag_question.cache_clear()
    for question, tagged in zip(questions, together, strict=True):
        assert tag_question(question).intents == pytest.approx(tagged.intents, abs=1e-5)
