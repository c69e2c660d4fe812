"""Claims of known truth, made from real passages: true ones in three wordings and ten kinds of corruption.

It shares no code with the verifier that it tests: sentence cutter, patterns and word lists are its own.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.question_files import opened

TRUE_KINDS = ("verbatim", "reordered", "paraphrased")
FALSE_KINDS = (
    "number",
    "scale",
    "unit",
    "date",
    "identifier",
    "party swap",
    "negation",
    "modality",
    "wrong document",
    "stitched quote",
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of about 900 tokens of one document."""

    doc_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One answer of one sentence with its evidence.

    Attributes:
        kind: one of `TRUE_KINDS` or `FALSE_KINDS`.
        answer: the sentence with its `[doc_id]` marker.
        source: the sentence of the passage that it was made from.
        passages: the cited passage and three of other documents.
        true: whether the cited document says it.
    """

    kind: str
    answer: str
    source: str
    passages: tuple[Passage, ...]
    true: bool


# ---------------------------------------------------------------- passages


def read_passages(folders: list[Path], rng: random.Random, per_folder: int = 400) -> list[Passage]:
    """Return passages of the text, Markdown and JSON-lines documents under some folders, in random order."""
    found: list[Passage] = []
    for folder in folders:
        pieces = [p for doc_id, text in _documents(folder) for p in _pieces(doc_id, text)]
        rng.shuffle(pieces)
        found.extend(pieces[:per_folder])
    rng.shuffle(found)
    return found


def _documents(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".txt", ".md") and path.name != "README.md":
            yield path.name, path.read_text(encoding="utf-8", errors="replace")
        elif re.fullmatch(r"(?:docs|pages)[\w-]*\.jsonl(?:\.gz)?", path.name):
            with opened(path) as lines:
                for line in lines:
                    row = json.loads(line)
                    name = row.get("doc_id") or f"{row.get('doc_name', 'doc')}-p{row.get('page', 0)}"
                    yield str(name), str(row.get("text", ""))


def _pieces(doc_id: str, text: str, size: int = 3600) -> Iterator[Passage]:
    clean = doc_id.replace("[", "(").replace("]", ")")
    for at in range(0, min(len(text), 10 * size), size):
        piece = text[at : at + size].strip()
        if len(piece) > 300:
            yield Passage(clean, piece)


_END = re.compile(r"(?<=[a-zäöüß\d)\"”%])[.!](?=\s+[A-ZÄÖÜ\"“(]|\s*$|\s*\n)")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|shall|may|must|will|can|does|do|agrees?|means|provides?|includes?|applies|"
    r"ist|sind|wird|werden|kann|darf|muss|hat|haben|enthält|beträgt)\b"
)


def _sentences(text: str) -> list[str]:
    """Return the sentences of a passage that read as prose, in order, line breaks inside them made spaces."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        at = 0
        for end in _END.finditer(block):
            raw = block[at : end.end()].strip()
            at = end.end()
            if "   " in raw or raw.count("\n") > 6 or "|" in raw or "..." in raw:
                continue
            sentence = re.sub(r"\s+", " ", raw)
            letters = sum(c.isalpha() for c in sentence)
            capital = sum(c.isupper() for c in sentence)
            if (
                8 <= len(sentence.split()) <= 45
                and letters > 0.6 * len(sentence)
                and capital < 0.25 * letters
                and sentence[0].isupper()
                and _VERB.search(sentence)
                and "[" not in sentence
                and sentence.count("(") == sentence.count(")")
                and sentence.count('"') % 2 == 0
                and not re.search(r"[“”„?]|\bi\.e\b|; ", sentence)
            ):
                out.append(sentence)
    return out


# ---------------------------------------------------------------- true rewordings

