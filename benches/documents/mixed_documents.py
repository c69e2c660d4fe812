"""Writes many generated documents of mixed kind and length into a folder, the same every time."""

import html
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from textwrap import wrap

FOLDER_FILES = 1_000
ROWS_A_FILE = 5_000
MEDIAN_WORDS, SPREAD, MOST_WORDS = 120, 1.0, 12_000
"""Lengths are log-normal: half the documents are shorter than the median, one in a hundred is ten times as long."""
LONG_EVERY, LONG_WORDS = 1_000, 25_000
"""One document in a thousand is long enough for summaries."""
COPY_EVERY = 50
"""One document in fifty repeats most of the one before."""
SYLLABLES = "ba be bo da de do fa fi ga go ka ke la li lo ma me mi na ne no pa po ra re ri sa se so ta te ti va ve za zo".split()
VOCABULARY = 30_000
SELLERS = 400
LINES_A_PAGE, LINE_WIDTH = 52, 92


@dataclass(frozen=True, slots=True)
class Text:
    """A generated document: its id, a head of invoice fields, and its paragraphs."""

    doc_id: str
    head: list[str]
    paragraphs: list[str]

    @property
    def lines(self) -> list[str]:
        """Return it as the lines of a text file."""
        return [*self.head, "", *(part for paragraph in self.paragraphs for part in (paragraph, ""))]


def write_documents(folder: Path, count: int) -> None:
    """Write invoices with a text behind: of 20 documents 15 are JSONL lines, 2 text, 1 Markdown, 1 HTML, 1 a PDF."""
    rows: list[Text] = []
    for number, text in enumerate(texts(count)):
        kind = number % 20
        if kind < 15:
            rows.append(text)
        else:
            files = folder / f"files-{number // FOLDER_FILES:04}"
            files.mkdir(parents=True, exist_ok=True)
            _write_file(files / text.doc_id, kind, text)
        if rows and (len(rows) == ROWS_A_FILE or number == count - 1):
            file = folder / f"rows-{number:07}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            lines = (json.dumps({"doc_id": row.doc_id, "text": "\n".join(row.lines)}) for row in rows)
            file.write_text("\n".join(lines) + "\n", "utf-8")
            rows.clear()


def texts(count: int) -> Iterator[Text]:
    """Yield the documents; words come from a Zipf distribution over made-up ones."""
    draw = random.Random(3)
    words = sorted(
        {"".join(draw.choices(SYLLABLES, k=draw.choice([2, 2, 3, 3, 4]))) for _ in range(VOCABULARY)}
    )
    draw.shuffle(words)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    before: list[str] = []
    for number in range(count):
        long = number % LONG_EVERY == LONG_EVERY - 1
        length = (
            LONG_WORDS if long else min(MOST_WORDS, int(draw.lognormvariate(0, SPREAD) * MEDIAN_WORDS) + 5)
        )
        drawn = draw.choices(words, cum_weights=weights, k=length)
        paragraphs = [
            " ".join(drawn[begin : begin + 80]).capitalize() + "." for begin in range(0, length, 80)
        ]
        if before and number % COPY_EVERY == COPY_EVERY - 1 and not long:
            paragraphs = [*before, paragraphs[0]]
        before = paragraphs
        net, seller = draw.randint(100, 900_000), draw.randrange(SELLERS)
        head = [
            "Invoice",
            f"Invoice number: INV-{number:07}",
            f"Invoice date: {2015 + number % 10}-{number % 12 + 1:02}-{number % 28 + 1:02}",
            f"Seller: {words[seller].capitalize()} {words[-seller - 1].capitalize()} Ltd",
            f"Net amount: {net / 100:,.2f} EUR",
            f"Tax amount: {net // 5 / 100:,.2f} EUR",
            f"Total amount: {(net + net // 5) / 100:,.2f} EUR",
        ]
        yield Text(f"d{number:07}", head, paragraphs)


def _write_file(path: Path, kind: int, text: Text) -> None:
    match kind:
        case 15 | 16:
            path.with_suffix(".txt").write_text("\n".join(text.lines), "utf-8")
        case 17:
            sections = [f"## Section {place}\n\n{part}\n" for place, part in enumerate(text.paragraphs, 1)]
            path.with_suffix(".md").write_text("\n\n".join([*text.head, *sections]), "utf-8")
        case 18:
            parts = "".join(f"<p>{html.escape(line)}</p>\n" for line in text.lines if line)
            path.with_suffix(".html").write_text(
                f"<!doctype html><title>Invoice</title><body>\n{parts}</body>\n", "utf-8"
            )
        case _:
            path.with_suffix(".pdf").write_bytes(_pdf(text))


def _pdf(text: Text) -> bytes:
    """Return pages of plain lines."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    lines = [part for line in text.lines for part in (wrap(line, LINE_WIDTH) or [""])]
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1)
    for begin in range(0, len(lines), LINES_A_PAGE):
        canvas.setFont("Helvetica", 10)
        for place, line in enumerate(lines[begin : begin + LINES_A_PAGE]):
            canvas.drawString(56, 780 - 14 * place, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()
