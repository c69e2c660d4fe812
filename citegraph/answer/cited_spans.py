"""Where a document prints a value: the span to cite for it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from citegraph.answer.extracts import locate
from citegraph.citations.report_types import Claim
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.document import Document, page_at
from citegraph.language.amounts import Money, number_text
from citegraph.question.phrases import said_in
from citegraph.run.services import Corpus
from citegraph.run.state_types import CitedSpan, Values

CITED_INPUTS = 100
LONGEST = 500
"""Characters of a quote that shows several values."""


def cell(value: Any) -> str:
    """Return a value as a short text; money with its decimals, at least two."""
    if isinstance(value, Money):
        return f"{number_text(value.amount)} {value.currency or ''}".strip()
    text = value if isinstance(value, str) else show(value)
    return text if len(text) <= 120 else text[:117] + "..."


def cite_values(corpus: Corpus, bucket: Bucket, document: Document, values: Values) -> CitedSpan:
    """Return the span of a document to cite for some of its values: the line of the last value that is found.

    A value that was extracted stands where it was found, unless that line has the label of another field and a line
    with the field's own label prints it too. Of another one it is the line that prints it, of several the one with a
    word for its field ("Total" before "Net amount").
    """
    places = corpus.annotations.get_sources(document.doc_id, bucket.name)
    for name, value in reversed(list(values.items())):
        place = places.get(name)
        if place and place.start is not None and place.end is not None and place.end <= len(document.text):
            start, end = line_around(document.text, (place.start, place.end))
            if _label_of(bucket, name, document.text[start:end]):
                return {"doc": document.doc_id, "start": start, "end": end}
        lines = [
            line_around(document.text, span) for span in every_place(document.text, written_forms(value))
        ]
        if lines:
            start, end = max(
                lines, key=lambda line: _label_of(bucket, name, document.text[line[0] : line[1]])
            )
            return {"doc": document.doc_id, "start": start, "end": end}
        if place and place.start is not None and place.end is not None and place.end <= len(document.text):
            start, end = line_around(document.text, (place.start, place.end))
            return {"doc": document.doc_id, "start": start, "end": end}
    return {"doc": document.doc_id, "start": 0, "end": min(len(document.text), 200)}


def _label_of(bucket: Bucket, name: str, line: str) -> int:
    """Return how well a line is labelled with a field: 3 with it alone, 2 beside another, 1 with none, 0 with another's."""
    field = bucket.field(name)
    words = {item.name: (item.name.replace("_", " "), *item.words) for item in bucket.fields}
    said = said_in(line, {word for own in words.values() for word in own})
    longest = {
        name: max((len(word) for word in own if word in said), default=0) for name, own in words.items()
    }
    own = longest.pop(field.name) if field else 0
    other = max(longest.values(), default=0)
    if own:
        return 3 if not other else 2 if own >= other else 0
    return 0 if other else 1


def with_own_value(claim: Claim, cited: Sequence[CitedSpan], documents: Mapping[str, Document]) -> Claim:
    """Return a claim whose quote shows all its numbers, as far as the span shows them that compose took it from.

    Verification quotes where most of a claim stands; a row's total may stand further down. Where one quote would grow
    over `LONGEST` characters, it is that of compose alone.
    """
    document = documents.get(claim.doc_id)
    lacking = digits_of(claim.text) - digits_of(claim.quote)
    if document is None or not claim.quote or not lacking:
        return claim
    for item in cited:
        if item["doc"] != claim.doc_id or not lacking & digits_of(document.text[item["start"] : item["end"]]):
            continue
        start, end = min(claim.quote_start, item["start"]), max(claim.quote_end, item["end"])
        if end - start > LONGEST:
            start, end = item["start"], item["end"]
        page = page_at(document.pages, start)
        quote = document.text[start:end]
        return replace(
            claim, quote=quote, quote_start=start, quote_end=end, page=page.number if page else claim.page
        )
    return claim


def digits_of(text: str) -> set[str]:
    """Return the digits of each number of a text: "1,190.00" and "1.190,00" are one."""
    return {re.sub(r"\D", "", number) for number in re.findall(r"\d[\d.,]*", text)}


DIGITS, WORD = r"\d.,", r"\w.,"


def every_place(text: str, forms: Sequence[str]) -> list[tuple[int, int]]:
    """Return where one of `forms` stands as a whole word or number, at most 12 places; else one place that means the same."""
    # A currency may stand right before a number: "RM53.60".
    said = "|".join(f"(?<![{DIGITS if form[:1].isdigit() else WORD}]){re.escape(form)}" for form in forms)
    places = [match.span() for match in re.finditer(rf"(?:{said})(?![\w]|[.,]\d)", text)]
    if places:
        return places[:12]
    return [found for form in forms if (found := locate(text, form))][:1]


def line_around(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return the line that holds a span; a short line without words with the one before it, where its label may stand."""
    start, end = line_start(text, span[0]), line_end(text, span[1])
    alone = not re.search(r"[^\W\d_]{2}", text[start : span[0]] + text[span[1] : end])
    if end - start < 16 and alone and start > 1 and text[start - 1] == "\n":
        start = line_start(text, start - 1)
    return start, end


def written_forms(value: Any) -> list[str]:
    """Return how a document may print a value: an amount in three manners, else as text."""
    if not isinstance(value, Money):
        return [cell(value)]
    plain = number_text(value.amount)
    swapped = plain.replace(",", " ").replace(".", ",").replace(" ", ".")
    return list(dict.fromkeys([plain.replace(",", ""), plain, swapped, swapped.replace(".", "")]))


def line_start(text: str, at: int) -> int:
    """Return where the line around `at` begins, at most 160 characters before."""
    begin = max(text.rfind("\n", 0, at), text.rfind("\f", 0, at)) + 1
    return max(begin, at - 160)


def line_end(text: str, at: int) -> int:
    """Return where the line around `at` ends, at most 160 characters after."""
    ends = [place for place in (text.find("\n", at), text.find("\f", at)) if place >= 0]
    return min(min(ends, default=len(text)), at + 160)


def value_spans(corpus: Corpus, bucket: Bucket, field: str, values: Values) -> list[CitedSpan]:
    """Return the cited span of each input value, at most `CITED_INPUTS`."""
    cited = []
    chosen = list(values.items())[:CITED_INPUTS]
    documents = corpus.documents.all_of(doc_id for doc_id, _ in chosen)
    corpus.annotations.sources_of(bucket.name, list(documents))  # kept for `cite_values`
    for doc_id, value in chosen:
        document = documents.get(doc_id)
        if document is not None:
            cited.append(cite_values(corpus, bucket, document, {field: value}))
    return cited
