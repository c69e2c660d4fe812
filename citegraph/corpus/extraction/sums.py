"""Amounts that have to add up: of what an invoice prints as net, tax and total, the three that do."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, product

from citegraph.corpus.records.extracted.found import Candidate, Extracted
from citegraph.corpus.schema.field import Sum
from citegraph.language.amounts import Money

CENT = Decimal("0.005")
MOST = 24
"""Candidates a field that are tried."""
HIGHEST_RATE = Decimal("0.35")
"""Share of the net that a tax can be: the highest rate of VAT in the world is 27 %, insurance taxes reach a third."""
PROOF = 0.8
"""Confidence that three amounts which add up are the right ones, beside that of each."""
UNLABELLED = 0.25
"""Confidence of an amount that no label names, when the other two have theirs."""
BY_RATE = 0.0
"""The same of three amounts without labels, one of which is the tax on another at a printed rate."""
_LEAST = Decimal("0.01")
ROUNDING = Decimal("0.10")
SURE = 0.9
"""A value of this confidence is not given up for a sum."""
UNPROVED = 0.7
"""Factor on the confidence of a net amount or a tax that no sum proves: a rate's own line reads like the whole."""
CONTRADICTED = 0.6
"""The same for the tax when all three amounts were found and do not add up: it is the one most often misread."""


_Way = tuple[Candidate, Candidate, Candidate]
"""Three candidates that add up: total, net, tax."""


def _weight(way: _Way) -> tuple[float, Decimal]:
    return sum(candidate.confidence for candidate in way), abs(amount_of(way[0]))


def amount_of(candidate: Candidate) -> Decimal:
    """Return the amount that a candidate of a money field gives."""
    assert isinstance(candidate.value, Money)
    return candidate.value.amount


def add_up(
    rule: Sum,
    decided: Mapping[str, Extracted],
    candidates: Mapping[str, Sequence[Candidate]],
    printed: Sequence[Candidate],
    rates: Collection[Decimal] = (),
) -> dict[str, Extracted]:
    """Return the decided values of the fields of a sum: those that add up, surer; else net and tax, in doubt.

    Where no label tells the total, the largest amount is one that is another and its tax at a rate that is printed, too.

    Args:
        candidates: what labels and patterns give each field, best first.
        printed: every amount of the document; where a label tells the total, at most one of the three has none.
        rates: the shares that the document prints as percentages.
    """
    names = (rule.total, *rule.of)
    ways = list(_ways([_tried(decided.get(name), candidates.get(name, ())) for name in names], printed))
    sure = {name: found for name in names if (found := decided.get(name)) and found.best.confidence >= SURE}
    ways = [way for way in ways if all(_same(sure[name], way, names.index(name)) for name in sure)]
    if total := decided.get(rule.total):
        ways = [way for way in ways if _same(total, way, 0) or _outgrown(total, way)]
    if not ways and rule.total not in decided:
        ways = list(_rated(printed, rates))[:1]
    if not ways:
        return {} if _comes_out(rule, decided, printed) else _doubted(rule, decided)
    best = max(ways, key=_weight)
    return {
        name: _proved(name, candidate, decided.get(name)) for name, candidate in zip(names, best, strict=True)
    }


def _comes_out(rule: Sum, decided: Mapping[str, Extracted], printed: Sequence[Candidate]) -> bool:
    """Tell whether the three amounts come out with one or two others that stand among them: a discount, a fee."""
    best = [decided[name].best for name in (rule.total, *rule.of) if name in decided]
    if len(best) != 3 or any(one.start is None for one in best):
        return False
    places = [one.start for one in best if one.start is not None]
    total, net, tax = (amount_of(one) for one in best)
    if not tax or not _taxed(net, tax):
        return False
    missing = total - net - tax
    among = [
        abs(amount_of(one))
        for one in printed
        if one.start is not None and min(places) < one.start < max(places) and one.start not in places
    ][:MOST]
    signed = [sign * amount for amount in among if amount for sign in (1, -1)]
    pairs = (one + other for one, other in combinations(signed, 2))
    return any(abs(missing - extra) <= CENT for extra in (*signed, *pairs))


