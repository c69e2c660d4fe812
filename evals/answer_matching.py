"""Whether a text contains a gold value: words, a number or a date in any format, or a set of points."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from citegraph.language.dates import month_names
from citegraph.language.word_tables import alternation
from evals.question_files import Gold

SHORT = 4
"""Up to so many characters a value must stand as whole words; a longer one may be part of a word."""

_NUMBER = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?![\d])|\d+(?:[.,'’]\d+)*")
_PLAIN_NUMBER = re.compile(r"(?:[A-Z]{1,3}|[$€£])?\s?[\d.,'’ ]*\d\s?(?:[A-Z]{3}|[$€£])?")


def share_contained(text: str, gold: Gold) -> float:
    """Return 1 when the text contains the gold value, 0 when not; of a set the share of its points."""
    if gold.kind == "set":
        points = gold.aliases or (str(gold.value),)
        held = [any(_contains(text, part.strip()) for part in point.split(" | ")) for point in points]
        return sum(held) / len(held)
    forms = [str(gold.value), *gold.aliases]
    if any(contains_text(text, form) for form in forms if form):
        return 1.0
    if gold.kind == "number":
        return float(contains_number(text, float(gold.value), gold.tolerance))
    if gold.kind == "date":
        return float(contains_date(text, str(gold.value)))
    return 0.0


def _contains(text: str, part: str) -> bool:
    if contains_text(text, part):
        return True
    if re.fullmatch(r"\d{4}-\d\d-\d\d", part):
        return contains_date(text, part)
    if _PLAIN_NUMBER.fullmatch(part):
        wanted = next(numbers_in(part), None)
        return wanted is not None and contains_number(text, float(wanted), 0.0)
    return False


# --- text ---------------------------------------------------------------------------------------


def normalised(text: str) -> str:
    """Return text in lower case, punctuation as one space; a comma inside a number becomes a point."""
    kept = re.sub(r"(?<=\d),(?=\d)", ".", text.casefold())
    return " ".join(re.sub(r"(?<!\d)[^\w\s]|[^\w\s](?!\d)|(?<=\d)[^\w\s.](?=\d)|_", " ", kept).split())


def contains_text(text: str, part: str) -> bool:
    """Tell whether `part` stands in the text, whatever case and punctuation; numbers only whole."""
    needle = normalised(part)
    if not needle:
        return False
    before = r"(?<!\d)(?<!\d\.)" if needle[0].isdigit() else ""
    after = r"(?!\d)(?!\.\d)" if needle[-1].isdigit() else ""
    if len(needle) <= SHORT:
        before, after = before + r"(?<!\w)", after + r"(?!\w)"
    return re.search(before + re.escape(needle) + after, normalised(text)) is not None


# --- numbers ------------------------------------------------------------------------------------


def contains_number(text: str, wanted: float, tolerance: float) -> bool:
    """Tell whether a number of the text, in any way to read it, is within the tolerance of the wanted one."""
    slack = tolerance + 1e-9 * max(1.0, abs(wanted))
    return any(abs(float(number) - wanted) <= slack for number in numbers_in(text))


def numbers_in(text: str) -> Iterator[Decimal]:
    """Yield every reading of every number ("5.622,91", "5 622,91", "-3"); "1.234" is read both ways."""
    for found in _NUMBER.finditer(text):
        before = text[max(0, found.start() - 2) : found.start()]
        for reading in _readings(found[0]):
            yield reading
            if before.endswith(("-", "−", "–")) and not before[:-1].strip().isalnum():
                yield -reading
    # "180 260" may be two numbers as well as one with a space for thousands.
    for found in re.finditer(r"\d+", text):
        yield Decimal(found[0])


def _readings(token: str) -> Iterator[Decimal]:
    digits = re.sub(r"[ \u00a0\u202f'’]", "", token)
    separators = [char for char in digits if char in ".,"]
    if not separators:
        yield Decimal(digits)
        return
    last = separators[-1]
    whole, _, fraction = digits.rpartition(last)
    if separators.count(last) == 1:
        yield Decimal(re.sub(r"[.,]", "", whole) + "." + fraction)
    if len(set(separators)) == 1 and re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", digits):
        yield Decimal(re.sub(r"[.,]", "", digits))


# --- dates --------------------------------------------------------------------------------------


def contains_date(text: str, wanted: str) -> bool:
    """Tell whether the text states the ISO date `wanted` (or year, or month) in any usual format."""
    if re.fullmatch(r"\d{4}(?:-\d\d)?", wanted):
        return any(day.isoformat().startswith(wanted) for day in dates_in(text)) or contains_text(
            text, wanted
        )
    return date.fromisoformat(wanted) in set(dates_in(text))


def dates_in(text: str) -> Iterator[date]:
    """Yield every reading of every whole date: ISO, figures in either order, month names in six languages."""
    for found in re.finditer(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", text):
        yield from _dates(found[1], found[2], found[3])
    for found in re.finditer(r"(?<!\d)(\d{1,2})\s?[-/.]\s?(\d{1,2})\s?[-/.]\s?(\d{4}|\d\d)(?!\d)", text):
        year = found[3] if len(found[3]) == 4 else f"20{found[3]}"
        yield from _dates(year, found[2], found[1])
        yield from _dates(year, found[1], found[2])
    folded = text.casefold()
    names = "|".join(sorted(map(re.escape, month_names()), key=len, reverse=True))
    ordinal = rf"(?:{alternation('dates', 'places')})?\.?"
    joint = r"[\s-]*(?:of\s+|de\s+|day\s+of\s+)?"
    day_first = rf"(?<!\d)(\d{{1,2}}){ordinal}{joint}({names})\b\.?,?{joint}(\d{{4}})"
    month_first = rf"\b({names})\b\.?\s*(\d{{1,2}}){ordinal},?\s+(?:\d\d:\d\d(?::\d\d)?\s+)?(\d{{4}})"
    for found in re.finditer(day_first, folded):
        yield from _dates(found[3], str(month_names()[found[2]]), found[1])
    for found in re.finditer(month_first, folded):
        yield from _dates(found[3], str(month_names()[found[1]]), found[2])


def _dates(year: str, month: str, day: str) -> Iterator[date]:
    try:
        yield date(int(year), int(month), int(day))
    except ValueError:
        return
