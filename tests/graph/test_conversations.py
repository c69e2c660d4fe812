"""Conversations without a model: a message edits what the turn before left, and every other condition stays."""

import pytest

from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from graph.session import Session

KESTRELWICK = {
    "kestrelwick-kw-240117",
    "kestrelwick-cn-240031",
    "kestrelwick-kw-240298",
    "kestrelwick-kw-241106",
}
"""Invoices of 5,214.00, -309.60, 2,474.40 and 2,292.00 EUR, all of 2024."""
TODAY = Context(today="2025-03-01")


async def talk(session: Session, *messages: str) -> list[Answer]:
    """Return the answers of one thread, a reply to a question back among them."""
    answers: list[Answer] = []
    for message in messages:
        thread = answers[-1].thread_id if answers else None
        answers.append(await session.ask(message, thread_id=thread, context=TODAY))
    return answers


@pytest.mark.parametrize(
    ("messages", "documents"),
    [
        (("invoices from Kestrelwick in 2024", "only over 2300 EUR"), {"kestrelwick-kw-240117", "kestrelwick-kw-240298"}),
        (("invoices from Kestrelwick", "by amount, please", "only the two largest"), {"kestrelwick-kw-240117", "kestrelwick-kw-240298"}),
        (("invoices over 5000 EUR", "only 2024", "without Halbrecht"), {"kestrelwick-kw-240117"}),
        (("How many invoices did Oudenveld send in 2024?", "which ones are over 1200 EUR?"), {"oudenveld-of-24-02"}),
        (("Which receipts are from Warung Larut?", "without 0322"), {"larut-receipt-0314", "larut-receipt-0401"}),
        (("invoices in MYR", "nur die vom März 2024", "und im Mai?"), {"sungai-teduh-st-5680"}),
        (("Quelles factures de Halbrecht en 2024 ?", "lesquelles dépassent 6000 EUR ?"), {"halbrecht-re-2024-0911"}),
        (("Facturas de Oudenveld en 2024", "¿y de Brisemarne?"), {"brisemarne-f-2024-087"}),
        (("invoices from Mirabund", "also those of Brisemarne", "only 2024"), {"brisemarne-f-2024-087"}),
        (("invoices from Oudenveld over 1200 EUR", "remove the amount condition"), {"oudenveld-of-24-01", "oudenveld-of-24-02"}),
        (("datasheets by Norrvolt", "how many?", "which of them are newer than 2022?"), {"nvr7833", "nv2n518"}),
        (("invoices from Kestrelwick in March 2024", "drop the credit notes"), set()),
        (("invoices from Halbrecht and Brisemarne", "drop those over 6000 EUR"), {"halbrecht-re-2024-0458", "brisemarne-f-2024-087"}),
        (("contracts with Kestrelwick", "only those of 2023"), {"kestrelwick-supply-2023"}),
        (("contracts with Kestrelwick", "Sorry, I meant Norrvolt. Which ones are there?"), {"norrvolt-nda-2023"}),
        (("invoices from Kestrelwick", "without the ones that are merely marked as credit notes"), KESTRELWICK - {"kestrelwick-cn-240031"}),
        (("contracts with Kestrelwick", "only those of 2023", "and the other one?"), {"kestrelwick-supply-2024"}),
        (("certificates of Ostrel", "RSA keys only please"), {"ostrel-issuing-ca-3", "ostrel-root-ca-g1"}),
        (("certificates of Ostrel", "rsa only", "the oldest one"), {"ostrel-root-ca-g1"}),
        (("certificates of Ostrel", "drop the elliptic curve ones"), {"ostrel-issuing-ca-3", "ostrel-root-ca-g1"}),
        (("invoices from Kestrelwick in 2024", "Vale, gracias. ¿Y de Brisemarne?"), {"brisemarne-f-2024-087"}),
        (("certificates of Ostrel", "Und welche davon sind mit elliptischen Kurven, also nicht RSA?"), {"ostrel-root-ca-e2"}),
        (("certificates of Ostrel", "narrow that to the ones with an EC key"), {"ostrel-root-ca-e2"}),
        (("invoices from Halbrecht in 2024", "das gleiche für Oudenveld"), {"oudenveld-of-24-01", "oudenveld-of-24-02"}),
        (("invoices from Halbrecht in 2024", "la même chose pour Brisemarne"), {"brisemarne-f-2024-087"}),
        (("total of Halbrecht invoices by month in 2024", "and the same for Kestrelwick", "only those over 2400"), {"kestrelwick-kw-240117", "kestrelwick-kw-240298"}),
        (("invoices from Cobaltine in 2024", "the second one"), {"cobaltine-cbc-10577"}),
        (("invoices from Cobaltine in 2024", "the second one", "and the last one?"), {"cobaltine-cbc-11260"}),
        (
            ("contracts with Kestrelwick", "only those of 2023", "No, the other way round: everything but 2023"),
            {"kestrelwick-supply-2024"},
        ),
    ],
)  # fmt: skip
async def test_a_set_is_edited(session: Session, messages: tuple[str, ...], documents: set[str]) -> None:
    assert set((await talk(session, *messages))[-1].documents) == documents


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (("invoices from Kestrelwick in 2024", "sum?"), "Sum of total amount: 9,670.80 EUR"),
        (("invoices from Kestrelwick", "the two largest", "what do they add up to?"), "7,688.40 EUR"),
        (("invoices from Cobaltine Cloud", "and what do the ones from 2024 add up to?"), "8,010.00 USD"),
        (("What did we spend with Cobaltine Cloud in 2024?", "and in 2025?", "and both years together?"), "10,290.00 USD"),
        (("How many invoices did Cobaltine Cloud send in 2024?", "und 2025?", "und zusammen?"), " 5 "),
        (("Rechnungen von Sungai Teduh", "nur die über 3000 MYR", "und was ist die Summe?"), "7,791.00 MYR"),
        (("total of Halbrecht invoices in 2024", "and the tax?", "average?"), "Average total amount: 6,211.80 EUR"),
        (("What did we spend with Cobaltine Cloud in 2024?", "and in 2025?", "by how much did it fall, in USD?"), "Difference: 5,730.00 USD"),
        (("invoices from Cobaltine in 2024", "total per vendor"), "10 groups: 21 of 21 documents were included."),
        (("total of Halbrecht invoices in 2024", "and the tax?"), "Sum of tax amount: 1,983.60 EUR"),
        (("What did we spend with Cobaltine Cloud in 2024?", "and in 2025?"), "2,280.00 USD"),
        (("What did we spend with Cobaltine Cloud in 2024?", "and the year after?"), "2,280.00 USD"),
        (("Qual è il totale delle fatture di Cobaltine Cloud nel 2025?", "e l'anno prima?"), "8,010.00 USD"),
        (("What did we spend with Cobaltine Cloud in 2024?", "and Oudenveld?"), "2,541.00 EUR"),
        (("What did we spend with Cobaltine Cloud in 2024?", "is it higher than 8000 USD?"), "Yes: 8,010.00 USD is more than"),
        (("What did we spend with Cobaltine Cloud in 2024?", "is it higher than in 2025?"), "Difference: 5,730.00 USD"),
        (("What is the total of receipt 0314?", "and number 0322?"), "512.00 MYR"),
        (("What is the total of receipt 0314?", "and its date?", "who is the customer?"), "Marrowfen Penang"),
        (("What is the total of the Kestrelwick invoice?", "2", "and its due date?", "who is the vendor?"), "Kestrelwick Components Ltd"),
        (("What is the notice period of the Oudenveld contract?", "and its governing law?", "and for Perrisoke?"), "New York"),
        (("What did we spend with Brisemarne in 2023?", "and in 2024?"), "1,656.00 EUR"),
        (("largest invoice of 2024 in EUR", "when is it due?"), "2024-11-20"),
        (("largest invoice of 2024 in EUR", "when is it due?", "and the smallest one?"), "-309.60 EUR"),
        (("invoices from Brisemarne", "thanks", "what is its total?"), "1,656.00 EUR"),
        (("When is CBC-10904 due?", "and how much is it?"), "Total amount: 2,145.00 USD"),
        (("contracts with Mirabund", "how often may the vendor audit it?"), "once"),
        (("contracts with Oudenveld", "Und wie viele Stunden in der Woche wird dort gereinigt?"), "Not found in the document: FACILITY"),
        (("invoices from Kestrelwick", "only those of 2024", "how many are left?"), "is 4 "),
        (("What did we spend with Cobaltine Cloud in 2024?", "and in 2025?", "both together, only those over 2000 USD?"), "6,570.00 USD"),
        (("total of Halbrecht invoices by month in 2024", "and the same for Oudenveld"), "January 2024: sum total amount 1,185.80 EUR"),
        (("total of Halbrecht invoices by month in 2024", "and the tax?"), "May 2024: sum tax amount 934.80 EUR"),
        (("What did we spend with Cobaltine Cloud in 2024?", "What about Sungai Teduh?"), "Sum of total amount: 10,759.00 MYR"),
        (("What did we spend with Cobaltine Cloud in 2024?", "versus Oudenveld?"), "Oudenveld Facility B.V.: sum of total amount: 2,541.00 EUR"),
        (("total of Halbrecht invoices by month in 2024", "verglichen mit Oudenveld?"), "Difference: 9,882.60 EUR"),
        (("Wat is het totaal van Oudenveld in 2024?", "vergeleken met Halbrecht?"), "Difference: 9,882.60 EUR"),
        (("Compare the totals of Cobaltine and Halbrecht in 2024", "only those over 2000"), "Cobaltine Cloud Inc.: sum total amount 4,290.00 USD"),
        (("What did we spend with Cobaltine Cloud in 2024?", "and in 2025?", "both together?", "and in 2024 alone?"), "8,010.00 USD"),
        (("What did we spend with Cobaltine Cloud in 2024?", "how does that compare with Perrisoke?"), "10,584.00 USD"),
        (("invoices from Cobaltine in 2024", "Wann ist die zweite fällig?"), "Due date: 2024-05-01"),
        (("invoices from Sungai Teduh", "VAT of the second invoice?", "and of the third one?"), "Tax amount: 168.00 MYR"),
        (("contracts with Kestrelwick", "what is the notice period of the first one?"), "Notice period: 90 days"),
        (("When is CBC-10904 due?", "und CBC-11260?", "Wie hoch ist der Betrag?"), "2,145.00 USD [cobaltine-cbc-11260]"),
        (("invoices from Oudenveld", "per month?"), "February 2024: sum total amount 1,355.20 EUR"),
    ],
)  # fmt: skip
async def test_a_number_or_fact_is_of_what_is_in_view(
    session: Session, messages: tuple[str, ...], said: str
) -> None:
    assert said in (await talk(session, *messages))[-1].text


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        (("What is the total of Driftmoor's invoice?", "VAT of the second one?"), "There is no “second one” among those in view (1)."),
        (("invoices from Oudenveld", "when is the third one due?"), "There is no “third one” among those in view (2)."),
        (("invoices from Halbrecht", "only those over 6000"), "Now applied: total amount > 6000"),
    ],
)  # fmt: skip
async def test_what_a_message_changed_is_told(session: Session, messages: tuple[str, ...], told: str) -> None:
    assert told in [note.message for note in (await talk(session, *messages))[-1].notes]


