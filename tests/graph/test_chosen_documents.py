"""A question that is asked of some documents: of the others the run knows nothing, whichever way it goes."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citegraph.corpus.records.access import Principal
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Services
from graph.session import Session

TWO = ["cobaltine-cbc-10231", "cobaltine-cbc-10577"]


async def answer_of(
    services: Services, question: str, *documents: str, who: Principal | None = None
) -> Answer:
    session = Session(services, InMemorySaver())
    asking = session if who is None else session.seen_by(who)
    return await asking.ask(question, context=Context(documents=list(documents)))


async def test_sums_lists_and_lookups_are_of_the_chosen_documents(services: Services) -> None:
    summed = await answer_of(services, "How much did Cobaltine invoice in 2024?", *TWO)
    assert "3,720.00 USD" in summed.text
    assert "Asked of 2 chosen documents alone." in [note.message for note in summed.notes]
    listed = await answer_of(services, "List the invoices", *TWO)
    assert listed.table is not None
    assert sorted(listed.table.doc_ids) == TWO
    looked_up = await answer_of(services, "What is the total of the Cobaltine invoice?", TWO[0])
    assert looked_up.status == "answered", "of one document nothing is asked back"
    assert {citation.doc_id for citation in looked_up.citations} == {TWO[0]}


@pytest.mark.parametrize("chosen", [TWO, ["no-such-document"]])
async def test_what_other_documents_say_is_not_said(services: Services, chosen: list[str]) -> None:
    answer = await answer_of(services, "What is the maximum VCEO of the NV2N517?", *chosen)
    assert {citation.doc_id for citation in answer.citations} <= set(chosen)
    assert "45 V" not in answer.text


async def test_choosing_a_document_shows_nobody_what_they_may_not_see(services: Services) -> None:
    ana = Principal("ana", frozenset({"contracts"}))
    answer = await answer_of(services, "How much did Cobaltine invoice in 2024?", *TWO, who=ana)
    assert (answer.documents, answer.citations) == ([], [])
    assert "3,720" not in answer.text
