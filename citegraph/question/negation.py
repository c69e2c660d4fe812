"""Which conditions of a question are denied: how far "not", "except A and B", "neither", "anyone but" reach."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from citegraph.corpus.filters.clause import Clause, Group, Operator
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.declared_words import general_words
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import ALL_LEFT_OUT, LEFT_OUT, SAID, left_out, tag_question, wants_fact
from citegraph.language import terms
from citegraph.language.names import tokens
from citegraph.language.word_tables import alternation, pattern, source
from citegraph.question.phrases import document_words, find_phrase
from citegraph.question.reading import Atom, Reader, Span

REACH = 48
"""Characters between a denial and the condition that it is about."""
ODD = 2
"""Words between them that neither the bucket nor the language gives a meaning: "not paid by A"."""
BARRIER = re.compile(r"[;:?!]|\.(?!\w)")

OPPOSITE: dict[Operator, Operator] = {
    "=": "!=", "!=": "=", "in": "not in", "not in": "in", "contains": "not in", "<": ">=", ">=": "<", ">": "<=",
    "<=": ">", "exists": "missing", "missing": "exists",
}  # fmt: skip


@dataclass
class Denials:
    """Which atoms are denied, by place, and the denying words: those that deny one, and those that deny nothing known.

    `lost` are names that stand beside a better one of their field and are no condition.
    """

    atoms: set[int] = field(default_factory=set)
    used: list[tuple[int, int]] = field(default_factory=list)
    idle: list[tuple[int, int]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def odd_words(reader: Reader, text: str, own: Field | None = None) -> list[str]:
    """Return the words of a text that are neither small nor words of the bucket's documents, or of one field of it."""
    text = pattern("small", "states", "indefinite", "and", "or", "nor").sub(" ", text)
    known = general_words(reader.bucket) if own is None else own_words(own, reader.bucket)
    stems, small = _stems(known), terms.small_words(reader.question)
    return [
        token.text
        for token in tokens(text)
        if token.text not in small
        and token.text not in known
        and terms.stem(token.text) not in stems
        and len(token.text) > 1
    ]


@cache
def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(terms.stem, words))


def own_words(declared: Field, bucket: Bucket) -> frozenset[str]:
    """Return the words of a field, and those of the bucket's documents."""
    phrases = [*declared.called, *bucket.nouns]
    return frozenset(token.text for phrase in phrases for token in tokens(phrase))


def find_denials(reader: Reader, atoms: Sequence[Atom]) -> Denials:
    """Return what is denied; `atoms` stand in order of place."""
    found = Denials()
    only = [match.span() for match in _only().finditer(reader.question)]
    for start, end in only:
        reader.use(start, end)
    for kind, match in _denying(reader, atoms):
        target = _target(reader, atoms, kind, match)
        if (
            target is None
            and kind == "deny"
            and not wants_fact(reader.question)
            and (subject := _subject(reader, atoms, match)) is not None
        ):
            found.used.append(match.span())
            found.atoms |= {subject, *_listed(reader, atoms, subject, -1)}
            continue
        if target is None:
            if kind != "but":
                found.idle.append(match.span())
            continue
        found.used.append(match.span())
        found.atoms |= {target, *_listed(reader, atoms, target, 1 if kind != "except_after" else -1)}
    if not only:
        _as_tagged(reader, atoms, found)
    return found


@cache
def _only() -> re.Pattern[str]:
    """Return the pattern of what leaves nothing but what follows: "nobody but", "by none other than"."""
    return pattern(
        "nobody", after=rf"(?:\s+(?:{alternation('asking', 'else')}))?\s+{source('but', 'except', 'than')}"
    )


def _as_tagged(reader: Reader, atoms: Sequence[Atom], found: Denials) -> None:
    """Add the names, kinds and periods that the tagger takes to be left out; a bound says that by its own words.

    Denying words that denied nothing known are used up by them.
    """
    if not found.idle and any(
        _denies_itself(atom)
        and left_out(reader.question, atom.start, atom.end) >= (LEFT_OUT if found.atoms else 0)
        for atom in atoms
    ):
        return  # the denial that the tagger sees is the kind's own
    naming = {
        place: left_out(reader.question, atom.start, atom.end)
        for place, atom in enumerate(atoms)
        if atom.clause.operator in NAMING and place not in found.atoms
        if not _in_plain_brackets(reader.question, atom)
        if not pattern("narrows", after=r"\s+(?:\w{1,3}\s+)?$").search(reader.question[: atom.start])
    }
    more = {place for place, share in naming.items() if share >= LEFT_OUT}
    if len(more) == len(naming):
        # A fact is asked of what is named: "what if we do not renew the Arnwick terms?"
        least = 1.0 if wants_fact(reader.question) else ALL_LEFT_OUT
        more = {place for place in more if naming[place] > least}
    gone = {brackets for place in more if (brackets := _brackets(reader.question, atoms[place])) >= 0}
    more |= {place for place in naming if _brackets(reader.question, atoms[place]) in gone}
    found.atoms |= more
    for place in sorted(found.atoms):  # "né X né Y" leaves out both
        for step in (1, -1):
            if 0 <= place + step < len(atoms):
                first, last = sorted((place, place + step))
                gap = gap_between(reader, atoms[first], atoms[last])
                if pattern("nor").search(gap) and in_one_list(reader, gap, same=True):
                    found.atoms.add(place + step)
    if more:
        found.used += found.idle
        found.idle.clear()


