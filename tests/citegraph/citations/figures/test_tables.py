"""Tables of a text: heads of one and several levels, labels of rows; and values that a claim takes from another cell."""

import pytest

from citegraph.citations.figures.tables import tables_of
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

LEVELS = """Lock gates (in thousands)

 | Year ended June 30 | |
 | 2023 | 2022
Moorings | $ 412 | $ 388
Repairs | (57) | (49)

The gates were painted."""

PUMPS = Evidence(
    "p",
    "pumps",
    "Model | Flow typ (l/min) | Flow max (l/min) | Head (m)\nAquila 3 | 42 | 55 | 18\nAquila 7 | 61 | 80 | 25\n"
    "Corvus | 33 | 47 | 12",
)
BILL = Evidence("i", "bill", "Net amount   310.50 EUR\nVAT 20 %   62.10 EUR\nAmount due   372.60 EUR")


def test_heads_of_two_levels_belong_to_their_columns_and_currency_to_its_own() -> None:
    (table,) = tables_of(LEVELS)
    cells = {(cell.row.split()[0], cell.head): LEVELS[cell.start : cell.end].strip() for cell in table.cells}
    assert table.title == "Lock gates (in thousands)"
    assert cells[("Moorings", "Year ended June 30 2023")] == "$ 412"
    assert cells[("Repairs", "Year ended June 30 2022")] == "(49)"
    assert len(cells) == 4


def test_a_table_of_markdown_is_read_without_its_frame() -> None:
    text = "| Kind | Price |\n|---|---|\n| Oak | 7.50 |"
    (table,) = tables_of(text)
    assert [(c.head, c.row, text[c.start : c.end].strip()) for c in table.cells] == [("Price", "Oak", "7.50")]


def test_prose_is_no_table() -> None:
    assert tables_of("The gate opens at 6.\nIt closes at 9 | 10.\nNobody knows why.") == ()


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("The Aquila 7 pumps 80 l/min at most [pumps].", True),
        ("The typical flow of the Corvus is 33 l/min [pumps].", True),
        ("The Aquila 3 pumps 42 l/min typically and 55 l/min at most [pumps].", True),
        ("The typical flow of the Corvus is 47 l/min [pumps].", False),
        ("The Corvus lifts water to a head of 25 m [pumps].", False),
        ("| Model | Flow max |\n|---|---|\n| Aquila 7 | 80 l/min [pumps] |", True),
        ("| Model | Flow max |\n|---|---|\n| Aquila 7 | 61 l/min [pumps] |", False),
        ("| Model | Flow max |\n|---|---|\n| Corvus | 55 l/min [pumps] |", False),
        ("The amount due is 372.60 EUR [bill].", True),
        ("The net amount is 372.60 EUR [bill].", False),
    ],
)
def test_a_value_is_that_of_the_row_and_column_that_the_claim_names(claim: str, right: bool) -> None:
    (found,) = verify(claim, [PUMPS, BILL]).claims
    assert (found.verdict in {"supported", "derived"}) is right, found.reason
