"""Runs a bucket's extraction rules over a document and decides between what they find."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cache, cached_property
from math import prod
from typing import Any

from citegraph.corpus.extraction.calibration import calibrated
from citegraph.corpus.extraction.choice import DOUBTFUL, Printed, choose, is_learned, may_choose, role_of
from citegraph.corpus.extraction.contract_parties import find_parties
from citegraph.corpus.extraction.document_head import find_organization, find_title, form_end
from citegraph.corpus.extraction.einvoice import read_einvoice
from citegraph.corpus.extraction.first_lines import (
    find_certifier,
    find_day,
    find_holder,
    find_number,
    find_writer,
)
from citegraph.corpus.extraction.headings import find_heading, find_part, is_part
from citegraph.corpus.extraction.in_text import DAY, Typed, find_in_compounds, find_law, find_typed
from citegraph.corpus.extraction.invoice_parties.seller_and_buyer import Named, find_trade_parties
from citegraph.corpus.extraction.labelled.labels import beside, listed_beneath
from citegraph.corpus.extraction.labelled.laid_out import LaidOut, laid_out
from citegraph.corpus.extraction.letters import TRUST, Letter, find_letter
from citegraph.corpus.extraction.properties import FrontMatter, front_matter, look_up
from citegraph.corpus.extraction.rows.find_rows import SUMMED, Tables, find_rows, rows_beneath_heads
from citegraph.corpus.extraction.running_heads import find_publisher, find_running_day
from citegraph.corpus.extraction.signing import SPANNED, find_last_day, find_signing_day, find_span
from citegraph.corpus.extraction.sums import add_up
from citegraph.corpus.readers.plain_text import without_marks
from citegraph.corpus.records.extracted.extraction_store import STORE_FROM
from citegraph.corpus.records.extracted.found import Candidate, Extracted, Extraction, FoundRow, Refused
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Document, Layout, Page, page_at
from citegraph.corpus.schema.field import ExtractRule, Field, Sum, Value
from citegraph.corpus.schema.values import coerce, derive_values, is_missing, same
from citegraph.encoder.finder import EVEN, Finder
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity, currency, same_currency
from citegraph.language.date_order import DateOrder, written_order
from citegraph.language.terms import fold, language_of

_LONGEST_MATCH = 4_000
"""Characters that a match which begins within reach may have."""
_RATE = re.compile(r"(?<![\w.,])(?:(\d{1,2}(?:[.,]\d{1,2})?)\s?%|%\s?(\d{1,2}(?:[.,]\d{1,2})?)(?![\d.,]))")
MAIL = "mail_"
"""Begins the keys of a mail's head."""
WORDS_WITHIN, OWN_WORDS = 6_000, 0.6
"""Characters in which a field's own words are looked for as labels, and the confidence of what stands beside them."""
ASKED, RECURS = 1_500, 3
"""Characters in which a question is asked, and how often at most a passing name is said."""
RIVAL, CLEAR, STATED, CERTAIN = 0.3, 0.7, 0.8, 0.97
"""Probability from which what signs speak for counts, and is taken before a rule; the confidence from which a rule stands,
and from which nothing else is looked at."""
SEEN_CLEARLY = frozenset({"amount", "day", "maker", "receiver"})
"""Roles whose choice is taken before what a rule says: of titles and numbers rules know as much."""
DISAGREEMENT, NAMED = 0.8, 0.55
"""Factor on the confidence of a value that another place contradicts; confidence of a product that the title names."""


