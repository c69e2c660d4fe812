"""Questions for the rows of one table file: filtered, counted, summed and grouped over all rows, or said to be partial."""

import asyncio
import datetime
from collections.abc import Iterator

import openpyxl
import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citegraph.corpus.records.access import Principal
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import Settings
from cli.commands import main
from graph.session import Session

HARVEST = """Crop;Field;Yield per ha;Sacks;Cut on;State
Barley, early;Lower;1.034,50;30;2024-07-03;stored
Rye;Upper;612,25;10;2024-08-12;sold
Barley, late;Lower;707,10;20;2024-08-13;stored
Oats;Mill;n/a;15;2023-08-01;stored
Spelt;IN;320,00;70;2024-08-14;in silo
Total;;2.673,85;145;;
"""
CREW = [
    ("Ada Pell", "Barn", 5200, 2019), ("Ben Orr", "Barn", 4800, 2021), ("Cy Dunn", "Shop", 6100, 2020),
    ("Di Ekwe", "Shop", 5950.5, 2022), ("Ed Finch", "Office", 4500, 2022),
]  # fmt: skip
DUES = """Beiträge 2025;;;;
Mitglied;Status;Preis;Betrag;Bezahlt am
Orr;bezahlt;10,00;1.190,00;3. März 2025
Pell;offen;20,00;238,00;
Orr;bezahlt;30,00;59,50;12. April 2025
Dunn;bezahlt;5,00;1.487,50;15. April 2025
Summe;;;2.975,00;
"""
HIDDEN = "Guest,Nights\nOne,3\nTwo,4\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Give services over a CSV file, a workbook of two sheets and a file that few may see."""
    home, folder, few = (tmp_path_factory.mktemp(name) for name in ("home", "files", "few"))
    (folder / "harvest.csv").write_text(HARVEST, "utf-8")
    (folder / "dues.csv").write_text(DUES, "utf-8")
    (few / "guests.csv").write_text(HIDDEN, "utf-8")
    book = openpyxl.Workbook(write_only=True)
    crew = book.create_sheet("Crew")
    crew.append(["Name", "Place", "Monthly wage", "Since"])
    for name, place, wage, year in CREW:
        crew.append([name, place, wage, datetime.date(year, 3, 1)])
    costs = book.create_sheet("Costs")
    for row in (
        ["Item", "Rent", "Currency"],
        ["Barn", 900, "EUR"],
        ["Shop", 950, "USD"],
        ["Mill", 100, "EUR"],
    ):
        costs.append(row)
    book.save(folder / "farm-crew.xlsx")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CITEGRAPH_HOME", str(home))
        for arguments in ([str(folder)], [str(few), "--label", "board"]):
            with pytest.raises(SystemExit) as ended:
                main(["ingest", *arguments, "--bucket", "generic", "-q"])
            assert not ended.value.code
        services = Services(Settings())
        yield services
        asyncio.run(services.close())


