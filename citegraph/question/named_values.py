"""Read the names in a question that exist as values: one condition each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from citegraph.corpus.filters.clause import Clause, Operator
from citegraph.corpus.linking.linker import ValueLinker
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.declared_words import cues
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import SAID, is_idle, is_no_condition
from citegraph.encoder.pieces import is_one_piece
from citegraph.language import terms
from citegraph.language.names import LEGAL_FORMS, tokens
from citegraph.language.terms import SHORT
from citegraph.language.units import unit
from citegraph.language.word_tables import alternation, pattern
from citegraph.question.answer_form import is_polar
from citegraph.question.cues import CONTAINS
from citegraph.question.functions import counting
from citegraph.question.measures import said_before
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader
from citegraph.question.spoken_of import runs


def read_mentions(reader: Reader, links: Sequence[Link]) -> None:
    """Turn linked names into clauses, the longest and rarest first; names joined by "or" become one group."""
    entities = reader.bucket.entity_fields
    begun = {atom.clause.field for atom in reader.atoms if atom.clause.operator == "starts with"}

    def order(link: Link) -> tuple[float, bool, int, int]:
        place = entities.index(link.field) if link.field in entities else len(entities)
        return -(link.end - link.start) * link.score, not link.cued, place, link.start

    for link in sorted(links, key=order):
        declared = reader.bucket.field(link.field)
        if declared is None or not reader.free(link.start, link.end):
            continue
        if not link.cued and link.field in begun and declared.type != "keywords":
            continue  # "the AN10xxx series"
        if (
            is_additive(reader, declared, link, links)
            or is_common_word(reader, declared, link)
            or is_looked_up(reader, link)
            or is_counted_time(reader, link)
            or is_bound(reader, link)
        ):
            continue
        add_mention(reader, declared, link)
        if declared.kind == "jurisdiction" and (title := STATE.search(reader.question, 0, link.start)):
            reader.use(*title.span())  # "the law of the State of Veldany"
    narrow_names(reader)


STATE = re.compile(rf"\b[^\W\d_a-z][^\W\d_]+\s+(?:{alternation('asking', 'of')})\s+(?:[^\W\d_]{{2,4}}\s+)?$")
"""What a state calls itself before its name: "State of ...", "Estado de ...", "Kingdom of the ..."."""


def is_looked_up(reader: Reader, link: Link) -> bool:
    """Tell whether documents have to say a word that is only part of names that they have: "which notices mention Tallow"."""
    before = reader.question[: link.start]
    opened = before.rfind("(")
    said = [match.end() for match in CONTAINS.finditer(before)]
    told = (
        opened >= 0 and ")" not in before[opened:] and any(before[end:opened].strip() for end in said)
    )  # "mention Tallow (keys, tokens)"
    next_to = any(end >= len(before) - NEXT for end in said)
    declared = reader.bucket.field(link.field)
    companies = declared is not None and declared.kind in {"organization", "person"}
    partly = not (link.complete or link.cued or companies)
    return told or (next_to and partly)


def is_bound(reader: Reader, link: Link) -> bool:
    """Tell whether a part of a name is a number that bounds something: "over 400 V"."""
    return (
        not link.complete and link.text[0].isdigit() and said_before(reader.question, link.start) is not None
    )


def is_counted_time(reader: Reader, link: Link) -> bool:
    """Tell whether a kind of document is said as a unit of time of which many are asked for: "how many minutes did it take"."""
    counted = any(0 <= link.start - end <= NEXT for _, end in counting(reader.question))
    found = unit(link.text, glued=False) if counted else None
    return found is not None and found[0] == "time"


NEXT = 2
"""Characters between what says that documents mention something and that thing."""


def read_spoken_values(reader: Reader, linker: ValueLinker) -> None:
    """Add the whole values in words that surely speak of their field, however common the words are ("loans of saws")."""
    for run in runs(reader.bucket, reader.question):
        declared = reader.bucket.field(run.field)
        if declared is None or run.role != "condition" or not declared.is_listed:
            continue
        found = linker.find_mentions(reader.bucket.name, reader.question, fields=[run.field], floor=0.0)
        for link in found:
            inside = run.start <= link.start and link.end <= run.end and reader.free(link.start, link.end)
            if inside and any(find_phrase(link.text, value) for value in link.values):
                add_mention(reader, declared, link)


def read_beginnings(reader: Reader, linker: ValueLinker, links: Sequence[Link]) -> None:
    """Add a condition for each code with which several stored numbers begin: "the FA-2017 invoices", "the AN10xxx notes".

    Args:
        links: the names of the question: a code in one of them is no beginning.
    """
    for match in _PAIRS.finditer(reader.question):
        joined = match[0].replace(":", "")
        for code in (match[0], joined):  # as printed, as often stored
            field = linker.begun(reader.bucket.name, code, whole=False, least=1)
            if field is not None and reader.free(*match.span()):
                reader.add(field, "starts with", code, *match.span())
    for match in _CODE.finditer(reader.question):
        if any(link.start < match.end() and match.start() < link.end for link in links):
            continue
        code = _OPEN.sub("", match[0])
        open_end = code != match[0]
        if len(code) < SHORTEST or not any(map(str.isdigit, code)) or not any(map(str.isalpha, code)):
            continue
        field = (
            linker.begun(reader.bucket.name, code, whole=not open_end) if reader.free(*match.span()) else None
        )
        if field is not None:
            reader.add(field, "starts with", code, *match.span())


_PAIRS = re.compile(r"(?<![\w:])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){2,}(?![\w:])")
"""A fingerprint or the beginning of one."""
_CODE = re.compile(r"(?<![\w-])[^\W_][\w-]*[\w*](?![\w-])")
_OPEN = re.compile(r"(?<=\d)[xX*]+$")
"""What stands for any ending of a code."""
SHORTEST = 4
"""Characters of a code from which it may be the beginning of others."""


def narrow_names(reader: Reader) -> None:
    """Keep of a name's several values those that another word of the question tells apart, or all but those.

    "The Arnwick receipts, but leave out the harbour branch" names Arnwick (Harbour) Ltd and does not want it.
    """
    for place, atom in enumerate(reader.atoms):
        if atom.mention is None or len(atom.mention.values) < 2:
            continue
        values = list(atom.mention.values)
        for word in tokens(reader.question):
            held = [value for value in values if word.text in {token.text for token in tokens(value)}]
            small = word.text in terms.stop_words() or word.text in LEGAL_FORMS or len(word.text) < 3
            if small or not held or len(held) == len(values) or not reader.free(word.start, word.end):
                continue
            gone = _leaves_out().search(reader.question[: word.start])
            values = [value for value in values if (value in held) is (gone is None)]
            reader.use(gone.start() if gone else word.start, word.end)
        if len(values) < len(atom.mention.values):
            clause = atom.clause.model_copy(
                update={
                    "operator": "in" if len(values) > 1 else "=",
                    "value": values if len(values) > 1 else values[0],
                }
            )
            reader.atoms[place] = replace(atom, clause=clause)


@cache
def _leaves_out() -> re.Pattern[str]:
    """Return what must stand before a word that tells those values apart that are not wanted."""
    return pattern(
        "deny",
        "deny_noun",
        "except",
        after=rf"\s+(?:(?:{alternation('asking', 'before_a_name')})\s+){{0,3}}$",
    )


ADDED = re.compile(alternation("asking", "added"), re.IGNORECASE)
NETTED = re.compile(alternation("asking", "netted"), re.IGNORECASE)
NETTED_AFTER = re.compile(alternation("asking", "netted_after"), re.IGNORECASE)
ADDED_AFTER = re.compile(rf"^\s*(?:{alternation('asking', 'added_after')})\b", re.IGNORECASE)


_WITH = re.compile(rf"\b(?:{alternation('asking', 'with')}) $", re.IGNORECASE)


def amount_meant(reader: Reader, declared: Field, start: int, end: int) -> str:
    """Return the amount that a field's word at `start:end` asks for: of a part that is said to be in it, or not, the whole or the rest.

    By the sums that the bucket declares: "IVA compresa", "incl. GST" ask for the total, "ohne MwSt" for the net
    amount, and "how much tax is included" for the tax.
    """
    rule = next((rule for rule in reader.bucket.sums if declared.name in rule.of), None)
    before, after = reader.question[:start], reader.question[end:]
    if rule is None or any(start - 5 <= place <= start for _, place in counting(reader.question)):
        return declared.name
    if pattern("amount_asked", after=r"\s+$").search(before):  # "how much VAT is in it"
        return declared.name
    if inside := ADDED.search(before) or _WITH.search(before):
        reader.use(inside.start(), end)
        return rule.total
    if inside := ADDED_AFTER.search(after):
        reader.use(start, end + inside.end())
        return rule.total
    rest = [name for name in rule.of if name != declared.name]
    if len(rest) == 1 and (gone := pattern("lacks", "except", after=r"\s+(?:\w{2,3}\s+)?$").search(before)):
        reader.use(gone.start(), end)
        return rest[0]
    return declared.name


def _bare_nouns(reader: Reader, declared: Field, links: Sequence[Link]) -> Iterator[tuple[int, int]]:
    """Yield where a word for the bucket's documents stands that belongs to no kind: not the "agreements" of a licence."""
    kinds = [(link.start, link.end) for link in links if link.field == declared.name]
    for noun in reader.bucket.nouns:
        for start, end in find_phrase(reader.question, noun):
            if all(end <= first or reader.question[last:start].strip() for first, last in kinds):
                yield start, end