@dataclass(frozen=True)
class Source:
    """What extraction reads: the text with its pages and layouts, and the XML that came inside the file.

    `title` is what the format declares, `name` that of the file.
    """

    text: str
    pages: tuple[Page, ...] = ()
    embedded: Sequence[bytes] = ()
    today: date = field(default_factory=date.today)
    layouts: tuple[Layout, ...] = ()
    title: str = ""
    name: str = ""

    @cached_property
    def heading(self) -> tuple[int, int, float] | None:
        """Return where the text prints the title of the document, and how sure that is; a mail has its subject."""
        if self.is_mail or (self.letter and not self.text.lstrip().startswith("#")):
            return None
        return find_heading(self.text, self.layouts, self.title)

    @property
    def is_mail(self) -> bool:
        """Return whether the text begins with the head of a mail."""
        return self.matter is not None and any(key.startswith(MAIL) for key in self.matter.properties)

    @cached_property
    def plain(self) -> LaidOut:
        """Return the text as it is written."""
        return LaidOut(self.text, ((0, 0, len(self.text)),))

    @cached_property
    def look(self) -> LaidOut:
        """Return the pages as they look; a text without layouts looks as it is written.

        So does one that was recognised: on a photograph that leans, what stands side by side is not in one row,
        and OCR has put the lines in order already.
        """
        recognised = any(layout.recognised for layout in self.layouts)
        return (None if recognised else laid_out(self.text, self.layouts)) or self.plain

    @cached_property
    def printed(self) -> Printed:
        """Return what is chosen from."""
        at = self.heading
        return Printed(self.look, self.layouts, self.title, self.text[at[0] : at[1]] if at else "", self.find)

    def find(self, bucket: Bucket, declared: Field, text: str) -> Iterator[Typed]:
        """Yield the values of a field's type in a text."""
        return find_typed(declared, text, today=self.today, order=self.written_order or bucket.date_order)

    @cached_property
    def written_order(self) -> DateOrder | None:
        """Return whether the text has the day or the month first in its numeric dates, None when it does not tell."""
        return written_order(self.text)

    @cached_property
    def rates(self) -> frozenset[Decimal]:
        """Return the percentages that the pages print, as shares."""
        found = (one or other for one, other in _RATE.findall(self.look.text))
        return frozenset(Decimal(rate.replace(",", ".")) / 100 for rate in found) - {Decimal(0)}

    @cached_property
    def terms(self) -> Mapping[str, list[str]]:
        """Return the business terms of the first embedded electronic invoice."""
        return next((terms for data in self.embedded if (terms := read_einvoice(data))), {})

    @cached_property
    def is_written_out(self) -> bool:
        """Return whether the text is nothing but the XML of an electronic invoice, an element a line, not its print.

        What stands there before a colon is the name of an element, which says other things than the same words on paper.
        """
        if not self.terms:
            return False
        lines = [line for line in self.text[:2000].split("\n") if line.strip()][:5]
        names = [
            found[1].replace(" ", "") for line in lines if (found := re.match(r"([^\W\d_][^:]*): ", line))
        ]
        data = "".join(self.embedded[0].decode("utf-8", "replace").split())
        return len(names) == len(lines) > 1 and all(
            re.search(rf"[<:]{re.escape(name)}[>a-z]", data) for name in names
        )

    @cached_property
    def matter(self) -> FrontMatter | None:
        """Return the front matter of the text."""
        return front_matter(self.text)

    @cached_property
    def letter(self) -> Letter | None:
        """Return what the form of a letter says, None of what is none; what stands largest there is its writer's name."""
        return find_letter(self.text)

    @cached_property
    def trade_parties(self) -> tuple[Named | None, Named | None]:
        """Return where the look of the pages names the seller and the buyer."""
        return find_trade_parties(self.look.text)

    def page(self, start: int | None) -> int | None:
        """Return the number of the page on which a place lies, None when it is unknown."""
        found = page_at(self.pages, start) if start is not None else None
        return found.number if found else None


def extract_document(bucket: Bucket, document: Document, *, today: date | None = None) -> Extraction:
    """Return what the bucket's rules find in a document."""
    return extract(bucket, source_of(document, today=today))


def source_of(document: Document, *, today: date | None = None) -> Source:
    """Return what extraction reads of a document."""
    embedded = [item.text.encode() for item in document.embedded if "xml" in item.media_type]
    return Source(
        document.text,
        document.pages,
        embedded,
        today or date.today(),
        document.layouts,
        title=document.title,
        name=document.source_file,
    )


def extract(bucket: Bucket, source: Source) -> Extraction:
    """Return the typed values that a bucket's declared rules find in a document, and what they refused.

    Deterministic: the same document and declaration give the same values. Their confidence is how often values found in
    the same way were right (`calibration`).
    """
    found = found_by_rules(bucket, source)
    return replace(found, fields=calibrated(bucket.name, found.fields))


def found_by_rules(bucket: Bucket, source: Source) -> Extraction:
    """Return what `extract` does, each value as sure as its rules themselves say."""
    fields: dict[str, Extracted] = {}
    order = source.written_order or bucket.date_order
    tables = rows_beneath_heads(bucket, source.look, today=source.today, order=order)
    printed = _Rows.of(tables, source.look)
    runs = {declared.name: _FieldRun(bucket, declared, source, printed) for declared in bucket.fields}
    for name, run in runs.items():
        if found := run.by_rules():
            fields[name] = found
    refused = [item for run in runs.values() for item in run.refused]
    for rule in bucket.sums:
        labelled = {name: runs[name].labelled() for name in (rule.total, *rule.of)}
        amounts = runs[rule.total].printed()
        fields.update(add_up(rule, fields, labelled, amounts, source.rates))
        if found := _currency_of(bucket.field(rule.total), fields, amounts):
            fields[found.best.field] = found
    for name, run in runs.items():
        if found := run.with_choice(fields.get(name)):
            fields[name] = found
    for rule in bucket.sums:
        for name in _unproved(rule, fields):
            del fields[name]
    add_currencies(bucket, fields)
    _add_spans_of_time(bucket, fields)
    rows = _rows_of(bucket, source, tables, {name: found.best.value for name, found in fields.items()})
    for rule in bucket.sums:
        if rule.total not in fields and (total := _only_total(bucket, runs[rule.total], rows)):
            fields[rule.total] = total
    fields.update(_named_by_rows(bucket, fields, rows))
    return Extraction(fields, tuple(refused), rows)


