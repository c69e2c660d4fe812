"""Who sells and who buys: the names that an invoice, a receipt or a credit note prints, told apart by what speaks for each.

Independent signs are added up over the candidates, the seller is the name for which most of them speak, the buyer
the one of the others that an address, a window or a label names. More kinds of signs make a value surer, a rival less sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from citegraph.corpus.extraction.invoice_parties.invoice_page import Page, Pieces
from citegraph.corpus.extraction.invoice_parties.party_names import has_form
from citegraph.corpus.extraction.invoice_parties.party_signs import Sign, foot_signs, signs
from citegraph.language.names import parse_name

_MOST = (0.75, 0.85, 0.9)
"""Confidence that a name reaches for which one, two, or more kinds of signs speak."""
TELLING = frozenset(("label", "sender", "registered", "imprint", "site", "said"))
"""Kinds of signs that tell a seller from whoever else a page may begin with."""
CLOSE = 1.5
"""A rival for which nearly as much speaks makes a name less sure."""


@dataclass(frozen=True, slots=True)
class Named:
    """A name: the spans of the lines that it runs over, as one line, and how sure it is, 0 to 1."""

    pieces: Pieces
    text: str
    confidence: float


@dataclass(slots=True)
class _Party:
    """A name with what speaks for its being the seller's and the buyer's: the strongest sign of each kind."""

    pieces: Pieces
    text: str
    seller: dict[str, float] = field(default_factory=dict)
    buyer: dict[str, float] = field(default_factory=dict)

    def take(self, other: _Party) -> None:
        """Add what speaks for another spelling of the name; the one with a legal form stands."""
        if not has_form(self.text) and has_form(other.text):
            self.pieces, self.text = other.pieces, other.text
        for mine, theirs in ((self.seller, other.seller), (self.buyer, other.buyer)):
            for kind, counts in theirs.items():
                mine[kind] = max(counts, mine.get(kind, 0.0))

    @property
    def start(self) -> int:
        """Return where the name begins."""
        return self.pieces[0][0]

    @property
    def sells(self) -> float:
        """Return what speaks for the seller, less what speaks against it; either may head an address."""
        return sum(self.seller.values()) - sum(
            counts for kind, counts in self.buyer.items() if kind != "address"
        )

    @property
    def buys(self) -> float:
        """Return what speaks for the buyer, less what speaks against it.

        Either may head the page, and both may print a tax number.
        """
        return sum(self.buyer.values()) - sum(
            counts for kind, counts in self.seller.items() if kind not in ("top", "head", "registered")
        )


def find_trade_parties(text: str) -> tuple[Named | None, Named | None]:
    """Return the seller's and the buyer's name, None for one that nothing speaks for.

    The first page names both; where nothing but its head speaks for a seller, the foot of the last page is asked too.
    """
    first, _, others = text.partition("\f")
    page = Page(first)
    parties = _merged(page, signs(page))
    if others.strip() and not any(party.seller.keys() & TELLING and party.sells >= 1.0 for party in parties):
        last = text.rstrip("\f \n").rfind("\f") + 1
        # Blanks before the last page keep its offsets those of the whole text.
        foot = Page(" " * last + text[last:])
        parties += _merged(foot, foot_signs(foot))
    seller = max(parties, key=lambda party: (party.sells, -party.start), default=None)
    seller = seller if seller and seller.sells >= 1.0 else None
    rest = [party for party in parties if not (seller and _alike(party, seller))]
    if seller and "head" not in seller.seller:
        for party in rest:
            if set(party.seller) == {"head"} and has_form(party.text):
                party.buyer["head"] = 1.2
    buyer = max(rest, key=lambda party: (party.buys, -party.start), default=None)
    buyer = buyer if buyer and buyer.buys > 0 else None
    return (
        _named(seller, seller.sells, seller.seller, [party.sells for party in parties if party is not seller])
        if seller
        else None,
        _named(buyer, buyer.buys, buyer.buyer, [party.buys for party in rest if party is not buyer])
        if buyer
        else None,
    )


def _alike(one: _Party, other: _Party) -> bool:
    """Return whether one name begins with the other."""
    first, second = parse_name(one.text).core, parse_name(other.text).core
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]


def _merged(page: Page, found: Iterable[Sign]) -> list[_Party]:
    """Return one party for each name, with all that speaks for it, where it was seen first."""
    merged: dict[tuple[str, ...], _Party] = {}
    for sign in found:
        text = page.said(sign.pieces)
        if sign.kind != "head" and re.search(r"\d{3}", text):
            continue
        party = _Party(
            sign.pieces,
            text,
            {sign.kind: sign.seller} if sign.seller else {},
            {sign.kind: sign.buyer} if sign.buyer else {},
        )
        merged.setdefault(parse_name(text).core, party).take(party)
    for core, party in list(merged.items()):
        if full := _around(page, party, merged.values()) or _fuller(core, merged):
            full.take(party)
            del merged[core]
    return list(merged.values())


def _around(page: Page, party: _Party, parties: Iterable[_Party]) -> _Party | None:
    """Return the name of several lines that a name is one or some of the lines of, here or where it is printed again."""
    mine, core = set(party.pieces), parse_name(party.text).core
    for other in parties:
        if len(other.pieces) > len(mine) and (
            mine <= set(other.pieces)
            or any(parse_name(page.said((piece,))).core == core for piece in other.pieces)
        ):
            return other
    return None


def _fuller(core: tuple[str, ...], parties: dict[tuple[str, ...], _Party]) -> _Party | None:
    """Return the company whose name begins with a brand, which takes over what speaks for it."""
    for longer, full in parties.items():
        if len(longer) > len(core) and longer[: len(core)] == core and has_form(full.text):
            return full
    return None


def _named(party: _Party, score: float, kinds: dict[str, float], rivals: Iterable[float]) -> Named:
    """Return a name with its confidence: more when signs of several kinds agree, less when a rival comes close.

    The head of a page that names nobody else is as sure as whoever read it says (`_headed` doubles that); beside
    other names it is one sign.
    """
    most = _MOST[max(0, min(len(kinds.keys() - {"top"}), len(_MOST)) - 1)]
    confidence = min(most, 0.42 + 0.1 * score)
    against = max(rivals, default=0.0)
    if against > 0 and score - against < CLOSE:
        confidence -= 0.05
    head = 0.0
    if kinds is party.seller:
        head = party.seller.get("head", 0.0) / 2 - 0.1 * (sum(party.seller.values()) - party.sells)
        head = min(head, _MOST[0]) if against > 0 else head
    return Named(party.pieces, party.text, round(max(confidence, head), 2))
