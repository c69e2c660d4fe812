"""Read the names in a question that exist as values: one clause each, negated or joined by "or" where the words say so."""

import re
from collections.abc import Sequence

from citegraph.corpus.filters.clause import Clause, Operator
from citegraph.corpus.linking.linker import Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.question import cues
from citegraph.question.reading import Mentioned, Reader, Span

REACH_BACK = 34
"""Characters before a mention in which a negation still belongs to it."""


def read_mentions(reader: Reader, links: Sequence[Link]) -> None:
    """Turn linked names into clauses, the longest and rarest first; names joined by "or" become one group."""
    entities = reader.bucket.entity_fields

    def order(link: Link) -> tuple[float, bool, int, int]:
        place = entities.index(link.field) if link.field in entities else len(entities)
        return -(link.end - link.start) * link.score, not link.cued, place, link.start

    for link in sorted(links, key=order):
        declared = reader.bucket.field(link.field)
        if declared is None or not reader.free(link.start, link.end):
            continue
        if is_additive(reader, declared, link) or is_common_word(reader, declared, link):
            continue
        add_mention(reader, declared, link)
    settle_rivals(reader)


ADDED = re.compile(
    r"(?:plus|including|incl\.?|as\s+well\s+as|and\s+also|sowie|inklusive|einschließlich|y\s+compris)\s+(?:the\s+|die\s+|les\s+)?$",
    re.IGNORECASE,
)
NETTED = re.compile(
    r"\b(?:after|minus|less|net\s+of|abzüglich|nach\s+abzug|moins|déduction)\s+(?:the\s+|der\s+|die\s+|des\s+|de\s+)?$",
    re.IGNORECASE,
)
NETTED_AFTER = re.compile(
    r"^\s*(?:(?:is|are|was|were)\s+)?(?:taken\s+off|deducted|subtracted|netted|abgezogen|déduite?s?)\b",
    re.IGNORECASE,
)
ADDED_AFTER = re.compile(
    r"^\s*(?:included|too|as\s+well|inklusive|eingeschlossen|inbegriffen|compris\w*)\b", re.IGNORECASE
)


def is_additive(reader: Reader, declared: Field, link: Link) -> bool:
    """Tell whether a kind of document is named in addition to all of them ("contracts, NDAs included")."""
    if not declared.canonical:
        return False
    before, after = reader.question[: link.start], reader.question[link.end :]
    netted = NETTED.search(before) or NETTED_AFTER.search(after)
    return bool(netted or ADDED.search(before) or ADDED_AFTER.search(after))


def is_common_word(reader: Reader, declared: Field, link: Link) -> bool:
    """Tell whether a lone lower-case word is a common noun although a name is written like it ("a target company").

    Only where the question writes another name of that field with a capital; a question in lower case tells nothing.
    """
    lone = (
        link.text.islower()
        and link.text.isalpha()
        and not link.cued
        and declared.kind in {"organization", "person"}
    )
    proper = link.values[0][:1].isupper()
    others = any(mention.field == declared.name and mention.text[:1].isupper() for mention in reader.mentions)
    return lone and proper and others


def clause_of(bucket: Bucket, link: Link) -> Clause:
    """Return the clause that a document has the value which a name is linked to."""
    declared, one = bucket.field(link.field), len(link.values) == 1
    listed = declared is not None and declared.type == "keywords"
    operator: Operator = "in" if not one else "contains" if listed else "="
    value = link.values[0] if one else list(link.values)
    return Clause(field=link.field, operator=operator, value=value, raw=link.text)


def add_mention(reader: Reader, declared: Field, link: Link) -> None:
    """Add the clause of one mention, negated when a negation stands beside it."""
    start, end, values = link.start, link.end, link.values
    negated = is_negated(reader.question, start, reader.used) or bool(
        EXCLUDED_AFTER.search(reader.question[end:])
    )
    listed = declared.type == "keywords"
    operator: Operator
    value: object
    if listed:
        operator, value = ("not in" if negated else "in"), list(values)
        if len(values) == 1 and not negated:
            operator, value = "contains", values[0]
    elif len(values) == 1:
        operator, value = ("!=" if negated else "="), values[0]
    else:
        operator, value = ("not in" if negated else "in"), list(values)
    reader.add(declared.name, operator, value, start, end)
    reader.use(start, end)
    text = reader.question[start:end]
    reader.mentions.append(
        Mentioned(
            start,
            end,
            text,
            declared.name,
            tuple(values),
            negated,
            link.score,
            link.how,
            link.cued,
            link.complete,
        )
    )
    if link.how not in {"exact", "folded", "alias"}:
        shown = ", ".join(values[:4]) + (f" and {len(values) - 4} more" if len(values) > 4 else "")
        reader.notes.append(f"“{text}” was matched with {shown} ({declared.name}).")