def _named_by_rows(
    bucket: Bucket, fields: Mapping[str, Extracted], rows: Sequence[FoundRow]
) -> Iterator[tuple[str, Extracted]]:
    """Yield the list fields that have the name of a kind of rows, filled with what the rows are about."""
    for kind in bucket.rows:
        declared = bucket.field(kind.name)
        held = [row for row in rows if row.kind == kind.name and kind.named_by in row.values]
        if declared is None or declared.type != "keywords" or declared.name in fields or not held:
            continue
        names = tuple(dict.fromkeys(str(row.values[kind.named_by])[:600] for row in held))
        least, first = min(row.confidence for row in held), held[0]
        shown = "; ".join(names)[:600]
        best = Candidate(declared.name, names, shown, first.start, first.end, first.page, "rows", least)
        yield declared.name, Extracted(best, least)


def rows_beside(bucket: Bucket, document: Document, values: Mapping[str, Value]) -> Extraction:
    """Return the rows of tables inside a document whose values somebody gave: no annotation gives those."""
    if not bucket.rows:
        return Extraction()
    source = source_of(document)
    order = source.written_order or bucket.date_order
    tables = rows_beneath_heads(bucket, source.look, today=source.today, order=order)
    return Extraction(rows=_rows_of(bucket, source, tables, values))


def _rows_of(
    bucket: Bucket, source: Source, tables: Tables, values: Mapping[str, Value]
) -> tuple[FoundRow, ...]:
    """Return the rows of the tables that the bucket declares, with their pages."""
    if not bucket.rows:
        return ()
    order = source.written_order or bucket.date_order
    found = find_rows(bucket, source.look, source.embedded, values, tables, today=source.today, order=order)
    said = derive_values(bucket, values, source.text)
    back = any(said.get(name) in backs for name, backs in bucket.deduct.items())
    placed = [
        replace(row, page=source.page(row.start), values=_taken_off(row.values) if back else row.values)
        for row in found
    ]
    return tuple(_without_copies(placed))


def _without_copies(rows: Sequence[FoundRow]) -> Sequence[FoundRow]:
    """Return the rows of the first page where every page has the same ones and no sum wants them all: the original and its copies."""
    if any(row.confidence >= SUMMED for row in rows):
        return rows
    pages: dict[int | None, list[FoundRow]] = {}
    for row in rows:
        pages.setdefault(row.page, []).append(row)
    said = [[(row.kind, row.values) for row in some] for some in pages.values()]
    return next(iter(pages.values())) if said and all(some == said[0] for some in said) else rows


def _taken_off(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of a row that gives money back: its amounts are negative."""
    return {
        name: Money(-value.amount, value.currency) if isinstance(value, Money) and value.amount > 0 else value
        for name, value in values.items()
    }


@dataclass(frozen=True)
class _Rows:
    """Where the rows of a document's tables stand: how many there are, and the characters of their cells."""

    count: int
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, tables: Tables, look: LaidOut) -> "_Rows":
        """Return the places of the rows beneath heads."""
        lines = [line for rows in tables.values() for _, line in rows]
        spans = (look.span(cell.start, cell.end) for line in lines for cell in line.cells if cell.text)
        return cls(len(lines), tuple(span for span in spans if span))

    def without(self, found: Sequence[tuple[int, Candidate]]) -> Sequence[tuple[int, Candidate]]:
        """Return the candidates that stand in no row: an item's amount is none of the document; a table of one row may sum."""
        left = [item for item in found if not self._holds(item[1].start)]
        return found if not left and self.count == 1 else left

    def _holds(self, at: int | None) -> bool:
        return at is not None and any(start <= at < end for start, end in self.spans)