def _is_joined(question: str, link: Link, span: tuple[int, int]) -> bool:
    """Tell whether nothing but "and" or "or" stands between a name and some characters, if with an article and a comma."""
    gap = question[span[1] : link.start] if span[1] <= link.start else question[link.end : span[0]]
    joins = pattern("and", "or").search(gap)
    if joins is None or pattern("deny", "except").search(gap):
        return False
    beside = terms.words(gap[: joins.start()] + gap[joins.end() :])
    return len(beside) < 2 and terms.stop_words("grammar").issuperset(beside)


def is_additive(reader: Reader, declared: Field, link: Link, links: Sequence[Link]) -> bool:
    """Tell whether a kind of document is named in addition to all of them ("contracts, NDAs included")."""
    if not declared.canonical:
        return False
    before, after = reader.question[: link.start], reader.question[link.end :]
    if any(_is_joined(reader.question, link, span) for span in _bare_nouns(reader, declared, links)):
        return True  # "invoices and credit notes", "receipts or invoices": of all kinds
    netted = NETTED.search(before) or NETTED_AFTER.search(after)
    return bool(netted or ADDED.search(before) or ADDED_AFTER.search(after))


def is_common_word(reader: Reader, declared: Field, link: Link) -> bool:
    """Tell whether a lower-case word is a common one although a value is written like it ("a brief overview", "a target company").

    It is a single piece of the network's words and is, at best, a misspelt value ("paint" of "Saint"), or it has no word of
    the field beside it and is read as no condition. Or yes or no is asked for and it is rather no condition ("is the licence
    non-exclusive?"). Or the question writes another name of that field with a capital; a question in lower case tells nothing.
    """
    said = link.text.split()
    if link.how == "alias" and link.text.islower() and not link.cued and is_polar(reader.question):
        return is_no_condition(reader.question, link.start, link.end, below=SAID)
    common = link.text.islower() and not declared.values and all(map(is_one_piece, said))
    if common and link.how == "fuzzy":
        return True
    if common and not link.cued and is_no_condition(reader.question, link.start, link.end):
        return True
    part = not (link.cued or link.complete or link.text.isupper())
    if part and len(said) == 1 and len(link.text) <= SHORT:
        return True  # a small word with which the question begins: "Mi ..."
    partial = link.text.islower() and not (link.cued or link.complete)
    if partial and is_idle(reader.question, link.start, link.end):
        return True
    if partial and common and len(said) == 1 and all(len(value.split()) > 1 for value in link.values):
        return True  # "people" of a People's Bank
    if partial and all(len(tokens(value)) >= LONGER * len(said) for value in link.values):
        return True  # "board" of a long name of a committee
    lone = (
        link.text.islower()
        and link.text.isalpha()
        and not link.cued
        and declared.kind in {"organization", "person"}
    )
    proper = link.values[0][:1].isupper()
    others = any(mention.field == declared.name and mention.text[:1].isupper() for mention in reader.mentions)
    return lone and proper and others