def is_negated(question: str, start: int, used: Sequence[Span]) -> bool:
    """Tell whether a negation stands shortly before `start`, with no other mention or comma between."""
    floor = max([span.end for span in used if span.end <= start], default=0)
    before = question[max(floor, start - REACH_BACK) : start]
    before = re.split(r"[,;:](?!\s*(?:but|except|without|excluding|not|leave|ohne|sauf))", before)[-1]
    return bool(cues.NEGATION.search(before))


EXCLUDED_AFTER = re.compile(
    r"^\s*(?:(?:are|is|be|to\s+be|should\s+be)\s+)?(?:excluded|left\s+out|not\s+included|not\s+counted|aside|apart|ausgeschlossen|ausgenommen|nicht\s+mitgezählt|exclus?e?s?)\b",
    re.IGNORECASE,
)


CONNECTED = re.compile(
    r"^[\s,;/&]*(?:(?:or|and|oder|und|ou|et|plus|as\s+well\s+as|sowie)[\s,;]*)?(?:the\s+|in\s+|from\s+|under\s+|der\s+|die\s+)?$",
    re.IGNORECASE,
)


def settle_rivals(reader: Reader) -> None:
    """Join mentions of one single-valued field that "or", "and" or a comma connects; of others keep the best one.

    Two names side by side without a connecting word ("unmaintained notice") cannot both be meant; companies and
    people that are each named in full are alternatives wherever they stand ("reported by A ... according to B").
    """
    by_field: dict[str, list[Mentioned]] = {}
    for mention in sorted(reader.mentions, key=lambda item: item.start):
        declared = reader.bucket.field(mention.field)
        if declared is not None and not mention.negated:
            by_field.setdefault(mention.field, []).append(mention)
    for name, mentions in by_field.items():
        declared = reader.bucket.field(name)
        several = declared is not None and declared.type == "keywords" and not declared.canonical
        if len(mentions) < 2 or (several and not alternatives(reader.question, mentions)):
            continue
        best = max(mentions, key=lambda item: (item.cued, item.score, item.end - item.start))
        joined = [
            item
            for item in mentions
            if item is best
            or connected(reader.question, item, best, mentions)
            or both_named(declared, item, best)
        ]
        values = list(dict.fromkeys(value for item in joined for value in item.values))
        spans = {reader.question[item.start : item.end].strip() for item in mentions}
        reader.clauses[:] = [
            clause
            for clause in reader.clauses
            if not (
                isinstance(clause, Clause)
                and clause.field == name
                and clause.raw in spans
                and clause.operator in {"=", "in", "contains"}
            )
        ]
        start, end = (
            (best.start, best.end) if len(values) == len(best.values) else (joined[0].start, joined[-1].end)
        )
        reader.add(
            name, "in" if len(values) > 1 else "=", values if len(values) > 1 else values[0], start, end
        )
        reader.mentions[:] = [
            item for item in reader.mentions if item.field != name or item.negated or item in joined
        ]


def both_named(declared: Field | None, item: Mentioned, best: Mentioned) -> bool:
    """Tell whether two mentions are two companies or people, each named in full and written as a name."""
    if declared is None or declared.kind not in {"organization", "person"}:
        return False
    return all(
        mention.complete and mention.score >= NAMED and (mention.cued or mention.text != mention.text.lower())
        for mention in (item, best)
    )


NAMED = 0.6
"""Score from which a whole name is surely meant."""


def alternatives(question: str, mentions: Sequence[Mentioned]) -> bool:
    """Tell whether "or" stands between the mentions of a field that may hold several values at once."""
    return bool(cues.CHOICE.search(question[mentions[0].end : mentions[-1].start]))


def connected(question: str, item: Mentioned, best: Mentioned, mentions: Sequence[Mentioned]) -> bool:
    """Tell whether a mention is an alternative to `best`: joined to it by a connecting word, or the same value."""
    if set(item.values) & set(best.values):
        return True
    first, last = sorted((item, best), key=lambda mention: mention.start)
    gap = question[first.end : last.start]
    for between in mentions:
        if first.end <= between.start and between.end <= last.start:
            gap = gap.replace(between.text, "")
    return bool(gap.strip()) and all(CONNECTED.match(part) for part in re.split(r"(?<=,)", gap))
