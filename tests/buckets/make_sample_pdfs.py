"""Render the PDF documents of the sample corpus from their source texts, the same bytes every time.

Run `python -m tests.buckets.make_sample_pdfs` after editing a file of `buckets/sample/sources`. A source is
plain text: an optional first line `footer: ...`, `#` and `##` headings, `- ` bullets, `| a | b |` table
rows, lines indented by four spaces set in a fixed-width face, and `=== page` where a page ends.
"""

from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

SAMPLE = Path(__file__).resolve().parents[2] / "buckets" / "sample"
SOURCES = SAMPLE / "sources"
PAGE_BREAK = "=== page"
MARGIN = 56.0  # points
BASE_FONT = "Helvetica"


def split_source(source: str) -> tuple[str, list[list[str]]]:
    """Return the footer and the lines of every page of a source text."""
    lines = source.strip("\n").split("\n")
    footer = ""
    if lines[0].startswith("footer:"):
        footer = lines.pop(0).removeprefix("footer:").strip()
    pages: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == PAGE_BREAK:
            pages.append([])
        else:
            pages[-1].append(line.rstrip())
    return footer, pages


def blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Group lines into (kind, lines) blocks; kinds: title, heading, bullet, table, fixed, paragraph."""
    kind, group = "", list[str]()
    for line in [*lines, ""]:
        line_kind = _kind(line)
        if group and (line_kind != kind or kind in {"title", "heading", "bullet"}):
            yield kind, group
            group = []
        kind = line_kind
        if line_kind:
            group.append(line)


def _kind(line: str) -> str:
    """Return the kind of block that a source line belongs to; empty for a blank line."""
    if not line.strip():
        return ""
    for prefix, kind in (("# ", "title"), ("## ", "heading"), ("- ", "bullet"), ("|", "table")):
        if line.startswith(prefix):
            return kind
    return "fixed" if line.startswith("    ") else "paragraph"


def render(source: str, title: str) -> bytes:
    """Return the PDF of a source text: A4, standard fonts, a footer with `Page n of N` on every page.

    The footer is also the title in the PDF's properties; `title` stands in for it and in errors.

    Raises:
        ValueError: a page of the source does not fit on one page, or a table is wider than the page.
    """
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import PageBreak, SimpleDocTemplate

    footer, pages = split_source(source)
    story: list[Any] = []
    for number, lines in enumerate(pages):
        if number:
            story.append(PageBreak())
        story.extend(flowable for kind, group in blocks(lines) for flowable in _flowables(kind, group))
    out = BytesIO()
    document = SimpleDocTemplate(
        out, pagesize=A4, margin=MARGIN, title=footer or title, author="Citegraph sample corpus", invariant=1
    )
    document.leftMargin = document.rightMargin = document.topMargin = document.bottomMargin = MARGIN
    document._calc()
    draw = partial(_draw_footer, footer=footer, count=len(pages))
    document.build(story, onFirstPage=draw, onLaterPages=draw)
    if document.page != len(pages):
        raise ValueError(f"{title}: the source has {len(pages)} pages, the PDF {document.page}")
    return out.getvalue()


def _draw_footer(canvas: Any, _document: Any, *, footer: str, count: int) -> None:
    """Write the footer and the page number below the frame."""
    canvas.setFont(BASE_FONT, 8)
    canvas.drawString(MARGIN + 6, MARGIN / 2, f"{footer}  Page {canvas.getPageNumber()} of {count}".strip())


def _flowables(kind: str, lines: list[str]) -> list[Any]:
    """Return the reportlab flowables of one block."""
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph, Preformatted, Spacer

    body = ParagraphStyle("body", fontName=BASE_FONT, fontSize=10, leading=13.5, spaceAfter=6)
    bold = f"{BASE_FONT}-Bold"
    if kind == "table":
        return [_table(lines), Spacer(0, 8)]
    if kind == "fixed":
        fixed = ParagraphStyle("fixed", fontName="Courier", fontSize=9, leading=11.5, spaceAfter=6)
        return [Preformatted("\n".join(line[4:] for line in lines), fixed)]
    if kind in {"title", "heading"}:
        size = 15 if kind == "title" else 11.5
        style = ParagraphStyle(kind, body, fontName=bold, fontSize=size, leading=size * 1.3, spaceBefore=4)
        return [Paragraph(escape(lines[0].lstrip("# ")), style)]
    if kind == "bullet":
        style = ParagraphStyle("bullet", body, leftIndent=14, spaceAfter=3)
        return [Paragraph(escape(lines[0]), style)]
    # A line that ends in two spaces is broken there, as in Markdown; rstrip() took them: use a backslash.
    text = " ".join(lines).replace("\\ ", "\n").rstrip("\\")
    return [Paragraph(escape(text).replace("\n", "<br/>"), body)]


def _table(lines: list[str]) -> Any:
    """Return a ruled table whose first row is the header; rows must have the same number of cells."""
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import Table

    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    rows = [row for row in rows if not all(set(cell) <= set("-: ") and cell for cell in row)]
    style = [
        ("FONT", (0, 0), (-1, 0), f"{BASE_FONT}-Bold", 9),
        ("FONT", (0, 1), (-1, -1), BASE_FONT, 9),
        ("GRID", (0, 0), (-1, -1), 0.4, colors.grey),
        ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
    ]
    table = Table(rows, style=style, hAlign="LEFT")
    width, _ = table.wrap(0, 0)
    if width > A4[0] - 2 * MARGIN - 12:
        raise ValueError(f"a table is {width:.0f} points wide: {lines[0]}")
    return table


def targets() -> dict[Path, Path]:
    """Return source -> PDF for every source: `sources/<bucket>/<name>.txt` to `<bucket>/<name>.pdf`."""
    return {
        source: SAMPLE / source.relative_to(SOURCES).with_suffix(".pdf")
        for source in sorted(SOURCES.glob("*/*.txt"))
    }


def main() -> None:
    """Render every source and say what was written."""
    for source, target in targets().items():
        target.write_bytes(render(source.read_text("utf-8"), source.stem))
        print(target.relative_to(SAMPLE))


if __name__ == "__main__":
    main()