async def test_a_chat_of_four_turns_keeps_what_was_not_changed(session: Session) -> None:
    last = (
        await talk(
            session, "invoices from Kestrelwick", "only 2024", "over 2300 EUR", "and how many are that?"
        )
    )[-1]
    assert [(item.field, item.operator) for item in last.filters] == [
        ("vendor_name", "in"),
        ("invoice_date", "between"),
        ("total_amount", ">"),
    ]
    assert "is 2 " in last.text


@pytest.mark.parametrize(
    ("before", "asked", "documents"),
    [
        ("invoices over 7000 EUR", "Which receipts did we get in June 2024?", {"larut-receipt-0314", "larut-receipt-0322"}),
        ("invoices from Oudenveld", "and which contracts do we have with Tannick?", {"tannick-nda-2024"}),
    ],
)  # fmt: skip
async def test_a_question_that_stands_alone_starts_anew(
    session: Session, before: str, asked: str, documents: set[str]
) -> None:
    assert set((await talk(session, before, asked))[-1].documents) == documents


@pytest.mark.parametrize(
    ("question", "status", "said"),
    [
        ("What is the difference between the totals of the two Oudenveld invoices?", "answered", "Difference: 169.40 EUR"),
        ("What is the difference between the totals of the two Kestrelwick invoices?", "partial", "4 of 4"),
    ],
)  # fmt: skip
async def test_the_difference_of_two_documents_is_partial_where_more_match(
    session: Session, question: str, status: str, said: str
) -> None:
    (answer,) = await talk(session, question)
    assert (answer.status, said in answer.text) == (status, True), answer.text