LONGER = 6
"""How many times as many words a value has, of which a common word is no name."""


def clause_of(bucket: Bucket, link: Link) -> Clause:
    """Return the clause that a document has the value which a name is linked to."""
    declared, one = bucket.field(link.field), len(link.values) == 1
    listed = declared is not None and declared.type == "keywords"
    operator: Operator = "in" if not one else "contains" if listed else "="
    value = link.values[0] if one else list(link.values)
    return Clause(field=link.field, operator=operator, value=value, raw=link.text)


def add_mention(reader: Reader, declared: Field, link: Link) -> None:
    """Add the condition of one mention."""
    clause = clause_of(reader.bucket, link)
    text = reader.question[link.start : link.end]
    reader.add(declared.name, clause.operator, clause.value, link.start, link.end, link)
    if link.how not in {"exact", "folded", "alias"}:
        values = link.values
        shown = ", ".join(values[:4]) + (f" and {len(values) - 4} more" if len(values) > 4 else "")
        reader.notes.append(f"“{text}” was matched with {shown} ({declared.name}).")
    if (other := said_of(reader, declared, link)) is not None:
        said = other.name.replace("_", " ")
        reader.notes.append(f"No {said} is “{text}”; it was taken for a {declared.name.replace('_', ' ')}.")


def said_of(reader: Reader, declared: Field, link: Link) -> Field | None:
    """Return the field whose word stands before a name that only another field of its kind holds: "to Lagos"."""
    if link.cued:
        return None
    before = reader.question[max(0, link.start - 40) : link.start].lower()
    return next(
        (
            other
            for other in reader.bucket.fields
            if other.name != declared.name
            and (other.type, other.kind) == (declared.type, declared.kind)
            and (found := cues(other)) is not None
            and found[0].search(before)
        ),
        None,
    )
