"""Questions over a document or two of each kind that strangers bring, read and answered without a model."""

import asyncio
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citegraph.corpus.ingestion.ingest_options import IngestOptions
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import Settings
from graph.session import Session

BILL = "{title}\nOakmere Paper Ltd\nInvoice No: {number}\nDate: 2024-05-02\n\n{rest}\n"
MEMO = BILL.format(title="CREDIT MEMO", number="OP-8", rest="Total: GBP 40.00")
PLAIN = BILL.format(title="INVOICE", number="OP-7", rest="Total: GBP 100.00")
REMARK = BILL.format(
    title="INVOICE", number="OP-9", rest="Note: a credit note will follow.\nTotal: GBP 60.00"
)
REST = BILL.format(title="Rechnung", number="OP-6", rest="Gesamtbetrag 90,00 EUR\nNoch zu zahlen 30,00 EUR")
VAT = BILL.format(title="Factuur", number="OP-5", rest="BTW 21% over € 100,00   € 21,00\nTotaal € 121,00")
SENT = "INVOICE\n{seller}\nInvoice No: {number}\nDate: 2024-05-02\nBill to: {buyer}\n\n{rest}\nTotal: GBP 100.00\n"
CRATES = {
    "a.txt": SENT.format(seller="Oakmere Paper Ltd", number="OP-1", buyer="Tarn Ltd", rest="Paper"),
    "b.txt": SENT.format(seller="Birch Ltd", number="BI-2", buyer="Quillfeld Ltd", rest="Twine"),
    "c.txt": SENT.format(
        seller="Birch Ltd", number="BI-3", buyer="Tarn Ltd", rest="Crates of Oakmere, carried by Quillfeld"
    ),
}
LINES = BILL.format(
    title="Rechnung",
    number="OP-4",
    rest="Artikel | Menge | Preis | Betrag\nGürtel braun | 2 | 15,00 | 30,00\nLederschürze | 1 | 70,00 | 70,00\n\n"
    "Nettobetrag 100,00 EUR\nMwSt 19 % 19,00 EUR\nGesamtbetrag 119,00 EUR",
)
DEAL = "# Supply Agreement\n\nThis agreement of Auk Ltd and Ibis Ltd is made on 3 May 2024. {rest}\n"
DEALS = {
    "a.md": DEAL.format(rest="Disputes go to mediation in Bern."),
    "b.md": DEAL.format(rest="Goods go by rail."),
}
GUIDES = (
    "Guide,Spring,,Autumn,\n,Half day,Full day,Half day,Full day\nEinar,40,70,45,80\nSolveig,50,85,55,95\n"
)
SHEET = "Safety data sheet\nProduct name: {name}\nDate: 2024-05-02\n\n{rest}\n"
SHEETS = {
    "a.txt": SHEET.format(name="Mirasol", rest="UN number: 3082"),
    "b.txt": SHEET.format(name="Velour", rest="By road it travels as UN 3082."),
    "c.txt": SHEET.format(name="Tannat", rest="It is no dangerous good."),
}
NOTICE = "SECURITY ADVISORY\nPackage: {package}\nDate: {date}\n\n{rest}\n"
NOTICES = {
    "a.txt": NOTICE.format(
        package="quince-jam", date="2023-02-01", rest="It steals tokens of Medlar wallets."
    ),
    "b.txt": NOTICE.format(
        package="medlar-sdks", date="2024-02-01", rest="It pretends to be the Medlar client."
    ),
    "c.txt": NOTICE.format(package="medlar-tools", date="2025-02-01", rest="It deletes files of Medlar."),
    "d.txt": NOTICE.format(package="rowan", date="2025-02-01", rest="It loops for ever."),
}
ROOT = (
    "Certificate:\n    Data:\n        Version: 3 (0x2)\n        Serial Number: {serial}\n        Signature Algorithm: {algorithm}\n"
    "        Issuer: C=SI, O=Tarn Trust, CN={name}\n        Validity\n            Not Before: Jan  1 00:00:00 {first} GMT\n"
    "            Not After : Jan  1 00:00:00 {last} GMT\n        Subject: C=SI, O=Tarn Trust, CN={name}\n"
)
ROOTS = {
    "a.txt": ROOT.format(
        serial=11, algorithm="sha256WithRSAEncryption", name="Tarn Old", first=2000, last=2040
    ),
    "b.txt": ROOT.format(
        serial=12, algorithm="sha256WithRSAEncryption", name="Tarn New", first=2025, last=2045
    ),
    "c.txt": ROOT.format(serial=13, algorithm="ecdsa-with-SHA384", name="Tarn Short", first=2025, last=2030),
}
TWICE = {
    "a.txt": SENT.format(seller="Birch Ltd", number="BI-7", buyer="Tarn Ltd", rest="Twine"),
    "b.txt": SENT.format(seller="Birch Ltd", number="BI-8", buyer="Tarn Ltd", rest="Rope")
    .replace("2024-05-02\nB", "2024-06-09\nB")
    .replace("100.00", "130.00"),
}
LAMP = (
    "TR-40 LANTERN\n\nOVERVIEW\nThe TR-40 is a lantern for trams, made since 2011 in 3 colours.\n\nGENERAL DEFINITIONS\n"
    "Parameter    Description\nSpectral width    12 nm\nMass    1.7 kg\nPower consumption    < 6 W\nBeam angle    30 degrees\n"
)
PAIRS = {
    f"{name}.md": DEAL.replace("Ibis", other).format(rest=f"The term is {years} years.")
    for name, other, years in (("a", "Tern", 3), ("b", "Wren", 5), ("c", "Gannet", 7))
}
STOLEN = {
    "a.txt": NOTICE.format(package="quince-jam", date="2023-02-01", rest="It steals tokens of Medlar users."),
    "b.txt": NOTICE.format(package="medlar-sdks", date="2024-02-01", rest="It loops for ever."),
    "c.txt": NOTICE.format(
        package="rowan", date="2025-02-01", rest="Published by Wexcombe.\nKeywords: tokens"
    ),
}
REACHES = {
    "a.txt": SHEET.format(name="Mirasol", rest="Reach: 40 km over glass. It has 80 lamps."),
    "b.txt": SHEET.format(name="Velour", rest="Reach: 80 km over glass."),
}
PARTS = SHEET.format(
    name="Brightwell converters",
    rest="Order code | Output voltage | Output current\nQX 4-7702 | 6 VDC | 840 mA\nQX 4-7703 | 9 VDC | 610 mA",
)
SPELT = {
    "a.txt": SENT.format(seller="Tarn Ltd", number="TA-1", buyer="Birch Ltd", rest="Twine"),
    "b.txt": SENT.format(seller="Oak Tarn Mills Ltd", number="OT-2", buyer="Birch Ltd", rest="Rope").replace(
        "100.00", "130.00"
    ),
    "c.txt": SENT.format(seller="Peoples Paper Works Ltd", number="PP-3", buyer="Birch Ltd", rest="Paper"),
}
FORM = "<h1>Berth form</h1><table><tr><td>Skipper</td><td><input value='Mara Quist'></td></tr></table>"
LIST = "Handover of the van\n\n[x] Spare wheel\n[ ] Warning triangle\n[x] Manual\n"
PLACES = "Tool,Place\nChisel,Shelf 4\nMallet,Shelf 6\nGimlet,Drawer 1\n"
FRAME = (
    "# Partnership Framework\n\nThis framework of Auk Ltd and Ibis Ltd says how both develop tools. "
    "The parties are bound by a confidentiality agreement.\n"
)


