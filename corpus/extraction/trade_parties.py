"""Who sells and who buys: the names that an invoice, a receipt or a credit note prints, told apart by what is near them.

Evidence, not places: a sender's line above the window, a label, a registration or a VAT number below a name, the domain
of the web site, the head of the page; an address under a label or in the window is the buyer's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from corpus.extraction.heads import find_organization, is_name
from corpus.extraction.trade_words import (
    ADDRESS_ROW,
    AFTER_FORM,
    NUMBERED,
    POSTCODE,
    REGISTERED,
    SALUTATION,
    SENDER,
    STREET,
    label_end,
    label_of,
    said_name,
)
from corpus.names import CLEAR_FORMS, CONNECTORS, LEGAL_FORMS, parse_name, plain, tokens

Named = tuple[int, int, float]
"""Start, end and confidence of a name."""

BLOCK = 7
"""Lines of an address above its postcode line that may belong to it."""
SPREAD = 3
"""Lines between two lines of one address: another column may stand closer."""
NEAR = 3
"""Lines around a name in which a registration speaks of it."""
MOST_CELLS = 400
_SAID = {"seller": (5.0, 0.0), "buyer": (0.0, 5.0), "paid": (1.5, 0.0)}
"""What a label counts for the seller and for the buyer."""

_CELL = re.compile(r"\S+(?: \S+)*")
_WEB = re.compile(r"(?:https?://|www\.)(?:www\.)?([\w-]+(?:\.[\w-]+)+)|@([\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_PROVIDERS = frozenset(
    "gmail yahoo hotmail outlook gmx web icloud live aol orange free localhost example".split()
)


@dataclass(frozen=True, slots=True)
class _Cell:
    """A piece of a line between wide gaps: its line, its column, and its characters."""

    line: int
    column: int
    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Party:
    """A name with what speaks for its being the seller, for the buyer, and for its heading an address
    or the page, of either."""

    cell: _Cell
    name: tuple[int, int]
    seller: float = 0.0
    buyer: float = 0.0
    addressed: float = 0.0
    headed: float = 0.0

    @property
    def sells(self) -> float:
        """Return what speaks for the seller, less what speaks against it."""
        return self.seller + self.headed - self.buyer

    @property
    def buys(self) -> float:
        """Return what speaks for the buyer, less what speaks against it; the head of a page may name either."""
        return self.buyer + self.addressed - self.seller


def find_trade_parties(text: str) -> tuple[Named | None, Named | None]:
    """Return the seller's and the buyer's name, None for one that nothing speaks for."""
    page = text[: (text.find("\f") if "\f" in text else len(text))]
    cells = list(_cells(page))[:MOST_CELLS]
    top = find_organization(page)
    parties = _merged(page, chain(_headed(top, cells), _parties(page, cells)))
    seller = max(parties, key=lambda party: (party.sells, -party.name[0]), default=None)
    if seller and seller.sells < 1.0:
        seller = None
    sold_by = _core(page, seller) if seller else None
    others = [party for party in parties if _core(page, party) != sold_by]
    buyer = max(others, key=lambda party: (party.buys, -party.name[0]), default=None)
    # The head of the page is as sure as whoever read it says (`_headed` doubles that, `_named` adds 0.4 to a tenth).
    head = 10 * (seller.headed / 2 - 0.4) - seller.buyer if seller else 0.0
    return (
        _named(seller.name, max(seller.sells, head)) if seller is not None else None,
        _named(buyer.name, buyer.buys) if buyer and buyer.buys > 0 else None,
    )


def _headed(top: Named | None, cells: Sequence[_Cell]) -> Iterator[_Party]:
    """Yield the name that heads the page as a party."""
    for cell in cells:
        if top and cell.start <= top[0] < cell.end:
            yield _Party(cell, top[:2], headed=2.0 * top[2])


def _merged(page: str, parties: Iterator[_Party]) -> list[_Party]:
    """Return one party for each name, with all that speaks for it, where it was seen first."""
    merged: dict[tuple[str, ...], _Party] = {}
    for party in parties:
        if not party.headed and re.search(r"\d{3}", page[slice(*party.name)]):
            continue
        known = merged.setdefault(_core(page, party), party)
        if known is not party:
            known.seller += party.seller
            known.buyer += party.buyer
            known.headed += party.headed
            known.addressed = max(known.addressed, party.addressed)
    return [party for party in merged.values() if not _shortened(page, party, merged)]


def _shortened(page: str, party: _Party, parties: dict[tuple[str, ...], _Party]) -> bool:
    """Return whether a name is a brand that a company's full name begins with, which takes over what speaks for it."""
    core = _core(page, party)
    for longer, full in parties.items():
        if (
            len(longer) > len(core)
            and longer[: len(core)] == core
            and parse_name(page[slice(*full.name)]).legal
        ):
            full.seller += party.seller
            full.headed = max(full.headed, party.headed)
            return True
    return False


