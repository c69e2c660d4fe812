"""The title of a document is what its first page prints largest; a datasheet's part stands in it and in the file's name."""

from datetime import date

import pytest

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.extraction.headings import find_heading, find_part
from citegraph.corpus.schema.bucket import load_buckets, show
from citegraph.corpus.schema.document import Box, Layout, Line
from citegraph.corpus.schema.values import derive_values

SHEETS = load_buckets()["datasheets"]
PAGE = [
    ("Kestrel Semiconductors", 9.0),
    ("KX3904 Low-noise", 18.0),
    ("NPN amplifier transistor", 18.0),
    ("Rev. C - 12 March 2019", 9.0),
    ("The KX3904 is made for small signals, as the KX3906 is, and comes in TO-92.", 9.0),
    ("Copyright 2019 Kestrel Semiconductors", 8.0),
]


def page(lines: list[tuple[str, float]] = PAGE) -> tuple[str, Layout]:
    text, found, top = "", [], 40.0
    for words, height in lines:
        text += "\n" if text else ""
        found.append(Line(len(text), len(text) + len(words), Box(40, top, 300, top + height)))
        text += words
        top += height * 1.3
    return text, Layout(1, 595, 842, tuple(found))


@pytest.mark.parametrize(
    ("declared", "least"),
    [("", 0.7), ("KX3904 Low-noise NPN amplifier transistor", 0.85), ("Microsoft", 0.7)],
)
def test_the_largest_print_is_the_title(declared: str, least: float) -> None:
    text, layout = page()
    found = find_heading(text, (layout,), declared)
    assert found is not None
    start, end, trust = found
    assert text[start:end] == "KX3904 Low-noise\nNPN amplifier transistor"
    assert trust >= least
    assert trust < least + 0.15


def test_a_page_of_one_size_and_markdown() -> None:
    text, layout = page([(words, 9.0) for words, _ in PAGE])
    assert find_heading(text, (layout,), "")[:2] == (0, 22)  # type: ignore[index]
    assert find_heading("intro\n\n# Rules of **the** quay\n", (), "") == (9, 30, 0.85)
    assert find_heading("", (), "") is None


def test_the_heads_of_a_datasheet() -> None:
    text, layout = page()
    source = Source(text, layouts=(layout,), name="kx3904.pdf", today=date(2026, 1, 1))
    found = {name: show(item.best.value) for name, item in extract(SHEETS, source).fields.items()}
    assert found["product"] == "KX3904"
    assert found["title"] == "KX3904 Low-noise NPN amplifier transistor"
    assert found["manufacturer"] == "Kestrel Semiconductors"
    assert (found["revision"], found["document_date"]) == ("C", "2019-03-12")


def test_a_standard_or_a_package_is_no_part() -> None:
    assert find_part("ISO9001 and IEC60747, in SOT-23 and TO-92, RS-232, 2019", None, "") is None
    assert find_part("words without any", None, "KX1.pdf") is None


TABLE = """Limiting values
Symbol   Parameter                    Conditions        Min    Max    Unit
VCBO     collector-base voltage       open emitter      -      75     V
VCEO     collector-emitter voltage    open base         -      40     V
                                      pulsed            -      45     V
Tj       junction temperature                           −65    150    °C
"""


def test_rows_of_ratings_inherit_their_parameter() -> None:
    rows = extract(SHEETS, Source(TABLE, today=date(2026, 1, 1))).rows
    names = ("symbol", "parameter", "condition", "min", "max", "unit")
    assert [tuple(row.values.get(name) for name in names) for row in rows] == [
        ("VCBO", "collector-base voltage", "open emitter", None, 75.0, "V"),
        ("VCEO", "collector-emitter voltage", "open base", None, 40.0, "V"),
        ("VCEO", "collector-emitter voltage", "pulsed", None, 45.0, "V"),
        ("Tj", "junction temperature", None, -65.0, 150.0, "°C"),
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("The QXuM7440 and the QXuM7440A, as the QXuM7440 is", "QXuM7440"),
        ("QX9A128/256 memory. The QX9A128 and QX9A256", "QX9A128/256"),
        ("BX640−016G transistor, BX640−016G", "BX640−016G"),
        ("qx24195 charger qx24195", "qx24195"),
    ],
)
def test_a_part_of_small_letters_with_variants_or_a_minus(text: str, part: str) -> None:
    at = find_part(text, (0, 60), "")
    assert at is not None
    assert text[at[0] : at[1]] == part


