"""The pieces of words are those that `tokenizers` makes of the same file."""

import pytest
from tokenizers import Tokenizer

from citegraph.encoder.pieces import FILE, is_one_piece, pieces_of


@pytest.fixture(scope="module")
def reference() -> Tokenizer:
    return Tokenizer.from_file(str(FILE))


@pytest.mark.parametrize(
    "text",
    [
        "The quay at Tromsdal was let for £2,350.00 (incl. VAT) until 03/2031; see AB-1234/7-q.",
        "Der Kanalgutachter heißt Ellwanger, la mairie de Corvelle a été prévenue, ¿cuánto cuesta?",
        "договор аренды № 7, 日本語のテキスト, الميناء, การเช่า",
        " two  spaces\n\tand a\u00a0line\u2028more ",
        "ﬁnal ½ cup… ①② ㎏ ㍿ ﷺ",
        "cafe\u0301s a\u0323\u0301b \u0301a ｶﾞ ｱﾞ \u1112\u1161\u11ab",
        "▁a x▁y ☃☃ ☃x☃ <s> <unk> \x1ca\x1fb \u200b",
        "c3VwZXJjYWxpZnJhZ2lsaXN0aWM" * 20,
        "",
        "   ",
    ],
)
def test_pieces_and_their_characters_are_those_of_tokenizers(reference: Tokenizer, text: str) -> None:
    expected = reference.encode(text, add_special_tokens=False)
    assert pieces_of(text) == (expected.ids, expected.offsets)
    assert pieces_of(text, 3) == (expected.ids[:3], expected.offsets[:3])


def test_a_common_word_is_one_piece(reference: Tokenizer) -> None:
    for word in ("summary", "Rechnung", "Tromsdalquay"):
        assert is_one_piece(word) == (reference.token_to_id(f"▁{word}") is not None)
    assert is_one_piece("summary")
    assert not is_one_piece("Tromsdalquay")
