"""E-mail is read with its heads and body; attachments are documents of their own."""

import base64
import struct
from email.message import EmailMessage
from pathlib import Path

import pytest

from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.schema.document import Table
from citegraph.errors import BadInput
from tests.citegraph.corpus.readers.outlook import RTF
from tests.citegraph.corpus.readers.outlook import message as outlook_message


def mail(subject: str = "Angebot 12") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ada Lind <ada@example.org>"
    message["To"] = "bo@example.org"
    message["Date"] = "Mon, 02 Feb 2026 10:00:00 +0000"
    message["Subject"] = subject
    message.set_content("Guten Tag,\n\nanbei das Angebot über 1.200 €.\n", charset="iso-8859-15")
    return message


def test_eml_with_attachments(tmp_path: Path) -> None:
    message = mail()
    message.add_alternative("<p>Guten Tag</p>", subtype="html")
    message.add_attachment(b"part;price\nA1;12\n", maintype="text", subtype="csv", filename="../list.csv")
    message.add_attachment(mail("Inner: one?"))
    message.add_attachment(b"\x00\x01", maintype="application", subtype="x-thing", filename="odd.bin")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="logo.png", cid="<logo>")
    path = tmp_path / "a.eml"
    path.write_bytes(message.as_bytes())
    whole, table, inner, odd = read_file(path)
    body = "\n\nGuten Tag,\n\nanbei das Angebot über 1.200 €.\n"
    heads = "From: Ada Lind <ada@example.org>\nTo: bo@example.org\nDate: Mon, 02 Feb 2026 10:00:00 +0000\nSubject: "
    assert whole == Reading(heads + "Angebot 12" + body, media_type="message/rfc822", title="Angebot 12")
    assert table == Reading(
        "part | price\nA1 | 12\n\n",
        media_type="text/csv",
        part="list.csv",
        tables=(Table(0, 20, (("part", "price"), ("A1", "12"))),),
    )
    assert inner == Reading(
        heads + "Inner: one?" + body, media_type="message/rfc822", title="Inner: one?", part="Inner one.eml"
    )
    assert odd == Unread("odd.bin", "no reader for .bin (save it as .pdf or text)")


RICH = "<h2>Repair order</h2><p>The crane Heron is back on 4 May. Workshop code KD771.</p>"


@pytest.mark.parametrize(
    ("plain", "is_said"),
    [
        ("", False),
        ("Your mail program shows no HTML.", False),
        ("View this message in your browser: https://example.org/m/1", False),
        ("Repair order\nThe crane Heron is back on 4 May. Workshop code KD7..", False),
        (
            "Repair order\n\nThe crane Heron is back on 4 May.\nWorkshop code KD771.\n-- \nsent from a phone",
            True,
        ),
        ("Repair\n\nThe crane Heron is back on 4 May. Workshop code KD771.", True),
    ],
)
def test_a_plain_form_that_says_less_gives_way_to_html(tmp_path: Path, plain: str, is_said: bool) -> None:
    message = EmailMessage()
    message["Subject"] = "Heron"
    message.set_content(plain)
    message.add_alternative(RICH, subtype="html")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    (reading,) = read_file(tmp_path / "a.eml")
    assert isinstance(reading, Reading)
    assert reading.text == "Subject: Heron\n\n" + (
        f"{plain}\n"
        if is_said
        else "## Repair order\n\nThe crane Heron is back on 4 May. Workshop code KD771.\n\n"
    )


def test_html_mail_is_read_as_text(tmp_path: Path) -> None:
    message = EmailMessage()
    message["Subject"] = "Hi"
    message.set_content("<html><body><h2>Terms</h2><p>Net 30</p></body></html>", subtype="html")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    (reading,) = read_file(tmp_path / "a.eml")
    assert isinstance(reading, Reading)
    assert reading.text == "Subject: Hi\n\n## Terms\n\nNet 30\n\n"


def test_what_is_no_mail_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_text("just words\n\nmore")
    with pytest.raises(BadInput, match="no e-mail"):
        list(read_file(tmp_path / "a.eml"))


