"""What stands largest at the top of a document: its title, and the part number that a datasheet is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

from citegraph.corpus.extraction.document_head import Besides, find_title
from citegraph.corpus.schema.document import Layout, Line

_LONGEST = 200
_LARGE, _CLEAR, _ALIKE = 1.2, 1.4, 0.25
_FIRST, _LINES = 4, 12
"""Lines at the top of a page in which a title hardly larger than the rest stands, and a part alone in its line."""
_TOP, _COVER = 0.6, 12
"""Share of the first page, from its top, in which a title stands, and lines of a cover, on which it stands anywhere."""
# A name of a part: letters and digits together, as no word and no number has them.
_PART = re.compile(
    r"(?<![\w./+-])(?:(?=[A-Z0-9/−-]{0,23}\d)(?=[A-Z0-9/−-]{0,23}[A-Z])(?:[A-Z0-9]{3,}|[A-Z0-9]{2,}[-−/][A-Z0-9]+)(?:[-−/][A-Z0-9]+)*"
    # Some makers mix small letters in: ADuM7440, nRF52832, bq24195.
    r"|(?:[A-Z]{2,4}[a-z]{1,6}[A-Z]?\d\d|[a-z]{1,2}[A-Z]{1,4}\d{3}|[a-z]{2}\d{4})[A-Z0-9]*(?:/[A-Za-z]*\d[A-Za-z0-9]*)*)(?!\w)"
)
_VARIANTS = re.compile(r"(?:/(?:\d+|[A-Z]{1,2}))+$")
"""Variants of a part behind its name: "QX128/256", "TN670/A/672"."""
_NO_PART = re.compile(
    r"(?:ISO|IEC|EN|IEEE|DIN|ANSI|JEDEC|JESD|MIL|UL|AEC|RFC|USB|RS|IPC|ROHS|REACH|EIA|CISPR|UN)[-/]?\d[\dA-Z.-]*"
    r"|R\d{2}[A-Z]{2}\d{4}[A-Z]{2}\d{4}|(?:H|P|EUH)\d{3}[A-Z]{0,2}|[RS]\d{1,2}(?:[-/]\d{1,2})*"
    r"|(?:TO|SOT|SOD|DO|SC|SMA|SMB|SMC|[PCTSVMWLHU]{0,4}(?:DIP|SOIC|SOP|SSOP|QFP|QFN|DFN|BGA|SON|LCC|CSP|LGA))-?\d[\dA-Z-]*"
    r"|REV\w*|VER\w*|\d+[A-Z]{1,3}|(?:19|20)\d\d[A-Z]*|[A-Z]\d|\d[A-Z]|V\d+|DS\d{5,}\w*|\d+[MKG]?(?:HZ|BIT|B)|I2C|RS-?\d+|\d+X\d*|Q[1-4]|FIG\d+|TABLE\d+"
    r"|\d{2,4}/\d{2,5}/E[CGUW]\w*|\d+-?[A-Z]{1,3}(?:/\d+-?[A-Z]{1,3})*|(?:MIL|TIA|ITU|ATEX|IP|VDE|CSA|ASTM)[-/]?[A-Z/-]*\d[\dA-Z.-]*"
    r"|S[A-Z]{3,4}\d{2,4}[A-Z]?|TL/[A-Z]/\d+|(?:VDD|VCC|VSS|VEE|VIN|VOUT|GND|XTAL|PIN|GPIO|UART|SPI|TWI|ADC|DAC|TIM|USART|IC|CH|OUT|IN)\d{1,2}"
    r"|(?:MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|JAN|FEB|MAR|APR)\w*\d+"
)


_SHORT_WORD = re.compile(r"\W*[^\W\d_]{1,4}!\W*")
"""A cry beside the title, however large: "NEW!"."""
_NUMBERED = re.compile(r"\s*\d{1,2}(?:\.\d{1,2})*\.?\s+[^\W\d_]")


def find_heading(
    text: str, layouts: Sequence[Layout], declared: str, besides: Besides | None = None
) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of a document's title in its text, None when it prints none.

    The heading of the first level in Markdown, the largest print at the top of the first page, else a first line that
    reads as a title. One that the file declares as its title too is surer.

    Args:
        declared: the title that the format itself gives, empty for none.
        besides: tells which headings are none, since they say only what kind of document it is, or of which part.
    """
    found = None if besides else _marked(text)
    found = found or (_largest(text, layouts[0], besides) if layouts else None)
    if found is None:
        at = text.find(declared) if len(declared) > 3 else -1
        if at >= 0:
            return at, at + len(declared), 0.8
        return find_title(text, besides)
    start, end, trust = found
    said, shown = (_plain(one) for one in (declared, text[start:end]))
    agrees = bool(said) and (said in shown or shown in said)
    return start, end, min(0.95, trust + 0.15) if agrees else trust


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _marked(text: str) -> tuple[int, int, float] | None:
    found = re.search(r"^#{1,2}[ \t]+(\S[^\n]{1,300})$", text[:4000], re.MULTILINE)
    return (*found.span(1), 0.85) if found and not _NUMBERED.match(found[1]) else None


