"""Names are read in one fold, whatever their letters, and keep their places."""

import pytest

from citegraph.language.names import parse_name, tokens
from citegraph.language.terms import bare, language_of, stop_words


@pytest.mark.parametrize(
    ("printed", "core"),
    [
        ("Oﬃce Conﬁg GmbH", ("office", "config")),
        ("Großraum Straßenbau AG", ("grossraum", "strassenbau")),
        ("Société Œuvre", ("societe", "œuvre")),
        ("MÜLLER Ｆａｃｔｏｒｙ", ("muller", "factory")),
    ],
)
def test_names_are_folded_as_texts_are(printed: str, core: tuple[str, ...]) -> None:
    assert parse_name(printed).core == core
    assert all(part in bare(printed) for part in core)


def test_a_token_keeps_its_place_behind_a_ligature() -> None:
    text = "Die Oﬃce Straße GmbH"
    assert [text[token.start : token.end] for token in tokens(text)] == ["Die", "Oﬃce", "Straße", "GmbH"]


def test_each_level_of_small_words_holds_those_before() -> None:
    assert stop_words("grammar") < stop_words("asking") < stop_words("general")
    assert "never" not in stop_words("grammar")
    assert {"februar", "juillet"} <= stop_words("general") - stop_words("asking")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Vertrag ist nicht für die Dauer von drei Jahren", "de"),
        ("The term of this contract is three years", "en"),
        ("La durée du contrat est de trois ans", "fr"),
        ("El plazo del contrato es de tres años", "es"),
        ("La durata del contratto è di tre anni", "it"),
        ("De looptijd van het contract is drie jaar", "nl"),
        ("4711", None),
    ],
)
def test_small_words_tell_the_language(text: str, language: str | None) -> None:
    assert language_of(text) == language
