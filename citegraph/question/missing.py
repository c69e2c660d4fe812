"""Read "have no customer", "the vendor is unknown", "with a due date", "randomised": what documents state, or do not."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from citegraph.corpus.filters.clause import Operator
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import is_no_condition
from citegraph.language import terms
from citegraph.language.word_tables import alternation, pattern, source
from citegraph.question.functions import function_of
from citegraph.question.negation import denying, odd_words
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader
from citegraph.question.spoken_of import runs, values_in
from citegraph.run.state_types import StoredClause

_SMALL = (
    rf"\s+(?:(?:{alternation('asking', 'before_a_field')}|{alternation('asking', 'both')})\s+|%s\s+){{0,2}}"
)
PARTS = re.compile(rf"\s*(?:{alternation('asking', 'parts_of_a_text')})\b", re.IGNORECASE)
"""After a field's word: a part of the text is meant, and the text is asked."""
AMOUNT = re.compile(r"\s*(?:(?:\w+\s+)?[€$£]?\d)")
FEW = 0.5
"""Share of documents under which a date that is only said to be there ("withdrawn advisories") tells them apart."""


def _lead(*kinds: str) -> re.Pattern[str]:
    return re.compile(rf"{source(*kinds)}{_SMALL % source('indefinite')}", re.IGNORECASE)


_ENDS_PRESENCE = re.compile(rf"\s*(?:{alternation('asking', 'ends_presence')})")


def read_presence(reader: Reader, names: Sequence[Link], coverage: dict[str, float]) -> None:
    """Add a condition for each field that the question says is, or is not, stated.

    Args:
        names: the linked names of the question: a name behind the field's word is the condition then.
        coverage: share of the documents that state each date.
    """
    for operator, start, after in _leads(reader.question):
        found = field_at(reader, after)
        if found is None or not reader.free(start, found[1]):
            continue
        declared, end = found
        if _is_sum(reader, declared, (start, end)):
            reader.use(start, after)  # nothing else is denied
        elif not _is_valued(reader, declared, end, names):
            if operator == "exists" and not _ENDS_PRESENCE.match(reader.question[end:]):
                continue
            _add(reader, declared, operator, start, end)
            _read_listed(reader, operator, end, names)
    _read_predicates(reader)
    _read_left_out(reader)
    _read_states(reader, coverage)
    _read_spoken_states(reader)


def _read_listed(reader: Reader, operator: Operator, end: int, names: Sequence[Link]) -> None:
    """Read the fields that stand in one list with one that is, or is not, stated: "neither a customer nor a due date".

    What is not there "or" not there is both not there; a word that denies again makes it a choice, as "or" makes of
    what is there.
    """
    while joined := _listing().match(reader.question, end):
        found = field_at(reader, joined.end())
        if found is None or not reader.free(end, found[1]) or _is_valued(reader, *found, names):
            return
        apart = pattern("or").search(joined.group()) and (operator == "exists" or joined["again"])
        declared, stop = found
        start = max(joined.start("again"), end) if joined["again"] else joined.end() if apart else end
        _add(reader, declared, operator, start, stop)
        end = stop


def _add(reader: Reader, declared: Field, operator: Operator, start: int, end: int) -> None:
    """Add the condition that a field is, or is not, stated: that it has none may be one of its values ("no signal word")."""
    none = no_value(declared) if operator == "missing" else None
    reader.add(declared.name, "=" if none else operator, none, start, end)


@lru_cache(maxsize=256)
def _no_value(words: tuple[str, ...], values: tuple[tuple[str, tuple[str, ...]], ...]) -> str | None:
    said = "|".join(re.escape(word) for word in words)
    none = re.compile(rf"{source('lacks', 'deny_noun')}\s+(?:{said})", re.IGNORECASE)
    return next((value for value, forms in values if any(none.fullmatch(form) for form in forms)), None)


def no_value(declared: Field) -> str | None:
    """Return the declared value of a field that says it has none, None without such."""
    words = (*declared.words, declared.name.replace("_", " "))
    return _no_value(words, tuple((value, tuple(forms)) for value, forms in declared.values.items()))


@cache
def _listing() -> re.Pattern[str]:
    """Return what stands between two fields of a list."""
    again = f"(?P<again>{source('deny_noun', 'lacks')})"
    joins = rf"(?:\s*,\s*|\s+{source('and', 'or', 'nor')})+"
    return re.compile(rf"{joins}\s*{again}?{_SMALL % source('indefinite')}", re.IGNORECASE)


