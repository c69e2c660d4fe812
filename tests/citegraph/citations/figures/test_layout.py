"""Tables laid out with spaces: cells belong to the heads that stand above them, units to the values beside them."""

import pytest

from citegraph.citations.figures.layout import laid_out
from citegraph.citations.figures.tables import tables_of, units_of_cells
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

SHEET = """HARROW BAY FERRIES - BALANCE SHEET (in thousands)

                                    March 31,            September 30,
                                 2024       2023             2023
                                                          (unaudited)
ASSETS
Cash                          $  4,120   $  3,905          $  4,410
Vessels                         61,300     64,750            62,900

LIABILITIES
Loans                         $ 22,400   $ 25,100          $ 23,600
Leases                           1,875      2,040             1,930
"""
VALVE = """Ratings
PARAMETER                CONDITION          MIN    TYP    MAX   UNIT
Opening pressure         at 20 mA                  3.1    3.6    bar
                         at 45 mA                  5.2    5.9    bar
Supply voltage                              18.0   24.0          V

Hardening
Temperature      Touch dry      Hard
(°C)             (min)          (h)
12               90             30
27               40             11

Class            Type A         Type B
Leak rate        0.4 ml/min     1.3 ml/min
Weight (kg)      2.10           2.75
"""


def heads(text: str) -> dict[str, tuple[str, str]]:
    """Return each cell with its head and what names its row."""
    return {
        " ".join(text[c.start : c.end].split()): (c.head, c.names) for t in tables_of(text) for c in t.cells
    }


def test_a_head_over_two_columns_belongs_to_both_and_a_later_part_keeps_the_heads() -> None:
    cells = heads(SHEET)
    assert cells["$ 4,120"] == ("March 31, 2024", "ASSETS Cash")
    assert cells["64,750"] == ("March 31, 2023", "ASSETS Vessels")
    assert cells["62,900"] == ("September 30, 2023", "ASSETS Vessels")
    assert cells["$ 25,100"] == ("March 31, 2023", "Loans")
    assert cells["1,930"] == ("September 30, 2023", "Leases")


def test_empty_cells_shift_no_value_and_a_row_without_a_label_goes_on_with_the_one_above() -> None:
    cells = heads(VALVE)
    assert cells["3.1"] == ("TYP", "Opening pressure at 20 mA bar")
    assert cells["5.9"] == ("MAX", "Opening pressure at 45 mA bar")
    assert cells["18.0"] == ("MIN", "Supply voltage V")
    assert cells["40"][0] == "Touch dry (min)"


def test_the_unit_of_a_cell_is_that_of_its_row_its_head_or_its_label() -> None:
    found = {VALVE[a:b].strip(): unit[0] for (a, b), unit in units_of_cells(VALVE)}
    assert found["3.1"] == "pressure"
    assert (found["90"], found["11"]) == ("time", "time")
    assert found["2.75"] == "mass"


ASKEW = """Dredging
                      April 30,     April 30,
                        2031          2030
Sand            $    1,204.5   $   1,180.2
Gravel                 310.7         298.4
Mean depth of berths - metres    9.4           9.1
"""


def test_a_row_that_is_set_askew_moves_no_column() -> None:
    cells = heads(ASKEW)
    assert cells["310.7"] == ("April 30, 2031", "Gravel")
    assert cells["$ 1,180.2"] == ("April 30, 2030", "Sand")
    assert cells["9.4"][0] == "April 30, 2031"
    assert cells["9.1"][0] == "April 30, 2030"


@pytest.mark.parametrize(
    "text",
    [
        "The gate opens at 6.  It closes at 9.  Nobody knows why.\nThe key is  with Ann.",
        "Name:  Ann\nYear:  1990",
        "",
    ],
)
def test_sentences_with_wide_gaps_and_forms_of_two_columns_are_no_such_table(text: str) -> None:
    assert laid_out(text) == []


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("At March 31, 2023 the loans stood at $25,100 thousand [s].", True),
        ("At March 31, 2024 the loans stood at $25,100 thousand [s].", False),
        ("The opening pressure at 45 mA is typically 5.2 bar [v].", True),
        ("The maximum opening pressure at 45 mA is 5.2 bar [v].", False),
        ("The maximum opening pressure at 45 mA is 3.6 bar [v].", False),
        ("At 27 °C it is touch dry after 40 minutes [v].", True),
        ("At 27 °C it is touch dry after 90 minutes [v].", False),
        ("At 27 °C it is hard after 11 min [v].", False),
        ("A valve of type B leaks up to 1.3 ml/min [v].", True),
        ("A valve of type A leaks up to 1.3 ml/min [v].", False),
        ("| Year | Cash | Vessels |\n|---|---|---|\n| 2024 | 4,120 | 61,300 [s] |", True),
    ],
)
def test_a_value_is_checked_against_its_own_row_head_and_unit(claim: str, right: bool) -> None:
    found = verify(claim, [Evidence("s", "s", SHEET), Evidence("v", "v", VALVE)]).claims[-1]
    assert (found.verdict in {"supported", "derived"}) is right, found.reason
