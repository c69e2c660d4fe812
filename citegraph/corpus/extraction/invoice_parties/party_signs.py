"""What speaks for a name on an invoice being the seller's or the buyer's: independent signs, each of a kind of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from citegraph.corpus.extraction.document_head import find_organization, is_name
from citegraph.corpus.extraction.invoice_parties.address_lines import (
    BANK,
    HEADING,
    IN_CARE,
    NUMBERED,
    STREET,
    is_prose,
    marks_of,
)
from citegraph.corpus.extraction.invoice_parties.invoice_page import BLOCK, Page, Pieces
from citegraph.corpus.extraction.invoice_parties.page_cells import Cell, aligned, blank
from citegraph.corpus.extraction.invoice_parties.party_names import (
    BULLET,
    greets,
    legal_name,
    name_in,
    no_party,
)
from citegraph.corpus.extraction.invoice_parties.party_words import is_name_row, said_name
from citegraph.language.names import parse_name
from citegraph.language.terms import bare
from citegraph.language.word_tables import listed

NEAR = 3
"""Lines around a name in which a registration speaks of it."""
TOP = 3
"""Lines that are the top of a page."""
_SAID: Mapping[str, tuple[float, float]] = {
    "seller": (8.0, 0.0),
    "buyer": (0.0, 8.0),
    "guest": (0.0, 2.0),
    "paid": (1.0, 0.0),
    "elsewhere": (0.0, 1.0),
}
"""What a label counts for the seller and for the buyer."""

_WEB = re.compile(r"(?:https?://|www\.)(?:www\.)?([\w-]+(?:\.[\w-]+)+)|@([\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_SUFFIXES = frozenset(listed("trade", "domain_parts"))
_PROVIDERS = frozenset(listed("trade", "mail_providers"))


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that speaks for a name that begins in a cell: its kind, and what it counts for seller and buyer."""

    cell: Cell
    pieces: Pieces
    kind: str
    seller: float = 0.0
    buyer: float = 0.0


def signs(page: Page) -> Iterator[Sign]:
    """Yield all that speaks for names on a page."""
    webs = frozenset(bare(label) for label in _domains(page.text))
    head = next(_headed(page), None)
    if head:
        yield head
    yield from _first(page, head)
    yield from _senders(page)
    yield from _addressed(page, head)
    yield from _labelled(page)
    yield from _said(page)
    yield from _registered(page)
    yield from _sited(page, webs)


def foot_signs(page: Page) -> Iterator[Sign]:
    """Yield what speaks for the companies that a page prints with their registration, as the foot of a last page does."""
    return (
        sign for sign in _registered(page) if sign.kind in ("registered", "imprint") and sign.seller >= 2.0
    )


def _first(page: Page, head: Sign | None) -> Iterator[Sign]:
    """Yield the first name of the page, when another one heads it: whoever writes comes first, on most pages."""
    for cell in page.cells:
        if cell.line >= TOP:
            return
        if (name := name_in(cell)) and not page.role(cell) and not greets(cell.text):
            if head is None or head.cell is not cell:
                yield Sign(cell, (name,), "top", seller=0.7)
            return


def _headed(page: Page) -> Iterator[Sign]:
    """Yield the name that heads the page."""
    top = find_organization(page.text)
    over = [cell for cell in page.cells if top and cell.start < top[1] and cell.end > top[0]]
    held = [cell for cell in over if not cell.says and not cell.text.endswith(":")]
    if top and held:
        first = held[0]
        pieces: Pieces = tuple(_lines_of(page.text, *top[:2]))
        if first is not over[0]:
            pieces = ((first.start, first.end),)
        sender = next((end for cell, end in page.senders if cell is first), 0)
        if sender:
            pieces = ((first.start, first.start + sender),)
        elif is_prose(first.text) or BULLET.search(first.text):
            pieces = tuple(span for span in (legal_name(first) or name_in(first),) if span)
        if pieces:
            yield Sign(first, pieces, "head", seller=2.0 * top[2])