def is_part(text: str) -> bool:
    """Tell whether a line names parts and says nothing else."""
    return _PART.search(text) is not None and not re.search(r"[^\W\d_]{2}", _PART.sub("", text))


def _largest(text: str, layout: Layout, besides: Besides | None = None) -> tuple[int, int, float] | None:
    """Return the largest lines near the top of a page that follow each other, as far as they are larger than most."""
    lines = [
        line
        for line in layout.lines
        if re.search(r"[^\W\d_]{2}", text[line.start : line.end])
        and not _is_turned(line)
        and not _SHORT_WORD.fullmatch(text, line.start, line.end)
    ]
    if len(lines) < 3 or layout.recognised:
        return None
    usual = median(sizes := [_size(text, line) for line in lines])
    size = dict(zip(lines, sizes, strict=True))
    lowest = layout.height * (_TOP if len(lines) > _COVER else 1)
    top = [line for line in lines if line.box.top <= lowest and size[line] >= _LARGE * usual]
    top = [line for line in top if 3 <= line.end - line.start <= _LONGEST]
    if besides:
        top = [line for line in top if not besides(text[line.start : line.end].strip())]
    # "4 Pin Configuration" heads a section, however large it is printed.
    top = [line for line in top if not _NUMBERED.match(text, line.start, line.end)]
    # A box is higher by a sign of another font too: what is hardly larger than the rest is a title at the top alone.
    first_lines = sorted(lines, key=lambda line: line.box.top)[:_FIRST]
    top = [line for line in top if size[line] >= _CLEAR * usual or line in first_lines]
    if not top:
        return None
    tallest = max(top, key=size.__getitem__)
    alike = [line for line in top if abs(size[line] - size[tallest]) <= _ALIKE * size[tallest]]
    place = alike.index(tallest)
    first = last = place
    while last + 1 < len(alike) and _follows(alike[last], alike[last + 1]):
        last += 1
    while first > 0 and _follows(alike[first - 1], alike[first]):
        first -= 1
    start, end = alike[first].start, alike[last].end
    if end - start > _LONGEST:
        start, end = tallest.start, tallest.end
    kept = text[start:end]
    start += len(kept) - len(kept.lstrip())
    trust = 0.75 if size[tallest] >= _CLEAR * usual else 0.6
    return start, start + len(kept.strip()), trust


def _is_turned(line: Line) -> bool:
    """Tell whether a line runs up or down the page: its letters stand in a box that is higher than wide."""
    return line.end - line.start > 3 and line.box.bottom - line.box.top > line.box.right - line.box.left


def _size(text: str, line: Line) -> float:
    """Return about the size of a line's font: its box is as high as its letters reach up and down."""
    said = text[line.start : line.end]
    up = 0.72 if re.search(r"[^\W_a-zà-öø-ÿ]|[bdfhklt]", said) else 0.52
    down = 0.21 if re.search(r"[gjpqyç,;()\[\]{}|Q@§]", said) else 0.0
    return (line.box.bottom - line.box.top) / (up + down)


def _follows(one: Line, other: Line) -> bool:
    return 0 <= other.start - one.end <= 3 and other.box.top - one.box.bottom < 1.2 * (
        one.box.bottom - one.box.top
    )


def _alone(head: str) -> set[str]:
    """Return the parts that a line near the top names and nothing else, as the head of a datasheet does."""
    found: set[str] = set()
    for line in [line for line in head.split("\n") if line.strip()][:_LINES]:
        parts = [part[0] for part in _PART.finditer(line)]
        if parts and not re.search(r"[^\W\d_]", _PART.sub("", line)):
            found.update(parts)
    return found


def find_part(text: str, heading: tuple[int, int] | None, name: str) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the part number that a datasheet is about, None when none stands out.

    It is named in the heading or the file's name, and more often than any other on the first pages.

    Args:
        heading: the span of the document's title.
        name: the file's name.
    """
    head = text[:12_000]
    places: dict[str, tuple[int, int]] = {}
    counts: Counter[str] = Counter()
    for found in _PART.finditer(head):
        part = _VARIANTS.sub("", found[0])
        if not _NO_PART.fullmatch(part) and len(part) >= 4:
            counts[part] += 1
            places.setdefault(part, found.span())
    if not counts:
        return None
    alone = _alone(head)
    named = re.sub(r"[^A-Z0-9]", "", name.upper().rpartition(".")[0] or name.upper())

    def weight(part: str) -> float:
        at = places[part][0]
        in_heading = heading is not None and any(
            heading[0] <= found.start() < heading[1]
            for found in re.finditer(re.escape(part), text[: heading[1]])
        )
        in_name = len(named) > 3 and re.sub(r"[^A-Z0-9]", "", part) in named
        return (
            6.0 * in_heading
            + 4.0 * in_name
            + 3.5 * (part in alone)
            + min(counts[part], 8) * 0.5
            + (1.5 if at < 400 else 0.0)
        )

    ordered = sorted(counts, key=lambda part: (-weight(part), places[part]))
    best = ordered[0]
    lead = weight(best) - (weight(ordered[1]) if len(ordered) > 1 else 0.0)
    trust = 0.8 if weight(best) >= 8 and lead >= 1 else 0.65 if weight(best) >= 5 else 0.45
    return *places[best], trust