_REWORD = [
    (r"\bshall\b(?! not)", "must"),
    (r"\bprior to\b", "before"),
    (r"\bin the event that\b", "if"),
    (r"\bin the event of\b", "in case of"),
    (r"\bpursuant to\b", "under"),
    (r"\bin accordance with\b", "according to"),
    (r"\bThis Agreement\b", "The contract"),
    (r"\bthis Agreement\b", "the contract"),
    (r"\bcommence\b", "begin"),
    (r"\bpurchase\b", "buy"),
    (r"\bsubsequent to\b", "after"),
    (r"\bnotwithstanding\b", "despite"),
    (r"\bobtain\b", "get"),
    (r"\bprovide\b", "give"),
    (r"\brequire\b", "need"),
    (r"\butili[sz]e\b", "use"),
    (r"\bapproximately\b", "about"),
    (r"\bin order to\b", "to"),
    (r"\bhowever, ", ""),
    (r"\bhereby ", ""),
    (r"\bany and all\b", "all"),
    (r"\bterminate\b", "end"),
    (r"\bis able to\b", "can"),
    (r"\bdue to\b", "because of"),
    (r"\bsuch as\b", "like"),
    (r"\bassist\b", "help"),
    (r"\bper cent\b|\bpercent\b", "%"),
    (r"\bgemäß\b", "nach"),
    (r"\bjedoch\b", "aber"),
    (r"\bsowie\b", "und"),
    (r"\bVertrag\b", "Vereinbarung"),
]
_SMALL = {
    "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "10": "ten", "12": "twelve",
    "15": "fifteen", "20": "twenty", "30": "thirty", "45": "forty-five", "60": "sixty", "90": "ninety",
}  # fmt: skip
_EN_MONTHS = """
    January February March April May June July August September October November December""".split()
_MONTH_RE = "|".join(_EN_MONTHS)


def _reformat_values(sentence: str) -> str:
    """Print dates, round millions, spelled counts and percentages another way."""
    out = re.sub(
        rf"\b({_MONTH_RE}) (\d{{1,2}}), (\d{{4}})\b",
        lambda m: f"{m[3]}-{_EN_MONTHS.index(m[1]) + 1:02d}-{int(m[2]):02d}",
        sentence,
    )
    out = re.sub(r"\b[a-z]+(?:-[a-z]+)? \((\d{1,3})\) (?=days|months|years)", r"\1 ", out)
    out = re.sub(
        r"(?<![\w.,$€-])(\d{1,2}) (?=(?:days|months|years)\b)", lambda m: f"{_SMALL.get(m[1], m[1])} ", out
    )
    out = re.sub(r"\$(\d{1,3})(?:,(\d)00),000\b(?!,)", lambda m: f"${m[1]}.{m[2]} million", out)
    out = re.sub(r"(\d)%", r"\1 percent", out)
    return re.sub(r"\$(\d+)\.(\d) billion", lambda m: f"${m[1]},{m[2]}00 million", out)


def _paraphrase(sentence: str) -> str | None:
    out = _reformat_values(sentence)
    for pattern, word in _REWORD:
        out = re.sub(pattern, word, out, flags=0 if pattern.startswith(r"\bT") else re.IGNORECASE)
    if out == sentence:
        return None
    return out[0].upper() + out[1:]


_FRONT = re.compile(
    r"^((?:If|When|Upon|Unless|In case|In the event|Subject to|Except as|After|Before|During|For "
    r"purposes of|Under|As of|On|In|At|"
    r"Wenn|Bei|Nach|Vor|Im)\b[^,]{10,120}), (.+)\.$"
)
_BACK = re.compile(
    r"^(.{20,}?),? ((?:if|when|upon|unless|provided that|in the event|subject to|except as|wenn|falls"
    r"|sofern) [^,]{10,120})\.$"
)


def _reorder(sentence: str) -> str | None:
    """Move a leading clause to the end or a trailing one to the front."""
    front, back = _FRONT.match(sentence), _BACK.match(sentence)
    if front:
        clause, main = front[1], front[2]
        opener = clause[0].lower() + clause[1:]
        return f"{main[0].upper()}{main[1:]}, {opener}."
    if back and back[2].split()[0] != "provided":
        main, clause = back[1], back[2]
        return (
            f"{clause[0].upper()}{clause[1:]}, {main if main[:2].isupper() else main[0].lower() + main[1:]}."
        )
    return None


# ---------------------------------------------------------------- corruptions

