"""The word tables that are made from babel and pycountry are what those say today."""

import pytest

from citegraph.language.cldr import TABLES
from citegraph.language.word_tables import table


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_what_its_source_says(name: str) -> None:
    assert table(name) == TABLES[name](), "python -m citegraph.language.cldr writes it anew"