def _lines_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span of each line of a span."""
    for found in re.finditer(r"\S[^\n]*", text[start:end]):
        yield start + found.start(), start + found.end()


def _senders(page: Page) -> Iterator[Sign]:
    for cell, end in page.senders:
        yield Sign(cell, ((cell.start, cell.start + end),), "sender", seller=5.0)


def _labelled(page: Page) -> Iterator[Sign]:
    """Yield the names right of a label or beneath it, and those in rows of their own in the form beneath it."""
    for label in page.labels:
        seller, buyer = _SAID[label.says]
        for pieces, cell in _named_by(page, label):
            yield Sign(cell, pieces, "label", seller, buyer)
            break


def _named_by(page: Page, label: Cell) -> Iterator[tuple[Pieces, Cell]]:
    beside = page.beside(label)
    right = [beside] if beside is not None else []
    below = page.below(label, 4)
    rows = [value for row in below if is_name_row(row.text) and (value := page.beside(row))]
    reach = 2 if label.says != "paid" else 3
    near = [cell for cell in below if cell.line - label.line <= reach + _passed(below, cell)]
    ordered = [*right, *rows, *near] if label.text.endswith(":") else [*rows, *near, *right]
    for cell in ordered:
        if pieces := page.whole(cell, under=label.says):
            yield pieces, cell
    for cell in [cell for cell in ordered if not cell.says][:1]:
        # Under a label a name may end like a street does ("School No. 4").
        if STREET.fullmatch(cell.text) and is_name(cell.text) and cell.text[0].isalpha():
            yield ((cell.start, cell.end),), cell


def _passed(below: Sequence[Cell], cell: Cell) -> int:
    """Return how many of the lines above a cell hold no name by their form: a number, a remark in brackets."""
    return sum(bool(other.line < cell.line and no_party(other) and not other.says) for other in below)


def _addressed(page: Page, head: Sign | None) -> Iterator[Sign]:
    """Yield the name that heads each address, with what its label, its salutation and the window say of it."""
    for block in page.blocks():
        lines, hello = _party_lines(block)
        if not lines:
            continue
        said = page.role(block[0])
        top = _heads_address(lines)
        pieces = page.whole(top, under=said)
        if pieces is None:
            continue
        if said:
            seller, buyer = _SAID[said]
            yield Sign(top, pieces, "label", seller, buyer)
        own = Sign(top, pieces, "")
        yield Sign(top, pieces, "address", buyer=0.0 if said in ("seller", "elsewhere") else 1.5)
        if hello and said != "seller":
            yield Sign(top, pieces, "salutation", buyer=1.5)
        core = parse_name(page.said(pieces)).core
        sent = any(parse_name(cell.text[:end]).core == core for cell, end in page.senders)
        if not sent and any(
            0 < block[0].line - cell.line <= 2 and aligned(cell, top, 12) for cell, _ in page.senders
        ):
            yield Sign(top, pieces, "window", buyer=3.0)
        if said != "buyer":
            kinds = _block_marks(page, block, top)
            above = head if head and not said and _over(head.cell, top, page) else None
            if kinds & {"register", "tax"}:
                yield replace(above or own, kind="registered", seller=2.0)
            if "reach" in kinds:
                yield replace(above or own, kind="reach", seller=1.5)


def _over(head: Cell, top: Cell, page: Page) -> bool:
    """Return whether the name that heads the page stands over an address with no other one between."""
    between = any(head.line < other.line < top.line for other in page.towns)
    return 0 < top.line - head.line <= BLOCK and aligned(head, top, 12) and not between


def _party_lines(block: Sequence[Cell]) -> tuple[list[Cell], bool]:
    """Return the lines of an address from the one that may name the party on, and whether it is greeted ("Herrn")."""
    over = [place for place, cell in enumerate(block[:-1]) if _ends_above(cell)]
    lines = block[over[-1] + 1 : -1] if over and any(map(name_in, block[over[-1] + 1 : -1])) else block[:-1]
    lines = [cell for cell in lines if not NUMBERED.match(cell.text) and not cell.says]
    greeted = [place for place, cell in enumerate(lines) if greets(cell.text) == len(cell.text)]
    lines = lines[greeted[-1] + 1 :] if greeted else lines
    if len(lines) > 1 and lines[0].line == 0 and greets(lines[1].text) and not IN_CARE.match(lines[1].text):
        # The first line of the page, above "Ms Jane Roe", is of whoever writes to her.
        lines = lines[1:]
    while lines[1:] and (
        (span := name_in(lines[0])) is None or re.search(r"\d{3}|:\s", _text(lines[0], span))
    ):
        lines = lines[1:]
    return lines, bool(greeted or (lines and greets(lines[0].text)))


def _ends_above(cell: Cell) -> bool:
    """Return whether what stands above an address ends with a line: a heading, or a label with its value."""
    return bool(HEADING.fullmatch(cell.text) or re.search(r"[^\W\d]:\s", cell.text)) and name_in(cell) is None


def _text(cell: Cell, span: tuple[int, int]) -> str:
    return cell.text[span[0] - cell.start : span[1] - cell.start]


def _heads_address(lines: Sequence[Cell]) -> Cell:
    """Return the line of an address that names the party: a company below a person or a brand, else the first."""
    for cell in lines:
        if legal_name(cell) and not IN_CARE.match(cell.text):
            return cell
        if STREET.fullmatch(cell.text):
            break
    return lines[0]


def _block_marks(page: Page, block: Sequence[Cell], top: Cell) -> frozenset[str]:
    """Return the kinds of what a company prints of itself that stand in an address or directly beneath it."""
    last = block[-1]
    around = [cell for cell in block if cell.line >= top.line]
    step = blank(block[-2], last)
    for number in range(last.line + 1, last.line + BLOCK):
        column = [cell for cell in page.lines.get(number, ()) if aligned(cell, top, 6)]
        if not column:
            continue
        apart = blank(last, column[0]) - step
        if apart > 1 or (apart == 1 and not marks_of(column[0].text)) or HEADING.fullmatch(column[0].text):
            break
        last = column[0]
        around.append(last)
    return frozenset[str]().union(*(marks_of(cell.text) for cell in around))


def _said(page: Page) -> Iterator[Sign]:
    for cell in page.cells:
        if said := said_name(cell.text):
            yield Sign(cell, ((cell.start + said[0], cell.start + said[1]),), "said", seller=said[2])


@dataclass(frozen=True)
class _Marked:
    """The cells of a page that hold what a company prints of itself."""

    page: Page

    @cached_property
    def cells(self) -> list[tuple[Cell, frozenset[str]]]:
        found = ((cell, marks_of(cell.text)) for cell in self.page.cells)
        return [(cell, marks) for cell, marks in found if marks]

    def near(self, cell: Cell) -> frozenset[str]:
        """Return the kinds that stand in a cell, in the next one of its line and in its column some lines further down."""
        beside = self.page.beside(cell)
        kinds = (
            marks
            for other, marks in self.cells
            if other is cell
            or other is beside
            or (0 < other.line - cell.line <= NEAR and aligned(other, cell, 30))
        )
        return frozenset[str]().union(*kinds)

    def beneath(self, cell: Cell) -> float:
        """Return what it counts that a registration or a tax number stands directly beneath a cell."""
        slack = 40 if len(self.page.lines[cell.line]) == 1 else 8
        marks = (
            kinds
            for other, kinds in self.cells
            if other.line == cell.line + 1 and aligned(other, cell, slack) and re.search(r"\d", other.text)
        )
        kinds = frozenset[str]().union(*marks)
        return 2.0 if "register" in kinds else 1.2 if "tax" in kinds else 0.0


def _registered(page: Page) -> Iterator[Sign]:
    """Yield the names near a registration, a number of the tax office or an account, as a company's foot line has them."""
    marked = _Marked(page)
    for cell in page.cells:
        legal = legal_name(cell)
        span = legal or name_in(cell)
        if span is None or cell.says:
            continue
        name = page.text[slice(*span)]
        if is_name(name) and not STREET.fullmatch(name):
            label = page.role(cell)
            yield from _imprinted(cell, span, marked, label) if legal else _above(cell, span, marked, label)


