"""Countries by name, code and demonym ("Japanese", "Swiss", "allemand") to ISO 3166-1 alpha-2."""

from collections.abc import Mapping
from functools import cache

from citegraph.language.terms import fold
from citegraph.language.word_tables import table, words_to_keys


@cache
def country_names() -> Mapping[str, str]:
    """Return folded names, official names, alpha-2 and alpha-3 codes and demonyms to alpha-2 codes.

    Names are those of pycountry and, in the six languages of questions, of the CLDR.
    """
    names: dict[str, str] = {}
    for word, code in words_to_keys("demonyms").items():
        names.setdefault(fold(word.replace("-", " ")), code)
        names.setdefault(fold(word), code)
    for code, forms in table("cldr_countries").items():
        for form in forms.split(" | "):
            names.setdefault(fold(form), code)
    return names


def country_code(text: str) -> str | None:
    """Return the ISO 3166-1 alpha-2 code that a name, code or demonym means, or None."""
    return country_names().get(fold(text).strip(" .,'’"))


@cache
def forms_of(code: str) -> frozenset[str]:
    """Return the folded names and demonyms of a country; its codes are ordinary words too often."""
    return frozenset(name for name, other in country_names().items() if other == code and len(name) > 3)
