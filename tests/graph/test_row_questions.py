"""Questions for what stands on the lines of a document: summed, listed, and never answered with the document's total."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citegraph.corpus.records.access import Principal
from citegraph.errors import BadInput
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import Settings
from cli.commands import main
from graph.session import Session
from tools.query_documents import QueryInput, query_documents

RECEIPTS = {
    "harlow-1": """# RECEIPT
Harlow Office Ltd
Receipt No: 88210
Date: 2023-04-11

2 Desk Lamp LX 7 $118.00
1 Desk Lamp LX 9 $80.50
4 Paper Trays $36.00
Sub-Total $234.50
Tax $18.76
Total $253.26
""",
    "harlow-2": """# RECEIPT
Harlow Office Ltd
Receipt No: 88377
Date: 2024-01-22

1 Desk Lamp LX 7 $61.00
3 Paper Trays $28.50
Sub-Total $89.50
Tax $7.16
Total $96.66
""",
    "bexley-1": """# INVOICE
Bexley Clocks Ltd
Invoice No: 4411
Date: 2023-02-02

3 Wall Clock Halden $90.00
Sub-Total $90.00
Tax $7.20
Total $97.20
""",
    "bexley-2": """# CREDIT NOTE
Bexley Clocks Ltd
Credit Note No: 4419
Date: 2023-02-20

1 Wall Clock Halden $30.00
Sub-Total $30.00
Tax $2.40
Total $32.40
""",
}


HIDDEN = """# RECEIPT
Harlow Office Ltd
Receipt No: 88512
Date: 2024-03-05