def _imprinted(cell: Cell, span: tuple[int, int], marked: _Marked, label: str) -> Iterator[Sign]:
    """Yield what speaks for a company's name: the marks in its line and in the lines beneath it."""
    kinds = marked.near(cell)
    if BANK.search(cell.text) and "bank" in kinds:
        return
    if label and kinds:
        seller, buyer = _SAID[label]
        yield Sign(cell, (span,), "label", seller, buyer)
    if label == "buyer":
        return
    if "register" in kinds:
        yield Sign(cell, (span,), "registered", seller=2.5)
    elif kinds & {"tax", "bank"}:
        yield Sign(cell, (span,), "registered", seller=1.5)
    own = marks_of(cell.text[span[1] - cell.start :])
    if len(own) > 1 or ("bank" in kinds and "register" in kinds):
        yield Sign(cell, (span,), "imprint", seller=2.0)


def _above(cell: Cell, span: tuple[int, int], marked: _Marked, label: str) -> Iterator[Sign]:
    """Yield a name without a legal form that stands directly over a registration or a tax number."""
    plain_line = len(cell.text) <= 50 and not re.search(r"\d", cell.text) and not marks_of(cell.text)
    counts = marked.beneath(cell) if plain_line and label != "buyer" else 0.0
    if counts:
        yield Sign(cell, (span,), "registered", seller=counts)


def _sited(page: Page, webs: frozenset[str]) -> Iterator[Sign]:
    """Yield the names that a web site or a mail address on the page bears."""
    for cell in page.cells if webs else ():
        span = legal_name(cell) or (name_in(cell) if len(cell.text) <= 50 else None)
        if span and (counts := _bears(page.text[slice(*span)], webs)):
            yield Sign(cell, (span,), "site", seller=counts)


def _domains(page: str) -> Iterator[str]:
    """Yield the labels of the web sites that a page prints, of its mail addresses when there are none."""
    found = list(_WEB.finditer(page))
    sites = [match[1] for match in found if match[1]] or [match[2] for match in found if match[2]]
    for site in sites:
        label = max((part for part in site.split(".")[:-1] if part not in _SUFFIXES), key=len, default="")
        if label.lower() not in _PROVIDERS and len(label) > 2:
            yield re.sub(r"[\W_]", "", label)


def _bears(name: str, webs: frozenset[str]) -> float:
    """Return what it counts that a web site bears a name."""
    core = "".join(part for part in parse_name(name).core)
    alike = (len(core) > 3 and 2 * len(core) > len(web) and web.startswith(core) for web in webs)
    return 4.0 if any(alike) or any(len(web) > 5 and web in core for web in webs) else 0.0