_AMOUNT = re.compile(r"(?<![\w.,/:§-])(\d{1,3}(?:,\d{3})+|\d+\.\d+|\d{1,6})(?![\w/:-]|[.,]\d)")
_YEARLIKE = re.compile(r"(?:1[89]|20)\d\d")


def _amounts(sentence: str) -> list[re.Match[str]]:
    found = []
    for match in _AMOUNT.finditer(sentence):
        before = sentence[: match.start()].rstrip()[-12:].lower()
        if _YEARLIKE.fullmatch(match[1]) or re.search(
            rf"(?:section|article|clause|§|no\.|nr\.|exhibit|item|note|{_MONTH_RE})$", before, re.IGNORECASE
        ):
            continue
        if re.match(rf"\.? (?:{_MONTH_RE}|of {_MONTH_RE})", sentence[match.end() :]) or match.start() == 0:
            continue
        found.append(match)
    return found


def _swap_at(sentence: str, match: re.Match[str], new: str) -> str:
    return sentence[: match.start(1)] + new + sentence[match.end(1) :]


def _number(sentence: str, text: str, rng: random.Random) -> str | None:
    for match in rng.sample(found := _amounts(sentence), len(found)):
        old = match[1]
        for _ in range(12):
            digits = list(old)
            spots = [i for i, c in enumerate(digits) if c.isdigit()]
            spot = rng.choice(spots)
            digits[spot] = rng.choice([d for d in "123456789" if d != digits[spot]])
            new = "".join(digits)
            if new != old and not re.search(rf"(?<!\d){re.escape(new)}(?!\d)", text):
                return _swap_at(sentence, match, new)
    return None


_SCALE_WORD = re.compile(r"\b(thousand|million|billion|Millionen|Milliarden|Tausend|Mio\.|Mrd\.)")
_OTHER_SCALE = {
    "thousand": "million", "million": "billion", "billion": "million", "Millionen": "Milliarden",
    "Milliarden": "Millionen", "Tausend": "Millionen", "Mio.": "Mrd.", "Mrd.": "Mio.",
}  # fmt: skip


def _scale(sentence: str, text: str, rng: random.Random) -> str | None:
    match = _SCALE_WORD.search(sentence)
    if match and re.search(r"\d\s*$", sentence[: match.start()]):
        return _swap_at(sentence, match, _OTHER_SCALE[match[1]])
    for found in _amounts(sentence):
        old = found[1]
        after = sentence[found.end() : found.end() + 3]
        if re.match(r"\s?(?:%|\))", after) and "," not in old:
            continue
        if re.fullmatch(r"\d{1,3},000(?:,000)*", old):
            new = rng.choice([old + ",000", old[:-4] if len(old) > 5 else old + ",000"])
        elif re.fullmatch(r"\d+\.\d+", old):
            new = (
                old.replace(".", "") + "0"
                if rng.random() < 0.5
                else f"{float(old) / 10:.{len(old.split('.')[1]) + 1}f}"
            )
        elif len(old) >= 2:
            new = old + "0"
        else:
            continue
        if not re.search(rf"(?<![\d,.]){re.escape(new)}(?!\d|,\d)", text):
            return _swap_at(sentence, found, new)
    return None


_UNIT_PAIRS = {
    "days": "months", "months": "years", "years": "months", "day": "month", "month": "year", "year": "month",
    "hours": "days", "minutes": "hours", "weeks": "days", "seconds": "minutes",
    "mg": "g", "kg": "g", "g": "kg", "mm": "cm",
    "cm": "mm", "km": "m", "m": "km", "V": "mV", "mV": "V", "mA": "A", "A": "mA",
    "kV": "V", "W": "kW", "kW": "W", "°C": "°F",
    "Hz": "kHz", "kHz": "MHz", "MHz": "GHz", "GHz": "MHz", "ml": "l", "l": "ml",
    "bar": "psi", "nm": "mm", "ns": "ms", "ms": "s",
    "MB": "GB", "GB": "MB", "KB": "MB", "bytes": "bits", "bits": "bytes",
    "inches": "feet", "feet": "inches", "miles": "feet",
    "Tage": "Monate", "Monate": "Jahre", "Jahre": "Monate", "Tagen": "Monaten",
    "Stunden": "Tagen", "%": "basis points",
    "percent": "basis points", "dB": "W", "hectares": "acres", "tonnes": "kg", "pounds": "ounces",
}  # fmt: skip
_WITH_UNIT = re.compile(
    r"(?<=[\d)]) ?((?:"
    + "|".join(sorted(map(re.escape, _UNIT_PAIRS), key=len, reverse=True))
    + r"))(?![\w/%³²])"
)
_MONEY = re.compile(r"(US\$|\$|€|£|EUR|USD|RM)(?= ?\d)")


