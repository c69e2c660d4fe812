"""Countries by name, official name, code and demonym ("Japanese", "Swiss", "allemand") to ISO 3166-1 alpha-2."""

import re
from collections.abc import Mapping
from functools import cache

from corpus.fields import fold

_DEMONYMS = {
    "AE": "emirati", "AR": "argentine argentinian", "AT": "austrian", "AU": "australian", "BE": "belgian", "BG": "bulgarian",
    "BM": "bermudian bermudan", "BR": "brazilian", "CA": "canadian", "CH": "swiss", "CL": "chilean", "CN": "chinese", "CO": "colombian",
    "CY": "cypriot", "CZ": "czech", "DE": "german", "DK": "danish dane", "EE": "estonian", "EG": "egyptian", "ES": "spanish", "FI": "finnish",
    "FR": "french", "GB": "british uk scottish welsh", "GR": "greek", "HR": "croatian", "HU": "hungarian", "ID": "indonesian", "IE": "irish",
    "IL": "israeli", "IN": "indian", "IR": "iranian", "IS": "icelandic", "IT": "italian", "JP": "japanese", "KR": "korean south-korean",
    "KZ": "kazakh kazakhstani", "LT": "lithuanian", "LU": "luxembourgish", "LV": "latvian", "MX": "mexican", "MY": "malaysian",
    "NL": "dutch holland", "NO": "norwegian", "NZ": "new-zealander", "PE": "peruvian", "PH": "philippine filipino", "PK": "pakistani",
    "PL": "polish", "PT": "portuguese", "RO": "romanian", "RS": "serbian", "RU": "russian", "SA": "saudi", "SE": "swedish",
    "SG": "singaporean", "SI": "slovenian slovene", "SK": "slovak slovakian", "TH": "thai", "TN": "tunisian", "TR": "turkish turkey",
    "TW": "taiwanese", "UA": "ukrainian", "US": "american usa u.s. u.s.a. us-american america", "VN": "vietnamese", "ZA": "south-african",
    "HK": "hongkong", "MA": "moroccan", "NG": "nigerian", "KE": "kenyan", "UY": "uruguayan", "MT": "maltese", "EU": "",
}  # fmt: skip
_ADJECTIVES = {
    "DE": "deutsche deutschen deutscher deutsches allemand allemande allemands allemandes",
    "FR": "französische französischen französischer französisches français française françaises",
    "AT": "österreichische österreichischen autrichien autrichienne", "CH": "schweizer schweizerische schweizerischen suisse suisses",
    "IT": "italienische italienischen italien italienne", "ES": "spanische spanischen espagnol espagnole",
    "GB": "britische britischen englische englischen britannique anglais anglaise great-britain england",
    "US": "amerikanische amerikanischen us-amerikanische américain américaine", "JP": "japanische japanischen japonais japonaise",
    "CN": "chinesische chinesischen chinois chinoise prc mainland-china", "PL": "polnische polnischen polonais polonaise",
    "NL": "niederländische niederländischen holländische néerlandais néerlandaise", "GR": "griechische griechischen grec grecque",
    "HU": "ungarische ungarischen hongrois hongroise", "SE": "schwedische schwedischen suédois suédoise",
    "NO": "norwegische norwegischen norvégien", "TR": "türkische türkischen turc turque", "TW": "taiwanische taiwanesische taïwanais",
    "KR": "koreanische koreanischen coréen coréenne", "BE": "belgische belgischen belge belges",
}  # fmt: skip


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
    for table in (_DEMONYMS, _ADJECTIVES):
        for code, words in table.items():
            for word in words.split():
                names.setdefault(fold(word.replace("-", " ")), code)
                names.setdefault(fold(word), code)
    return names


def country_code(text: str) -> str | None:
    """Return the ISO 3166-1 alpha-2 code that a name, code or demonym means, or None."""
    return country_names().get(fold(text).strip(" .,'’"))


@cache
def forms_of(code: str) -> frozenset[str]:
    """Return the folded names and demonyms of a country, codes left out (they are ordinary words too often)."""
    return frozenset(name for name, other in country_names().items() if other == code and len(name) > 3)