def _read_spoken_states(reader: Reader) -> None:
    """Read what surely speaks of a yes or no, and what is denied of a date or number beside no value ("still not handed in")."""
    for run in runs(reader.bucket, reader.question):
        declared = reader.bucket.field(run.field)
        if declared is None or run.role != "condition" or not reader.free(run.start, run.end):
            continue
        text = reader.question[run.start : run.end]
        if not terms.content_words(text):
            continue
        lacked = pattern("lacks", "deny_noun", before=r"^").match(text) is not None
        denied = lacked or denying("deny").search(text) is not None
        near = (run.end, run.end + BEHIND) if lacked else (run.start - NEAR, run.end + NEAR)
        if declared.type == "boolean":
            reader.add(declared.name, "=", not denied, run.start, run.end)
        elif denied and not declared.is_string and not _beside_value(reader.question, *near):
            reader.add(declared.name, "missing", None, run.start, run.end)


def _beside_value(question: str, start: int, end: int) -> bool:
    """Tell whether a number or a date stands in some characters."""
    return any(first < end and last > start for first, last in values_in(question))


def _leads(question: str) -> Iterator[tuple[Operator, int, int]]:
    """Yield what is said of the field that follows, where that begins and where the field's word must stand."""
    denied = re.compile(
        rf"{source('deny', 'deny_noun')}\s+{source('states')}{_SMALL % source('indefinite')}", re.IGNORECASE
    )
    stated = re.compile(
        rf"(?:{source('states')}|\b(?:{alternation('asking', 'with')})\b)\s+"
        rf"(?:(?:{alternation('asking', 'both')})\s+)?{source('indefinite')}\s+",
        re.IGNORECASE,
    )
    for match in denied.finditer(question):
        yield "missing", match.start(), match.end()
    for match in _lead("deny_noun", "lacks", "neither").finditer(question):
        yield "missing", match.start(), match.end()
    for match in stated.finditer(question):
        if not pattern("deny", after=r"\s+$").search(question[: match.start()]):
            yield "exists", match.start(), match.end()


def field_at(reader: Reader, place: int) -> tuple[Field, int] | None:
    """Return the field whose word, the longest, begins at a place of the question, with the place where it ends.

    A date of something is that one: "date d'échéance".
    """
    rest = reader.question[place : place + 60]
    best: tuple[int, Field] | None = None
    for declared in reader.bucket.fields:
        if declared.type == "text":
            continue
        for word in said_of(declared, reader.bucket):
            ends = [end for start, end in find_phrase(rest, word)[:1] if start == 0]
            if ends and (best is None or ends[0] > best[0]):
                best = (ends[0], declared)
    if best is None:
        return None
    of = pattern("from_a_set", before=r"\s+", after=r"\s*").match(rest, best[0])
    inner = field_at(reader, place + of.end()) if of else None
    return inner if inner and inner[0].type == best[1].type else (best[1], place + best[0])


def said_of(declared: Field, bucket: Bucket) -> tuple[str, ...]:
    """Return what a field is called, small words apart: in questions, and on the documents that state it."""
    nouns = {noun.casefold() for noun in bucket.nouns}
    printed = (label for rule in declared.extract for label in rule.labels if not rule.prose)
    labels = [label for label in printed if label.casefold() not in nouns]
    words = (*declared.called, *labels)
    return tuple(word for word in words if len(word) >= 3 and terms.bare(word) not in terms.stop_words())


def _is_valued(reader: Reader, declared: Field, end: int, names: Sequence[Link]) -> bool:
    """Tell whether a value of the field, an amount or a part of a text follows its word."""
    rest = reader.question[end:]
    named = any(0 <= link.start - end <= 12 and link.field == declared.name for link in names)
    return named or bool(PARTS.match(rest)) or (declared.type == "money" and bool(AMOUNT.match(rest)))


def _is_sum(reader: Reader, declared: Field, span: tuple[int, int]) -> bool:
    """Tell whether "the total without tax" names another amount."""
    outside = f"{reader.question[: span[0]]} . {reader.question[span[1] :]}"
    return declared.type == "money" and function_of(outside) in {"sum", "average", "max", "min"}


def _read_predicates(reader: Reader) -> None:
    """Read "where the vendor is unknown", "fecha falta"; of two words that end there the longer one: "due date is missing"."""
    spans = [
        (start - end, start, end, declared)
        for declared in reader.bucket.fields
        if declared.type != "text"
        for word in said_of(declared, reader.bucket)
        for start, end in find_phrase(reader.question, word)
    ]
    for _, start, end, declared in sorted(spans, key=lambda spot: (*spot[:3], spot[3].name)):
        said = pattern("missing", before=rf"\s+(?:{source('be')}\s+)?").match(reader.question, end)
        if said and reader.free(start, said.end()):
            _add(reader, declared, "missing", start, said.end())
            continue
        led = list(pattern("missing").finditer(reader.question, 0, start))[-1:]
        if led and reader.free(led[0].start(), end) and _only_small(reader, led[0].end(), start):
            _add(reader, declared, "missing", led[0].start(), end)


