"""E-mail is read with its heads and body; attachments are documents of their own."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from corpus.readers.protocol import Reading, ReadOptions, Unread
from corpus.readers.registry import read_file
from corpus.types import Table
from llm.errors import BadInput
from tests.corpus.readers.outlook import message as outlook_message


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
    assert odd == Unread("odd.bin", "no reader for .bin")


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
        ("3.eml: 2.eml: 1.eml", "lies too deep in containers"),
    ]


def test_msg_by_content_with_attachments(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    notes = {"note.txt": b"hello " * 1000, "b.csv": b"a,b\n1,2\n"}
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
