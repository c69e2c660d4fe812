"""JSON and YAML are read as labels and values, and a list of documents as its documents."""

import json
from pathlib import Path

import pytest

from citegraph.corpus.readers.protocol import Reading, Unread
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput
from tests.citegraph.corpus.readers.only_reading import only

ORDER = {
    "title": "Order 881",
    "orderDate": "2026-03-04",
    "is_paid": False,
    "note": None,
    "tags": ["urgent", "crane"],
    "buyer": {"name": "Kestrel Works", "address": {"town": "Oban"}},
    "lines": [{"part": "hook", "count": 2}, {"part": "rope", "price": 9.5}],
    "log": [{"who": {"name": "Ada"}}, "packed"],
}
PRINTED = """\
title: Order 881
order Date: 2026-03-04
is paid: no
tags: urgent, crane

## buyer

name: Kestrel Works

### address

town: Oban

## lines

part | count | price
hook | 2 |
rope |  | 9.5

## log 1

### who

name: Ada

log 2: packed

"""


def test_json_is_printed_with_its_keys_as_labels(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(ORDER))
    reading = only(tmp_path / "a.json")
    assert reading.text == PRINTED
    assert (reading.title, reading.media_type) == ("Order 881", "application/json")
    assert [(table.title, table.header) for table in reading.tables] == [("lines", 1)]


def test_a_list_of_documents_is_read_as_its_documents(tmp_path: Path) -> None:
    rows = [{"id": "n1", "text": "One"}, {"id": "n2", "pages": ["Two", "Three"], "title": "Second"}]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    first, second = read_file(tmp_path / "a.json")
    assert isinstance(first, Reading)
    assert isinstance(second, Reading)
    assert [(item.doc_id, item.text) for item in (first, second)] == [("n1", "One"), ("n2", "Two\fThree")]
    (tmp_path / "a.json").write_text(json.dumps([*rows, {"id": "", "text": "lost"}]))
    assert list(read_file(tmp_path / "a.json"))[2] == Unread("item 3", "no doc_id")


def test_yaml_is_printed_alike_and_several_documents_follow(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(
        "pump: {model: P7, max pressure: 16 bar}\n---\n- seal\n- 2026-01-05\n- true\n"
    )
    reading = only(tmp_path / "a.yml")
    assert (
        reading.text
        == "# pump\n\nmodel: P7\nmax pressure: 16 bar\n\n- seal\n- 2026-01-05\n- yes\n\n".replace(
            "# pump", "## pump"
        )
    )


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.json", '{"a": ', "no JSON"),
        ("a.json", "[" * 5000 + "]" * 5000, "no JSON"),
        ("a.json", "[" * 90 + "{}" + "]" * 90, "nested deeper"),
        ("a.yaml", "a: [1", "no YAML"),
        ("a.yaml", "a: !!python/object:os.system {}", "no YAML"),
        (
            "a.yaml",
            "a: &a [x,x,x,x,x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 13)}]\n" for n in range(9)
            ),
            "more than 1,000,000 values",
        ),
        ("a.ics", "BEGIN:VCALENDAR\nEND:VCALENDAR\n", "no event"),
        ("a.ics", "not at all", "no calendar"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, name: str, text: str, reason: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=reason):
        list(read_file(tmp_path / name))


CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//x//y//EN
X-WR-CALNAME:Harbour
BEGIN:VEVENT
UID:1
SUMMARY:Crane inspection
DTSTART;TZID=Europe/Oslo:20260304T101500
DTEND;TZID=Europe/Oslo:20260304T113000
LOCATION:Quay 3\\, north
ORGANIZER;CN=Ada Lind:mailto:ada@example.org
ATTENDEE;CN=Bo:mailto:bo@example.org
ATTENDEE:mailto:cy@example.org
CATEGORIES:SAFETY,YEARLY
RRULE:FREQ=YEARLY;COUNT=3
DESCRIPTION:Bring the keys.\\nCall the office.
END:VEVENT
BEGIN:VTODO
UID:2
SUMMARY:Order rope
DUE;VALUE=DATE:20260401
END:VTODO
BEGIN:VEVENT
UID:3
SUMMARY:Fair
DTSTART;VALUE=DATE:20260501
DTEND;VALUE=DATE:20260504
END:VEVENT
END:VCALENDAR
"""


@pytest.mark.parametrize("name", ["a.ics", "a.txt"])
def test_a_calendar_is_read_event_by_event(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(CALENDAR.replace("\n", "\r\n").encode())
    reading = only(tmp_path / name)
    assert reading.text == (
        "Harbour\n\n# Crane inspection\n\nStart: 2026-03-04 10:15 Europe/Oslo\nEnd: 2026-03-04 11:30 Europe/Oslo\n"
        "Repeats: freq=yearly, count=3\nLocation: Quay 3, north\nCategories: SAFETY, YEARLY\n"
        "Organizer: Ada Lind <ada@example.org>\nAttendees: Bo <bo@example.org>, cy@example.org\n\n"
        "Bring the keys.\nCall the office.\n\n# Order rope\n\nDue: 2026-04-01\n\n"
        "# Fair\n\nStart: 2026-05-01\nEnd: 2026-05-03\n\n"
    )
    assert reading.title == "Harbour"