def _doubted(rule: Sum, decided: Mapping[str, Extracted]) -> dict[str, Extracted]:
    """Return the net amount and the tax less sure than they were read, those of embedded data as they are."""
    wrong = all(name in decided for name in (rule.total, *rule.of))
    factors = {rule.of[0]: UNPROVED, rule.of[1]: CONTRADICTED if wrong else UNPROVED}
    return {
        name: replace(decided[name], confidence=round(decided[name].confidence * factor, 4))
        for name, factor in factors.items()
        if name in decided and decided[name].best.confidence < SURE
    }


def _tried(decided: Extracted | None, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return a field's candidates, one a value, the surest."""
    best: dict[Decimal, Candidate] = {}
    for candidate in (*candidates, *([decided.best] if decided and not candidates else ())):
        known = best.setdefault(amount_of(candidate), candidate)
        if candidate.confidence > known.confidence:
            best[amount_of(candidate)] = candidate
    return sorted(best.values(), key=lambda candidate: -candidate.confidence)[:MOST]


def _ways(tried: Sequence[Sequence[Candidate]], printed: Sequence[Candidate]) -> Iterator[_Way]:
    totals, nets, taxes = tried
    pool: dict[Decimal, Candidate] = {}
    for candidate in printed:
        pool.setdefault(amount_of(candidate), replace(candidate, confidence=UNLABELLED))
    for total, net in product(totals, nets):
        wanted = amount_of(total) - amount_of(net)
        taxed = _of(taxes, wanted) or (pool.get(wanted) if wanted else None)
        if taxed and _taxed(amount_of(net), wanted):
            yield total, net, taxed
    for total, tax in product(totals, taxes):
        before = pool.get(amount_of(total) - amount_of(tax))
        if before and amount_of(tax) and _taxed(amount_of(before), amount_of(tax)):
            yield total, before, tax
    for net, tax in product(nets, taxes):
        whole = pool.get(amount_of(net) + amount_of(tax))
        if whole and amount_of(tax) and _taxed(amount_of(net), amount_of(tax)):
            yield whole, net, tax


def _rated(printed: Sequence[Candidate], rates: Collection[Decimal]) -> Iterator[_Way]:
    """Yield the amounts that are another one and its tax at a printed rate, the largest total first."""
    pool: dict[Decimal, Candidate] = {}
    for candidate in printed:
        pool[amount_of(candidate)] = replace(candidate, confidence=BY_RATE)
    for total in sorted((one for one in pool if one > 0), reverse=True):
        for rate in rates:
            net = round(total / (1 + rate), 2)
            near = next((one for one in (net, net + _LEAST, net - _LEAST) if one in pool), None)
            if (
                near is not None
                and (tax := pool.get(total - near))
                and abs(near * rate - amount_of(tax)) <= ROUNDING
            ):
                yield pool[total], pool[near], tax


def _of(candidates: Sequence[Candidate], wanted: Decimal) -> Candidate | None:
    return next((one for one in candidates if abs(amount_of(one) - wanted) <= CENT), None)


def _taxed(net: Decimal, tax: Decimal) -> bool:
    """Return whether a tax can be one on a net amount."""
    return net != 0 and 0 <= tax / net <= HIGHEST_RATE


def _same(found: Extracted, way: _Way, place: int) -> bool:
    return abs(amount_of(found.best) - amount_of(way[place])) <= CENT


def _outgrown(found: Extracted, way: _Way) -> bool:
    """Return whether a sum gives a larger total, by more than the rounding of cash.

    A smaller one is the total of a part: of one rate of tax, of one page.
    """
    total, before = amount_of(way[0]), amount_of(found.best)
    return abs(total) - abs(before) > ROUNDING and total * before >= 0


def _proved(name: str, candidate: Candidate, before: Extracted | None) -> Extracted:
    """Return a value that the sum proves, with what it stands against."""
    others = (before.best, *before.others) if before else ()
    kept = tuple(other for other in others if amount_of(other) != amount_of(candidate))
    least = before.confidence if before and not kept else candidate.confidence
    confidence = 1 - (1 - least) * (1 - PROOF)
    return Extracted(replace(candidate, field=name), round(confidence, 4), kept)
