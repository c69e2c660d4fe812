"""Sentences that say of a text that it is silent, and those that only deny something."""

import pytest

from citegraph.citations.claims import says_not_found
from citegraph.language.claim_cues import bound, cues, says_silent


@pytest.mark.parametrize(
    "text",
    [
        "The sheet does not state a shelf life.",
        "Nothing is said about the return of samples.",
        "Whether spare keys are handed over is not addressed.",
        "Wer die Kosten trägt, ist nicht angegeben.",
        "Le prix de la formation n'est pas indiqué.",
    ],
)
def test_silence(text: str) -> None:
    assert says_silent(text)


@pytest.mark.parametrize(
    "text",
    [
        "The tenant may not sublet.",
        "The list is closed.",
        "Das Gerät darf nicht ins Wasser.",
        "It was never paid.",
        "The Promise Not to Hire and Non-Disclosure Deed of Tarn Ltd. is effective as of 3 May 2031.",
    ],
)
def test_a_denial_is_no_silence(text: str) -> None:
    assert not says_silent(text)


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("at least 30 days", ">="),
        ("mindestens 30 Tage", ">="),
        ("au moins 30 jours", ">="),
        ("como mínimo 30 días", ">="),
        ("almeno 30 giorni", ">="),
        ("ten minste 30 dagen", ">="),
        ("no más de 30 días", "<="),
        ("al massimo 30 giorni", "<="),
        ("hoogstens 30 dagen", "<="),
        ("más de 30 días", ">"),
        ("meno di 30 giorni", "<"),
        ("ongeveer 30 dagen", "~"),
        ("30 o más días", ">="),
        ("30 of minder dagen", "<="),
        ("el plazo de 30 días", ""),
    ],
)
def test_bounds_of_six_languages(text: str, sign: str) -> None:
    at = text.index("30")
    assert bound(text, at, at + 2) == sign


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("El inquilino nunca paga intereses.", "negation", "not"),
        ("Nessun interesse è dovuto.", "negation", "not"),
        ("De huurder betaalt geen rente.", "negation", "not"),
        ("El inquilino debe pagar.", "modality", "must"),
        ("Il locatario può recedere.", "modality", "may"),
        ("De huurder moet betalen.", "modality", "must"),
    ],
)
def test_small_words_of_three_more_languages(text: str, kind: str, value: str) -> None:
    assert (kind, value) in {(cue.kind, cue.value) for cue in cues(text)}


@pytest.mark.parametrize(
    "text",
    [
        "No sólo paga el alquiler.",
        "Paga non solo il canone.",
        "Hij betaalt niet alleen de huur.",
        "Not only rent is due.",
    ],
)
def test_not_only_denies_nothing(text: str) -> None:
    assert [cue for cue in cues(text) if cue.kind == "negation"] == []


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("No se encontró ninguna cláusula.", True),
        ("Il termine non risulta dal contratto.", True),
        ("Er zijn geen gegevens over de termijn.", True),
        ("El plazo es de 30 días.", False),
        ("Il termine è di 30 giorni.", False),
        ("De termijn is 30 dagen.", False),
    ],
)
def test_not_found_in_three_more_languages(text: str, silent: bool) -> None:
    assert says_not_found(text) is silent