def _unit(sentence: str, text: str, rng: random.Random) -> str | None:
    spots = list(_WITH_UNIT.finditer(sentence))
    money = list(_MONEY.finditer(sentence))
    if money and (not spots or rng.random() < 0.4):
        match = rng.choice(money)
        others = [
            c for c in ("€", "£", "CHF ", "$") if c.strip() not in text and not (c == "€" and "EUR" in text)
        ]
        others = [c for c in others if not (c == "$" and re.search(r"USD|US\$", text))]
        return _swap_at(sentence, match, others[0]) if others and match[1].strip() != others[0] else None
    if not spots:
        return None
    match = rng.choice(spots)
    before = re.search(r"([\w.,]+)\)?\s?$", sentence[: match.start(1)])
    new = _UNIT_PAIRS[match[1]]
    if before and re.search(rf"{re.escape(before[1])}\)?[ -]?{re.escape(new)}(?!\w)", text):
        return None
    gap = " " if new == "basis points" and sentence[match.start(1) - 1] != " " else ""
    return _swap_at(sentence, match, gap + new)


_DATES = [
    re.compile(rf"\b({_MONTH_RE}) (\d{{1,2}}), (\d{{4}})\b"),
    re.compile(rf"\b(\d{{1,2}}) ({_MONTH_RE}),? (\d{{4}})\b"),
    re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b"),
    re.compile(r"\b(\d{2})[./](\d{2})[./](\d{4})\b"),
    re.compile(rf"\b({_MONTH_RE}) (\d{{4}})\b"),
]


def _date(sentence: str, text: str, rng: random.Random) -> str | None:
    for pattern in _DATES:
        match = pattern.search(sentence)
        if not match:
            continue
        old = match.group()
        parts = list(re.finditer(rf"\d+|{_MONTH_RE}", old))
        part = rng.choice(parts)
        word = part.group()
        if word in _EN_MONTHS:
            new = rng.choice([m for m in _EN_MONTHS if m != word])
        elif len(word) == 4:
            new = str(int(word) + rng.choice([-3, -2, -1, 1, 2, 3]))
        else:
            top = 12 if re.fullmatch(r"\d{4}-\d\d-\d\d|\d\d[./]\d\d[./]\d{4}", old) else 28
            new = str(rng.choice([d for d in range(1, top + 1) if d != int(word)])).zfill(len(word))
        changed = old[: part.start()] + new + old[part.end() :]
        flipped = re.fullmatch(r"(\d\d)([./])(\d\d)[./](\d{4})", changed)
        if flipped and f"{flipped[3]}{flipped[2]}{flipped[1]}{flipped[2]}{flipped[4]}" == old:
            return None
        if changed not in text:
            return sentence.replace(old, changed, 1)
    return None


_CODE = re.compile(r"(?<![\w-])(?=[\w./-]*\d)(?=[\w./-]*[A-Za-z])[A-Za-z0-9]+(?:[-./][A-Za-z0-9]+)*(?![\w-])")


def _identifier(sentence: str, text: str, rng: random.Random) -> str | None:
    for match in _CODE.finditer(sentence):
        code = match.group()
        if len(code) < 4 or re.fullmatch(
            r"\d+[\d.,]*-?[a-zA-ZµΩ°%]{1,9}|\d+(?:st|nd|rd|th)|\d+-[a-z-]+|[A-Z]?[a-z]+-\d{1,2}", code
        ):
            continue
        if not re.search(r"[A-Z]|\d{3,}|\.\d", code):
            continue
        spots = [i for i, c in enumerate(code) if c.isdigit()]
        spot = rng.choice(spots)
        new = code[:spot] + rng.choice([d for d in "123456789" if d != code[spot]]) + code[spot + 1 :]
        if new.lower() not in text.lower():
            return sentence.replace(code, new, 1)
    return None


