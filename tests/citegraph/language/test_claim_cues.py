"""Sentences that say of a text that it is silent, and those that only deny something."""

import pytest

from citegraph.language.claim_cues import says_silent


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
    ],
)
def test_a_denial_is_no_silence(text: str) -> None:
    assert not says_silent(text)
