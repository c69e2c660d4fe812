"""Importing this loads what reading and extraction load late, in the process that the workers begin as copies of."""

from importlib import import_module

from citegraph.corpus.extraction.in_text import place_names
from citegraph.language.amounts import currencies, find_amounts, parse_quantity
from citegraph.language.countries import country_names
from citegraph.language.dates import date_pattern

# Each takes a tenth of a second and more, which every worker would pay for itself.
for name in (
    "charset_normalizer",
    "filetype",
    "lxml.etree",
    "pdfplumber.table",
    "pypdfium2",
    "citegraph.corpus.ingestion.preparing",
    "citegraph.corpus.ingestion.worker",
):
    import_module(name)
currencies()
country_names()
date_pattern()
place_names()
find_amounts("1 EUR")
parse_quantity("1 year", "month")