def test_containers_in_containers_end(tmp_path: Path) -> None:
    message = mail("0")
    for number in range(1, 5):
        outer = mail(str(number))
        outer.add_attachment(message)
        message = outer
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    found = list(read_file(tmp_path / "a.eml", ReadOptions(depth=2)))
    assert [item.part if isinstance(item, Reading) else (item.where, item.reason) for item in found] == [
        "",
        "3.eml",
        "3.eml/2.eml",
        ("3.eml: 2.eml: 1.eml", "lies too deep in containers: unpack it and ingest the folder"),
    ]


def test_msg_by_content_with_attachments(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    notes: dict[str, bytes | None] = {"note.txt": b"hello " * 1000, "b.csv": b"a,b\n1,2\n"}
    path.write_bytes(outlook_message("Rechnung für März", "Ada Lind", "Hallo,\r\nanbei.\r\n", notes))
    whole, note, table = read_file(path)
    assert whole == Reading(
        "From: Ada Lind\nSubject: Rechnung für März\n\nHallo,\nanbei.\n",
        media_type="application/vnd.ms-outlook",
        title="Rechnung für März",
        notes=("named .eml, read as MSG",),
    )
    assert note == Reading("hello " * 1000, part="note.txt")
    assert isinstance(table, Reading)
    assert (table.text, table.part) == ("a | b\n1 | 2\n\n", "b.csv")


def raw(kind: str, *parts: str, heads: str = "From: a@example.org\nSubject: S\n") -> bytes:
    """Return a message of parts; each begins with its own heads."""
    body = "".join(f"--B\n{part}\n" for part in parts)
    return f'{heads}Content-Type: {kind}; boundary="B"\n\n{body}--B--\n'.encode()


def attached(name: str, text: str, kind: str = "text/plain") -> str:
    return f'Content-Type: {kind}\nContent-Disposition: attachment; filename="{name}"\n\n{text}'


PLAIN, MARKUP = "Content-Type: text/plain\n\nHello", "Content-Type: text/html\n\n<p>Hello</p>"
SIGNATURE = attached("smime.p7s", "MIIB", "application/pkcs7-signature")
INVITATION = "Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR"
ENCRYPTED = "is encrypted: open it in the mail program and save it without encryption"


def nested(kind: str, *parts: str) -> str:
    inner = raw(kind, *parts, heads="").decode().replace("--B", "--I").replace('"B"', '"I"')
    return inner.rstrip("\n")


@pytest.mark.parametrize(
    ("message", "found"),
    [
        # Apple's Mail hangs files into one of the forms of the body.
        (
            raw("multipart/alternative", PLAIN, nested("multipart/mixed", MARKUP, attached("a.txt", "A"))),
            ["Hello", "a.txt: A"],
        ),
        (
            raw("multipart/signed", nested("multipart/mixed", PLAIN, attached("a.txt", "A")), SIGNATURE),
            ["Hello", "a.txt: A"],
        ),
        (
            raw("multipart/mixed", PLAIN, attached("a.txt", "A"), "Content-Type: text/plain\n\nBye"),
            ["Hello\n\nBye", "a.txt: A"],
        ),
        (raw("multipart/alternative", PLAIN, MARKUP, INVITATION), ["Hello"]),
        (raw("multipart/mixed", PLAIN, MARKUP), ["Hello\n\nHello\n\n"]),
        (raw("multipart/mixed", PLAIN, attached("../../x", "up")), ["Hello", "x: up"]),
        (
            raw("multipart/encrypted", attached("a.asc", "x", "application/octet-stream")),
            ["", f": {ENCRYPTED}"],
        ),
        (
            b"Subject: S\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIIB",
            ["", f": {ENCRYPTED}"],
        ),
        (
            b"Subject: S\nContent-Type: application/pkcs7-mime; smime-type=signed-data\n\nMIIB",
            ["", ": is packed into its signature (S/MIME): open it in the mail program and save it without"],
        ),
    ],
)
def test_messages_as_programs_nest_them(tmp_path: Path, message: bytes, found: list[str]) -> None:
    (tmp_path / "a.eml").write_bytes(message)
    seen = []
    for item in read_file(tmp_path / "a.eml"):
        if isinstance(item, Unread):
            seen.append(f"{item.where}: {item.reason}")
        else:
            seen.append(f"{item.part}: {item.text}" if item.part else item.text.partition("\n\n")[2])
    assert seen == found


def test_bytes_where_none_belong_and_base64_that_breaks_off(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(
        "From: Jörg <j@example.org>\nSubject: Größe\n\nKörper\n".encode("cp1252")
    )
    (reading,) = read_file(tmp_path / "a.eml")
    assert isinstance(reading, Reading)
    assert (reading.text, reading.title) == (
        "From: Jörg <j@example.org>\nSubject: Größe\n\nKörper\n",
        "Größe",
    )
    data = base64.b64encode(b"All that came through of it").decode()[:-3]
    part = f'Content-Type: text/plain; name="a.txt"\nContent-Transfer-Encoding: base64\n\n{data}'
    (tmp_path / "b.eml").write_bytes(raw("multipart/mixed", PLAIN, part))
    _, cut = read_file(tmp_path / "b.eml")
    assert isinstance(cut, Reading)
    assert cut.text == "All that came through of"


def test_tables_of_a_body_keep_their_place(tmp_path: Path) -> None:
    message = EmailMessage()
    message["Subject"] = "Prices"
    message.set_content("<table><tr><th>A<th>B<tr><td>1<td>2</table>", subtype="html")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    (reading,) = read_file(tmp_path / "a.eml")
    assert isinstance(reading, Reading)
    (table,) = reading.tables
    assert reading.text[table.start : table.end] == "A | B\n1 | 2"


def test_msg_with_a_body_of_rich_text_and_an_item_inside(tmp_path: Path) -> None:
    source = rb"{\rtf1\ansi\fromhtml1 {\*\htmltag <p>}\htmlrtf {\htmlrtf0 Dear all\htmlrtf\par}\htmlrtf0 }"
    head = struct.pack("<III", len(source) + 12, len(source), 0x414C454D)
    body = head + bytes(4) + source
    (tmp_path / "a.msg").write_bytes(outlook_message("S", "Ada", body, {"Meeting": None}, kind=RTF))
    whole, item = read_file(tmp_path / "a.msg")
    assert isinstance(whole, Reading)
    assert whole.text == "From: Ada\nSubject: S\n\nDear all\n"
    assert item == Unread("Meeting", "an Outlook item inside of the message: save it as a file of its own")


def tnef(*attributes: tuple[int, int, bytes]) -> bytes:
    """Return a winmail.dat ([MS-OXTNEF]) of attributes: level, id, bytes."""
    packed = struct.pack("<IH", 0x223E9F78, 1)
    for level, number, data in attributes:
        packed += struct.pack("<BII", level, number, len(data)) + data + struct.pack("<H", sum(data) & 0xFFFF)
    return packed


def test_winmail_gives_its_body_and_attachments(tmp_path: Path) -> None:
    title, data = (2, 0x00018010, b"list.csv\x00"), (2, 0x0006800F, b"a,b\n1,2\n")
    winmail = tnef(
        (1, 0x00089006, struct.pack("<I", 0x10000)),
        (1, 0x0002800C, b"Hello"),
        (2, 0x00069002, bytes(14)),
        title,
        data,
    )
    message = mail()
    message.add_attachment(winmail, maintype="application", subtype="ms-tnef", filename="winmail.dat")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    _, body, table = read_file(tmp_path / "a.eml")
    assert isinstance(body, Reading)
    assert (body.part, body.text) == ("winmail.dat", "Hello")
    assert isinstance(table, Reading)
    assert (table.part, table.text) == ("winmail.dat/list.csv", "a | b\n1 | 2\n\n")
    (tmp_path / "b.dat").write_bytes(winmail[:9])
    with pytest.raises(BadInput, match=r"winmail\.dat is damaged"):
        list(read_file(tmp_path / "b.dat"))


def test_rich_text(tmp_path: Path) -> None:
    (tmp_path / "a.doc").write_bytes(
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}} Caf\'e9 {\b 5 \u8364?}\par Next\par\trowd A\cell B\cell\row}"
    )
    (reading,) = read_file(tmp_path / "a.doc")
    assert isinstance(reading, Reading)
    assert (reading.text, reading.notes) == ("Café 5 €\nNext\nA | B\n", ("named .doc, read as RTF",))
