"""Whether a document has the day or the month first, told by the document itself."""

from datetime import date

import pytest

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.language.date_order import written_order


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("04/05/2024, paid 03/28/2024", "MDY"),
        ("04/05/2024, paid 28/03/2024", "DMY"),
        ("28-03-24", "DMY"),
        ("03/28/2024 and 28/03/2024", None),
        ("04/05/2024", None),
        ("04/05/2024\nLincoln, NE 68502", "MDY"),
        ("28/03/2024\nLincoln, NE 68502", "DMY"),
        ("13/14/2024 1/2/3/2024 28.13.2024", None),
    ],
)
def test_one_clear_date_or_an_american_address_tells(text: str, order: str | None) -> None:
    assert written_order(text) == order


def test_a_document_is_read_in_its_own_order() -> None:
    invoices = load_buckets()["invoices"]

    def dated(text: str) -> object:
        return extract(invoices, Source(text)).values["invoice_date"]

    assert dated("Invoice date: 04/05/2024\n") == date(2024, 5, 4)
    assert dated("Invoice date: 04/05/2024\nDelivered: 03/28/2024\n") == date(2024, 4, 5)
