"""Text as a reader takes it in: letters that only look Latin, digits in the place of letters, letters set apart."""

import re
import unicodedata

# Cyrillic and Greek letters that look like Latin ones (Unicode TR 39 calls them confusable).
_ALIKE = str.maketrans(
    "аеорсухіјѕԁһքԛԝАВЕКМНОРСТУХІЈЅαοεινρτυχκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhpqwABEKMHOPCTYXIJSaoeivptuxkABEZHIKMNOPTYX",
)
_LEET = str.maketrans("0134578@$", "oieasTBas".lower())
_LEET_WORD = re.compile(r"(?<![^\W_])(?=[a-z@$\d]*[a-z])(?=[a-z@$]*\d[a-z@$\d]*)[a-z@$\d]{5,}(?![^\W_])")
_APART = re.compile(r"(?<!\w)[^\W\d_](?:[ ._*-]{1,3}[^\W\d_](?!\w)){5,}")
_LATIN_BESIDE = re.compile(r"[a-zA-Z]")


def undisguised(text: str) -> tuple[str, list[int] | None]:
    """Return a text without disguises, and the offset in the given text of each of its characters (None: the same)."""
    plain = text
    if not text.isascii():
        plain = "".join(_composed(char) for char in text)
        plain = re.sub(r"\w+", lambda word: _latin(word[0]), plain)
    plain = _LEET_WORD.sub(lambda word: word[0].translate(_LEET), plain)
    runs = list(_APART.finditer(plain))
    if not runs:
        return plain, None
    offsets: list[int] = []
    pieces: list[str] = []
    at = 0
    for run in runs:
        kept = [*range(at, run.start()), *_letters(plain, run.start(), run.end())]
        pieces += [plain[place] for place in kept]
        offsets += kept
        at = run.end()
    offsets += range(at, len(plain))
    pieces.append(plain[at:])
    return "".join(pieces), [*offsets, len(plain)]


def _composed(char: str) -> str:
    """Return the plain form of a character where that is one character too, so that offsets stay."""
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char


def _latin(word: str) -> str:
    """Return a word in Latin letters where it mixes them with others that look like them."""
    return word.translate(_ALIKE) if _LATIN_BESIDE.search(word) else word


def _letters(text: str, start: int, end: int) -> list[int]:
    """Return the places of letters that are set apart, and of one blank where words end: at more than one blank."""
    return [
        place
        for place in range(start, end)
        if text[place].isalpha()
        or (text[place] == " " and text[place - 1] == " " and text[place + 1].isalpha())
    ]