@dataclass
class _FieldRun:
    """The search for one field's value."""

    bucket: Bucket
    declared: Field
    source: Source
    rows: _Rows
    refused: list[Refused] = field(default_factory=list)
    held: str = ""

    def by_rules(self) -> Extracted | None:
        """Return the value that the surest rule gives, with what the others say of it."""
        own = ExtractRule(keys=(self.declared.name, *self.declared.columns))
        winners = [winner for rule in (own, *self._rules()) if (winner := self._winner(rule))]
        for last in (self._own_words, self._questions):
            winners = winners or [winner for rule in last() if (winner := self._winner(rule))]
        return weigh(winners)

    def with_choice(self, found: Extracted | None) -> Extracted | None:
        """Return what rules found weighed with what signs speak for, which stands in a list in the place of one name.

        Where both say the same few are wrong; where they differ signs that speak clearly are right more often than a rule
        that is less than STATED.
        """
        if found and (found.confidence >= CERTAIN or len(_items(found.best)) > 1):
            return found
        self.held = found.best.raw if found else ""
        chosen = next((winner for rule in self._choices() if (winner := self._winner(rule))), None)
        if chosen is None or chosen.confidence < RIVAL:
            return found
        if not is_learned(self.bucket, self.declared):
            chosen = replace(chosen, confidence=min(chosen.confidence, DOUBTFUL))
        if found is None:
            return weigh([chosen])
        if same(chosen.value) == same(found.best.value):
            # Whose name it is both see by where it stands, and sums prove amounts: they are no surer.
            alone = self._is_summed or role_of(self.declared) in ("maker", "receiver")
            alone = alone or chosen.confidence <= DOUBTFUL
            both = 1 - (1 - found.confidence) * (1 - chosen.confidence)
            return found if self._is_summed else replace(found, confidence=round(both, 4))
        if found.best.confidence >= STATED:
            return found
        clear = chosen.confidence >= max(CLEAR, found.confidence) and (
            role_of(self.declared) in SEEN_CLEARLY
            and is_learned(self.bucket, self.declared)
            and not any(self.declared.name in rule.of for rule in self.bucket.sums)
        )
        if clear or len(_items(chosen)) > 1:
            sure = round(chosen.confidence * DISAGREEMENT, 4)
            return Extracted(chosen, sure, (found.best, *found.others))
        return replace(found, confidence=found.confidence * DISAGREEMENT, others=(chosen, *found.others))

    @property
    def _is_summed(self) -> bool:
        return any(self.declared.name in (rule.total, *rule.of) for rule in self.bucket.sums)

    def _choices(self) -> Iterator[ExtractRule]:
        """Yield what is chosen where no rule is sure; a mail and the XML of an invoice say by themselves what they say."""
        if not (self.source.is_mail or self.source.is_written_out) and may_choose(self.bucket, self.declared):
            role = role_of(self.declared)
            declared = [rule for rule in self.declared.extract if rule.choice]
            yield from [
                rule for rule in declared or ([ExtractRule(choice=role)] if role else []) if rule.trust
            ]

    def _questions(self) -> Iterator[ExtractRule]:
        """Yield what is asked where neither another rule nor a pattern of the text itself says a value."""
        if asked := [rule for rule in self.declared.extract if rule.question]:
            text = self.source.text
            yield from asked if not any(rule.find(text) for rule in self.declared.from_text) else ()

    def _own_words(self) -> Iterator[ExtractRule]:
        """Yield the rule of last resort: what people call the field, before a colon; titles and parties have signs of their own."""
        own = self.declared
        others = any(rule.head in ("seller", "buyer", "heading") or rule.parties for rule in own.extract)
        if others or own.type == "text" or self.source.is_mail or self.source.is_written_out:
            return
        labels = dict.fromkeys(fold(label.replace("_", " ")) for label in (*own.words, *own.columns))
        if labels:
            yield ExtractRule(
                labels=tuple(labels), colon=True, within=WORDS_WITHIN, reach=12, confidence=OWN_WORDS
            )

    def _rules(self) -> Sequence[ExtractRule]:
        """Return the rules that are asked: what the head of a mail or the XML of an invoice says, nothing else does."""
        rules = [rule for rule in self.declared.extract if not rule.question and not rule.choice]
        if self.source.is_mail and any(key.startswith(MAIL) for rule in rules for key in rule.keys):
            return [rule for rule in rules if rule.keys]
        if self.source.is_written_out and any(rule.embedded for rule in rules):
            return [rule for rule in rules if rule.embedded]
        return rules

    def labelled(self) -> list[Candidate]:
        """Return everything that the labels and patterns of the field give, not only the surest of each."""
        return [
            replace(candidate, confidence=candidate.confidence / (1 + rank / 50))
            for rule in self.declared.extract
            if rule.method in ("labels", "pattern")
            for rank, candidate in self._candidates(rule, every=True)
        ]

    def printed(self) -> list[Candidate]:
        """Return every value of the field's type that the document prints."""
        rule = ExtractRule(pattern=".", confidence=0.0)
        look, start, found = self.source.look, 0, []
        for line in look.text.split("\n"):
            for value in self._find(line) if any(map(str.isdigit, line)) else ():
                place = look.span(start + value.start, start + value.end)
                found.append(self._candidate_at(rule, value.value, value.raw, place))
            start += len(line) + 1
        return found

    def _find(self, text: str) -> Iterator[Typed]:
        return self.source.find(self.bucket, self.declared, text)

    @property
    def _order(self) -> DateOrder:
        return self.source.written_order or self.bucket.date_order

    def _winner(self, rule: ExtractRule) -> Candidate | None:
        found = list(self._candidates(rule))
        if not found:
            return None
        if self.declared.type == "keywords" and rule.take == "all":
            return _merged([candidate for _, candidate in found])
        if any(self.declared.name == summed.total for summed in self.bucket.sums):
            # A total of nothing is that of a discount or of a rate without sales, where the document has another.
            found = [item for item in found if _size(item[1].value)] or found
        return _chosen(rule, found)

    def _candidates(self, rule: ExtractRule, *, every: bool = False) -> Iterator[tuple[int, Candidate]]:
        """Yield (rank, candidate); the lower rank is the surer."""
        match rule.method:
            case "embedded":
                yield from self._embedded(rule)
            case "keys":
                yield from self._keys(rule)
            case "labels":
                look = self._look(rule)
                if rule.listed and (items := list(listed_beneath(_scope(look.text, rule), rule))):
                    shown = "\n".join(look.text[slice(*item)] for item in items)
                    names = [look.text[slice(*item)] for item in items]
                    yield from self._read(rule, names, shown, 0, look.span(items[0][0], items[-1][1]))
                    return
                others = self.bucket.labels_of_others[self.declared.name]
                values = beside(_scope(look.text, rule), rule, self._find, others=others, every=every)
                found = [
                    (
                        rank,
                        self._candidate_at(rule, value.value, value.raw, look.span(value.start, value.end)),
                    )
                    for rank, value in values
                ]
                yield from self.rows.without(found) if self._is_summed else found
            case "pattern":
                looks = dict.fromkeys((self.source.plain, self.source.look))
                yield from next((found for look in looks if (found := list(self._pattern(rule, look)))), [])
            case "head":
                yield from self._of_text(rule) if rule.head in ("language", "law") else self._head(rule)
            case "parties":
                yield from self._parties(rule)
            case "question":
                yield from self._asked(rule)
            case "choice":
                yield from self._chosen(rule)

    @property
    def _is_name(self) -> bool:
        own = self.declared
        return own.is_string and not own.values and own.kind in (None, "organization", "person", "product")

    def _asked(self, rule: ExtractRule) -> Iterator[tuple[int, Candidate]]:
        """Yield what answers the rule's question on the first page, when it is of the field's type and no passing word."""
        text = self.source.text
        head = text[: rule.within or ASKED]
        if not head.strip() or (rule.unless and re.search(rule.unless, head, re.IGNORECASE)):
            return
        [span] = _finder().find(rule.question, [head])
        if span.probability < EVEN:
            return
        said = text[span.start : span.end]
        value = next(self._find(said), None)
        if value is None or (
            self._is_name and not (form_end(value.raw, 0, len(value.raw)) or _goes_on_about(text, value.raw))
        ):
            return
        place = span.start + value.start, span.start + value.end
        yield 0, self._candidate_at(rule, value.value, value.raw, place)

    def _chosen(self, rule: ExtractRule) -> Iterator[tuple[int, Candidate]]:
        """Yield what the signs speak for."""
        assert rule.choice is not None
        look = self.source.look
        for start, end, probable in choose(
            self.bucket, self.declared, rule.choice, self.source.printed, self.held
        ):
            raw = look.text[start:end]
            several = [raw] if self.declared.type == "keywords" else raw
            for rank, candidate in self._read(rule, several, raw, 0, look.span(start, end)):
                most = 1.0 if rule.confidence is None else rule.confidence
                yield rank, replace(candidate, confidence=min(probable, most))

    def _look(self, rule: ExtractRule) -> LaidOut:
        """Return the text that a rule reads: as it runs for prose, as the page looks for forms."""
        return self.source.plain if rule.prose else self.source.look

    def _embedded(self, rule: ExtractRule) -> Iterator[tuple[int, Candidate]]:
        for rank, term in enumerate(rule.embedded):
            values = self.source.terms.get(term, [])
            if values and self.declared.type == "keywords":
                yield from self._read(rule, values, "; ".join(values), rank)
            elif values:
                yield from self._read(rule, values[0], values[0], rank)

    def _keys(self, rule: ExtractRule) -> Iterator[tuple[int, Candidate]]:
        matter = self.source.matter
        for rank, name in enumerate(rule.keys if matter else ()):
            assert matter is not None
            raw = look_up(matter.properties, name)
            if not is_missing(raw) and raw != []:
                shown = raw if isinstance(raw, str) else str(raw)
                at = self.source.text.find(shown, matter.start, matter.end)
                yield from self._read(rule, raw, shown, rank, None if at < 0 else (at, at + len(shown)))

    def _pattern(self, rule: ExtractRule, look: LaidOut) -> Iterator[tuple[int, Candidate]]:
        assert rule.pattern is not None
        text = look.text
        offset = max(0, len(text) + rule.within) if rule.within < 0 else 0
        end = rule.within + _LONGEST_MATCH if rule.within > 0 else len(text)
        for match in re.compile(rule.pattern, re.IGNORECASE | re.MULTILINE).finditer(text, offset, end):
            group = 1 if match.re.groups else 0
            if 0 < rule.within < match.start():
                break
            if match.start(group) < 0 or (rule.unless and _line_has(text, match.start(), rule.unless)):
                continue
            raw = rule.value or match.group(group)
            yield from self._read(rule, raw, match.group(group), 0, look.span(*match.span(group)))

    def _of_text(self, rule: ExtractRule) -> Iterator[tuple[int, Candidate]]:
        """Yield what the whole text says without naming it: its language, the country whose law it speaks of."""
        text = self.source.text
        if rule.head == "language":
            said = language_of(text)
            yield from self._read(rule, said, said, 0) if said else ()
        elif law := find_law(text):
            start, end, country = law
            yield from self._read(rule, country, text[start:end], 0, (start, end))

    def _head(self, rule: ExtractRule) -> Iterator[tuple[int, Candidate]]:
        look = (
            self.source.look
            if rule.head in {"seller", "buyer", "organization", "signing", "last_day", "number"}
            else self.source.plain
        )
        found: Named | tuple[int, int, float] | None
        match rule.head:
            case "seller":
                found = self.source.trade_parties[0]
            case "buyer":
                found = self.source.trade_parties[1]
            case "organization":
                found = find_organization(look.text)
            case "heading":
                found = self._heading()
            case "number":
                found = find_number(look.text, self.bucket.nouns)
            case "part":
                found = self._part()
            case "day":
                found = find_day(look.text, order=self._order, today=self.source.today, end=self._head_end())
            case "signing":
                found = find_signing_day(look.text, order=self._order, today=self.source.today)
            case "last_day":
                found = find_last_day(look.text, order=self._order, today=self.source.today)
            case "begin" | "end":
                found = self._end_of_span(rule.head == "end")
            case "writer":
                titles = {
                    self.source.title,
                    *(self.source.text[slice(*at[:2])] for at in (self.source.heading,) if at),
                }
                found = find_writer(look.text, order=self._order, today=self.source.today, titles=titles)
            case "addressee" | "signer":
                letter = self.source.letter
                place = letter and (letter.addressee if rule.head == "addressee" else letter.signer)
                found = (*place, TRUST) if place else None
            case "publisher":
                found = find_publisher(self.source.text, self.source.pages, self.bucket.nouns)
            case "running_day":
                found = find_running_day(self.source.text, self.source.pages)
            case "holder" | "certifier":
                found = (find_holder if rule.head == "holder" else find_certifier)(look.text)
            case "kind":
                found = self._kind()
            case _:
                found = find_title(look.text)
        if isinstance(found, Named):
            raw, trust = found.text, found.confidence
            place = look.span_of(found.pieces)
        elif found:
            start, end, trust = found
            raw, place = look.text[start:end], look.span(start, end)
        else:
            return
        for rank, candidate in self._read(rule, raw, raw, 0, place):
            most = 1.0 if rule.confidence is None else rule.confidence
            yield rank, replace(candidate, confidence=min(trust, most))

    def _end_of_span(self, last: bool) -> tuple[int, int, float] | None:
        """Return the first or last day of the only span of days."""
        span = find_span(self.source.text, order=self._order, today=self.source.today)
        day = span and span[last]
        return (day.start, day.end, SPANNED) if day else None

    def _head_end(self) -> int:
        """Return where the head of a letter ends, 0 of what is none."""
        return self.source.letter.greeting[0] if self.source.letter else 0

    def _heading(self) -> tuple[int, int, float] | None:
        """Return the title that is printed largest, and not only what kind of document it is."""
        source, found = self.source, self.source.heading
        if found and self._says_no_more(source.text[found[0] : found[1]]):
            return find_heading(source.text, source.layouts, source.title, self._says_no_more) or found
        return found

    def _part(self) -> tuple[int, int, float] | None:
        """Return the part number that stands out, else what a title names beside the kind of document."""
        at = self.source.heading
        part = find_part(self.source.text, at[:2] if at else None, self.source.name)
        if part and part[2] >= STORE_FROM:
            return part
        nouns = "|".join(sorted(map(re.escape, self.bucket.nouns), key=len, reverse=True))
        # "Safety data sheet according to ..." goes on about the kind; a colon or a dash begins a name.
        outside = re.compile(
            rf"\A[\W_]*(?:(?<!\w)(?:{nouns})\s*[:–—-]+)?\W*|[\W_]*(?:(?<!\w)(?:{nouns})(?!\w)[\W_]*)*\Z",
            re.IGNORECASE,
        )
        title = self.source.text[at[0] : at[1]] if at else ""
        named = outside.sub("", title)
        kind = re.match(rf"(?:{nouns})(?!\w)", named, re.IGNORECASE)
        if at is None or len(named) <= 2 or kind or form_end(named, 0, len(named)):
            return part
        start = at[0] + title.index(named)
        return start, start + len(named), min(at[2], NAMED)

    def _says_no_more(self, title: str) -> bool:
        """Tell whether a heading says in one word or more what the document is, or which part it is of, not what it is called."""
        said = fold(title)
        if said == fold(self.source.title):
            return False
        nouns = sorted(map(fold, self.bucket.nouns), key=len, reverse=True)
        noun = next((noun for noun in nouns if said == noun or said.startswith(f"{noun} ")), "")
        return (
            len(said.split()) < 2
            or said == noun
            or is_part(title)
            or bool(noun and is_part(title[len(noun) :]))
        )

    def _kind(self) -> tuple[int, int, float] | None:
        """Return the longest declared value that the title names: a document is of one kind, and mentions others."""
        titles = (self.source.heading, find_title(self.source.text))
        for start, end, trust in filter(None, titles):
            title = self.source.text[start:end]
            found = list(self._find(title) if self.declared.values else ())
            found = found or list(find_in_compounds(self.declared, title))
            if found:
                longest = max(found, key=lambda value: value.end - value.start)
                return start + longest.start, start + longest.end, min(0.9, trust + 0.1)
        return None

    def _parties(self, rule: ExtractRule) -> Iterator[tuple[int, Candidate]]:
        for party in find_parties(self.source.text, rule.parties):
            raw = self.source.text[party.start : party.end]
            if rule.roles and not party.role:
                continue
            named = f"{' '.join(raw.split())} ({party.role})" if rule.roles else raw
            value = [named] if self.declared.type == "keywords" else named
            yield from self._read(rule, value, named, 0, (party.start, party.end))

    def _read(
        self, rule: ExtractRule, raw: Any, shown: str, rank: int, span: tuple[int, int] | None = None
    ) -> Iterator[tuple[int, Candidate]]:
        """Yield the candidate of a raw value, or note that its type refuses it."""
        if isinstance(raw, str) and self.declared.is_string:
            raw = without_marks(raw)
            if rule.pattern and self.declared.kind == "identifier" and DAY.fullmatch(raw.strip()):
                return
        try:
            value = coerce(self.declared, raw, today=self.source.today, order=self._order)
        except BadInput as error:
            if str(error) != "empty":
                self.refused.append(Refused(self.declared.name, shown[:200], str(error)))
            return
        yield rank, self._candidate_at(rule, value, shown[:600], span)

    def _candidate_at(
        self, rule: ExtractRule, value: Value, raw: str, span: tuple[int, int] | None
    ) -> Candidate:
        start, end = span or (None, None)
        page = self.source.page(start)
        return Candidate(self.declared.name, value, raw, start, end, page, rule.method, rule.trust)


