"""OpenDocument files are read as LibreOffice shows them; EPUB books in the order of reading."""

import zipfile
from pathlib import Path

import pytest

from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput
from tests.citegraph.corpus.readers.only_reading import only

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for name, long in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("style", "style"),
        ("presentation", "presentation"),
    )
)
KINDS = {"odt": "text", "ods": "spreadsheet", "odp": "presentation", "odg": "drawing"}


def made(path: Path, body: str, styles: str = "", title: str = "") -> Path:
    kind = KINDS[path.suffix[1:]]
    dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    with zipfile.ZipFile(path, "w") as archive:
        declared = kind.replace("drawing", "graphics")
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{declared}")
        archive.writestr(
            "content.xml",
            f"<office:document-content {SPACES} {dc}><office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        )
        archive.writestr(
            "meta.xml",
            f"<office:document-meta {SPACES} {dc}><dc:title>{title}</dc:title></office:document-meta>",
        )
    return path


def test_a_text(tmp_path: Path) -> None:
    reading = only(
        made(
            tmp_path / "a.odt",
            "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
            "</text:changed-region></text:tracked-changes>"
            '<text:h text:outline-level="2">Term of <text:span>lease</text:span></text:h>'
            '<text:p>Rent<text:s text:c="2"/>is<text:tab/>12 EUR<text:note text:note-class="footnote"><text:note-citation>1'
            "</text:note-citation><text:note-body><text:p>net</text:p></text:note-body></text:note>, paid.<text:line-break/>"
            "Monthly<office:annotation><dc:creator>Ada</dc:creator><text:p>Check</text:p></office:annotation>"
            '<text:hidden-text text:string-value="x">no</text:hidden-text></text:p>'
            "<text:list><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item>"
            "</text:list></text:list-item></text:list>"
            "<text:p>See<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame></text:p>"
            "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Item</text:p></table:table-cell>"
            "<table:table-cell><text:p>Cost</text:p></table:table-cell></table:table-row></table:table-header-rows>"
            '<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Bolt</text:p></table:table-cell>'
            "<table:table-cell><text:p>1</text:p></table:table-cell></table:table-row>"
            "<table:table-row><table:covered-table-cell/><table:table-cell><text:p>2</text:p><text:p>net</text:p>"
            "</table:table-cell></table:table-row></table:table>",
            title="The lease",
        )
    )
    assert reading.text == (
        "## Term of lease\n\nRent  is\t12 EUR, paid.\nMonthly\n\nFootnote 1: net\n\nComment by Ada: Check\n\n"
        "- first\n\n- inner\n\nSee\n\nBoxed\n\nItem | Cost\nBolt | 1\nBolt | 2 net\n\n"
    )
    assert (reading.title, reading.media_type) == ("The lease", "application/vnd.oasis.opendocument.text")
    assert reading.notes == ("has tracked changes: read as if all were accepted",)
    assert [(table.header, len(table.rows)) for table in reading.tables] == [(1, 3)]


def cell(kind: str, value: str, shown: str, more: str = "") -> str:
    at = "date-value" if kind == "date" else "value"
    return f'<table:table-cell office:value-type="{kind}" office:{at}="{value}" {more}><text:p>{shown}</text:p></table:table-cell>'


def test_sheets(tmp_path: Path) -> None:
    blank = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    body = (
        '<table:table table:name="Plan"><table:table-column table:visibility="collapse" table:number-columns-repeated="2"/>'
        "<table:table-row><table:table-cell><text:p>Item</text:p></table:table-cell><table:table-cell><text:p>Share</text:p>"
        "</table:table-cell><table:table-cell><text:p>Cost</text:p></table:table-cell><table:table-cell><text:p>Day</text:p></table:table-cell></table:table-row>"
        '<table:table-row table:visibility="filter"><table:table-cell><text:p>Bolt</text:p></table:table-cell>'
        + cell("percentage", "0.125", "12,5%")
        + cell("currency", "1234.567", "1.234,57 EUR", 'office:currency="EUR"')
        + cell("date", "2024-02-29T00:00:00", "29.02.24")
        + "</table:table-row>"
        + "<table:table-row><table:table-cell><text:p>Nut</text:p></table:table-cell><table:table-cell/>"
        + cell("float", "3", "3,00", 'table:number-columns-repeated="2"')
        + f"</table:table-row>{blank}</table:table>"
        + '<table:table table:name="Costs" table:style-name="off"><table:table-row table:number-rows-repeated="2">'
        + cell("float", "1.5", "1,5")
        + "</table:table-row></table:table>"
    )
    styles = '<style:style style:name="off"><style:table-properties table:display="false"/></style:style>'
    reading = only(made(tmp_path / "a.ods", body, styles))
    assert reading.text == (
        "# Plan\n\nItem | Share | Cost | Day\nBolt | 12.5% | 1234.567 EUR | 2024-02-29\nNut |  | 3 | 3\n\n"
        "\f# Costs\n\n1.5\n1.5\n\n"
    )
    assert [(page.number, page.label) for page in reading.pages] == [(1, "Plan"), (2, "Costs")]
    assert reading.notes == ("hidden parts were read too: 1 row and 2 columns of Plan, Costs",)


def test_slides(tmp_path: Path) -> None:
    body = (
        '<draw:page draw:style-name="dp1"><draw:frame><draw:text-box><text:p>Aims</text:p></draw:text-box></draw:frame>'
        "<draw:g><draw:custom-shape><text:p>Grow</text:p></draw:custom-shape></draw:g>"
        "<presentation:notes><draw:frame><draw:text-box><text:p>Say it</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
        '<draw:page draw:style-name="dp2"><draw:frame><table:table><table:table-row><table:table-cell><text:p>A</text:p>'
        "</table:table-cell></table:table-row></table:table></draw:frame></draw:page>"
    )
    styles = '<style:style style:name="dp2"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    reading = only(made(tmp_path / "a.odp", body, styles))
    assert reading.text == "Aims\n\nGrow\n\nSay it\n\n\fA\n\n"
    assert reading.notes == ("hidden parts were read too: slide 2",)


def test_drawings_and_empty_sheets(tmp_path: Path) -> None:
    body = "<draw:page><draw:custom-shape><text:p>Valve</text:p></draw:custom-shape></draw:page>"
    (reading,) = read_file(made(tmp_path / "a.odg", body))
    assert isinstance(reading, Reading)
    assert (reading.text, len(reading.pages)) == ("Valve\n\n", 1)
    assert only(made(tmp_path / "a.ods", '<table:table table:name="Plan"/>')).text == ""


def test_a_letterhead_is_read_once(tmp_path: Path) -> None:
    path = made(tmp_path / "a.odt", "<text:p>Dear Ada</text:p>")
    page = (
        "<style:master-page><style:header><text:p>Nordwind Ltd</text:p></style:header>"
        "<style:footer><text:p>Page 1</text:p></style:footer></style:master-page>"
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(
            "styles.xml", f"<office:document-styles {SPACES}>{page}{page}</office:document-styles>"
        )
    assert only(path).text == "Nordwind Ltd\n\nDear Ada\n\nPage 1\n\n"


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = made(tmp_path / "a.odt", "<text:p>x</text:p>")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("META-INF/manifest.xml", "<x><encryption-data/></x>")
    with pytest.raises(BadInput, match="needs a password"):
        list(read_file(path))
    with pytest.raises(BadInput, match="is damaged"):
        list(read_file(made(tmp_path / "b.odt", "<text:p>")))


def book(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        )
        archive.writestr(
            "OPS/book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
            "<metadata><dc:title>Tides</dc:title></metadata><manifest>"
            '<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="a" href="part%20one.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="c" href="x.css" media-type="text/css"/></manifest>'
            '<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>',
        )
        archive.writestr(
            "OPS/two.xhtml",
            "<html><body><table><tr><th>Day</th><th>High</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>",
        )
        archive.writestr("OPS/part one.xhtml", "<html><body><h1>One</h1><p>Low water.</p></body></html>")
    return path


def test_a_book_in_the_order_of_reading(tmp_path: Path) -> None:
    reading = only(book(tmp_path / "a.epub"))
    assert reading.text == "# One\n\nLow water.\n\nDay | High\n1 | 2\n\n"
    assert (reading.title, reading.media_type) == ("Tides", "application/epub+zip")
    (table,) = reading.tables
    assert reading.text[table.start : table.end] == "Day | High\n1 | 2"
    (tmp_path / "b.epub").write_bytes((tmp_path / "a.epub").read_bytes()[:-30])
    with pytest.raises(BadInput, match="damaged"):
        list(read_file(tmp_path / "b.epub"))