1 Strong Box $44.00
Sub-Total $44.00
Tax $3.52
Total $47.52
"""


@pytest.fixture(scope="module")
def receipts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Give services over two receipts, read without annotations."""
    home, folder = tmp_path_factory.mktemp("rows"), tmp_path_factory.mktemp("receipts")
    for name, text in RECEIPTS.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    (hidden := tmp_path_factory.mktemp("hidden")).joinpath("harlow-3.md").write_text(HIDDEN, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CITEGRAPH_HOME", str(home))
        for arguments in ([str(folder)], [str(hidden), "--label", "board"]):
            with pytest.raises(SystemExit) as ended:
                main(["ingest", *arguments, "--bucket", "invoices", "-q"])
            assert not ended.value.code
        services = Services(Settings())
        yield services
        asyncio.run(services.close())


@pytest.fixture
def till(receipts: Services) -> Session:
    return Session(receipts, InMemorySaver())


@pytest.mark.parametrize(
    ("question", "said", "documents"),
    [
        ("How much did we pay for the Desk Lamp LX 7?", "Sum of amount of line items: 179.00 USD", {"harlow-1", "harlow-2"}),
        ("What did we spend on paper trays in 2024?", "28.50 USD", {"harlow-2"}),
        ("Wie viel haben wir für Desk Lamp LX 9 bezahlt?", "80.50 USD", {"harlow-1"}),
        ("Wie viel kostet die Desk Lamp LX 9?", "80.50 USD", {"harlow-1"}),
        ("Most expensive price for a desk lamp?", "118.00 USD", {"harlow-1", "harlow-2"}),
    ],
)  # fmt: skip
async def test_lines_are_summed(till: Session, question: str, said: str, documents: set[str]) -> None:
    answer = await till.ask(question, context=Context(today="2024-06-01"))
    assert said in answer.text
    assert set(answer.documents) == documents
    assert not {claim.verdict for claim in answer.claims} & {"contradicted", "unsupported"}


async def test_rows_of_a_credit_note_are_not_added_without_a_word(till: Session) -> None:
    answer = await till.ask("How much did we pay for the Wall Clock Halden?")
    assert answer.text.startswith("Note: 1 of the documents are deducted; their rows are added as printed.")
    assert answer.status == "partial"


async def test_a_sum_and_its_documents_are_those_of_all_rows_though_few_are_listed(till: Session) -> None:
    few = Context(today="2024-06-01", list_limit=1)
    answer = await till.ask("How much did we pay for the Desk Lamp LX 7?", context=few)
    assert "179.00 USD" in answer.text
    assert "Showing 1 of 2 rows." in answer.text
    assert (set(answer.documents), answer.matched) == ({"harlow-1", "harlow-2"}, 2)
    assert not {claim.verdict for claim in answer.claims} & {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("question", "said", "documents"),
    [
        ("What did we buy at Harlow Office in 2024?", "Desk Lamp LX 7: quantity 1", {"harlow-2"}),
        ("Which items stand on the Harlow receipt of January 2024?", "Paper Trays: quantity 3", {"harlow-2"}),
        ("How many receipts have paper trays?", "is 2", {"harlow-1", "harlow-2"}),
        ("List the receipts with a Desk Lamp LX 9", "1 document", {"harlow-1"}),
    ],
)  # fmt: skip
async def test_rows_of_documents_and_documents_by_their_rows(
    till: Session, question: str, said: str, documents: set[str]
) -> None:
    staff = till.seen_by(Principal("staff", labels=frozenset({"staff"})))
    answer = await staff.ask(question, context=Context(today="2024-06-01"))
    assert said in answer.text
    assert set(answer.documents) == documents


async def test_lines_are_summed_whole_where_groups_were_asked_and_that_is_said(till: Session) -> None:
    answer = await till.ask("How much did we spend on paper trays per month?")
    assert answer.status == "partial"
    assert answer.text.splitlines()[0] == "Note: not used as a condition: month."
    assert "64.50 USD" in answer.text


async def test_a_number_that_no_line_holds_is_said(till: Session) -> None:
    answer = await till.ask("How much did we pay for the Desk Lamp LX 12?")
    assert answer.text.startswith("Note: not used as a condition: 12.")
    assert answer.status == "partial"


@pytest.mark.parametrize(
    "question", ["What is the total of receipt 88210?", "What did we spend at Harlow Office in 2023?"]
)
async def test_a_total_of_documents_is_none_of_lines(till: Session, question: str) -> None:
    assert "253.26 USD" in (await till.ask(question)).text


async def test_lines_of_hidden_documents_are_not_summed(till: Session) -> None:
    question = "How much did we pay for the strong box?"
    assert "44.00" in (await till.ask(question)).text
    staff = till.seen_by(Principal("staff", labels=frozenset({"staff"})))
    assert "44.00" not in (await staff.ask(question)).text


def asked_rows(services: Services, **given: Any) -> dict[str, Any]:
    return query_documents(services.open(), QueryInput(bucket="invoices", rows="line_items", **given))


def test_the_tool_sums_and_lists_rows(receipts: Services) -> None:
    trays = [{"field": "description", "operator": "contains", "value": "tray"}]
    summed = asked_rows(receipts, row_filters=trays, aggregate=[{"function": "sum", "field": "amount"}])
    assert summed["numbers"] == [{"value": "64.5", "unit": "USD", "rows": 2}]
    in_2024 = [{"field": "invoice_date", "operator": ">=", "value": "2024-01-01"}]
    listed = asked_rows(receipts, row_filters=trays, filters=in_2024)
    assert [row["doc_id"] for row in listed["rows"]] == ["harlow-2"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rows": "parts"}, "Kinds of rows: line_items"),
        ({"aggregate": [{"function": "median", "field": "amount"}]}, "Rows are computed by"),
        ({"row_filters": [{"field": "colour", "operator": "=", "value": "red"}]}, "colour"),
    ],
)
def test_the_tool_says_what_it_cannot_do_with_rows(
    receipts: Services, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        query_documents(receipts.open(), QueryInput(**{"bucket": "invoices", "rows": "line_items", **given}))


def test_annotated_documents_have_rows_too(services: Services) -> None:
    corpus = services.open()
    assert corpus.rows is not None
    lines = [row.values for row in corpus.rows.of("kestrelwick-kw-240117", "line_items")]
    assert [(line["quantity"], str(line["unit_price"]["amount"])) for line in lines[:2]] == [
        (4000, "0.085"),
        (1500, "0.62"),
    ]


async def test_what_was_bought_is_not_answered_from_another_partys_contract(services: Services) -> None:
    answer = await Session(services, InMemorySaver()).ask("what did Cobaltine sell us?")
    assert not any(name.startswith("kestrelwick") for name in answer.documents)