async def test_as_many_documents_as_a_question_means_are_all_answered_from(session: Session) -> None:
    (answer,) = await talk(session, "When were the two Oudenveld invoices due?")
    assert answer.clarification is None
    assert {citation.doc_id for citation in answer.citations} == {"oudenveld-of-24-01", "oudenveld-of-24-02"}


async def test_a_message_of_two_steps_asks_of_what_it_narrows_to(session: Session) -> None:
    _, answer = await talk(
        session,
        "travel policies",
        "Take the newer one. What is the hotel limit per night there? My boss asks.",
    )
    assert {citation.doc_id for citation in answer.citations} == {"travel-policy-2024"}


async def test_a_question_that_points_at_the_documents_in_view_is_read_in_them(session: Session) -> None:
    _, answer = await talk(
        session, "travel policies", "In which one do hotels abroad need an approval, and whose is that?"
    )
    assert {citation.doc_id for citation in answer.citations} <= {"travel-policy-2023", "travel-policy-2024"}
    assert answer.citations


@pytest.mark.parametrize(
    ("messages", "status", "cited"),
    [
        (("What is the governing law of the Tannick NDA?", "How long do the obligations last?"), "answered", {"tannick-nda-2024"}),
        (("What is the input voltage of the NVR7833?", "What is the thermal resistance?"), "answered", {"nvr7833"}),
        (("What is the governing law of the Cobaltine contract?", "And about renewal?"), "answered", {"cobaltine-cloud-services"}),
        (
            ("What is the governing law of the 2023 Kestrelwick contract?", "What is the governing law of the Cobaltine contract?", "And the notice period of both?"),
            "answered",
            {"kestrelwick-supply-2023", "cobaltine-cloud-services"},
        ),
    ],
)  # fmt: skip
async def test_a_question_that_names_no_document_is_about_those_in_view(
    session: Session, messages: tuple[str, ...], status: str, cited: set[str]
) -> None:
    answer = (await talk(session, *messages))[-1]
    assert (answer.status, {citation.doc_id for citation in answer.citations}) == (status, cited), answer.text


@pytest.mark.parametrize(
    ("messages", "question"),
    [
        (("What is the governing law of the Tannick NDA?", "and of the Zarvane contract?"), "What is the governing law of the Zarvane contract?"),
        (("What is the notice period of the Cobaltine contract?", "and for Oudenveld?"), "What is the notice period of the Oudenveld contract?"),
        (("Which reports mention 480 pieces?", "and with 120 pieces?"), "Which reports mention 120 pieces?"),
    ],
)  # fmt: skip
async def test_what_no_condition_holds_takes_its_place_in_the_question(
    session: Session, messages: tuple[str, ...], question: str
) -> None:
    assert (await talk(session, *messages))[-1].question == question


async def test_an_answer_that_a_message_did_not_change_is_partial(session: Session) -> None:
    _, answer = await talk(session, "invoices from Kestrelwick", "and before that?")
    assert (answer.status, set(answer.documents)) == ("partial", KESTRELWICK)
    assert any("was not understood" in note.message for note in answer.notes)