_ROLE_WORDS = (
    "Licensor Licensee Buyer Seller Purchaser Vendor Supplier Customer Client Company Consultant "
    "Distributor Manufacturer Landlord Tenant "
    "Lender Borrower Employer Employee Executive Contractor Recipient Discloser Provider Agent Owner "
    "Party Franchisor Franchisee Sponsor "
    "Auftraggeber Auftragnehmer Verkäufer Käufer Lieferant Kunde Mieter Vermieter"
).split()
_NAME_RE = re.compile(r"(?<![\w.])(?:[A-Z][a-zäöü]+(?: [A-Z][a-zäöü]+){0,2})(?![\w])")
_LEADS = frozenset(
    """
    The This That These Those In On At If When Upon Any All Each Such For And But No Not As To Its
    It We Our You Your They He She""".split()
)


def _party_swap(sentence: str, text: str, rng: random.Random) -> str | None:
    """Exchange two names or roles between which a verb stands."""
    roles = list(re.finditer(r"\b(?:" + "|".join(_ROLE_WORDS) + r")\b", sentence))
    names = roles if len({m.group() for m in roles}) >= 2 else []
    if not names:
        names = [
            m
            for m in _NAME_RE.finditer(sentence)
            if m.group().split()[0] not in _LEADS
            and (" " in m.group() or m.start() > 0)
            and m.group() not in _EN_MONTHS
            and not re.search(
                r"\bAgreement|Section|Article|Act|State|Law|Date|Information|Product|Service", m.group()
            )
        ]
    for one in names:
        for other in names:
            if other.start() <= one.end() or one.group() == other.group():
                continue
            between = sentence[one.end() : other.start()]
            if not _VERB.search(between) or len(between.split()) < 2:
                continue
            if sentence.count(one.group()) > 1 or sentence.count(other.group()) > 1:
                continue
            new = sentence[: one.start()] + other.group() + between + one.group() + sentence[other.end() :]
            return new if new not in text else None
    return None


def _negate(sentence: str, text: str, rng: random.Random) -> str | None:
    """Take a negation out, or put one behind the first auxiliary."""
    if (
        re.search(r"\b(?:shall|may|will|must|is|are|was|were|does|do|can) not\b", sentence)
        and rng.random() < 0.7
    ):
        return re.sub(r"\b(shall|may|will|must|is|are|was|were|does|do|can) not\b", r"\1", sentence, count=1)
    if re.search(r"\b(?:nicht|kein\w*)\b", sentence):
        out = re.sub(
            r"\bnicht |\bkein(?=e[mnrs]?\b)",
            lambda m: "" if m.group() == "nicht " else "ein",
            sentence,
            count=1,
        )
        return out if out != sentence else None
    match = re.search(
        r"\b(shall|may|will|must|is|are|was|were|has been|have been|can|kann|darf|muss|ist|sind|wird"
        r"|werden)\b(?! not| nicht| no\b)",
        sentence,
    )
    if not match or re.search(r"\b(?:no|not|never|neither|nor|kein\w*|nicht|none)\b", sentence):
        return None
    word = "nicht" if match[1] in ("kann", "darf", "muss", "ist", "sind", "wird", "werden") else "not"
    if match[1] in ("has been", "have been"):
        return sentence[: match.start()] + match[1].replace(" ", " not ") + sentence[match.end() :]
    return sentence[: match.end()] + f" {word}" + sentence[match.end() :]


_MODAL = re.compile(
    r"\b(shall|must|may|should|is required to|are required to|muss|müssen|darf|kann|können)\b(?! not| nicht)"
)
_OTHER_MODAL = {
    "shall": "may", "must": "may", "may": "must", "should": "must",
    "is required to": "may", "are required to": "may",
    "muss": "kann", "müssen": "können", "darf": "muss", "kann": "muss", "können": "müssen",
}  # fmt: skip


