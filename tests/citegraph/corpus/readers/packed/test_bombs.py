"""A few hundred bytes that claim to be gigabytes, one format at a time: refused, or read up to a bound."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from citegraph.corpus.readers.protocol import MEGABYTE, Reading, ReadOptions, Unread
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput

FLAT = b"A" * (40 * MEGABYTE)
OPTIONS = ReadOptions(unpacked=20 * MEGABYTE)
OASIS = "urn:oasis:names:tc:opendocument:xmlns"
HEAD = (
    f'<?xml version="1.0"?><office:document-content xmlns:office="{OASIS}:office:1.0" '
    f'xmlns:table="{OASIS}:table:1.0" xmlns:text="{OASIS}:text:1.0"><office:body>'
)


def zipped(members: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def open_document(kind: str, body: str) -> bytes:
    content = f"{HEAD}{body}</office:body></office:document-content>"
    mimetype = f"application/vnd.oasis.opendocument.{kind}".encode()
    return zipped({"mimetype": mimetype, "content.xml": content.encode()})


def nested() -> bytes:
    data = zipped({"a.txt": b"words"})
    for level in range(9):
        data = zipped({f"{level} {place}.zip": data for place in range(6)})
    return data


CELL = '<table:table-cell table:number-columns-repeated="1000000" office:value-type="string"><text:p>x</text:p></table:table-cell>'
REFUSED: Mapping[str, Callable[[], bytes]] = {
    "flat.zip": lambda: zipped({"a.txt": FLAT}),
    "flat.txt.gz": lambda: gzip.compress(FLAT),
    "flat.txt.bz2": lambda: bz2.compress(FLAT),
    "flat.txt.xz": lambda: lzma.compress(FLAT),
    "nested.zip": nested,
}
BOUNDED: Mapping[str, Callable[[], bytes]] = {
    "cells.ods": lambda: open_document(
        "spreadsheet",
        '<office:spreadsheet><table:table table:name="a"><table:table-row table:number-rows-repeated="1000000">'
        f"{CELL}</table:table-row></table:table></office:spreadsheet>",
    ),
    "blanks.odt": lambda: open_document(
        "text", '<office:text><text:p>x<text:s text:c="2000000000"/>y</text:p></office:text>'
    ),
}


def texts(path: Path) -> list[str]:
    return [item.text for item in read_file(path, OPTIONS) if isinstance(item, Reading)]


@pytest.mark.parametrize("name", REFUSED)
def test_what_unpacks_to_more_than_it_should_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(REFUSED[name]())
    try:
        found = list(read_file(path, OPTIONS))
    except BadInput as error:
        found = [Unread(name, str(error))]
    assert found
    for item in found:
        assert isinstance(item, Unread)
        assert any(said in item.reason for said in ("bomb", "too much", "too deep"))


@pytest.mark.parametrize("name", BOUNDED)
def test_what_a_number_repeats_is_bounded(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BOUNDED[name]())
    found = texts(path)
    assert found
    assert sum(map(len, found)) < 4_000_000