def _named(name: tuple[int, int], evidence: float) -> Named:
    """Return a name with its confidence: 0.55 for one sign, 0.85 at most."""
    return (*name, round(min(0.85, 0.4 + 0.1 * evidence), 2))


def _core(text: str, party: _Party) -> tuple[str, ...]:
    return parse_name(text[slice(*party.name)]).core


def _cells(page: str) -> Iterator[_Cell]:
    start = number = 0
    for line in page.split("\n"):
        for found in _CELL.finditer(line):
            parts = [0, cut, len(found[0])] if (cut := label_end(found[0])) else [0, len(found[0])]
            for begin, end in pairwise(parts):
                text = found[0][begin:end].rstrip()
                place = found.start() + begin
                yield _Cell(number, place, start + place, start + place + len(text), text)
        number += bool(line.strip())
        start += len(line) + 1


def _parties(page: str, cells: Sequence[_Cell]) -> Iterator[_Party]:
    """Yield the names that something speaks for."""
    webs = {plain(label) for label in _domains(page)}
    matches = ((cell, SENDER.fullmatch(cell.text)) for cell in cells)
    sent = [(cell, found) for cell, found in matches if found and is_name(found["name"])]
    for cell, found in sent:
        name = (cell.start, cell.start + found.end("name"))
        yield _Party(cell, name, seller=4.0 + _domain(found["name"], webs))
    senders = [cell for cell, _ in sent]
    for block in _blocks(cells, senders):
        if party := _addressee(block, cells, senders, webs):
            yield party
    yield from _labelled(cells)
    for cell in cells:
        if said := said_name(cell.text):
            yield _Party(cell, (cell.start + said[0], cell.start + said[1]), seller=said[2])
    yield from _registered(cells, webs)


def _labelled(cells: Sequence[_Cell]) -> Iterator[_Party]:
    """Yield the names right of a label or beneath it, wherever no postcode shows where an address ends."""
    for place, cell in enumerate(cells):
        if (said := label_of(cell.text)) not in _SAID:
            continue
        beside = [other for other in cells[place + 1 : place + 2] if other.line == cell.line]
        below = [
            other
            for other in cells[place + 1 :]
            if 0 < other.line - cell.line <= 2 and _aligned(other, cell, 4)
        ]
        for other in beside if cell.text.endswith(":") and beside else below[:2]:
            name = _without_salutation(other)
            if name and is_name(other.text) and not _no_party(other.text):
                seller, buyer = _SAID[said]
                yield _Party(other, name, seller=seller, buyer=buyer)
                break


def _no_party(text: str) -> bool:
    return bool(
        label_of(text)
        or NUMBERED.match(text)
        or STREET.fullmatch(text)
        or text.endswith(":")
        or is_prose(text)
    )


def _without_salutation(cell: _Cell) -> tuple[int, int] | None:
    """Return the span of a cell less "Herrn", "Attn" and the like; None when that is all it holds."""
    hello = SALUTATION.match(cell.text)
    lead = hello.end() if hello else 0
    end = cell.start + len(cell.text.rstrip(" ,;"))
    return (cell.start + lead, end) if end - cell.start - lead > 1 else None


def _registered(cells: Sequence[_Cell], webs: set[str]) -> Iterator[_Party]:
    """Yield the names near a registration or a number of the tax office, and those that the web site bears."""
    registered = [cell for cell in cells if REGISTERED.search(cell.text)]
    for cell in cells:
        legal = _legal(cell)
        start, end = legal or (0, len(cell.text))
        alone = len(cell.text) <= 50 and is_name(cell.text) and not label_of(cell.text)
        near = any(abs(other.line - cell.line) <= NEAR and _aligned(other, cell, 30) for other in registered)
        slack = 40 if sum(other.line == cell.line for other in cells) == 1 else 8
        below = [
            other for other in registered if other.line == cell.line + 1 and _aligned(other, cell, slack)
        ]
        heads = alone and bool(below) and not NUMBERED.match(cell.text) and not re.search(r"\d", cell.text)
        site = _domain(cell.text[start:end], webs) if (alone or legal) else 0.0
        if (legal and is_name(cell.text[start:end]) and near) or (alone and (site or heads)):
            label = _above(cell, cells)
            yield _Party(
                cell,
                (cell.start + start, cell.start + end),
                seller=site + (2.0 if near and legal else 1.2 * heads) + 6.0 * (label == "seller"),
                buyer=5.0 * (label == "buyer") + 3.0 * (label == "elsewhere"),
            )


def _blocks(cells: Sequence[_Cell], senders: Sequence[_Cell]) -> Iterator[list[_Cell]]:
    """Yield addresses: the cells above a postcode and a town, in their column, from the top."""
    for at, town in enumerate(cells):
        if not POSTCODE.fullmatch(town.text) or is_prose(town.text):
            continue
        block = [town]
        for cell in reversed(cells[:at]):
            if block[0].line - cell.line > SPREAD or town.line - cell.line > BLOCK:
                break
            if cell.line < block[0].line and _aligned(cell, block[0], 3):
                if cell in senders or POSTCODE.fullmatch(cell.text) or _other_row(cell, cells):
                    break
                block.insert(0, cell)
        if len(block) > 1:
            yield block