@pytest.mark.parametrize(
    ("bucket", "files", "question", "said", "unsaid"),
    [
        ("invoices", {"a.txt": PLAIN, "b.txt": MEMO}, "What did we spend with Oakmere in 2024?", "60.00 GBP", "140"),
        ("invoices", {"a.txt": PLAIN, "b.txt": REMARK}, "What did we spend with Oakmere in 2024?", "160.00 GBP", "40.00"),
        ("invoices", {"a.txt": REST}, "Wie viel ist bei OP-6 noch offen?", "Amount due: 30.00 EUR", "Anzahl"),
        ("invoices", {"a.txt": VAT}, "Hoeveel BTW staat op factuur OP-5?", "21.00 EUR", "aantal"),
        ("invoices", {"a.txt": PLAIN}, "How much did the envelopes cost?", "", "Total amount: 100.00 GBP"),
        ("invoices", CRATES, "Which invoices mention Oakmere and Quillfeld?", "BI-3", "BI-2"),
        ("invoices", CRATES, "list invoices for Oakmere (Quillfeld) crates", "BI-3", "BI-2"),
        ("invoices", {"a.txt": LINES}, "Was kostete der Gürtel?", "30", "119"),
        ("invoices", {"a.txt": LINES}, "Wie viel kosteten die Schürzen?", "70", "119"),
        ("invoices", {"a.txt": LINES}, "total without VAT of OP-4", "100.00 EUR", "119"),
        ("datasheets", SHEETS, "Which safety data sheets have UN number 3082?", "[b]", "[c]"),
        ("invoices", SPELT, "which invoices did people send to Birch?", "TA-1", ""),
        ("generic", NOTICES, "Do we have anything on quince-jam?", "1 document", ""),
        ("invoices", SPELT, "total of the bills of Tarn (oak)", "100.00 GBP", "230"),
        ("contracts", DEALS, "Which contracts don't mention mediation?", "[b]", "[a]"),
        ("contracts", DEALS, "How many contracts say nothing about mediation?", "1", "2"),
        ("contracts", DEALS, "agreements in which mediation isn't mentioned", "[b]", "[a]"),
        ("generic", {"a.txt": "The statue was cast by Runa Dahl.\n"}, "Who cast the statue?", "Runa Dahl", ""),
        ("generic", {"a.csv": GUIDES}, "What does Solveig take for a full day in autumn?", "95", ""),
        ("generic", {"a.html": FORM}, "Who is the skipper?", "Mara Quist", ""),
        ("generic", {"a.txt": LIST}, "Is there a warning triangle?", "( ) Warning triangle", ""),
        ("generic", {"a.csv": PLACES}, "Where is the chisel?", "Shelf 4", "Not found"),
        ("contracts", {"a.md": FRAME}, "Which NDAs do we have?", "", "Auk"),
        ("generic", NOTICES, "Which advisories mention Medlar (tokens, client sdks, anything)?", "[c]", "[d]"),
        ("generic", NOTICES, "Which advisories mention Medlar (tokens, client sdks, anything)?", "[a]", "[d]"),
        ("certificates", ROOTS, "Which Tarn Trust root is valid the longest, until when?", "2045", "Tarn Old"),
        ("certificates", ROOTS, "Which Tarn Trust root has the longest validity period?", "Tarn Old", "Tarn New"),
        ("certificates", ROOTS, "How many certificates per signature hash algorithm?", "sha256: count 2", "distinct"),
        ("generic", NOTICES, "About how many minutes does it take until rowan loops?", "", "minutes"),
        ("datasheets", {"a.txt": LAMP}, "Wie hoch ist die Leistungsaufnahme der TR-40?", "6 W", "Not found"),
        ("datasheets", {"a.txt": LAMP}, "how heavy is the TR-40 lantern?", "1.7 kg", "6 W"),
        ("datasheets", {"a.txt": LAMP}, "Welche Versorgungsspannung braucht die TR-40?", "Not found", ""),
        ("invoices", TWICE, "the Birch invoices of June 2024, no wait, of May 2024", "BI-7", "BI-8"),
        ("contracts", PAIRS, "Auk made agreements with Tern, Wren and Gannet. Which ones?", "3 documents", ""),
        ("generic", STOLEN, "Which advisories are about crates that were after tokens of Medlar users?", "[a]", "[b]"),
        ("generic", STOLEN, 'advisories of that guy "Wexcombe"', "[c]", "[a]"),
        ("datasheets", REACHES, "which sheets are specified with a reach of 40 km (not the 80 ones)?", "[a]", "[b]"),
        ("datasheets", {"a.txt": PARTS}, "QX 4-7702: max output current?", "840 mA", ""),
        ("invoices", TWICE, "By how much do the Birch invoices of 2 May 2024 and 9 June 2024 differ?", "Difference: 30.00 GBP", ""),
    ],
)  # fmt: skip
def test_answers_hold_what_the_documents_say(
    tmp_path: Path, bucket: str, files: dict[str, str], question: str, said: str, unsaid: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    answer = asyncio.run(_answer(tmp_path / "home", [tmp_path / name for name in files], bucket, question))
    assert said in answer.text
    assert not unsaid or unsaid not in answer.text


def test_a_set_that_texts_chose_is_what_the_next_message_is_about(tmp_path: Path) -> None:
    for name, text in NOTICES.items():
        (tmp_path / name).write_text(text, "utf-8")
    files = [tmp_path / name for name in NOTICES]
    asked = (
        "Which advisories mention Medlar?",
        "and which of them are from 2024 or later?",
        "only from 2025",
    )
    answers = [
        asyncio.run(_answer(tmp_path / f"home{number}", files, "generic", *asked[: number + 1]))
        for number in range(len(asked))
    ]
    assert [sorted(answer.documents) for answer in answers] == [["a", "b", "c"], ["b", "c"], ["c"]]


async def _answer(home: Path, files: list[Path], bucket: str, *questions: str) -> Answer:
    services = Services(Settings(home=home))
    try:
        corpus = await services.corpus()
        options = IngestOptions(workers=0)
        await ingest(files, corpus.buckets[bucket], stores=corpus.stores, options=options)
        session, thread = Session(services, InMemorySaver()), None
        for question in questions:
            answer = await session.ask(question, thread_id=thread, context=Context(today="2025-01-05"))
            thread = answer.thread_id
        return answer
    finally:
        await services.close()
