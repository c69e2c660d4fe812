"""The table of units holds what pint knows."""

from decimal import Decimal

import pytest
from pint import UnitRegistry

from citegraph.errors import BadInput
from citegraph.language.units import conversion, unit, unit_rows

REGISTRY = UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)


def test_every_factor_is_that_of_pint() -> None:
    first: dict[str, str] = {}
    wrong = []
    for dimension, name, factor, _ in unit_rows():
        base = first.setdefault(dimension, name)
        if "none" in (name, base):
            continue
        zero = REGISTRY.Quantity(0.0, name).to(base).magnitude
        known = REGISTRY.Quantity(1.0, name).to(base).magnitude - zero
        if abs(known - float(factor)) > 1e-6 * known:
            wrong.append((dimension, name, factor, known))
    assert wrong == []


def test_no_spelling_stands_twice() -> None:
    spelled = [spelling.casefold() for _, _, _, spellings in unit_rows() for spelling in spellings]
    assert sorted({word for word in spelled if spelled.count(word) > 1}) == []


@pytest.mark.parametrize(
    ("text", "glued", "known"),
    [
        ("kWh", False, ("energy", Decimal(3_600_000))),
        ("MW", False, ("power", Decimal(1_000_000))),
        ("mW", False, ("power", Decimal("0.001"))),
        ("a", False, None),
        ("V", True, ("voltage", Decimal(1))),
        ("employees", False, None),
    ],
)
def test_a_printed_unit(text: str, glued: bool, known: tuple[str, Decimal] | None) -> None:
    assert unit(text, glued) == known


def test_what_the_table_lacks_is_asked_of_pint() -> None:
    assert conversion("days", "week") == pytest.approx((1 / 7, 0.0))
    assert conversion("year", "day")[0] == pytest.approx(365.25)
    assert conversion("°F", "degC") == pytest.approx((5 / 9, -160 / 9))
    with pytest.raises(BadInput, match="is not a unit that converts to volt"):
        conversion("employees", "volt")
