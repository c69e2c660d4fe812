"""The parties of a contract and their roles: "between A, Inc. ("Supplier") and B Ltd.", "LANDLORD: A. Roe"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from citegraph.language.names import CLEAR_FORMS, LEGAL_FORMS, tokens
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation, table

OPENING = 6000
"""Characters from the start of a contract in which its parties are named."""
REACH = 1500
"""Characters after "between" in which they are."""
DEFINED_WITHIN = 3500
"""The same when each name has its defined term, which tells where it ends."""

BENEATH = 60
"""Characters after "between" in which the first block begins."""


@dataclass(frozen=True, slots=True)
class Party:
    """Where a contract names a party, and the role or short name that it gives it, empty for none."""

    start: int
    end: int
    role: str = ""


_IN_BRACKETS = r"\(\s*(?:[^()]{0,80}?)[\"“”'‘’„«]\s?(?P<term>[^()]{1,60}?)\s?[\"“”'‘’»][^()]{0,60}\)"
_HEREINAFTER = rf"(?<!\w)(?:{alternation('contracts', 'defines')})(?!\w)"
_CALLED = (
    rf"{_HEREINAFTER}(?:[^\"“”„«»()\n]|\(\w{{1,3}}\)){{0,40}}?\n?(?:[^\"“”„«»()\n]|\(\w{{1,3}}\)){{0,40}}?"
    r"(?:(?:[\"“„«]|(?<!\w)['‘])\s?(?P<quoted>[^\"“”„«»()\n]{1,60}?)\s?(?:[\"“”»]|['’](?!\w))"
    r"|(?<=\s)(?P<capitals>(?-i:[A-ZÀ-ÖØ-Þ]{3,}(?:[ ][A-ZÀ-ÖØ-Þ]{2,}){0,3}))(?!\w))"
)
"""A term that "hereinafter" or its like introduces, without brackets: `hierna te noemen: 'Huurder'`."""
_DEFINED = re.compile(rf"{_IN_BRACKETS}|{_CALLED}", re.IGNORECASE)
_INTRODUCED = re.compile(_HEREINAFTER, re.IGNORECASE)
_STOP = re.compile(alternation("contracts", "ends_parties"), re.IGNORECASE)
_ROLE = re.compile(alternation("contracts", "no_role"), re.IGNORECASE)


def _any(part: str) -> str:
    listed = (words.strip() for words in table("contracts")[part].split("|"))
    forms = sorted(filter(None, listed), key=len, reverse=True)
    return "|".join(re.escape(words).replace(r"\ ", r"\s+") for words in forms)


@cache
def _tail() -> re.Pattern[str]:
    """Return what begins the description of a party behind its name."""
    return re.compile(
        # It begins where its blanks begin: tried from each of them, a run would cost its cube.
        rf"(?<!\s)\s*(?:(?:,\s*)?\b(?:(?:a|an|the)\s+(?:[\w.'’-]+\s+){{0,5}}?(?:{_any('kinds')})"
        rf"|{_any('describes')}|of\s\d|at\s\d)\b|\().*",
        re.IGNORECASE | re.DOTALL,
    )


@cache
def _labels() -> re.Pattern[str]:
    """Return a role that begins a line and has its party behind it or on the next line."""
    return re.compile(
        rf"^[ \t]*(?:the[ \t]+)?(?P<role>{_any('roles')})(?:\(s\))?(?:'s)?(?:[ \t]+name)?[ \t]*:[ \t]*(?:\n[ \t]*)?(?P<name>[^\n]{{2,160}})$",
        re.IGNORECASE | re.MULTILINE,
    )


@cache
def _folded(part: str) -> frozenset[str]:
    return frozenset(fold(" ".join(words.split())) for words in table("contracts")[part].split("|"))


def _term(defined: re.Match[str]) -> str:
    return defined["term"] or defined["quoted"] or defined["capitals"]


def find_parties(text: str, phrases: Sequence[str]) -> list[Party]:
    """Return the parties that a contract names.

    After the first phrase ("by and between") that names two; else in blocks beneath their roles; else before terms that
    "hereinafter" introduces; else before brackets whose words recur; else what a defined term that is a role closes,
    wherever it stands in the opening.
    """
    words = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)
    one: list[Party] = []
    blocks = list(_blocks(text))
    if len({fold(block.role) for block in blocks}) < 2:
        blocks = []
    for found in re.finditer(rf"\b(?:{words})\b\**\s*:?\**", text[:OPENING], re.IGNORECASE):
        if blocks and 0 <= blocks[0].start - found.end() < BENEATH:
            return blocks
        parties = _opening(text, found.end(), words)
        if len(parties) > 1:
            return parties
        one = one or parties
    for finder in (_introduced, _recurring) if not blocks else ():
        if len(parties := list(finder(text))) > 1:
            return parties
    return blocks or one or list(_closed_by_roles(text))


def _opening(text: str, start: int, words: str) -> list[Party]:
    """Return the names between a phrase and the contract's first sentence of substance."""
    defined = list(_defined(text, start, words))
    terms = {fold(party.role) for party in defined}
    listed = [party for party in _names(text, start) if fold(text[party.start : party.end]) not in terms]
    if len(defined) > 1:
        inside = {fold(text[one.start : one.end]) for one in listed if one.start <= defined[-1].end}
        if len(defined) >= len(inside):
            return defined
    return listed


