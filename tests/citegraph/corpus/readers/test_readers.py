"""Each reader gives text, pages and titles; what cannot be read says why."""

import json
from pathlib import Path

import pytest

from citegraph.corpus.readers.json_lines import JsonLinesReader
from citegraph.corpus.readers.plain_text import pages_of
from citegraph.corpus.readers.protocol import NO_TEXT_HINT, Reading, ReadOptions, Unread
from citegraph.corpus.readers.reader_registry import read_file, reader_for
from citegraph.corpus.schema.document import Page
from citegraph.errors import BadInput


def read(path: Path) -> list[Reading | Unread]:
    return list(reader_for(path.suffix).read(path, ReadOptions()))


def only(path: Path) -> Reading:
    (reading,) = read(path)
    assert isinstance(reading, Reading)
    return reading


def pdf(path: Path, pages: list[list[str]], title: str = "", labels: str = "") -> Path:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path))
    if title:
        canvas.setTitle(title)
    for number, lines in enumerate(pages):
        if labels:
            canvas.addPageLabel(number, labels, 1)
        for row, line in enumerate(lines):
            canvas.drawString(72, 720 - 20 * row, line)
        canvas.showPage()
    canvas.save()
    return path


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("Grüße\r\naus Köln".encode(), "Grüße\naus Köln"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        ("Straße und Übergröße, für die Häfen schön geräumt".encode("cp1252"), "Straße und Übergröße"),
        ("Größe in UTF-16 für alle".encode("utf-16"), "Größe in UTF-16 für alle"),
    ],
)
def test_text_in_any_encoding(tmp_path: Path, data: bytes, expected: str) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    reading = only(tmp_path / "a.txt")
    assert reading.text.startswith(expected)
    assert reading.pages == ()


UNSEEN = {
    "regu\u00adlation": "regulation",
    "fire\u200bwall": "firewall",
    "insu\u00ad\n  rance": "insurance",
    "\ufeffcup\u2060board\u200e": "cupboard",
    "pass\u200dword": "password",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\U0001f469\u200d\U0001f52c": "\U0001f469\u200d\U0001f52c",
}


@pytest.mark.parametrize(
    "name", ["a.txt", "a.md", "a.csv", "a.html", "a.eml", "a.jsonl", "a.json", "a.yaml", "a.rtf"]
)
def test_characters_that_nobody_sees_are_left_out(tmp_path: Path, name: str) -> None:
    """Those that shape the words of a script stay."""
    for written, seen in UNSEEN.items():
        if "\n" in written and name not in {"a.txt", "a.md", "a.eml", "a.jsonl"}:
            continue
        text = {
            "a.eml": f"Subject: x\nContent-Type: text/plain; charset=utf-8\n\n{written}",
            "a.jsonl": json.dumps({"id": "1", "text": written}),
            "a.json": json.dumps({"key": written}),
            "a.yaml": json.dumps({"key": written}, ensure_ascii=False),
            "a.html": f"<p>{written}</p>",
            "a.rtf": "{\\rtf1 "
            + "".join(f"\\u{ord(char)}?" if ord(char) < 0x8000 else char for char in written)
            + "}",
        }.get(name, written)
        if name == "a.rtf" and max(written) > "\u7fff":
            continue
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert only(tmp_path / name).text.strip().endswith(seen)


def test_form_feeds_are_pages(tmp_path: Path) -> None:
    (tmp_path / "a.TXT").write_text("one\n\ftwo\f")
    reading = only(tmp_path / "a.TXT")
    assert reading.text == "one\n\ftwo\f"
    assert reading.pages == (Page(1, 0, 4), Page(2, 5, 8))
    assert pages_of("", single=True) == (Page(1, 0, 0),)
    assert pages_of("a\f\fb")[1] == Page(2, 2, 2)


@pytest.mark.parametrize("data", [bytes(range(256)) * 4, b"\x7fELF\x00\x00\x00\x01" * 50])
def test_binary_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(BadInput, match="not a text file"):
        read(tmp_path / "a.txt")