def test_a_part_alone_in_its_line_at_the_top_is_what_the_sheet_is_about() -> None:
    text = "QX9A02G\n16-bit controller\nSNOS123B\nUses 3V/5V supplies and the bus of RV32I cores.\n"
    at = find_part(text, None, "sheet.pdf")
    assert at is not None
    assert text[at[0] : at[1]] == "QX9A02G"
    assert at[2] >= 0.6


def test_a_heading_that_only_says_the_kind_is_no_title() -> None:
    text, layout = page(
        [
            ("Datasheet", 30.0),
            ("QX9A02 controller of small motors", 9.0),
            ("Features of it", 9.0),
            ("Low power", 9.0),
        ]
    )
    found = extract(
        SHEETS, Source(text, layouts=(layout,), title="QX9A02 sheet", today=date(2026, 1, 1))
    ).fields
    assert show(found["title"].best.value) == "QX9A02 controller of small motors"


def test_letters_that_reach_down_make_no_larger_print() -> None:
    lines = [
        ("RULES OF THE HARBOUR", 9.0),
        ("Harbour Office", 9.0),
        ("Portside, Oban", 11.4),
        ("Post of the harbour", 9.0),
    ]
    text, layout = page(lines)
    at = find_heading(text, (layout,), "")
    assert at is not None
    assert text[at[0] : at[1]] == "RULES OF THE HARBOUR"


def test_a_cover_has_its_title_anywhere_and_neither_a_part_nor_turned_letters_are_one() -> None:
    lines = [
        ("DATA SHEET", 30.0),
        ("QX91; QX92", 24.0),
        ("Motor controllers", 25.0),
        ("Product specification", 12.0),
    ]
    text, layout = page(lines)
    low = tuple(line._replace(box=line.box._replace(top=line.box.top + 500)) for line in layout.lines[1:])
    turned = Line(len(text) + 1, len(text) + 9, Box(10, 100, 30, 400))
    layout = Layout(
        1,
        595,
        842,
        (
            layout.lines[0],
            *(line._replace(box=line.box._replace(bottom=line.box.bottom + 500)) for line in low),
            turned,
        ),
    )
    found = extract(SHEETS, Source(text + "\nPATENTED", layouts=(layout,), today=date(2026, 1, 1))).fields
    assert show(found["title"].best.value) == "Motor controllers"


def test_short_names_of_parts_packages_in_words_months_and_who_reserves_rights() -> None:
    text = (
        "QX-7 pressure sensor\nQX-7 datasheet, rev 2, 04/2018\nThe QX-7 comes in a 10-Lead MLP or an LGA-14 package.\n"
        "Quay Sensors reserves the right to change QX-7.\n"
    )
    values = extract(SHEETS, Source(text)).values
    assert (values["product"], values["manufacturer"]) == ("QX-7", "Quay Sensors")
    assert values["document_date"] == date(2018, 4, 1)
    assert derive_values(SHEETS, values, text)["package"] == ("10-Lead MLP", "LGA-14")


def test_a_numbered_section_and_a_cry_are_no_titles() -> None:
    text = "Mooring Agreement\n\n# 1. Terms\n\nThe quay is long.\n"
    at = find_heading(text, (), "")
    assert at is not None
    assert text[at[0] : at[1]] == "Mooring Agreement"
    text, layout = page([("NEW!", 30.0), *PAGE])
    at = find_heading(text, (layout,), "")
    assert at is not None
    assert text[at[0] : at[1]] == "KX3904 Low-noise\nNPN amplifier transistor"


@pytest.mark.parametrize(
    ("heading", "product", "title"),
    [
        ("Heron Tide Gauge – Data Sheet", "Heron Tide Gauge", "Heron Tide Gauge – Data Sheet"),
        ("Datasheet: Heron Tide Gauge", "Heron Tide Gauge", "Datasheet: Heron Tide Gauge"),
        ("Heron", "Heron", "Gauge of tides and waves"),
    ],
)
def test_a_product_without_a_number_is_what_the_title_names(heading: str, product: str, title: str) -> None:
    lines = [
        (heading, 24.0),
        ("Gauge of tides and waves", 14.0),
        *[("It is made for small harbours.", 9.0)] * 6,
    ]
    text, layout = page(lines)
    fields = extract(SHEETS, Source(text, layouts=(layout,), today=date(2026, 1, 1))).fields
    assert show(fields["product"].best.value) == product
    assert show(fields["title"].best.value) == title