def _defined(text: str, start: int, words: str) -> Iterator[Party]:
    """Yield the names that have a defined term each: a name begins where the term before it ended.

    Args:
        words: the phrases, as a pattern: a title page has one too, and the opening's own is the last before a term.
    """
    end = min(len(text), start + DEFINED_WITHIN)
    begin, found = start, 0
    terms: set[str] = set()
    for term in _DEFINED.finditer(text, start, end):
        if not found:
            for phrase in re.finditer(rf"\b(?:{words})\b\s*:?", text[begin : term.start()], re.IGNORECASE):
                start = begin + phrase.end()
            begin = start
        between = text[begin : term.start()]
        stop = _STOP.search(between)
        # What is said of two parties may stand between them; a recital may not, and no sentence behind the second.
        if found and (len(between) > 700 or (stop and (found > 1 or _RECITES.match(stop[0])))):
            return
        if found > 1 and (_SENTENCE.search(between) or _SECTION.search(between)):
            return
        role = " ".join(re.sub(_ARTICLE, "", _term(term), flags=re.IGNORECASE).split())
        if fold(role) in _folded("no_party"):
            continue
        if _collective().match(term[0]) and not (
            stop or _SENTENCE.search(between) or _POSTCODE.search(between)
        ):
            for span in _listed(text, begin, term.start()):
                if fold(text[slice(*span)]) not in terms:
                    found += 1
                    yield Party(*span, role)
        else:
            for named in _named_before(text, begin, term):
                found += 1
                terms.add(fold(role))
                yield Party(*named, role)
        begin = term.end()


def _named_before(text: str, begin: int, term: re.Match[str]) -> Sequence[tuple[int, int]]:
    """Return the name between a place and a defined term; of a term that "hereinafter" introduces, several joined ones."""
    if (labelled := _behind_label(text, begin, term.start(), _term(term))) is not None:
        return [labelled]
    named = _name(text, _after_description(text, begin, term.start()), term.start())
    if _INTRODUCED.search(term[0]) and (
        named is None or (_AND_BETWEEN.search(text, *named) and not _has_form(text[slice(*named)]))
    ):
        between = text[begin : term.start()].lstrip(" \n\t,;.\"“”'’»)")
        # What describes the party of the term before gives that one another term; "THE HERON COMPANY" is one of its own.
        described = between[:1].islower() and _tail().match(between)
        return [] if described else list(_first_names(text, begin, term.start()))
    return [named] if named else []


