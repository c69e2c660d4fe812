"""Names as tokens: how spellings of one company, product or person are brought together."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


LEGAL_FORMS = words(
    """
    inc incorporated corp corporation co company ltd limited llc llp lp lllp plc pllc gmbh ggmbh ag
    kg kgaa ohg gbr mbh ug ev eg se sa sas sasu sarl eurl snc spa srl sl slu bv nv cv oy oyj ab as
    asa aps ks hf ehf kft zrt nyrt rt bt spzoo sro doo dd ooo oao pao zao ltda eirl pty pte pvt sdn
    bhd sb berhad pt tbk kk gk jsc ojsc pjsc cjsc na gesmbh
    lda sau srls sprl scrl vof cvba mbb partg ek dac vvag
    """
)
"""Legal forms, joined ("S.p.A." is "spa"): they do not decide which company is meant."""

CLEAR_FORMS = words(
    """
    inc incorporated corp corporation ltd limited llc llp lp plc gmbh kgaa ohg spa sarl sdn bhd sb
    berhad bv nv pte pty
    """
)
"""Legal forms that are no words of a language, so that one after a name belongs to it."""

LEADING_FORMS = words("sarl sas sasu eurl snc sci asbl pt uab ooo oao pao zao sia tov")
"""Legal forms that stand before a name as well as behind one."""

CONNECTORS = words(
    """
    and und et the of der die das de du des la le les l für for y e & at in on
    """
)
"""Words that may stand inside a name without being part of what distinguishes it."""

_TOKEN = re.compile(r"\d+(?:[.,/]\d+)+|[a-z]{1,3}\d+(?:\.\d+)+|[^\W_]+|[()&]")
_APOSTROPHES = re.compile(r"(?<=\w)['’`´](?=\w)")


@dataclass(frozen=True, slots=True)
class Token:
    """A normalised token and the character offsets that it came from.

    Attributes:
        bracketed: whether it stands in brackets, as a qualifier ("(M)") does.
        stem: the token without a possessive "s", when it had one.
        written: the token in lower case with its accents: an umlaut may show a plural.
    """

    text: str
    start: int
    end: int
    bracketed: bool = False
    stem: str = ""
    written: str = ""


@dataclass(frozen=True, slots=True)
class Name:
    """A value's tokens in three parts: what distinguishes it, bracketed qualifiers, legal form."""

    core: tuple[str, ...]
    qualifiers: frozenset[str]
    legal: frozenset[str]


def plain(text: str) -> str:
    """Return lower-case text without diacritics, of the same length as the text."""
    if text.isascii():
        return text.lower()
    characters = []
    for character in text:
        base = unicodedata.normalize("NFKD", character)
        first = next((part for part in base if not unicodedata.combining(part)), " ")
        lower = first.lower()
        characters.append(lower if len(lower) == 1 else lower[:1] or " ")
    return "".join(characters)


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text without punctuation or diacritics; "D. I. Y." is one, "diy"."""
    lower = text.lower() if text.isascii() else plain(text)
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(lower):
        piece = match[0]
        if piece in "()":
            depth = depth + 1 if piece == "(" else max(0, depth - 1)
        elif piece != "&":
            written = text[match.start() : match.end()].lower()
            found.append(Token(piece, match.start(), match.end(), depth > 0, written=written))
    return _join_forms(list(_join_initials(_join_apostrophes(found, lower), lower)))


def _join_apostrophes(found: list[Token], lower: str) -> list[Token]:
    """Join "domino's" to "dominos", with its stem "domino"."""
    joined: list[Token] = []
    for token in found:
        last = joined[-1] if joined else None
        if last and token.start == last.end + 1 and lower[last.end] in "'’`´" and not last.stem:
            stem = last.text if token.text == "s" else ""
            text = last.text + token.text
            joined[-1] = Token(text, last.start, token.end, last.bracketed, stem, written=text)
        else:
            joined.append(token)
    return joined


_WRITTEN_OUT = {
    tuple(plain(words).split()): form
    for form, written in {
        "gmbh": "Gesellschaft mit beschränkter Haftung", "ag": "Aktiengesellschaft", "kg": "Kommanditgesellschaft",
        "ohg": "offene Handelsgesellschaft", "gbr": "Gesellschaft bürgerlichen Rechts", "eg": "eingetragene Genossenschaft",
        "llc": "limited liability company", "plc": "public limited company", "ltd": "private limited company",
        "sa": "société anonyme|spółka akcyjna|sociedad anónima|sociedade anónima", "sarl": "société à responsabilité limitée",
        "sas": "société par actions simplifiée", "spa": "società per azioni", "srl": "società a responsabilità limitata",
        "sl": "sociedad limitada|sociedad de responsabilidad limitada", "spzoo": "spółka z ograniczoną odpowiedzialnością|sp zoo",
        "bv": "besloten vennootschap", "nv": "naamloze vennootschap", "ab": "aktiebolag", "as": "aksjeselskap|aktieselskab",
        "oy": "osakeyhtiö", "sro": "společnost s ručením omezeným", "kft": "korlátolt felelősségű társaság",
    }.items()
    for words in written.split("|")
}  # fmt: skip
"""Legal forms as registers write them out, by the words of each."""
_LENGTHS: dict[str, list[int]] = {}
for _words in sorted(_WRITTEN_OUT, key=len, reverse=True):
    _LENGTHS.setdefault(_words[0], []).append(len(_words))


def _join_forms(found: list[Token]) -> list[Token]:
    """Join the words of a legal form that is written out to the one that is short for it."""
    joined: list[Token] = []
    at = 0
    while at < len(found):
        for length in _LENGTHS.get(found[at].text, ()) if at else ():  # a name does not begin with one
            run = found[at : at + length]
            form = _WRITTEN_OUT.get(tuple(token.text for token in run))
            if form:
                said = " ".join(token.written for token in run)
                joined.append(Token(form, run[0].start, run[-1].end, run[0].bracketed, written=said))
                at += length
                break
        else:
            joined.append(found[at])
            at += 1
    return joined


def _join_initials(found: list[Token], lower: str) -> Iterator[Token]:
    """Join runs of single letters that only dots, blanks or slashes separate: "D.I.Y.", "S / B", "C W"."""
    run: list[Token] = []
    for token in found:
        if run and (
            len(token.text) != 1
            or token.text.isdigit()
            or token.bracketed != run[-1].bracketed
            or lower[run[-1].end : token.start].strip(" ./")
            or ")" in lower[run[-1].end : token.start]
        ):
            yield _merged(run)
            run = []
        if len(token.text) == 1 and not token.text.isdigit():
            run.append(token)
        else:
            yield token
    if run:
        yield _merged(run)


def _merged(run: list[Token]) -> Token:
    text = "".join(token.text for token in run)
    return Token(text, run[0].start, run[-1].end, run[0].bracketed, written=text)


@lru_cache(maxsize=4096)
def parse_name(text: str) -> Name:
    """Return a value's tokens by part; a name that is all legal form and qualifiers has them as core."""
    found = tokens(text)
    qualifiers = frozenset(token.text for token in found if token.bracketed and token.text not in LEGAL_FORMS)
    legal = {token.text for token in found if token.text in LEGAL_FORMS}
    core = tuple(
        t.text for t in found if not t.bracketed and t.text not in legal and t.text not in CONNECTORS
    )
    if not core:
        core = tuple(token.text for token in found)
        qualifiers, legal = frozenset(), set()
    return Name(core, qualifiers, frozenset(legal))