def _brackets(question: str, atom: Atom) -> int:
    """Return where the brackets open in which a condition stands, -1 outside of any."""
    opened = question.rfind("(", 0, atom.start)
    return -1 if ")" in question[max(0, opened) : atom.start] else opened


def _in_plain_brackets(question: str, atom: Atom) -> bool:
    """Tell whether a condition stands in brackets in and before which nothing denies: they tell more of what is meant."""
    opened = _brackets(question, atom)
    if opened < 0:
        return False
    said = question[:opened].rstrip().rpartition(" ")[2] + question[opened:].partition(")")[0]
    tagged = tag_question(question)
    before = list(re.finditer(r"\w+", question[:opened]))[-BEFORE:]
    gone = any(
        tagged.slot(*word.span(), "excluded") >= SAID for word in before
    )  # "the old ones (A, B) are dead for us"
    return not gone and not any(denying(kind).search(said) for kind in ("except", "deny", "deny_noun"))


BEFORE = 3
"""Words before brackets that these tell more of."""


def _denies_itself(atom: Atom) -> bool:
    """Tell whether the words of a condition hold their own denial, as the name of a kind: "no longer maintained"."""
    return pattern("deny", "deny_noun").search(atom.text) is not None


NAMING = frozenset({"=", "in", "contains", "between"})
"""Operators of a condition that holds a name, a kind or a period."""