def _introduced(text: str) -> Iterator[Party]:
    """Yield the names before terms that "hereinafter" introduces, from the paragraph or the term before on.

    That two sentences follow each other says that the second no longer names the parties.
    """
    begin = 0
    known: set[str] = set()
    for term in _DEFINED.finditer(text[:OPENING]):
        if not _INTRODUCED.search(term[0]):
            continue
        role = re.sub(_ARTICLE, "", " ".join(_term(term).split()), flags=re.IGNORECASE)
        if len(known) > 1 and _SECTION.search(text, begin, term.start()):
            return
        start = max(begin, term.start() - DEFINED_WITHIN // 4)
        paragraphs = list(re.finditer(r"\n\s*\n", text[start : term.start()]))
        if fold(role) not in _folded("no_party") | known:
            last = start + paragraphs[-1].end() if paragraphs else start
            labelled = _behind_label(text, start, term.start(), role)
            if named := (
                [labelled]
                if labelled
                else list(_first_names(text, last, term.start()))
                or list(_first_names(text, start, term.start()))
            ):
                known.add(fold(role))
                yield from (Party(*span, role) for span in named)
        begin = term.end()


_LABEL = re.compile(r"^[^\w\n]*(?P<label>[^\W\d_][^\n:.;,]{1,48}?)[^\w\n:]*:\s*(?=[\"“„«(]?\w)", re.MULTILINE)


def _behind_label(text: str, start: int, end: int, term: str) -> tuple[int, int] | None:
    """Return the name behind a label that says the term, too: `SECOND PARTY / CLIENT: Elm Ltd, ..., hereinafter the "Client"`."""
    said = set(fold(term).split())
    labels = [
        one for one in _LABEL.finditer(text, start, end) if said & set(re.findall(r"\w+", fold(one["label"])))
    ]
    if not labels:
        return None
    first = labels[-1].end()
    behind = re.search(r"[,;(]|\n\s*\n", text[first:end])
    return _name(text, first, first + behind.start() if behind else end, lower=True)


_BRACKET = re.compile(
    r"\((?P<lead>[^()\n]{0,60}?)(?P<term>(?-i:[A-ZÀ-ÖØ-Þ][\w-]+(?: [A-ZÀ-ÖØ-Þ][\w-]+){0,2}))\s*\)"
)
_RECURS = 4


def _recurring(text: str) -> Iterator[Party]:
    """Yield names with a legal form before a bracket whose last words the text says over and over, in whatever language."""
    begin = 0
    known: set[str] = set()
    for term in _BRACKET.finditer(text, 0, min(len(text), OPENING)):
        start = max(begin, text.rfind("\n\n", 0, term.start()), term.start() - 200)
        begin = term.end()
        role = term["term"]
        if (
            fold(role) in _folded("no_party") | known
            or len(re.findall(rf"\b{re.escape(role)}", text)) <= _RECURS
        ):
            continue
        for run in _RUN.finditer(text, start, term.start()):
            if (words := tokens(run[0])) and len(words) > 1 and words[-1].text in LEGAL_FORMS:
                known.add(fold(role))
                yield Party(*run.span(), role)
                break


_CAPITAL = r"[A-ZÀ-ÖØ-Þ]"
_RUN = re.compile(
    rf"(?<!\w){_CAPITAL}[\w&.'’-]*(?:[^\S\n]+(?:(?:{alternation('contracts', 'within_names')})\s+){{0,3}}\n?[^\S\n]*{_CAPITAL}[\w&.'’-]*){{0,7}}"
)
"""Words that begin large, as a name's do."""
_NO_PART = re.compile(
    rf"(?:(?:{alternation('contracts', 'articles')}|{alternation('contracts', 'and')}|{alternation('letters', 'titles')})(?![\w.])|[^\W\d_]{{1,5}}\.\w{{0,3}})\.?\s*",
    re.IGNORECASE,
)
"""An article, a title or an abbreviation before a name."""
_FORM_BEHIND = re.compile(r",?\s+((?:[A-Z]\w{0,3}\.?\s?){1,4}\.?)(?=[\s,;)]|\Z)")


_SECTION = re.compile(r"^[ \t]*\d{1,2}\.(?:\d{1,2}\.?)?\s", re.MULTILINE)
"""The number of a section: two parties are named before the first."""
_ENDED = re.compile(r"(?<=[a-zß-öø-ÿ]{5})\.\s")
"""The end of a sentence: no abbreviation is as long as the word before it."""


def _first_names(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the first name of a passage that has a legal form; else its first of several words, and those joined to it.

    A person who is named before a company represents it.
    """
    people: list[tuple[int, int]] = []
    for run in _RUN.finditer(text, start, end):
        begin, stop = run.span()
        if ended := _ENDED.search(text, begin, stop):
            stop = ended.start()
        while lead := _NO_PART.match(text, begin, stop):
            begin = lead.end()
        words = text[begin:stop].split()
        if (behind := _FORM_BEHIND.match(text, stop, end)) and all(
            token.text in LEGAL_FORMS for token in tokens(behind[1])
        ):
            yield begin, behind.end(1)
            return
        form = next((token for token in tokens(text[begin:stop])[1:] if token.text in CLEAR_FORMS), None)
        if form is not None:
            yield begin, begin + len(_after_form(text[begin:stop]))
            return
        if (
            len(words) > 1
            and not _ROLE.search(text[begin:stop])
            and fold(words[0]) not in _folded("no_party")
        ):
            people.append((begin, begin + len(text[begin:stop].rstrip(" .,"))))
    for place, span in enumerate(people):
        if place and not _AND_BETWEEN.fullmatch(text[people[place - 1][1] : span[0]]):
            return
        yield span


_ARTICLES, _AND = alternation("contracts", "articles"), alternation("contracts", "and")
_AND_BETWEEN = re.compile(rf"\s+(?:{_AND})\s+(?:[^\W\d_]+\.?\s+){{0,2}}", re.IGNORECASE)
_ARTICLE = rf"^(?:{_ARTICLES})\s+"
_RECITES = re.compile(alternation("contracts", "recites"), re.IGNORECASE)


@cache
def _collective() -> re.Pattern[str]:
    """Return how a bracket begins that gives several parties one term."""
    return re.compile(rf"\(\s*(?:{_any('collective')})\b,?\s*(?:\w+\s+)?[\"“”„«]", re.IGNORECASE)


def _listed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the names of a list that one term closes: `A. Roe, a natural person, and Elm LLC (together, the "Owners")`.

    A comma parts them, but not a name from its legal form.
    """
    begin = start
    joints = rf",\s+(?:(?:{_AND})\s+)?(?:(?:{_ARTICLES})\s+)?|\s(?:{_AND})\s+(?:(?:{_ARTICLES})\s+)?|\Z"
    for joint in re.finditer(joints, text[start:end]):
        after = tokens(text[start + joint.end() : start + joint.end() + 30])
        if joint[0] and after and after[0].text in LEGAL_FORMS:
            continue
        stop = start + joint.start()
        if _complete(text[begin:stop]) and (span := _name(text, begin, stop)) is not None:
            yield span
        begin = start + joint.end()


_SENTENCE = re.compile(r"\A\s*\.\s+[A-Z]|[a-z)\d]{3}[.:]\s+[A-Z\d]")
_POSTCODE = re.compile(r"\b[A-Z][a-z]+\.?,?\s+\d{4,5}(?:-\d{4})?\b|\b[A-Z]{2}\s+\d{5}\b")
_DESCRIBED = re.compile(r"[\s,;:.]*(?:[a-z]|\d)")


_BEGINS_WITH_AND = re.compile(rf"[\s,;:.]*(?:{_AND})\b")
_AND_BEFORE_NAME = re.compile(rf"\s(?:{_AND})\b:?\s+(?=[\"“(]*[A-Z0-9])", re.IGNORECASE)


def _after_description(text: str, start: int, end: int) -> int:
    """Return where a name begins behind the description of the party before it: after the last "and" in between."""
    if not _DESCRIBED.match(text, start, end) or _BEGINS_WITH_AND.match(text[start:end]):
        return start
    joints = list(_AND_BEFORE_NAME.finditer(text[start:end]))
    return start + joints[-1].end() if joints else start


def _blocks(text: str) -> Iterator[Party]:
    """Yield the names that stand behind or beneath their role ("TENANT:")."""
    known: set[str] = set()
    for found in _labels().finditer(text[: 2 * OPENING]):
        at = found.start("name")
        span = _name(text, at, found.end("name"), lower=True)
        if span is None or fold(found["role"]) in known or re.search(r"_{3}|\[", found["name"]):
            continue
        name = re.split(r"\s{2,}|,\s", text[slice(*span)])[0]
        if len(name.split()) <= 8 and not name.endswith(":"):
            known.add(fold(found["role"]))
            yield Party(span[0], span[0] + len(name), " ".join(found["role"].split()).capitalize())


_BEFORE = re.compile(
    rf"(?:[A-ZÀ-ÖØ-Þ0-9][\w&.'’-]*,?\s+(?:(?:{alternation('contracts', 'within_names')})\s+)?){{1,8}}$"
)


def _closed_by_roles(text: str) -> Iterator[Party]:
    """Yield the names that a bracket with a role follows: `disclosed by Elm Corp. ("Disclosing Party")`."""
    known: set[str] = set()
    for term in _DEFINED.finditer(text[:OPENING]):
        role = re.sub(_ARTICLE, "", " ".join(_term(term).split()), flags=re.IGNORECASE)
        begin = max(0, term.start() - 120)
        before = text[begin : term.start()].rstrip() + " "
        found = _BEFORE.search(before)
        if found and _PLACED.search(before, 0, found.start()) and not _has_form(found[0]):
            # It is where the party has its seat: "Elm Traders, having its office at Leeds, Yorkshire (the "Client")".
            at = _sentence(text, term.start())
            if (described := _described(text, at, begin + found.start())) is not None:
                begin, found = at, described
        if (
            found is None
            or fold(role) in known
            or not (fold(role) in _folded("roles") or _is_short_for(role, found[0]))
        ):
            continue
        span = _name(text, begin + found.start(), term.start())
        if span is not None and len(text[slice(*span)].split()) > 1:
            known.add(fold(role))
            yield Party(*span, role)


def _sentence(text: str, end: int) -> int:
    """Return where the sentence or paragraph of a place begins, at most 400 characters before it."""
    start = max(0, end - 400)
    ends = list(re.finditer(r"[a-z)\d]{2}[.;]\s+(?=[A-Z])|\n\s*\n|\A", text[start:end]))
    return start + ends[-1].end() if ends else start


_PLACED = re.compile(r"\b[a-z]{2,}\s+\Z")


def _described(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the name before the first description of a party there, matched in the text from `start` on."""
    for tail in re.finditer(rf"\b(?:{_any('describes')})\b", text[start:end], re.IGNORECASE):
        before = text[start : start + tail.start()].rstrip(" ,\n") + " "
        if found := _BEFORE.search(before):
            return found
    return None


def _has_form(name: str) -> bool:
    return any(token.text in CLEAR_FORMS for token in tokens(name))


def _is_short_for(term: str, name: str) -> bool:
    """Return whether a defined term is how a company with a legal form is called for short."""
    return _has_form(name) and fold(term) in fold(name)


def _names(text: str, start: int) -> Iterator[Party]:
    end = min(len(text), start + REACH)
    if stop := _STOP.search(text, start, end):
        end = stop.start()
    for first, last in _pieces(text, start, end):
        span = _name(text, first, last)
        if span:
            term = _DEFINED.search(text, span[1], last)
            role = _term(term) if term and fold(_term(term)) not in _folded("no_party") else ""
            yield Party(*span, " ".join(role.split()))


_JOINTS = re.compile(rf"\s+(?:{alternation('contracts', 'joints')})\s+(?=[^\s])|\s*;\s*", re.IGNORECASE)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what stands between the joints: a defined term's bracket, an "and", a semicolon.

    An "and" inside a name ("Barnes and Noble, Inc.") is none: what follows it has to look like a name that
    stands alone, and what stands before it too.
    """
    begin = start
    for joint in _JOINTS.finditer(text[start:end]):
        at, after = start + joint.start(), start + joint.end()
        if text.count("(", begin, at) > text.count(")", begin, at):
            continue
        if not _complete(text[begin:at]) or not re.match(r"[\"“(\s-]*[A-Z0-9]", text[after : after + 5]):
            continue
        yield begin, at
        begin = after
    yield begin, end


def _complete(piece: str) -> bool:
    """Return whether a piece can be a whole party: it holds a definition, a description or a legal form."""
    if _DEFINED.search(piece) or _tail().search(piece):
        return True
    found = tokens(piece)
    return bool(found) and (found[-1].text in CLEAR_FORMS | LEGAL_FORMS or 2 <= len(found) <= 4)


_BEFORE_NAMES = re.compile(
    rf"[\s,:;.\"“”'‘’()\[\]-]*(?:\(?\d\)|\(?[a-z]\)|\(i+\))?\s*(?:(?:{alternation('contracts', 'before_names')})\b:?\s+)?"
    rf"(?-i:(?:{alternation('contracts', 'articles')})\s+(?=[A-ZÀ-ÖØ-Þ]))?",
    re.IGNORECASE,
)


def _name(text: str, start: int, end: int, *, lower: bool = False) -> tuple[int, int] | None:
    """Return where a piece names a party; what begins small is a description, unless a label stands before it."""
    piece = text[start:end]
    lead = _BEFORE_NAMES.match(piece)
    start += lead.end() if lead else 0
    piece = text[start:end]
    tail = _tail().search(piece)
    if tail:
        piece = piece[: tail.start()]
    piece = re.sub(r",?\s+as\s*$", "", _after_form(piece))
    piece = (
        piece.rstrip(" \n\t,.;:-–\"“”'‘’(")
        if not re.search(r"\b(?:Inc|Ltd|Co|Corp|L\.?P|L\.L\.C|S\.A|N\.V|B\.V)\.$", piece.rstrip(" ,"))
        else piece.rstrip(" ,\n\t")
    )
    if (
        not re.search(r"[^\W\d_]{2}", piece)
        or len(piece) > 120
        or _is_sentence(piece)
        or _ROLE.search(piece)
        or not (lower or re.search(r"[A-Z]", piece))
        or (not lower and re.match(r"[a-zà-öø-ÿ]+(?![\w.])", piece))
        or (not lower and re.match(r"\d+\s", piece) and not (len(piece.split()) < 6 and _has_form(piece)))
    ):
        return None
    return start, start + len(piece)


def _is_sentence(piece: str) -> bool:
    """Tell whether a piece says more than a name: many words in lower case, a label, the number of a section, or roles alone."""
    words = piece.split()
    if re.search(r"\s\d{1,2}\.\d{1,2}\s", piece):
        return True
    small = sum(word[:1].islower() for word in words)
    return (len(words) > 5 and 2 * small > len(words)) or ":" in piece or fold(words[0]) in _folded("roles")


def _after_form(piece: str) -> str:
    """Return a piece cut after its first clear legal form and what belongs to it."""
    found = list(tokens(piece))
    for place, token in enumerate(found):
        if place and token.text in CLEAR_FORMS and not token.bracketed:
            last = token
            for other in found[place + 1 :]:
                if other.text not in LEGAL_FORMS or other.start - last.end > 3:
                    break
                last = other
            after = re.match(r"\.", piece[last.end :])
            return piece[: last.end + (1 if after else 0)]
    return piece