def _items(candidate: Candidate) -> tuple[str, ...]:
    """Return the items of a list, nothing of another value."""
    return candidate.value if isinstance(candidate.value, tuple) else ()


@cache
def _finder() -> Finder:
    return Finder()


def _goes_on_about(text: str, name: str) -> bool:
    """Tell whether a text says a name over and over, and never in small letters."""
    plain = re.escape(name)
    return (
        len(name) > 2
        and len(re.findall(rf"(?<!\w){plain}(?!\w)", text)) > RECURS
        and not (name.islower() or re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", text))
    )


def _scope(text: str, rule: ExtractRule) -> str:
    """Return the part of the text that a rule looks at, which always starts where the text does."""
    return text[: rule.within] if rule.within > 0 else text


def _line_has(text: str, at: int, pattern: str) -> bool:
    end = text.find("\n", at)
    line = text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]
    return re.search(pattern, line, re.IGNORECASE) is not None


def _chosen(rule: ExtractRule, found: Sequence[tuple[int, Candidate]]) -> Candidate:
    """Return the one of a rule's candidates that `take` asks for."""
    if rule.take == "most":
        votes = Counter(same(candidate.value) for _, candidate in found)
        return min(found, key=lambda item: (-votes[same(item[1].value)], item[0], item[1].start or 0))[1]
    if rule.take == "largest":
        return max(found, key=lambda item: _size(item[1].value))[1]
    best = min(rank for rank, _ in found)
    ranked = [candidate for rank, candidate in found if rank == best]
    return ranked[-1] if rule.take == "last" else ranked[0]


