"""Reads what was filled into the forms of a PDF page and written onto it: PDFium's text has only what is printed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

from citegraph.corpus.readers.pdf.pdf_geometry import Placer
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.schema.document import Box

_MOST = 5_000
# A letter is about half as wide as its font is high, and the font two thirds of a field of one line.
_LETTER, _ONE_LINE = 0.33, 30


class Written(NamedTuple):
    """A line that somebody put on a page, and the box in which its characters from `start` on stand."""

    text: str
    box: Box
    start: int = 0


def written_on(page: Any, form: Any, place: Placer) -> Iterator[Written]:
    """Yield the filled fields, texts and comments of a page.

    Args:
        form: PDFium's handle of the document's forms, None when it has none.
    """
    from pypdfium2 import raw

    for number in range(min(_MOST, raw.FPDFPage_GetAnnotCount(page))):
        note = raw.FPDFPage_GetAnnot(page, number)
        if not note:
            continue
        try:
            if raw.FPDFAnnot_GetFlags(note) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW):
                continue
            text = " ".join(cleaned(_said(note, form)).split())
            corners = raw.FS_RECTF()
            if text and raw.FPDFAnnot_GetRect(note, corners):
                box = place.box(corners.left, corners.bottom, corners.right, corners.top)
                if raw.FPDFAnnot_GetSubtype(note) == raw.FPDF_ANNOT_WIDGET:
                    yield _in_field(text, box)
                else:
                    yield Written(text, box)
        finally:
            raw.FPDFPage_CloseAnnot(note)


def _in_field(text: str, box: Box) -> Written:
    """Return a field whose value alone is in the box; it begins at the left and seldom fills a field of one line."""
    name, _, value = text.partition(": ")
    height = box.bottom - box.top
    width = _LETTER * height * len(value) if height < _ONE_LINE else box.right - box.left
    return Written(text, box._replace(right=min(box.right, box.left + width)), len(name) + 2)


def _said(note: Any, form: Any) -> str:
    from pypdfium2 import raw

    kind = raw.FPDFAnnot_GetSubtype(note)
    if kind == raw.FPDF_ANNOT_WIDGET:
        return _field(note, form) if form else ""
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return _contents(note)
    if kind in {
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_HIGHLIGHT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_STRIKEOUT,
    }:
        text = _contents(note)
        return f"Comment: {text}" if text.strip() else ""
    return ""


def _field(note: Any, form: Any) -> str:
    """Return a field as "name: value"; nothing of an empty one, a button or a password."""
    from pypdfium2 import raw

    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    name = _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldAlternateName(form, note, buffer, size))
    name = name or _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldName(form, note, buffer, size))
    if kind in {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}:
        if not raw.FPDFAnnot_IsChecked(form, note):
            return ""
        value = _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldExportValue(form, note, buffer, size))
        return f"{name}: {value if value not in {'', 'On', 'Yes', 'On1'} else 'yes'}"
    if kind not in {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}:
        return ""
    if (
        kind == raw.FPDF_FORMFIELD_TEXTFIELD
        and raw.FPDFAnnot_GetFormFieldFlags(form, note) & raw.FPDF_FORMFLAG_TEXT_PASSWORD
    ):
        return ""
    value = _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(form, note, buffer, size))
    return f"{name}: {value}" if value.strip() else ""


def _contents(note: Any) -> str:
    from pypdfium2 import raw

    return _string(lambda buffer, size: raw.FPDFAnnot_GetStringValue(note, b"Contents", buffer, size))


def _string(call: Any) -> str:
    """Return what PDFium writes into a buffer of UTF-16, asked for its length first."""
    size = int(call(None, 0))
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    call(buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace")
