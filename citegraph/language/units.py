"""Units, currencies and scale words as printed, mapped to what makes two of them comparable."""

import re
from decimal import Decimal

from citegraph.language.claim_tokens import word_list

# dimension: spellings with the factor to the first unit of the line; an indented line
# goes on with the one before
_UNITS = """
time: 1 s sec secs second seconds sekunde sekunden seconde secondes; 60 minute minutes mins minuten;
  3600 h hr hrs hour hours std stunde stunden heure heures;
  86400 day days tag tage tagen jour jours d; 604800 week weeks wk wks woche wochen semaine semaines;
  0.001 ms msec millisecond milliseconds; 0.000001 µs μs us microsecond microseconds;
  0.000000001 ns nanosecond nanoseconds; 0.000000000001 ps
business days: 1 business-day business-days working-day working-days werktag werktage werktagen
  arbeitstag arbeitstage arbeitstagen jours-ouvrables jours-ouvrés banking-days trading-days
calendar months: 1 month months monat monate monaten mois mo;
  12 year years yr yrs jahr jahre jahren an ans année années annum annual;
  3 quarters quartale trimestres; 120 decade decades
length: 1 m meter meters metre metres; 1000 km kilometer kilometers kilometre kilometres;
  0.01 cm centimeter centimeters centimetre centimetres;
  0.001 mm millimeter millimeters millimetre millimetres; 0.000001 µm μm um micron microns;
  0.000000001 nm; 0.0254 in inch inches zoll ″; 0.3048 ft foot feet; 0.9144 yd yards;
  1609.344 mi mile miles meilen
mass: 1 g gram grams gramm gramme grammes; 1000 kg kilogram kilograms kilogramm kilo kilos;
  0.001 mg milligram milligrams; 0.000001 µg μg ug mcg microgram micrograms;
  1000000 t tonne tonnes tonnen; 453.59237 lb lbs pound-mass; 28.349523125 oz ounce ounces
volume: 1 l litre litres liter liters;
  0.001 ml millilitre milliliter millilitres milliliters cm3 cm³ cc; 0.01 cl; 0.1 dl; 1000 m3 m³;
  0.000001 µl μl; 3.785411784 gal gallon gallons
area: 1 m2 m² sqm qm; 0.0001 cm2 cm²; 0.000001 mm2 mm²; 1000000 km2 km²; 0.09290304 sqft ft2 ft²;
  10000 ha hectare hectares hektar; 4046.8564224 acre acres
voltage: 1 v volt volts vdc vac vrms; 0.001 mv; 1000 kv; 0.000001 µv μv
current: 1 a amp amps ampere amperes; 0.001 ma; 0.000001 µa μa ua; 0.000000001 na; 1000 ka
power: 1 w watt watts; 0.001 mw; 1000 kw; 1000000 mW-mega megawatt megawatts;
  1000000000 gw gigawatt gigawatts; 735.49875 ps-din hp
energy: 1 j joule joules; 1000 kj; 3600 wh; 3600000 kwh; 3600000000 mwh; 4.184 cal; 4184 kcal
charge: 1 ah; 0.001 mah; 0.000000000277778 pc
resistance: 1 ω ohm ohms Ω; 1000 kω kohm; 1000000 mω-mega mohm; 0.001 milliohm mω
frequency: 1 hz hertz; 1000 khz; 1000000 mhz; 1000000000 ghz; 1000000000000 thz
capacitance: 1 f farad; 0.001 mf; 0.000001 µf μf uf; 0.000000001 nf; 0.000000000001 pf
inductance: 1 henry; 0.001 mh; 0.000001 µh μh uh; 0.000000001 nh
pressure: 1 pa pascal; 100 hpa mbar; 1000 kpa; 1000000 mpa; 100000 bar; 6894.757293168 psi;
  133.322387415 mmhg torr; 101325 atm
celsius: 1 °c ºc celsius
fahrenheit: 1 °f ºf fahrenheit
kelvin: 1 kelvin
decibel: 1 db; 1 dbm; 1 dbi
data: 1 bit bits; 8 byte bytes; 8000 kb; 8000000 mb; 8000000000 gb; 8000000000000 tb; 8192 kib;
  8388608 mib; 8589934592 gib
bit rate: 1 bps bit/s; 1000 kbps kbit/s; 1000000 mbps mbit/s mb/s; 1000000000 gbps gbit/s gb/s
speed: 1 m/s; 0.2777777777777778 km/h kmh kph; 0.44704 mph
rotation: 1 rpm u/min min-1
density: 1 g/cm3 g/cm³ g/ml kg/l; 0.001 kg/m3 kg/m³ g/l
concentration: 1 mg/l; 0.001 µg/l; 1 mg/kg ppm; 0.001 µg/kg ppb; 1 mg/m3 mg/m³
viscosity: 1 mm2/s mm²/s cst
luminous: 1 cd; 0.001 mcd; 1 lm lumen; 1 lx lux
angle: 1 ° deg degree degrees grad
percent: 1 % percent per-cent prozent pct pour-cent v.h.; 0.01 bps-rate
percentage points: 1 pp percentage-point percentage-points prozentpunkte prozentpunkt;
  0.01 bp basis-point basis-points basispunkte
"""
_MEGA = {
    "MW": ("power", Decimal(1000000)),
    "MΩ": ("resistance", Decimal(1000000)),
    "PS": ("power", Decimal("735.49875")),
}