def _size(value: Value) -> float:
    if isinstance(value, Money):
        return float(value.amount)
    if isinstance(value, Quantity):
        return value.value
    if isinstance(value, date):
        return float(value.toordinal())
    return float(value) if isinstance(value, int | float) else 0.0


def _merged(found: Sequence[Candidate]) -> Candidate:
    """Return one candidate that holds the values of several, at the place of the first."""
    values: dict[str, str] = {}
    for candidate in found:
        for item in candidate.value if isinstance(candidate.value, tuple) else (str(candidate.value),):
            values.setdefault(fold(item), item)
    shown = "; ".join(dict.fromkeys(candidate.raw for candidate in found))
    return replace(found[0], value=tuple(values.values()), raw=shown[:600])


def weigh(winners: Sequence[Candidate]) -> Extracted | None:
    """Return the surest of several candidates for one field; agreement raises its confidence, conflict lowers it.

    Independent ways that agree leave the product of their doubts: 1 - (1 - a)(1 - b).
    """
    if not winners:
        return None
    best = max(winners, key=lambda candidate: candidate.confidence)
    agree = [other for other in winners if same(other.value) == same(best.value)]
    others = [other for other in winners if same(other.value) != same(best.value)]
    witnesses: dict[tuple[str, int | None], float] = {}
    for candidate in agree:
        # One way that finds one place by two rules has seen it once.
        seen = (candidate.method, candidate.start)
        witnesses[seen] = max(candidate.confidence, witnesses.get(seen, 0.0))
    confidence = 1 - prod(1 - sure for sure in witnesses.values())
    if others:
        confidence *= DISAGREEMENT
    placed = next((candidate for candidate in agree if candidate.start is not None), best)
    # Embedded data have no place in the text; a place that prints the same value is what can be cited.
    shown = (
        replace(best, start=placed.start, end=placed.end, page=placed.page) if best.start is None else best
    )
    return Extracted(shown, round(confidence, 4), tuple(others))


