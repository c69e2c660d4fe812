"""Turns bytes of any encoding into text: by its mark, by its own rules, else by the alphabet that it fits."""

from __future__ import annotations

import codecs
import re
from unicodedata import category

from citegraph.errors import BadInput

# Bytes that are looked at to tell a text from binary data, and to guess its encoding.
_SNIFF = 64 * 1024
NO_TEXT = "not a text file: open it in its program and save it as text or PDF"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Control characters that stand in texts: tab, line ends, form feed, escape, the end of a DOS file.
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x19\x1c-\x1f]")
_MOST_CONTROLS = 0.02
# Characters that no one writes: controls, unassigned, private and half ones.
_NO_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})
_USUAL = re.compile(r"[ \n\rA-Za-z0-9.,。，、]")
_FEWEST_USUAL = 0.01
_HIGH = re.compile(rb"[\x80-\xff]")
_RUN = re.compile(rb"[\x80-\xff]{2,}")
_SHORT_RUN = 2
# What a language writes beside a to z, lower case; the order is that of the tie.
_WESTERN = tuple(
    frozenset(letters)
    for letters in (
        "äöüßé",
        "àâæçéèêëîïôœùûüÿ",
        "áéíñóúü",
        "àèéìíòóùú",
        "ãõâêôáéíóúàç",
        "éëïóüöáê",
        "åäöé",
        "æøåéó",
        "áðéíóúýþæö",
    )
)
_CENTRAL = tuple(
    frozenset(letters)
    for letters in ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîșțşţ")
)
_TURKISH = (frozenset("çğıöşüâîû"),)
_BALTIC = (frozenset("ąčęėįšųūž"), frozenset("āčēģīķļņšūž"), frozenset("äõöüšž"))
_CANDIDATES = (
    ("cp1252", _WESTERN),
    ("iso8859_15", _WESTERN),
    ("cp1250", _CENTRAL),
    ("iso8859_2", _CENTRAL),
    ("cp1254", _TURKISH),
    ("cp1257", _BALTIC),
    ("mac_roman", _WESTERN),
    ("cp850", _WESTERN),
    ("cp437", _WESTERN),
    ("cp852", _CENTRAL),
)
_SIGNS = frozenset("€£§°–—„“”‚‘’«»‹›…²³½¼µ©®™•·×±ºª\u00a0\u00ad¿¡†‰²")
# Signs that stand inside of words too.
_JOINTS = frozenset("’‘·\u00ad–\u00a0—")


def decoded(data: bytes) -> str:
    """Return bytes as text: UTF-8 if it is, else the encoding that fits best.

    A few bytes that do not belong (a NUL, a line of another encoding) cost themselves, not the file.

    Raises:
        BadInput: it is not text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    data = data.rstrip(b"\x00")
    head = data[:_SNIFF]
    if b"\x00" in head and not _is_plain(head):
        return _without_mark(data)
    if len(_CONTROLS.findall(head)) > _MOST_CONTROLS * len(head):
        raise BadInput(NO_TEXT)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _mended(data) or _guessed(data)


def _is_plain(head: bytes) -> bool:
    """Return whether bytes are UTF-8 text with a NUL here and there, and no text of two bytes a character."""
    rest = head.replace(b"\x00", b"")
    try:
        rest.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(rest) - 4:  # not the character that the end of the head cuts
            return False
    return len(rest) > 0.8 * len(head) and not _CONTROLS.search(rest)


def _without_mark(data: bytes) -> str:
    """Return UTF-16 text without its mark, in the byte order in which it has more blanks, digits and stops.

    Raises:
        BadInput: it has none to speak of, or much that no text has.
    """
    # `decoded` may have taken the zero of the last character.
    whole = data + b"\x00" * (len(data) % 2)
    best, most = "", 0.0
    for encoding in ("utf-16-le", "utf-16-be"):
        text = whole.decode(encoding, "replace")
        head = text[:_SNIFF]
        usual = len(_USUAL.findall(head)) / len(head)
        if usual > most and not _is_strange(head):
            best, most = text, usual
    if most < _FEWEST_USUAL:
        raise BadInput(NO_TEXT)
    return best


def _is_strange(head: str) -> bool:
    strange = sum(category(char) in _NO_TEXT and char not in "\t\n\f\r" for char in head)
    return strange + head.count("\ufffd") > _MOST_CONTROLS * len(head)


def _mended(data: bytes) -> str | None:
    """Return text that is UTF-8 for the most part, its other bytes read as Windows-1252; None when it is not."""
    text = data.decode("utf-8", "surrogateescape")
    strange = sum("\udc80" <= char <= "\udcff" for char in text)
    proper = sum("\x7f" < char < "\ud800" or char > "\udfff" for char in text)
    if proper <= strange:
        return None
    return re.sub("[\udc80-\udcff]+", _windows, text)


def _windows(found: re.Match[str]) -> str:
    return found[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace")


def _guessed(data: bytes) -> str:
    head = data[:_SNIFF]
    # The detector of the library takes short Western texts for Chinese or Czech: it needs more to tell by.
    if _is_latin(head):
        encoding = max(_CANDIDATES, key=lambda candidate: _fit(head, *candidate))[0]
        return data.decode(encoding, "replace")
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    text = str(best) if best is not None else ""
    if not text or _is_strange(text[:_SNIFF]):
        raise BadInput(NO_TEXT)
    return text


def _is_latin(data: bytes) -> bool:
    """Return whether the bytes beyond ASCII stand alone between others: those of other scripts stand together."""
    runs = [len(run) for run in _RUN.findall(data)]
    return max(runs, default=0) <= _SHORT_RUN or sum(runs) <= len(_HIGH.findall(data)) / 2


def _fit(data: bytes, encoding: str, alphabets: tuple[frozenset[str], ...]) -> float:
    """Return how well bytes read in an encoding: the share of letters that one language has, less what no text has."""
    text = data.decode(encoding, "replace")
    places = [place for place, char in enumerate(text) if char > "\x7f"]
    letters = [text[place] for place in places if text[place].isalpha()]
    known = max(sum(letter.lower() in alphabet for letter in letters) for alphabet in alphabets)
    odd = sum(_is_odd(text, place) for place in places)
    return (known - (len(letters) - known) - 2 * odd) / max(1, len(places))


def _is_odd(text: str, place: int) -> bool:
    """Return whether a character does not stand so in texts: a sign inside of a word, a capital after a small letter."""
    char = text[place]
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if char.isalpha():
        lonely = not before.isalpha() and not after.isalpha() and char not in "àáéèíóúæœåÀÉ"
        return lonely or (char.isupper() and before.islower())
    if char not in _SIGNS:
        return True
    return char not in _JOINTS and before.isalpha() and after.isalpha()