def test_markdown_keeps_its_text_and_gives_its_heading(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("intro\n\n# The *Manual* #\n\n## Part\n")
    reading = only(tmp_path / "a.md")
    assert reading.title == "The Manual"
    assert reading.text.startswith("intro")
    assert reading.media_type == "text/markdown"


def test_json_lines(tmp_path: Path) -> None:
    rows = [
        {"doc_id": "a", "text": "one\ftwo", "metadata": {"vendor": "X"}, "url": "https://x.example/a"},
        {"doc_id": 7, "pages": ["first", "sec\fond"], "source_file": "seven.pdf", "title": "Seven"},
        {"doc_id": "c", "vendor": "no text here"},
        {"text": "no id"},
        ["a list"],
    ]
    lines = [json.dumps(row) for row in rows]
    (tmp_path / "a.jsonl").write_text(
        "\n".join([*lines, "{broken", "", '{"doc_id": "z", "text": "\\ud800"}'])
    )
    assert read(tmp_path / "a.jsonl") == [
        Reading(
            "one\ftwo",
            (Page(1, 0, 3), Page(2, 4, 7)),
            doc_id="a",
            url="https://x.example/a",
            metadata={"vendor": "X"},
        ),
        Reading(
            "first\fsec\nond",
            (Page(1, 0, 5), Page(2, 6, 13)),
            title="Seven",
            doc_id="7",
            source_file="seven.pdf",
        ),
        Unread("line 3", NO_TEXT_HINT),
        Unread("line 4", "no doc_id"),
        Unread("line 5", "not a JSON object"),
        Unread("line 6", "not JSON"),
        Reading("\ufffd", doc_id="z"),
    ]


def test_pdf_pages_labels_and_title(tmp_path: Path) -> None:
    path = pdf(
        tmp_path / "a.pdf", [["First page", "second line"], [], ["Third page"]], "The title", "ROMAN_LOWER"
    )
    reading = only(path)
    assert [reading.text[page.start : page.end] for page in reading.pages] == [
        "First page\nsecond line",
        "",
        "Third page",
    ]
    assert [page.number for page in reading.pages] == [1, 2, 3]
    assert reading.pages[0].label == "i"
    assert reading.title == "The title"
    assert reading.media_type == "application/pdf"


@pytest.mark.parametrize(
    ("declared", "kept"),
    [
        ("Annual report 2024", True),
        ("Rev. B", True),
        ("Microsoft Word - letter.doc", False),
        ("file:///C:/tmp/x 1.htm", False),
        ("letter.pdf", False),
        ("Untitled", False),
    ],
)
def test_pdf_titles_that_a_program_made_up(tmp_path: Path, declared: str, kept: bool) -> None:
    reading = only(pdf(tmp_path / "a.pdf", [["text"]], declared))
    assert reading.title == (declared if kept else "")


def test_pdf_that_gives_no_text(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no text and no pictures"):
        read(pdf(tmp_path / "scan.pdf", [[], []]))
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(BadInput, match="damaged"):
        read(tmp_path / "broken.pdf")
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "locked.pdf"), encrypt="secret")
    canvas.drawString(72, 720, "hidden")
    canvas.save()
    with pytest.raises(BadInput, match="password"):
        read(tmp_path / "locked.pdf")


def test_a_file_may_break_its_reader_in_any_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=r"was gone when it was to be read"):
        list(read_file(tmp_path / "nothing.txt"))
    (tmp_path / "deep.jsonl").write_text("[" * 100_000 + "\n" + json.dumps({"doc_id": "a", "text": "b"}))
    assert list(read_file(tmp_path / "deep.jsonl")) == [
        Unread("line 1", "not JSON"),
        Reading("b", doc_id="a"),
    ]

    def broken(self: object, path: Path, options: ReadOptions) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("citegraph.corpus.readers.plain_text.TextReader.read", broken)
    (tmp_path / "any.txt").touch()
    with pytest.raises(BadInput, match=r"cannot be read \(ZeroDivisionError\)"):
        list(read_file(tmp_path / "any.txt"))


def test_readers_are_found_by_suffix() -> None:
    assert isinstance(reader_for(".JSONL"), JsonLinesReader)
    with pytest.raises(BadInput, match=r"no reader for \.xyz"):
        reader_for(".xyz")
    with pytest.raises(BadInput, match="without suffix"):
        reader_for("")


def test_a_wrong_name_is_read_by_its_content_and_said(tmp_path: Path) -> None:
    right = pdf(tmp_path / "a.pdf", [["First page"]])
    wrong = right.rename(tmp_path / "a.txt")
    (reading,) = read_file(wrong)
    assert isinstance(reading, Reading)
    assert (reading.text, reading.notes) == ("First page", ("named .txt, read as PDF",))
    (tmp_path / "b.pdf").write_text("a letter, saved under a wrong name")
    (reading,) = read_file(tmp_path / "b.pdf")
    assert isinstance(reading, Reading)
    assert (reading.media_type, reading.notes) == ("text/plain", ("named .pdf, read as TXT",))