def _other_row(cell: _Cell, cells: Sequence[_Cell]) -> bool:
    """Return whether a cell is a label, or the value of a label beside it that names no part of an address."""
    beside = [other.text for other in cells if other.line == cell.line and other.start < cell.start]
    labelled = bool(beside) and beside[-1].endswith(":") and not ADDRESS_ROW.match(beside[-1])
    return labelled or bool(label_of(cell.text)) or cell.text.endswith(":")


def is_prose(text: str) -> bool:
    """Return whether a line is a sentence or holds an amount or a date, not a town."""
    return bool(re.search(r"\d[.,]\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}", text)) or len(text.split()) > 7


def _aligned(one: _Cell, other: _Cell, slack: int) -> bool:
    middle = abs((one.column + len(one.text) / 2) - (other.column + len(other.text) / 2))
    return min(abs(one.column - other.column), middle) <= slack


def _addressee(
    block: Sequence[_Cell], cells: Sequence[_Cell], senders: Sequence[_Cell], webs: set[str]
) -> _Party | None:
    """Return the party that an address names, with what its label and its surroundings say of it."""
    lines = [cell for cell in block[:-1] if not NUMBERED.match(cell.text) and not label_of(cell.text)]
    if lines and (hello := SALUTATION.match(lines[0].text)) and hello.end() == len(lines[0].text):
        lines = lines[1:]
    while lines[1:] and (not is_name(lines[0].text) or re.search(r"\d{3}|:\s", lines[0].text)):
        lines = lines[1:]
    if not lines or not is_name(lines[0].text) or STREET.fullmatch(lines[0].text):
        return None
    top = lines[0]
    name = _without_salutation(top)
    if name is None:
        return None
    label = _above(block[0], cells)
    near = [cell for cell in cells if 0 <= cell.line - top.line <= BLOCK + NEAR and _aligned(cell, top, 6)]
    registered = any(REGISTERED.search(cell.text) for cell in near) and label != "buyer"
    core = parse_name(top.text).core
    windowed = any(0 < top.line - cell.line <= 2 and _aligned(cell, top, 12) for cell in senders)
    sent = any(parse_name(cell.text[: len(top.text)]).core == core for cell in senders)
    return _Party(
        top,
        name,
        seller=6.0 * (label == "seller") + 1.5 * registered + _domain(top.text, webs),
        buyer=6.0 * (label == "buyer") + 3.0 * (windowed and not sent),
        addressed=0.5 if label == "elsewhere" else 1.5,
    )


def _above(cell: _Cell, cells: Sequence[_Cell]) -> str:
    """Return what the nearest label above a cell, in its column, or on its left says: "seller", "buyer" ..."""
    row = [other for other in cells if other.line == cell.line and other.start <= cell.start]
    for other in reversed(cells):
        left = other.line == cell.line and other.column < cell.column
        over = 0 < cell.line - other.line <= 4 and (_aligned(other, cell, 6) or _aligned(other, row[0], 6))
        if (left or over) and other.start < cell.start and (said := label_of(other.text)):
            return said
    return ""


def _legal(cell: _Cell) -> tuple[int, int] | None:
    """Return where a name with a legal form stands in a cell, None when it has none.

    In a sentence it begins after the last word in lower case that no name holds.
    """
    found = list(tokens(cell.text))
    for place, (before, token) in enumerate(pairwise(found), 1):
        last_word = place == len(found) - 1 or bool(AFTER_FORM.match(cell.text, token.end))
        capital = cell.text[token.start].isupper()
        clear = token.text in CLEAR_FORMS or (token.text in LEGAL_FORMS and last_word and capital)
        if not clear or token.bracketed or (before.text in LEGAL_FORMS and place == 1):
            continue
        last = token
        for other in found[place + 1 :]:
            if other.text not in LEGAL_FORMS or other.start - last.end > 3:
                break
            last = other
        first = found[0]
        for earlier, later in pairwise(found[:place]):
            if cell.text[earlier.start].islower() and earlier.text not in CONNECTORS:
                first = later
        return first.start, last.end + (cell.text[last.end : last.end + 1] == ".")
    return None


def _domains(page: str) -> Iterator[str]:
    """Yield the labels of the web sites that a page prints, of its mail addresses when there are none."""
    found = list(_WEB.finditer(page))
    sites = [match[1] for match in found if match[1]] or [match[2] for match in found if match[2]]
    for site in sites:
        label = site.split(".")[-2]
        if label.lower() not in _PROVIDERS and len(label) > 2:
            yield re.sub(r"[\W_]", "", label)


def _domain(name: str, webs: set[str]) -> float:
    """Return what it counts that a web site bears a name."""
    core = "".join(part for part in parse_name(name).core)
    alike = (len(core) > 3 and 2 * len(core) > len(web) and web.startswith(core) for web in webs)
    return 4.0 if any(alike) or any(len(web) > 5 and web in core for web in webs) else 0.0