def _unproved(rule: Sum, fields: Mapping[str, Extracted]) -> Iterator[str]:
    """Yield the parts of a total that were chosen, where they do not make it."""
    said = [fields[name].best.value if name in fields else None for name in (rule.total, *rule.of)]
    total, *parts = [one.amount for one in said if isinstance(one, Money)] or [Decimal()]
    if len(parts) < len(rule.of) or total != sum(parts, Decimal()):
        yield from (name for name in rule.of if name in fields and fields[name].best.method == "choice")


ONLY_TOTAL = 0.65
"""Confidence of an amount that is the only one, or the sum of the rows, where no label tells the total."""


def _only_total(bucket: Bucket, run: "_FieldRun", rows: Sequence[FoundRow]) -> Extracted | None:
    """Return the only amount that a document prints with its currency; else the sum of its rows, where it prints no rate."""
    printed = run.printed()
    wanted = {one.value.amount for one in printed if isinstance(one.value, Money) and one.value.currency}
    column = next((kind.adds_up[0] for kind in bucket.rows if kind.adds_up), "")
    amounts = [row.values[column] for row in rows if column in row.values]
    if len(amounts) > 1 and not run.source.rates:
        wanted = {sum((one.amount for one in amounts if isinstance(one, Money)), Decimal())}
    found = [one for one in printed if isinstance(one.value, Money) and {one.value.amount} == wanted]
    return Extracted(replace(found[-1], confidence=ONLY_TOTAL), ONLY_TOTAL) if found else None