def _read_units() -> dict[str, tuple[str, Decimal]]:
    table: dict[str, tuple[str, Decimal]] = {}
    for line in _UNITS.strip().replace("\n  ", " ").splitlines():
        dimension, _, groups = line.partition(": ")
        for group in groups.split(";"):
            factor, *spellings = group.split()
            for spelling in spellings:
                table.setdefault(spelling.replace("-", " ").casefold(), (dimension, Decimal(factor)))
    return table


UNITS = _read_units()
# a unit spelled like an ordinary word or letter is one only when glued to the number or in its proper case
_DELICATE = frozenset(
    word_list("""
        a an ans in as t d h l f v w g m j c s us pa ma na ms pc mo cal bar ha cd ps std mi mins atm min
        ft""")
)
_PROPER_CASE = frozenset(
    word_list("A V W F J L s m g h l t d in ms mA nA Pa bar cd ha ft mi an ans Std mo mins cal")
)

_CURRENCIES = {
    "$": "$",
    "us$": "USD",
    "usd": "USD",
    "dollar": "$",
    "dollars": "$",
    "€": "EUR",
    "eur": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "£": "GBP",
    "gbp": "GBP",
    "pounds": "GBP",
    "pound": "GBP",
    "pfund": "GBP",
    "sterling": "GBP",
    "¥": "JPY",
    "jpy": "JPY",
    "yen": "JPY",
    "rmb": "CNY",
    "cny": "CNY",
    "yuan": "CNY",
    "₹": "INR",
    "inr": "INR",
    "rs": "INR",
    "rupees": "INR",
    "rupee": "INR",
    "rm": "MYR",
    "myr": "MYR",
    "ringgit": "MYR",
    "chf": "CHF",
    "fr": "CHF",
    "sfr": "CHF",
    "franken": "CHF",
    "c$": "CAD",
    "ca$": "CAD",
    "cad": "CAD",
    "a$": "AUD",
    "au$": "AUD",
    "aud": "AUD",
    "nz$": "NZD",
    "nzd": "NZD",
    "s$": "SGD",
    "sgd": "SGD",
    "hk$": "HKD",
    "hkd": "HKD",
    "sek": "SEK",
    "nok": "NOK",
    "dkk": "DKK",
    "pln": "PLN",
    "czk": "CZK",
    "huf": "HUF",
    "krw": "KRW",
    "₩": "KRW",
    "won": "KRW",
    "brl": "BRL",
    "r$": "BRL",
    "mxn": "MXN",
    "zar": "ZAR",
    "thb": "THB",
    "baht": "THB",
    "idr": "IDR",
    "php": "PHP",
    "rub": "RUB",
    "₽": "RUB",
    "try": "TRY",
    "₺": "TRY",
    "ils": "ILS",
    "₪": "ILS",
    "aed": "AED",
    "sar": "SAR",
    "cents": "cent",
    "cent": "cent",
    "¢": "cent",
}
_DOLLARS = frozenset({"$", "USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"})
_SCALES = {
    "hundred": 2,
    "hundert": 2,
    "thousand": 3,
    "thousands": 3,
    "tausend": 3,
    "tsd": 3,
    "mille": 3,
    "million": 6,
    "millions": 6,
    "millionen": 6,
    "mio": 6,
    "mill": 6,
    "mn": 6,
    "mln": 6,
    "mm": 6,
    "billion": 9,
    "billions": 9,
    "milliarde": 9,
    "milliarden": 9,
    "milliard": 9,
    "milliards": 9,
    "mrd": 9,
    "bn": 9,
    "bln": 9,
    "trillion": 12,
    "trillions": 12,
    "billionen": 12,
    "tn": 12,
    "lakh": 5,
    "crore": 7,
    "k": 3,
    "m": 6,
    "b": 9,
}
# these single letters and "mm" are scales only beside a currency
_SHORT_SCALES = frozenset({"m", "b", "mm", "tn", "t"})
SCALE_NOTE = re.compile(
    r"\b(?:in|amounts? in|figures in|angaben in|en)\s+(?:US\s?\$|USD|EUR|€|\$|£|GBP|T)?\s?"
    r"(thousands?|millions?|billions?|tausend|tsd|mio|millionen|mrd|milliarden|milliers|milliards|[0o]{3}s)\b",
    re.IGNORECASE,
)


def currency(text: str) -> str | None:
    """Return the ISO code of a printed currency, "$" for a dollar that is not named, None when it is none."""
    return _CURRENCIES.get(text.casefold().strip(". "))


def same_currency(one: str, other: str) -> bool:
    """Tell whether two currencies can be the same: a bare "$" fits any dollar."""
    if one == other:
        return True
    return "$" in (one, other) and one in _DOLLARS and other in _DOLLARS


def scale(text: str, beside_currency: bool) -> int | None:
    """Return the power of ten of a scale word ("million" gives 6), None when it is none here."""
    key = text.casefold().strip(".")
    if key in _SHORT_SCALES and not beside_currency:
        return None
    return _SCALES.get(key)


def unit(text: str, glued: bool) -> tuple[str, Decimal] | None:
    """Return (dimension, factor to the dimension's first unit) of a printed unit.

    `glued` says that no space stands between number and unit ("5V", "30-day").
    """
    if text in _MEGA:
        return _MEGA[text]
    key = " ".join(text.casefold().replace("-", " ").split())
    if key in _DELICATE and text not in _PROPER_CASE and not (glued and text.isupper()):
        return None
    if key == "in" and not glued:
        return None
    return UNITS.get(key)
