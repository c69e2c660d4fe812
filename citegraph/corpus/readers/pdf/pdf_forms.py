"""Reads what was filled into the forms of a PDF page and written onto it, and puts it beside the printed labels.

PDFium's text has only what is printed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from citegraph.corpus.readers.pdf.pdf_geometry import Placer
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.schema.document import Box, Line

_MOST = 5_000
# A letter is about half as wide as its font is high, and the font two thirds of a field of one line.
_LETTER, _ONE_LINE = 0.33, 30
# Points: what a label may overlap, how near one stands, and what one beside a field goes before one above it.
_SLACK, _NEAR, _ABOVE = 3.0, 14.0, 150.0


class Written(NamedTuple):
    """What somebody put on a page: `name` is that of a form's field, empty for notes and texts."""

    name: str
    text: str
    box: Box
    is_mark: bool = False

    @property
    def alone(self) -> str:
        """Return it as a line of its own."""
        return f"{self.name}: {self.text}" if self.name else self.text


def written_on(page: Any, form: Any, place: Placer) -> Iterator[Written]:
    """Yield the filled fields and check boxes, texts and comments of a page.

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
            name, said, is_mark = _said(note, form)
            text = " ".join(cleaned(said).split())
            corners = raw.FS_RECTF()
            if text and raw.FPDFAnnot_GetRect(note, corners):
                box = place.box(corners.left, corners.bottom, corners.right, corners.top)
                yield Written(" ".join(cleaned(name).split()), text, box, is_mark)
        finally:
            raw.FPDFPage_CloseAnnot(note)


def filled_in(text: str, lines: Sequence[Line], written: Iterable[Written]) -> tuple[str, list[Line]]:
    """Return a page's text and lines with what was written on it.

    The value of a field follows its printed label in the same line; one without a label, a note or a text is a line
    at the end, under the field's own name.
    """
    items = list(written)
    labels = _labels(items, text, lines)
    beside: dict[int, list[Written]] = {}
    for number, label in labels.items():
        beside.setdefault(label, []).append(items[number])
    alone = [item for number, item in enumerate(items) if number not in labels]
    parts: list[str] = []
    placed: list[Line] = []
    at = moved = 0
    for number, line in enumerate(lines):
        placed.append(Line(line.start + moved, line.end + moved, line.box))
        # In the text lines follow each other; their boxes alone tell columns.
        for item in sorted(beside.get(number, ()), key=lambda item: item.box.left):
            parts.append(text[at : line.end])
            at = max(at, line.end)
            before = "".join(parts[-1:])[-1:]
            joint = " " if before in {":", "?"} else ": " if item is beside[number][0] else ", "
            start = line.end + moved + len(joint)
            parts.append(joint + item.text)
            moved += len(joint) + len(item.text)
            placed.append(Line(start, start + len(item.text), _value_box(item)))
    whole = "".join([*parts, text[at:]])
    for item in alone:
        whole += "\n" if whole and not whole.endswith("\n") else ""
        start = len(whole) + (len(item.name) + 2 if item.name else 0)
        placed.append(Line(start, len(whole) + len(item.alone), _value_box(item) if item.name else item.box))
        whole += item.alone
    return whole, placed


def _labels(items: Sequence[Written], text: str, lines: Sequence[Line]) -> dict[int, int]:
    """Return field -> line printed as its label, by number: the nearest that is no nearer field's.

    A form prints labels of lines to fill in above or beneath them, in one way: that which labels more, or stands nearer.
    """
    ways = [_labelled(items, text, lines, beneath=beneath) for beneath in (False, True)]
    return min(ways, key=lambda way: (-len(way[0]), way[1]))[0]


def _labelled(
    items: Sequence[Written], text: str, lines: Sequence[Line], *, beneath: bool
) -> tuple[dict[int, int], float]:
    """Return field -> label for one way to print them, and how far off they stand in all.

    What is left of the fields shares the nearest label, as the boxes of a date do; a box to mark has one of its own.
    """
    worded = [
        number for number, line in enumerate(lines) if any(map(str.isalpha, text[line.start : line.end]))
    ]
    pairs = sorted(
        (away, number, label)
        for number, item in enumerate(items)
        if item.name
        for label in worded
        if (away := _away(item, lines[label].box, beneath=beneath)) is not None
    )
    found: dict[int, int] = {}
    whole = 0.0
    for away, number, label in pairs:
        if number not in found and label not in found.values():
            found[number] = label
            whole += away
    own = len(found)
    for _, number, label in pairs:
        if number not in found and not items[number].is_mark:
            found[number] = label
    return found, whole / max(1, own)


def _away(item: Written, label: Box, *, beneath: bool) -> float | None:
    """Return how far off a label stands in points, more for one in another line; None where no label stands."""
    field = item.box
    size = label.bottom - label.top
    middle = (label.top + label.bottom) / 2
    level = field.top - _SLACK <= middle <= field.bottom + _SLACK or label.top <= field.top <= label.bottom
    before, behind = field.left - label.right, label.left - field.right
    if level and before >= -_SLACK:
        return before
    # People mark the box before its words, and read on from there.
    if level and behind >= -_SLACK and item.is_mark:
        return behind / 2 if behind < _NEAR else behind
    off = label.top - field.bottom if beneath else field.top - label.bottom
    over = label.left < field.right and label.right > field.left
    if not item.is_mark and over and -_SLACK <= off <= max(_NEAR, 1.5 * size):
        return off + _ABOVE
    return None


def _value_box(item: Written) -> Box:
    """Return where a value stands in its field: it begins at the left and seldom fills one of a single line."""
    box = item.box
    height = box.bottom - box.top
    if not item.name or item.is_mark or height >= _ONE_LINE:
        return box
    return box._replace(right=min(box.right, box.left + _LETTER * height * len(item.text)))


def _said(note: Any, form: Any) -> tuple[str, str, bool]:
    """Return the name and the value of a field, and whether it is a box to mark; a note has no name."""
    from pypdfium2 import raw

    kind = raw.FPDFAnnot_GetSubtype(note)
    if kind == raw.FPDF_ANNOT_WIDGET:
        return _field(note, form) if form else ("", "", False)
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return "", _contents(note), False
    if kind in {
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_HIGHLIGHT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_STRIKEOUT,
    }:
        text = _contents(note)
        return "", f"Comment: {text}" if text.strip() else "", False
    return "", "", False


def _field(note: Any, form: Any) -> tuple[str, str, bool]:
    """Return name and value of a field: nothing of an empty one, a button or a password, "no" of a box without mark."""
    from pypdfium2 import raw

    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    name = _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldAlternateName(form, note, buffer, size))
    name = name or _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldName(form, note, buffer, size))
    name = name or "field"
    if kind in {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}:
        if not raw.FPDFAnnot_IsChecked(form, note):
            # Of buttons of which one is chosen the others say nothing.
            return name, "no" if kind == raw.FPDF_FORMFIELD_CHECKBOX else "", True
        value = _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldExportValue(form, note, buffer, size))
        is_bare = kind == raw.FPDF_FORMFIELD_CHECKBOX and value in {"", "On", "Yes", "On1", "1"}
        return name, "yes" if is_bare or not value else value, True
    if kind not in {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}:
        return "", "", False
    if (
        kind == raw.FPDF_FORMFIELD_TEXTFIELD
        and raw.FPDFAnnot_GetFormFieldFlags(form, note) & raw.FPDF_FORMFLAG_TEXT_PASSWORD
    ):
        return "", "", False
    return (
        name,
        _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(form, note, buffer, size)),
        False,
    )


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