_SEVERAL = 3
MOSTLY, FEW_AMOUNTS = 0.75, 0.6
"""Confidence of the currency of most amounts that name one, where several do and where one does."""


def _currency_of(
    total: Field | None, fields: Mapping[str, Extracted], amounts: Sequence[Candidate]
) -> Extracted | None:
    """Return the currency that most amounts of a document bear, against what a mark elsewhere says; XML is surer."""
    name = total.currency_field if total else None
    before = fields.get(name or "")
    if name is None or (before and before.best.method in ("embedded", "keys")):
        return None
    said = [one for one in amounts if isinstance(one.value, Money) and one.value.currency]
    counts = Counter(str(getattr(one.value, "currency", "")) for one in said)
    code, count = next(iter(counts.most_common(1)), ("", 0))
    if not code or 2 * count <= len(said) or (before and before.best.value == code):
        return None
    if before and (count < _SEVERAL or 4 * count < len(amounts)):
        return None  # "open Mo - Fr. 8.30"
    first = next(one for one in said if getattr(one.value, "currency", "") == code)
    mark = currency(re.sub(r"[\d.,'\s-]", "", first.raw)) or code
    if before and same_currency(mark, str(before.best.value)):
        return None  # "$" says no more than "AUD"
    sure = MOSTLY if count > 1 else FEW_AMOUNTS
    best = replace(first, field=name, value=code, confidence=sure)
    return Extracted(best, sure * (DISAGREEMENT if before else 1.0), (before.best,) if before else ())


def add_currencies(bucket: Bucket, fields: dict[str, Extracted]) -> None:
    """Give amounts without a currency the one that the document's currency field says."""
    for declared in bucket.fields:
        found = fields.get(declared.name)
        said = fields.get(declared.currency_field or "")
        if found and said and isinstance(found.best.value, Money) and found.best.value.currency is None:
            money = Money(found.best.value.amount, str(said.best.value))
            fields[declared.name] = replace(found, best=replace(found.best, value=money))


def _add_spans_of_time(bucket: Bucket, fields: dict[str, Extracted]) -> None:
    """Fill fields that are the years between two dates."""
    for declared in bucket.fields:
        rule = next((rule for rule in declared.extract if rule.years_between), None)
        ends = [fields[name] for name in rule.years_between if name in fields] if rule else []
        if rule is None or declared.name in fields or len(ends) != 2:
            continue
        first, last = (found.best.value for found in ends)
        if isinstance(first, date) and isinstance(last, date):
            years = round((last - first).days / 365.2425, 2)
            place = ends[1].best
            value = Quantity(years, f"{years:g} years")
            candidate = Candidate(
                declared.name, value, value.raw, place.start, place.end, place.page, rule.method, rule.trust
            )
            fields[declared.name] = Extracted(candidate, rule.trust)
