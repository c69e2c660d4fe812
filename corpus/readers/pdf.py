"""Reads PDF text by page, with the printed page labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.readers.protocol import Reading, ReadOptions, Unread
from corpus.readers.text import PAGE_BREAK, cleaned, pages_of
from llm.errors import BadInput


class PdfReader:
    """PDF text by page, with the printed page labels; a scan without a text layer is refused."""

    suffixes: tuple[str, ...] = (".pdf",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import pypdfium2

        try:
            with pypdfium2.PdfDocument(path) as pdf:
                texts = [_pdf_page(page) for page in pdf]
                labels = [pdf.get_page_label(number) for number in range(len(texts))]
                title = _pdf_title(pdf.get_metadata_value("Title"))
        except pypdfium2.PdfiumError as error:
            reason = "needs a password" if "password" in str(error).lower() else "is damaged or no PDF"
            raise BadInput(f"the PDF {reason}") from error
        if not any(text.strip() for text in texts):
            raise BadInput("no text layer: a scan needs OCR")
        text = PAGE_BREAK.join(texts)
        yield Reading(text, pages_of(text, labels, single=True), "application/pdf", title)


def _pdf_title(declared: str) -> str:
    """Return the declared title unless it is what a program put there: a path, a file name, "untitled"."""
    title = " ".join(cleaned(declared).split())
    machine = (
        r"untitled|(microsoft \w+ - )?\S*\.\w{2,5}|.*\.(docx?|xlsx?|pptx?|pdf|html?|indd|qxd|fm|tmp)|\w+://.*"
    )
    return "" if re.fullmatch(machine, title, re.IGNORECASE) else title


def _pdf_page(page: Any) -> str:
    try:
        words = page.get_textpage()
        # PDFium marks a word broken at a line end with U+FFFE (older versions: U+0002).
        text = re.sub("[\ufffe\u0002](?:\r\n)?", "-\n", words.get_text_range())
        words.close()
        return cleaned(text).replace(PAGE_BREAK, "\n")
    finally:
        page.close()