def _denying(reader: Reader, atoms: Sequence[Atom]) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the denying words of a question with what they do; those inside a name or a condition are none."""
    question = reader.question
    none = [match.span() for match in pattern("no_denial").finditer(question)]
    taken = [(atom.start, atom.end) for atom in atoms] + none
    taken += [(start, end) for _, _, start, end in reader.bucket.find_identifiers(question)]
    for kind in ("except", "except_after", "deny", "deny_noun", "but"):
        for match in denying(kind).finditer(question):
            if any(start <= match.start() < end for start, end in taken) or not reader.free(*match.span()):
                continue
            yield kind, match
            # "without" both excepts and denies; the longest reading of the same words counts.
            if kind not in ("except", "except_after"):
                taken.append(match.span())


@cache
def denying(kind: str) -> re.Pattern[str]:
    """Return what a kind of denying words looks like; "deny" also takes the prefix of "non-smoking"."""
    if kind == "deny":
        return re.compile(pattern("deny").pattern + r"|(?<!\w)non(?=[-\s])", re.IGNORECASE)
    return pattern(kind)


def _target(reader: Reader, atoms: Sequence[Atom], kind: str, match: re.Match[str]) -> int | None:
    """Return the place of the condition that denying words are about, None when they are about something else."""
    question, start, end = reader.question, match.start(), match.end()
    if kind == "except_after":
        before = [place for place, atom in enumerate(atoms) if atom.end <= start]
        gap = question[atoms[before[-1]].end : start] if before else "?"
        return before[-1] if before and len(gap) < 16 and not BARRIER.search(gap) and not _odd(gap) else None
    place = next((place for place, atom in enumerate(atoms) if atom.start >= end), None)
    if place is None or atoms[place].start - end > REACH:
        return None
    gap = question[end : atoms[place].start]
    if match.group().lower() == "non" and gap[:1] == "-":
        return place if gap == "-" else None
    declared = reader.bucket.field(atoms[place].clause.field)
    if BARRIER.search(gap) or declared is None or gap.count(")") > gap.count("("):
        return None
    if kind == "but":
        universal = pattern("universal").search(question[max(0, start - 40) : start])
        more = pattern("contrast", "deny", "except").search(gap)
        return place if universal and not more and not _odd(gap) else None
    if pattern("contrast").search(gap):
        return None
    odd = odd_words(reader, gap, declared)
    if kind == "deny_noun":
        named = any(find_phrase(gap, noun) for noun in reader.bucket.nouns)
        numbered = re.match(r"\s*[.:#]?\s*\d", question[end:])
        return None if named or odd or numbered or declared.kind == "identifier" else place
    helped = pattern("helping", after=rf"\s*(?:{source('be')}\s+)?$").search(
        question[:start]
    ) or _HELPED.match(match.group())
    if kind == "deny" and (helped or wants_fact(question)):
        return place if not odd else None
    read = tag_question(question).slot(atoms[place].start, atoms[place].end, "included")
    begins = kind == "except" and not question[:start].strip()
    if (odd or "(" in gap) and read >= LEFT_OUT and not begins:
        return (
            None  # "the total without shipping, of A", "not the normal ones reported in 2019", "not paid (A)"
        )
    last = end + (gap.rstrip().rfind(" ") + 1)
    if kind == "except" and odd and (begins or left_out(question, last, atoms[place].start) >= LEFT_OUT):
        return place  # "without the ones that are merely flagged as drafts"
    led = not odd or _ends_small(gap)
    return place if led and len(odd) <= (1 if kind == "except" else ODD) else None


def _subject(reader: Reader, atoms: Sequence[Atom], match: re.Match[str]) -> int | None:
    """Return the place of the name that is denied to be something: "where Arnwick is not a party"."""
    before = [place for place, atom in enumerate(atoms) if atom.end <= match.start()]
    if not before or atoms[before[-1]].mention is None:
        return None
    if any(find_phrase(atoms[before[-1]].text, noun) for noun in document_words(reader.bucket)):
        return None  # "how many advisories don't mention keys"
    gap = reader.question[atoms[before[-1]].end : match.start()].strip()
    return (
        before[-1] if pattern("be").fullmatch(gap) or (not gap and match.group().lower()[-1] == "t") else None
    )


_HELPED = re.compile(alternation("asking", "helped"), re.IGNORECASE)


def _odd(gap: str) -> list[str]:
    return [word for word in terms.words(pattern("small").sub(" ", gap)) if word not in terms.stop_words()]


def _ends_small(gap: str) -> bool:
    """Tell whether a small word stands at the end of a gap, as "by" does in "not paid by A"."""
    said = terms.words(gap)
    return bool(said) and (said[-1] in terms.stop_words() or bool(pattern("small").fullmatch(said[-1])))


def _listed(reader: Reader, atoms: Sequence[Atom], place: int, step: int) -> list[int]:
    """Return the places of the conditions that stand in one list with a denied one, and so are denied with it."""
    found = []
    while 0 <= place + step < len(atoms):
        first, last = sorted((place, place + step))
        gap = gap_between(reader, atoms[first], atoms[last])
        same = atoms[first].clause.field == atoms[last].clause.field
        if not in_one_list(reader, gap, same=same):
            break
        place += step
        found.append(place)
    return found


def in_one_list(reader: Reader, gap: str, *, same: bool) -> bool:
    """Tell whether what stands between two conditions makes them members of one denied list."""
    if BARRIER.search(gap) or pattern("contrast").search(gap):
        return False
    joins = pattern("or", "nor").search(gap) if not same else joined_by(gap)
    if not joins:
        return False
    # A name that nothing stored is like may stand among the others: "except A, Nobody and B".
    unknown = odd_words(reader, gap)
    return (
        len(unknown) <= 3
        and all(re.search(rf"\b{re.escape(word)}", gap.lower()) for word in unknown)
        and (not unknown or all(_capital(gap, word) for word in unknown))
    )


def _capital(text: str, word: str) -> bool:
    found = re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE)
    return bool(found and found.group()[0].isupper())


def gap_between(reader: Reader, left: Span | Link, right: Span | Link) -> str:
    """Return what stands between two spans; the Dutch "of" is an "or"."""
    gap = reader.question[left.end : right.start]
    return _OF.sub("or", gap) if terms.language_of(reader.question) == "nl" else gap


_OF = re.compile(r"\bof\b")


def joined_by(gap: str) -> str:
    """Return "or", "and" or "" as what stands between two conditions joins them; a comma joins as "and" does.

    The stroke of an abbreviation ("w/", "c/o") joins nothing.
    """
    gap = _STROKE.sub(" ", gap)
    if pattern("or").search(gap):
        return "or"
    return "and" if pattern("and", "nor").search(gap) or "," in gap else ""


_STROKE = re.compile(r"\b[^\W\d_]/")


def denied(bucket: Bucket, clause: Clause) -> Clause | Group | None:
    """Return what holds when a condition does not; None where that cannot be asked of its field."""
    declared = bucket.field(clause.field)
    if clause.operator == "between" and isinstance(clause.value, list):
        low, high = clause.value
        below = clause.model_copy(update={"operator": "<", "value": low})
        above = clause.model_copy(update={"operator": ">", "value": high})
        return Group(mode="any", clauses=(below, above))
    if declared is not None and declared.type == "boolean" and clause.operator == "=":
        return clause.model_copy(update={"value": not clause.value})
    operator = OPPOSITE.get(clause.operator)
    if operator is None or declared is None or (clause.operator == "contains" and declared.type == "text"):
        return None
    several = operator == "not in" and not isinstance(clause.value, list)
    if declared.type == "keywords" and operator == "!=":
        operator, several = "not in", not isinstance(clause.value, list)
    value = [clause.value] if several else clause.value
    return clause.model_copy(update={"operator": operator, "value": value})