def _modality(sentence: str, text: str, rng: random.Random) -> str | None:
    found = list(_MODAL.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    new = _OTHER_MODAL[match[1]]
    if match[1] == "may" and rng.random() < 0.5:
        new = "shall"
    return _swap_at(sentence, match, new)


_CORRUPT: dict[str, Callable[[str, str, random.Random], str | None]] = {
    "number": _number,
    "scale": _scale,
    "unit": _unit,
    "date": _date,
    "identifier": _identifier,
    "party swap": _party_swap,
    "negation": _negate,
    "modality": _modality,
}


# ---------------------------------------------------------------- the benchmark


def make_cases(passages: list[Passage], rng: random.Random, each: int = 200) -> list[Case]:
    """Return up to `each` cases of every kind, made from the passages in order."""
    wanted = dict.fromkeys((*TRUE_KINDS, *FALSE_KINDS), each)
    cases: list[Case] = []
    for index, passage in enumerate(passages):
        sentences = _sentences(passage.text)
        if not sentences or not any(wanted.values()):
            continue
        rest = _others(passages, index, rng)
        flat = re.sub(r"\s+", " ", passage.text)
        taken: dict[str, int] = {}
        for sentence in rng.sample(sentences, len(sentences)):
            for kind, missing in wanted.items():
                if missing > 0 and taken.get(kind, 0) < 2:
                    case = _make(kind, sentence, sentences, (passage, flat), rest, rng)
                    if case is not None:
                        cases.append(case)
                        wanted[kind] -= 1
                        taken[kind] = taken.get(kind, 0) + 1
    return cases


def _others(passages: list[Passage], index: int, rng: random.Random) -> tuple[Passage, ...]:
    mine = passages[index].doc_id
    pool = [p for p in rng.sample(passages, min(12, len(passages))) if p.doc_id != mine]
    unique = {p.doc_id: p for p in pool}
    return tuple(unique.values())[:3]


def _make(
    kind: str,
    sentence: str,
    sentences: list[str],
    place: tuple[Passage, str],
    rest: tuple[Passage, ...],
    rng: random.Random,
) -> Case | None:
    passage, flat = place
    everything = (passage, *rest)
    marker = passage.doc_id
    if kind == "verbatim":
        text: str | None = sentence
    elif kind == "reordered":
        text = _reorder(sentence)
    elif kind == "paraphrased":
        text = _paraphrase(sentence)
    elif kind == "wrong document":
        if not rest or any(_shared(sentence, p.text) > 0.6 for p in rest):
            return None
        text, marker = sentence, rest[0].doc_id
    elif kind == "stitched quote":
        text = _stitch(sentence, sentences, flat, rng)
    else:
        text = _CORRUPT[kind](sentence, flat, rng)
    if text is None or (kind not in ("verbatim", "wrong document") and text == sentence):
        return None
    if kind in FALSE_KINDS and kind != "wrong document" and text in flat:
        return None
    answer = f"{text[:-1]} [{marker}]." if text.endswith(".") else f"{text} [{marker}]."
    return Case(kind, answer, sentence, everything, kind in TRUE_KINDS)


def _shared(sentence: str, text: str) -> float:
    mine = set(re.findall(r"[a-zäöüß]{4,}", sentence.lower()))
    theirs = set(re.findall(r"[a-zäöüß]{4,}", text.lower()))
    return len(mine & theirs) / max(1, len(mine))


def _stitch(sentence: str, sentences: list[str], flat: str, rng: random.Random) -> str | None:
    """Glue the beginning of one sentence to the end of another that stands at least 600 characters away."""
    at = flat.find(sentence)
    far = [s for s in sentences if s != sentence and abs(flat.find(s) - at) > 600]
    if at < 0 or not far:
        return None
    other = rng.choice(far)
    mine, theirs = sentence.split(), other.rstrip(".").split()
    head, tail = " ".join(mine[: len(mine) // 2]), " ".join(theirs[len(theirs) // 2 :])
    if len(head.split()) < 5 or len(tail.split()) < 5:
        return None
    return f'The document says: "{head} {tail}".' if rng.random() < 0.5 else f"{head} {tail}."
