"""Sets as strangers ask for them: lists that are denied, alternatives, what is not stated, ranks, sums with credit notes, follow-ups."""

import asyncio
import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import Settings
from cli.commands import main
from graph.session import Session

INVOICES = """file,vendor_name,customer_name,invoice_number,invoice_date,due_date,document_type,total_amount,currency
i1,Morrow Ltd,Falk AG,M-1,2023-03-10,2023-04-10,invoice,120,EUR
i2,Morrow Ltd,Falk AG,M-2,2024-05-20,,invoice,480,EUR
i3,Tessin SA,Falk AG,T-1,2024-01-15,2024-02-15,invoice,90,EUR
i4,Tessin SA,Pomona Inc,T-2,2025-07-01,,credit note,30,EUR
i5,Quarto GmbH,,Q-1,2023-11-30,2023-12-30,receipt,15,CHF
i6,Quarto GmbH,Pomona Inc,Q-2,2025-02-11,2025-03-11,invoice,700,CHF
i7,Vidal SL,,V-1,2024-09-09,,receipt,60,EUR
i8,Vidal SL,Falk AG,V-2,2025-12-24,2026-01-24,invoice,250,EUR
i9,,Pomona Inc,X-9,2026-01-05,,receipt,33,EUR
i10,Morrow Ltd,Pomona Inc,M-3,2024-06-02,,credit note,100,EUR
"""
LOANS = """file,tool,borrower,branch,lent_on,returned_on,deposit,weight,insured
s1,Drill,Ada Novak,Harbour,2024-02-03,2024-02-10,40 EUR,2 kg,yes
s2,Drill,Ben Oduya,Mill,2024-05-05,,41 EUR,2 kg,no
s3,Saw,Ada Novak,Mill,2023-08-08,2023-08-20,25 EUR,3 kg,yes
s4,Ladder,Cleo Marsh,Harbour,2025-01-15,,10 EUR,12 kg,no
s5,Saw,Cleo Marsh,Harbour,2025-03-03,2025-03-09,26 EUR,5 kg,yes
s6,Sander,,Mill,2023-12-01,2023-12-02,15 EUR,4 kg,yes
"""
BUCKET = """
name: loans
description: Slips of a tool library, who borrowed which tool, for which deposit, and when it came back.
nouns: [loan, loan slip, Ausleihe]
topics: [tool, borrowed, drill, saw, ladder]
main_date: lent_on
main_amount: deposit
title_fields: [tool, borrower]
entity_fields: [tool, borrower, branch]
fields:
  - {name: tool, type: keyword, kind: product, description: Which tool was lent., words: [tool]}
  - {name: borrower, type: keyword, kind: person, description: Who borrowed it., words: [borrower]}
  - {name: branch, type: keyword, description: Branch of the library., words: [branch]}
  - {name: lent_on, type: date, description: Day of the loan., words: [lent, borrowed]}
  - {name: returned_on, type: date, description: Day on which the tool came back., words: [returned, return date]}
  - {name: deposit, type: money, currency: EUR, description: Deposit that was paid., words: [deposit]}
  - {name: weight, type: quantity, unit: kg, description: Weight of the tool., words: [weight]}
  - {name: insured, type: boolean, description: Whether the tool was insured.}
"""


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Give services over ten invoices and six slips of a bucket that a user declared, each file with its annotations."""
    home, declared = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("declared")
    shipped = Path(__file__).parents[2] / "buckets" / "invoices.yaml"
    (declared / "invoices.yaml").write_text(shipped.read_text("utf-8"), "utf-8")
    (declared / "loans.yaml").write_text(BUCKET, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CITEGRAPH_HOME", str(home))
        patch.setenv("CITEGRAPH_BUCKETS", str(declared))
        for bucket, table in (("invoices", INVOICES), ("loans", LOANS)):
            folder = tmp_path_factory.mktemp(bucket)
            for row in csv.DictReader(table.splitlines()):
                lines = [f"{name.replace('_', ' ')}: {value}" for name, value in row.items() if value]
                (folder / row["file"]).with_suffix(".txt").write_text("\n".join(lines), "utf-8")
            annotated = folder.with_suffix(".csv")
            head, *rows = table.splitlines()
            annotated.write_text("\n".join([head, *(row.replace(",", ".txt,", 1) for row in rows)]), "utf-8")
            with pytest.raises(SystemExit) as ended:
                main(["ingest", str(folder), "-b", bucket, "--annotations", str(annotated), "-q"])
            assert not ended.value.code
        opened = Services(Settings())
        yield opened
        asyncio.run(opened.close())


async def asked(shelves: Services, bucket: str, messages: str) -> tuple[set[str], str]:
    """Return the documents and the text of the last answer of a thread, whose messages are parted by " >> "."""
    session, thread = Session(shelves, InMemorySaver()), None
    context = Context(today="2026-03-01", buckets=[bucket])
    for message in messages.split(" >> "):
        answer = await session.ask(message, thread_id=thread, context=context)
        thread = answer.thread_id
    return set(answer.documents), answer.text


@pytest.mark.parametrize(
    ("bucket", "messages", "documents"),
    [
        # What is left out reaches over a list, in six languages; what leaves nothing else is no denial.
        ("invoices", "Alle Rechnungen außer von Morrow und Tessin", "i5 i6 i7 i8"),
        ("invoices", "Facturas que no sean de Morrow ni de Tessin", "i5 i6 i7 i8"),
        ("invoices", "fatture che non sono di Quarto né di Vidal", "i1 i2 i3 i4 i10"),
        ("invoices", "invoices that are neither receipts nor credit notes, from 2024", "i2 i3"),
        ("invoices", "invoices by nobody else than Quarto", "i5 i6"),
        ("invoices", "invoices outside 2024 and 2025", "i1 i5 i9"),
        ("loans", "loans of neither drills nor saws", "s4 s6"),
        # Of whom nobody says who it is, it is not said to be her.
        ("loans", "sander loans that were not by Ada Novak", "s6"),
        ("invoices", "alle Rechnungen ausser denen von Vidal und Quarto", "i1 i2 i3 i4 i10"),
        ("invoices", "fatture che non provengono da Tessin né da Vidal", "i1 i2 i5 i6 i10"),
        ("loans", "non-insured loans", "s2 s4"),
        # "Or" between conditions on different fields.
        ("invoices", "facturen van Tessin of boven 400 CHF", "i3 i4 i6"),
        ("invoices", "Rechnungen von Tessin oder über 400 EUR", "i2 i3 i4"),
        ("invoices", "factures de Tessin ou dont le montant dépasse 400 EUR", "i2 i3 i4"),
        ("invoices", "invoices of Morrow from 2023 or Tessin from 2025", "i1 i4"),
        ("invoices", "Invoices that either were sent to Falk or fall in 2026", "i1 i2 i3 i8 i9"),
        ("invoices", "invoices from Vidal or costing over 450 EUR", "i2 i7 i8"),
        ("invoices", "Invoices from Tessin in 2024 or without a due date", "i3 i4"),
        ("loans", "loans of a saw or with a deposit over 30 EUR", "s1 s2 s3 s5"),
        # What is, or is not, stated.
        ("invoices", "factures sans date d'échéance", "i2 i4 i7 i9 i10"),
        ("invoices", "Rechnungen ohne Fälligkeitsdatum", "i2 i4 i7 i9 i10"),
        ("invoices", "facturas que no tienen fecha de vencimiento", "i2 i4 i7 i9 i10"),
        ("invoices", "invoices whose due date is missing and that are over 300 EUR", "i2"),
        ("invoices", "facturen zonder klant", "i5 i7"),
        ("invoices", "fatture senza fornitore", "i9"),
        ("invoices", "invoices with neither a customer nor a due date", "i7"),
        ("invoices", "invoices with no customer or no due date", "i2 i4 i5 i7 i9 i10"),
        ("invoices", "invoices that have both a customer and a due date", "i1 i3 i6 i8"),
        ("invoices", "invoices with a due date but no customer", "i5"),
        ("loans", "loans without a return date", "s2 s4"),
        ("loans", "Ausleihen ohne Rückgabedatum", "s2 s4"),
        # Bounds, also by verbs, behind the number and denied.
        ("invoices", "Rechnungen, die 90 Euro nicht übersteigen", "i3 i4 i7 i9"),
        ("invoices", "Factures qui ne dépassent pas 60 euros", "i4 i7 i9"),
        ("invoices", "fatture che superano i 200 euro", "i2 i8"),
        ("invoices", "facturen hoger dan 200 euro", "i2 i8"),
        ("invoices", "quale fattura supera 600 CHF?", "i6"),
        # Ranks of so many.
        ("invoices", "bottom 2 invoices by amount in EUR", "i4 i9"),
        ("invoices", "de 2 oudste facturen", "i1 i5"),
        ("invoices", "les 3 dernières factures", "i4 i8 i9"),
        ("invoices", "top 2 by amount in EUR", "i2 i8"),
        ("invoices", "List all invoices in EUR, top 2 by total", "i2 i8"),
        ("loans", "top 2 loans by weight", "s4 s5"),
        ("loans", "the 2 loans with the most weight", "s4 s5"),
        ("loans", "Which two loans had the biggest weight?", "s4 s5"),
        # What follows edits what stands.
        ("invoices", "Invoices from Morrow in 2024 >> drop the year", "i1 i2 i10"),
        ("invoices", "Invoices in EUR >> which ones are over 200? >> and between 50 and 95?", "i3 i7"),
        ("invoices", "All invoices in EUR >> sort them by amount >> only the first three", "i4 i7 i9"),
        ("invoices", "Factures de 2024 en EUR >> et celles de plus de 400 EUR ?", "i2"),
        ("invoices", "Invoices from Falk >> the largest two >> the cheaper one?", "i8"),
    ],
)  # fmt: skip
async def test_a_set(shelves: Services, bucket: str, messages: str, documents: str) -> None:
    assert (await asked(shelves, bucket, messages))[0] == set(documents.split())


@pytest.mark.parametrize(
    ("bucket", "messages", "said"),
    [
        ("invoices", "Combien avons-nous dépensé chez Morrow ?", "500.00 EUR"),
        ("invoices", "Summe aller Rechnungen von Tessin", "60.00 EUR"),
        ("invoices", "the total without tax, without shipping, of Tessin", "60.00 EUR"),
        ("invoices", "Invoices of Morrow >> without the credit notes >> what is the sum?", "600.00 EUR"),
        ("invoices", "total of the Swiss franc invoices", "715.00 CHF"),
        ("loans", "What was Ben Oduya's deposit for the drill?", "41.00 EUR"),
        ("loans", "When did Ben Oduya borrow the drill? >> and the deposit?", "41.00 EUR"),
    ],
)
async def test_a_number(shelves: Services, bucket: str, messages: str, said: str) -> None:
    assert said in (await asked(shelves, bucket, messages))[1]


async def test_what_no_value_is_known_of_is_said_not_to_be_searched(shelves: Services) -> None:
    context = Context(today="2026-03-01", buckets=["invoices"])
    answer = await Session(shelves, InMemorySaver()).ask("invoices without a due date", context=context)
    assert {"i2", "i4"} <= set(answer.documents)
    (note,) = [item.message for item in answer.notes if "due date" in item.message]
    assert "not searched" in note


@pytest.mark.parametrize(
    "question",
    [
        "Which invoices are unpaid?",
        "How many invoices are unpaid?",
        "What is the total of the unpaid invoices?",
    ],
)
async def test_a_whole_bucket_is_no_answer_to_a_condition(shelves: Services, question: str) -> None:
    context = Context(today="2026-03-01", buckets=["invoices"])
    answer = await Session(shelves, InMemorySaver()).ask(question, context=context)
    assert answer.status != "answered"
    assert "unpaid" in " ".join([answer.text, *(note.message for note in answer.notes)])