def _only_small(reader: Reader, start: int, end: int) -> bool:
    """Tell whether only small words and words of fields stand between two places: "fehlt im Vertrag das Datum"."""
    gap = reader.question[start:end]
    return len(gap) <= NEAR and not re.search(r"[.,;:?!]", gap) and not odd_words(reader, gap)


NEAR, BEHIND = 40, 12
"""Characters between a word for "missing" and the field that it is said of, or the value of one that is not there."""


def read_flags(reader: Reader, noun: str) -> None:
    """Read the word of a field that holds yes or no beside a word for the documents: "randomised trials".

    Args:
        noun: how the documents are named; a question that begins with its verb asks about one of them.
    """
    if not noun or (noun == "singular" and pattern("polar", before=r"^\W*").match(reader.question)):
        return
    for declared in reader.bucket.fields:
        words = declared.called if declared.type == "boolean" else ()
        spans = [span for word in words for span in find_phrase(reader.question, word) if reader.free(*span)]
        if spans:
            reader.add(declared.name, "=", True, *max(spans, key=lambda span: span[1] - span[0]))


def _read_left_out(reader: Reader) -> None:
    """Read "ignore those that don't give one": what states the field that was named last is kept."""
    for match in pattern("except").finditer(reader.question):
        end = _CLAUSE_END.search(reader.question, match.end())
        clause = reader.question[match.end() : end.start() if end else len(reader.question)]
        said = [pattern(kind).search(clause) for kind in ("states", "deny")]
        rest = pattern("states", "deny", "deny_noun", "points", "indefinite", "small").sub(" ", clause)
        named = _named_before(reader, match.start())
        if None in said or named is None or any(len(word) > 1 for word in terms.content_words(rest)):
            continue
        reader.add(named.name, "exists", None, match.start(), match.end() + len(clause))


_CLAUSE_END = re.compile(r"[.;?!)]|,\s")


def _named_before(reader: Reader, place: int) -> Field | None:
    """Return the field whose word stands nearest before a place."""
    best: tuple[int, Field] | None = None
    for declared in reader.bucket.fields:
        for word in declared.called:
            if terms.bare(word) in terms.stop_words() or len(word) < 3:
                continue
            ends = [end for _, end in find_phrase(reader.question[:place], word)]
            if ends and (best is None or ends[-1] > best[0]):
                best = (ends[-1], declared)
    return best[1] if best else None


def _read_states(reader: Reader, coverage: dict[str, float]) -> None:
    """Read a date's word that says a state of few documents: "got withdrawn", "withdrawn advisories", "not withdrawn"."""
    dated = {atom.clause.field for atom in reader.atoms}
    for declared in reader.bucket.fields:
        if declared.type != "date" or declared.name in dated or coverage.get(declared.name, 1.0) >= FEW:
            continue
        for word in declared.words:
            spans = [] if terms.bare(word) in terms.stop_words() else find_phrase(reader.question, word)
            for start, end in spans:
                before, after = reader.question[:start], reader.question[end:].lstrip()
                said = re.search(rf"{source('be')}\s+(?P<no>{source('deny')}\s+)?$", before, re.IGNORECASE)
                kind = any(
                    begin == 0 for noun in reader.bucket.nouns for begin, _ in find_phrase(after, noun)
                )
                asked = re.search(rf"{_WHEN}", before, re.IGNORECASE)
                if not reader.free(start, end) or asked or not (said or kind):
                    continue
                if is_no_condition(reader.question, start, end):  # "A signed agreements with B"
                    continue
                denied = bool(said and (said["no"] or re.match(r"\w+n['’]?t\b", said.group())))
                begin = said.start() if said else start
                reader.add(declared.name, "missing" if denied else "exists", None, begin, end)
                break


_WHEN = rf"\b(?:{alternation('asking', 'about_a_state')})\b[^.;]*$"
"""A question about the state itself: "when was it withdrawn?"."""


def lacks(filters: list[StoredClause], field: str | None) -> bool:
    """Tell whether stored filters ask for documents that do not state a field: there is nothing to sum in them."""
    return field is not None and any(
        clause.get("operator") == "missing" and clause.get("field") == field for clause in filters
    )
