"""The tables `words/cldr_*.yaml` are what babel and pycountry say; `python -m tests.citegraph.language.test_cldr` makes them."""

import re
from pathlib import Path

import pycountry
import pytest
import yaml
from babel import Locale, localedata
from babel.numbers import list_currencies

import citegraph.language
from citegraph.language.word_tables import table

LANGUAGES = ("de", "en", "fr", "es", "it", "nl")
"""Languages whose questions and documents are read."""
DOCUMENT_LANGUAGES = (*LANGUAGES, "pl", "pt")
"""Languages whose dates are read."""


def months() -> dict[str, str]:
    """Return the month names and abbreviations, lower case, of every locale of each language, by language.

    Names are written as "<month>:<name>"; scripts other than Latin are left out.
    """
    names: dict[str, set[tuple[int, str]]] = {language: set() for language in DOCUMENT_LANGUAGES}
    for identifier in localedata.locale_identifiers():
        language = identifier.partition("_")[0]
        if language not in names:
            continue
        for widths in Locale.parse(identifier).months.values():
            for width in ("wide", "abbreviated"):
                for number, name in widths[width].items():
                    plain = name.lower().rstrip(".")
                    if re.fullmatch(r"[a-zà-ɏ]+", plain):
                        names[language].add((number, plain))
    return {
        language: " ".join(f"{number}:{name}" for number, name in sorted(found))
        for language, found in names.items()
    }


DURATIONS = ("year", "month", "week", "day", "hour")


def durations() -> dict[str, str]:
    """Return the units of time as each language counts them ("3 mesi"), by language, written as "<unit>:<name>"."""
    found: dict[str, str] = {}
    for language in DOCUMENT_LANGUAGES:
        patterns = Locale(language)._data["unit_patterns"]
        names = {
            f"{unit}:{name}"
            for unit in DURATIONS
            for form in patterns[f"duration-{unit}"]["long"].values()
            if (name := form.replace("{0}", "").strip().lower()).isalpha()
        }
        found[language] = " ".join(sorted(names))
    return found


MEASURES = (
    "duration-minute", "duration-second", "duration-millisecond", "length-meter", "length-kilometer", "length-centimeter",
    "length-millimeter", "mass-gram", "mass-kilogram", "mass-milligram", "volume-liter", "volume-milliliter",
    "volume-centiliter", "volume-deciliter", "area-hectare", "electric-volt", "electric-ampere", "electric-milliampere",
    "electric-ohm", "power-watt", "power-kilowatt", "power-megawatt", "power-milliwatt", "frequency-hertz", "frequency-kilohertz", "frequency-megahertz", "frequency-gigahertz", "pressure-bar",
    "pressure-pascal",
)  # fmt: skip
"""Units that are measured with everywhere, but for those whose names are ordinary words ("once" for ounces, "julio")."""


def measures() -> dict[str, str]:
    """Return the names of units as each language counts them ("90 minutos"), by the name that pint gives them."""
    found: dict[str, set[str]] = {}
    for language in (*LANGUAGES, "pt"):
        patterns = Locale(language)._data["unit_patterns"]
        for unit in MEASURES:
            forms = patterns.get(unit, {}).get("long", {}).values()
            names = {form.replace("{0}", "").strip().lower() for form in forms} - {
                "secondo"
            }  # "according to"
            found.setdefault(unit.partition("-")[2], set()).update(filter(str.isalpha, names))
    return {unit: " ".join(sorted(names)) for unit, names in found.items()}


def currencies() -> dict[str, str]:
    """Return the names of each current ISO 4217 code in English, German and French, lower case, "|" between them.

    With each the noun alone ("ringgit" of "malaysian ringgit"), which several codes may share.
    """
    known = {currency.alpha_3 for currency in pycountry.currencies}
    known -= {code for code in known if code.startswith("X") and code not in ("XAF", "XCD", "XOF", "XPF")}
    names: dict[str, set[str]] = {code: set() for code in sorted(known)}
    for language in ("en", "de", "fr"):
        plurals = Locale(language)._data["currency_names_plural"]
        single = Locale(language).currencies
        for code in known & list_currencies():
            for form in (*dict(plurals.get(code, {})).values(), single.get(code, "")):
                words = re.findall(r"[^\W\d_]+", form.lower())
                names[code].add(" ".join(words))
                if words and "(" not in form:
                    names[code].add(words[0] if language == "fr" else words[-1])
    return {code: " | ".join(sorted(forms - {""})) for code, forms in names.items()}


def countries() -> dict[str, str]:
    """Return the names and codes of each ISO 3166-1 alpha-2 code as they are written, "|" between them.

    Names are those of pycountry, then those of the CLDR in the languages of questions.
    """
    names: dict[str, dict[str, None]] = {}
    for country in pycountry.countries:
        forms = names[country.alpha_2] = {}
        for key in ("name", "official_name", "common_name", "alpha_2", "alpha_3"):
            if text := getattr(country, key, None):
                forms[text] = None
        for key in ("name", "official_name", "common_name"):
            if text := getattr(country, key, None):
                forms[re.sub(r"\s*[,(].*$", "", text)] = None
    for language in ("en", *LANGUAGES):
        for code, text in Locale(language).territories.items():
            if code in names:
                names[code][text] = None
    return {code: " | ".join(forms) for code, forms in sorted(names.items())}


def states() -> dict[str, str]:
    """Return the names of the states of the USA by the codes that people write ("NY law")."""
    return {
        state.code.partition("-")[2]: state.name
        for state in pycountry.subdivisions
        if state.country_code == "US" and state.type == "State"
    }


TABLES = {
    "cldr_months": months,
    "cldr_durations": durations,
    "cldr_units": measures,
    "cldr_currencies": currencies,
    "cldr_countries": countries,
    "cldr_states": states,
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_what_its_source_says(name: str) -> None:
    assert table(name) == TABLES[name](), "python -m tests.citegraph.language.test_cldr writes it anew"


if __name__ == "__main__":
    folder = Path(citegraph.language.__file__).parent / "words"
    for name, made in TABLES.items():
        head = (
            "# Made by python -m tests.citegraph.language.test_cldr from the tables of babel and pycountry\n"
        )
        text = yaml.safe_dump(made(), allow_unicode=True, width=120, sort_keys=True)
        folder.joinpath(f"{name}.yaml").write_text(head + text, "utf-8")