@pytest.fixture
def desk(files: Services) -> Session:
    return Session(files, InMemorySaver())


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the average yield per ha in harvest.csv?", "Average Yield per ha in harvest.csv: 668.4625 [harvest]."),
        ("How many rows in harvest.csv have state stored?", "Number of rows in harvest.csv: 3 [harvest]."),
        ("sum of sacks where field is Lower in harvest.csv", "Sum of Sacks in harvest.csv: 50 [harvest]."),
        ("How many sacks are there in harvest.csv?", "Sum of Sacks in harvest.csv: 145 [harvest]."),
        ("How many rows of harvest.csv are not stored?", "Number of rows in harvest.csv: 2 [harvest]."),
        ("total sacks in harvest.csv except Lower", "Sum of Sacks in harvest.csv: 95 [harvest]."),
        ("sum of sacks for Lower or Mill in harvest.csv", "Sum of Sacks in harvest.csv: 65 [harvest]."),
        ("how many sacks of barley are in harvest.csv", "Sum of Sacks in harvest.csv: 50 [harvest]."),
        ("total sacks cut in August 2024 according to harvest.csv", "Sum of Sacks in harvest.csv: 100 [harvest]."),
        ("How many rows of harvest.csv have a yield over 700?", "Number of rows in harvest.csv: 2 [harvest]."),
        ("rows in harvest.csv with sacks between 15 and 30", "3 of 5 rows in harvest.csv"),
        ("sacks not between 15 and 30 in harvest.csv", "2 of 5 rows in harvest.csv where Sacks < 15 or Sacks > 30"),
        ("How many rows of harvest.csv are neither stored nor sold?", "Number of rows in harvest.csv: 1 [harvest]."),
        ("rows in harvest.csv other than stored and sold", "1 of 5 rows in harvest.csv where State not in stored, sold"),
        ("anything but barley in harvest.csv", "3 of 5 rows in harvest.csv where Crop not in barley"),
        ("median sacks in harvest.csv", "Median Sacks in harvest.csv: 20 [harvest]."),
        ("How many rows are in the field IN in harvest.csv?", "Number of rows in harvest.csv: 1 [harvest]."),
        ("total sacks in harvest.csv by field", "Lower: Sum of Sacks in harvest.csv 50 [harvest]."),
        ("Summe der Sacks pro Field in harvest.csv?", "Upper: Summe (Sacks) in harvest.csv 10 [harvest]."),
        ("how many different fields are in harvest.csv", "Number of different values of Field in harvest.csv: 4 [harvest]."),
        ("average monthly wage in the Shop?", "Average Monthly wage in farm-crew.xlsx, Crew: 6,025.25 [farm-crew]."),
        ("how many people started after 2020 in farm-crew.xlsx", "Number of rows in farm-crew.xlsx, Crew: 3 [farm-crew]."),
        ("Summe Betrag in dues.csv mit Status bezahlt", "Summe (Betrag) in dues.csv: 2,737.00 [dues]."),
        ("Wie viele Zeilen in dues.csv sind bezahlt?", "Anzahl der Zeilen in dues.csv: 3 [dues]."),
        ("average Betrag in dues.csv", "Average Betrag in dues.csv: 743.75 [dues]."),
        ("Wie viel hat Orr laut dues.csv bezahlt?", "Summe (Betrag) in dues.csv: 1,249.50 [dues]."),
        ("Summe Betrag in dues.csv bezahlt im April 2025", "Summe (Betrag) in dues.csv: 1,547.00 [dues]."),
        ("total preis in dues.csv", "Sum of Preis in dues.csv: 65.00 [dues]."),
        ("lowest monthly wage in farm-crew.xlsx", "Lowest Monthly wage in farm-crew.xlsx, Crew: 4,500.00 [farm-crew].\n- “Ed Finch |"),
    ],
)  # fmt: skip
async def test_a_number_is_computed_over_the_rows_of_the_file(
    desk: Session, question: str, said: str
) -> None:
    answer = await desk.ask(question, context=Context(today="2024-09-20"))
    assert said in answer.text
    assert answer.citations
    assert not {claim.verdict for claim in answer.claims} & {"contradicted", "unsupported"}


async def test_groups_are_ranked_by_what_is_asked(desk: Session) -> None:
    answer = await desk.ask("Which place has the highest total wage in farm-crew.xlsx?")
    assert answer.text.startswith("Shop: Sum of Monthly wage in farm-crew.xlsx, Crew 12,050.50")


async def test_amounts_of_two_currencies_are_told_apart(desk: Session) -> None:
    answer = await desk.ask("total rent in farm-crew.xlsx")
    assert "1,000 EUR" in answer.text
    assert "950 USD" in answer.text


async def test_a_number_that_is_not_named_is_not_guessed(desk: Session) -> None:
    both = await desk.ask("What is the total in harvest.csv?")
    assert "Sum of Yield per ha" in both.text
    assert "Sum of Sacks in harvest.csv: 145" in both.text
    ranked = await desk.ask("Which field gave the most according to harvest.csv?")
    assert "Sum of" not in ranked.text


async def test_a_word_that_is_no_condition_is_said_first(desk: Session) -> None:
    answer = await desk.ask("sum of sacks in harvest.csv for the purple ones")
    assert answer.text.startswith("Note: not used as a condition: purple.")
    assert answer.status == "partial"


async def test_what_was_taken_and_left_out_is_noted(desk: Session) -> None:
    answer = await desk.ask("What is the average yield per ha in harvest.csv where state is stored?")
    said = " ".join(item.message for item in answer.notes)
    assert "3 of the 5 rows of harvest.csv were taken where State = stored." in said
    assert "not counted as rows: 1 sum up others (Total |" in said
    assert "1 of the 3 rows have no number in Yield per ha." in said


async def test_cited_are_the_rows(desk: Session) -> None:
    answer = await desk.ask("sum of sacks where field is Lower in harvest.csv")
    assert all("Barley" in citation.quote for citation in answer.citations)


async def test_a_question_for_documents_stays_one(desk: Session) -> None:
    assert "rows" not in (await desk.ask("How many documents are there?")).text


async def test_rows_of_a_hidden_file_are_not_counted(desk: Session) -> None:
    question = "How many nights are in guests.csv?"
    assert "Sum of Nights in guests.csv: 7" in (await desk.ask(question)).text
    staff = desk.seen_by(Principal("staff", labels=frozenset({"staff"})))
    assert "7" not in (await staff.ask(question)).text


async def test_of_many_tables_none_is_chosen_without_its_name(
    desk: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "average monthly wage in the Shop?"
    assert "6,025.25" in (await desk.ask(question)).text
    monkeypatch.setattr("citegraph.plan.tables_asked.MOST_TABLES", 0)
    assert "6,025.25" not in (await desk.ask(question)).text
    assert "6,025.25" in (await desk.ask("average monthly wage in the Shop in farm-crew.xlsx?")).text
