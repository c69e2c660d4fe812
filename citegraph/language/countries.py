"""Countries by name, code and demonym ("Japanese", "Swiss", "allemand") to ISO 3166-1 alpha-2."""

import re
from collections.abc import Mapping
from functools import cache

from citegraph.language.amounts import read_table
from citegraph.language.terms import fold

_DEMONYMS = read_table(
    """
    AE: emirati AR: argentine argentinian AT: austrian österreichische österreichischen autrichien
    autrichienne AU: australian BE: belgian belgische belgischen belge belges BG: bulgarian BM:
    bermudian bermudan BR: brazilian CA: canadian CH: swiss schweizer schweizerische schweizerischen
    suisse suisses CL: chilean CN: chinese chinesische chinesischen chinois chinoise prc
    mainland-china CO: colombian CY: cypriot CZ: czech DE: german deutsche deutschen deutscher
    deutsches allemand allemande allemands allemandes DK: danish dane EE: estonian EG: egyptian ES:
    spanish spanische spanischen espagnol espagnole FI: finnish FR: french französische
    französischen französischer französisches français française françaises GB: british uk english
    scottish welsh britische britischen englische englischen britannique anglais anglaise
    great-britain england GR: greek griechische griechischen grec grecque HK: hongkong HR: croatian
    HU: hungarian ungarische ungarischen hongrois hongroise ID: indonesian IE: irish IL: israeli IN:
    indian IR: iranian IS: icelandic IT: italian italienische italienischen italien italienne JP:
    japanese japanische japanischen japonais japonaise KE: kenyan KR: korean south-korean
    koreanische koreanischen coréen coréenne KZ: kazakh kazakhstani LT: lithuanian LU: luxembourgish
    LV: latvian MA: moroccan MT: maltese MX: mexican MY: malaysian NG: nigerian NL: dutch holland
    niederländische niederländischen holländische néerlandais néerlandaise NO: norwegian norwegische
    norwegischen norvégien NZ: new-zealander PE: peruvian PH: philippine filipino PK: pakistani PL:
    polish polnische polnischen polonais polonaise PT: portuguese RO: romanian RS: serbian RU:
    russian SA: saudi SE: swedish schwedische schwedischen suédois suédoise SG: singaporean SI:
    slovenian slovene SK: slovak slovakian TH: thai TN: tunisian TR: turkish turkey türkische
    türkischen turc turque TW: taiwanese taiwanische taiwanesische taïwanais UA: ukrainian US:
    american usa u.s. u.s.a. us-american america amerikanische amerikanischen us-amerikanische
    américain américaine UY: uruguayan VN: vietnamese ZA: south-african
    """
)
"""English, German and French demonyms and short names that pycountry and the CLDR do not have."""


@cache
def country_names() -> Mapping[str, str]:
    """Return folded names, official names, alpha-2 and alpha-3 codes and demonyms to alpha-2 codes.

    Names are those of pycountry and, in English, German and French, of the CLDR.
    """
    import pycountry
    from babel import Locale

    names: dict[str, str] = {}
    for country in pycountry.countries:
        for key in ("name", "official_name", "common_name", "alpha_2", "alpha_3"):
            if text := getattr(country, key, None):
                names[fold(text)] = country.alpha_2
                names.setdefault(fold(re.sub(r"\s*[,(].*$", "", text)), country.alpha_2)
    for language in ("en", "de", "fr"):
        for code, text in Locale(language).territories.items():
            if pycountry.countries.get(alpha_2=code):
                names.setdefault(fold(text), code)
    for word, code in _DEMONYMS.items():
        names.setdefault(fold(word.replace("-", " ")), code)
        names.setdefault(fold(word), code)
    return names


def country_code(text: str) -> str | None:
    """Return the ISO 3166-1 alpha-2 code that a name, code or demonym means, or None."""
    return country_names().get(fold(text).strip(" .,'’"))


@cache
def forms_of(code: str) -> frozenset[str]:
    """Return the folded names and demonyms of a country; its codes are ordinary words too often."""
    return frozenset(name for name, other in country_names().items() if other == code and len(name) > 3)
