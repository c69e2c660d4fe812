"""A run that asks back: the reply in every form, a restart in between, and the guards of a thread."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command

from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import load_settings
from graph.session import NothingPending, Session, UnknownThread, WrongInterrupt
from graph.session import open_session as fresh_session
from tests.graph.conftest import OpenSession

QUESTION = "What is the total of the Cobaltine invoice?"
"""Five invoices of Cobaltine fit equally well."""


async def paused(session: Session) -> tuple[Answer, str]:
    """Return the answer that asks back and the thread that waits."""
    answer = await session.ask(QUESTION)
    assert answer.thread_id
    return answer, answer.thread_id


def option_for(answer: Answer, doc_id: str) -> str:
    """Return the id of the option that means a document."""
    assert answer.clarification
    (option,) = [item.id for item in answer.clarification.options if doc_id in item.label]
    return option


async def test_the_question_back_carries_options_with_counts(session: Session) -> None:
    answer, thread = await paused(session)
    assert (answer.status, answer.question) == ("needs_clarification", QUESTION)
    clarification = answer.clarification
    assert clarification
    assert clarification.type == "ambiguous"
    assert clarification.interrupt_id
    assert clarification.tried == ["vendor name = Cobaltine Cloud Inc."]
    assert [item.count for item in clarification.options] == [1] * 5
    assert len({item.id for item in clarification.options}) == 5
    assert await session.pending(thread) == clarification


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("How many contracts are governed by the law of Malaysia?", True),
        ("Which law governs the lease agreement?", True),
        ("Wie viele Verträge haben wir?", True),
        ("only the invoices from July 2024", False),
        ("the largest invoice", False),
        ("all of them", False),
        ("2", False),
        ("the one from October, please", False),
        ("narrow that to the ones that are dated after May", False),
        ("which of them is the largest?", False),
    ],
)
async def test_a_question_of_its_own_is_no_reply(session: Session, text: str, new: bool) -> None:
    _, thread = await paused(session)
    answer = await session.ask(text, thread_id=thread)
    assert (answer.question == text) is new


@pytest.mark.parametrize(
    "form",
    [
        lambda option, label: option,
        lambda option, label: label,
        lambda option, label: {"option": option},
        lambda option, label: {"id": option},
        lambda option, label: {"reply": "CBC-10904"},
        lambda option, label: [{"type": "response", "args": option}],
        lambda option, label: "the one dated July 2024",
        lambda option, label: "CBC-10904",
        lambda option, label: "  cbc-10904, please ",
    ],
    ids=["option", "label", "object", "object id", "object text", "list", "date", "identifier", "untidy"],
)
async def test_a_reply_in_any_form_resumes_the_run(form: Any, session: Session) -> None:
    answer, thread = await paused(session)
    assert answer.clarification
    option = option_for(answer, "cobaltine-cbc-10904")
    label = next(item.label for item in answer.clarification.options if item.id == option)
    done = await session.reply(thread, form(option, label))
    assert (done.status, done.question, done.thread_id) == ("answered", QUESTION, thread)
    assert {citation.doc_id for citation in done.citations} == {"cobaltine-cbc-10904"}
    assert "2145" in done.text.replace(",", "")
    assert await session.pending(thread) is None


@pytest.mark.parametrize("reply", ["no", "", None, {}, []])
async def test_a_declined_clarification_still_ends_in_an_answer(reply: Any, session: Session) -> None:
    _, thread = await paused(session)
    done = await session.reply(thread, reply)
    assert done.status in {"answered", "partial", "unanswerable"}
    assert [note.kind for note in done.notes if note.step == "clarify"] == ["declined"]


SAYS_NOTHING = ("hm?", "qwrt plogh", "the weather is nice today", "ich weiß nicht", "17")
"""Replies that name no candidate and no condition."""


@pytest.mark.parametrize("reply", SAYS_NOTHING)
async def test_a_reply_that_says_nothing_is_asked_for_once_more_and_then_left_open(
    reply: str, session: Session
) -> None:
    first, thread = await paused(session)
    again = await session.reply(thread, reply)
    assert first.clarification
    assert again.clarification
    assert again.status == "needs_clarification"
    assert again.clarification.options == first.clarification.options
    assert again.clarification.tried == first.clarification.tried
    assert again.clarification.interrupt_id != first.clarification.interrupt_id
    assert again.clarification.question == f"I did not understand “{reply}”. {first.clarification.question}"
    done = await session.reply(thread, reply)
    assert (done.status, done.citations, done.documents) == ("unanswerable", [], [])
    assert done.text.startswith(f"I did not understand “{reply}”. The question stays open.")
    assert done.text.count("\n- ") == len(first.clarification.options)
    assert await session.pending(thread) is None


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("2", 1),
        ("the one dated July 2024", 1),
        ("CBC-10904", 1),
        ("all of them", 5),
        ("1 and 3", 2),
    ],
)
async def test_a_reply_after_one_that_said_nothing_counts_across_restarts(
    reply: str, found: int, open_session: OpenSession
) -> None:
    async with open_session() as before:
        first, thread = await paused(before)
    async with open_session() as after:
        again = await after.reply(thread, "hm?")
    async with open_session() as last:
        assert await last.pending(thread) == again.clarification
        done = await last.reply(thread, reply)
        assert (done.status, done.question) == ("answered", first.question)
        assert len({citation.doc_id for citation in done.citations}) == found


async def test_a_question_of_its_own_is_none_to_misunderstand(session: Session) -> None:
    _, thread = await paused(session)
    await session.ask("hm?", thread_id=thread)
    question = "Which law governs the lease agreement?"
    answer = await session.ask(question, thread_id=thread)
    assert answer.question == question


async def test_within_a_cap_of_one_question_a_reply_that_says_nothing_ends_the_run(session: Session) -> None:
    once = Context(max_clarifications=1)
    answer = await session.ask(QUESTION, context=once)
    assert answer.thread_id
    done = await session.reply(answer.thread_id, "hm?", context=once)
    assert (done.status, done.documents) == ("unanswerable", [])


async def test_nothing_found_is_asked_about_once_more_too(session: Session) -> None:
    answer = await session.ask("List the invoices from Cobaltine Cloud dated 2019")
    assert answer.clarification
    assert answer.thread_id
    again = await session.reply(answer.thread_id, "the weather is nice today")
    assert again.clarification
    assert again.clarification.options == answer.clarification.options
    done = await session.reply(answer.thread_id, "any year")
    assert (done.status, len(done.documents)) == ("answered", 5)


@pytest.mark.parametrize(("reply", "kinds"), [("hm?", ["ambiguous"]), ("no", [])])
async def test_a_chat_message_that_says_nothing_is_asked_about_in_the_served_graph(
    reply: str, kinds: list[str], session: Session
) -> None:
    """What a chat client sends is a message, not a resume."""
    asked = await session.ask(QUESTION)
    assert asked.thread_id
    config: Any = {"configurable": {"thread_id": asked.thread_id}}
    done = await session.graph.ainvoke(
        {"messages": [HumanMessage(reply, id="r1")]}, config, context=Context()
    )
    waiting = [await session.pending(asked.thread_id)] if done.get("__interrupt__") else []
    assert [item.type for item in waiting if item] == kinds
    said = [(message.type, message.text) for message in done["messages"]]
    assert [kind for kind, _ in said] == ["human", "ai", "human", "ai"]
    assert (reply in said[-1][1]) is bool(kinds)


async def test_a_reply_in_the_served_graph_has_its_own_time(session: Session) -> None:
    """Studio resumes without saying until when: what was left when the person was asked may be long gone."""
    asked = await session.ask(QUESTION)
    config: Any = {"configurable": {"thread_id": asked.thread_id}}
    before = (await session.graph.aget_state(config)).values["deadline"]
    done = await session.graph.ainvoke(Command(resume="CBC-10904"), config, context=Context())
    assert done["answer"]["status"] == "answered"
    assert (await session.graph.aget_state(config)).values["deadline"] > before


async def test_no_clarification_is_asked_when_none_is_allowed(session: Session) -> None:
    answer = await session.ask(QUESTION, context=Context(max_clarifications=0))
    assert answer.status in {"answered", "partial", "unanswerable"}
    assert answer.clarification is None


async def test_nothing_found_asks_with_counts_under_each_relaxation(session: Session) -> None:
    answer = await session.ask("List the invoices from Cobaltine Cloud dated 2019")
    assert answer.status == "needs_clarification"
    assert answer.clarification
    assert answer.clarification.type == "no_results"
    assert 5 in [option.count for option in answer.clarification.options]
    assert answer.thread_id
    option = next(option.id for option in answer.clarification.options if option.count == 5)
    done = await session.reply(answer.thread_id, option)
    assert (done.status, len(done.documents)) == ("answered", 5)


@pytest.mark.parametrize("question", ["List the invoices of 2023", "What is the gain of the NV2N517?"])
async def test_without_documents_it_says_what_to_do(question: str, tmp_path: Path) -> None:
    settings = load_settings().model_copy(update={"home": tmp_path, "qdrant_url": None, "database_url": None})
    async with fresh_session(Services(settings=settings)) as session:
        answer = await session.ask(question)
    assert answer.status == "unanswerable"
    (note,) = [item for item in answer.notes if item.kind == "empty"]
    assert "citegraph ingest" in note.message


async def test_an_overload_asks_to_narrow_and_export_takes_all(session: Session) -> None:
    answer = await session.ask("List all invoices", context=Context(overload=5))
    assert answer.clarification
    assert answer.clarification.type == "overload"
    total = {option.id: option.count for option in answer.clarification.options}["all"]
    assert answer.thread_id
    done = await session.reply(answer.thread_id, "all", context=Context(overload=5))
    assert (done.status, done.matched, len(done.documents)) == ("answered", total, total)


async def test_a_restart_between_question_and_reply(open_session: OpenSession) -> None:
    async with open_session() as before:
        answer, thread = await paused(before)
    async with open_session() as after:
        assert await after.pending(thread) == answer.clarification
        done = await after.reply(thread, option_for(answer, "cobaltine-cbc-10904"))
        assert done.status == "answered"
        assert {citation.doc_id for citation in done.citations} == {"cobaltine-cbc-10904"}


async def test_usage_counts_both_parts_of_a_paused_run(session: Session) -> None:
    answer, thread = await paused(session)
    done = await session.reply(thread, "CBC-10904")
    assert done.usage.tool_calls > answer.usage.tool_calls == 1
    assert done.usage.rounds == answer.usage.rounds + 1


# --- guards of a thread (requirement R5) ---------------------------------------------------------


async def test_an_unknown_thread_is_refused(session: Session) -> None:
    with pytest.raises(UnknownThread, match="no-such-thread"):
        await session.reply("no-such-thread", "1")
    assert await session.pending("no-such-thread") is None


async def test_a_second_reply_is_refused(session: Session) -> None:
    answer, thread = await paused(session)
    await session.reply(thread, option_for(answer, "cobaltine-cbc-10904"))
    with pytest.raises(NothingPending, match=thread):
        await session.reply(thread, "1")


async def test_a_reply_to_another_clarification_is_refused_and_leaves_this_one_open(session: Session) -> None:
    answer, thread = await paused(session)
    with pytest.raises(WrongInterrupt, match="0123"):
        await session.reply(thread, "1", interrupt_id="0123")
    assert await session.pending(thread) == answer.clarification
    assert answer.clarification
    done = await session.reply(thread, "CBC-10904", interrupt_id=answer.clarification.interrupt_id)
    assert done.status == "answered"


async def test_a_plain_message_on_a_paused_thread_is_the_reply(session: Session) -> None:
    _, thread = await paused(session)
    done = await session.ask("CBC-10904", thread_id=thread)
    assert (done.question, done.status) == (QUESTION, "answered")
    assert {citation.doc_id for citation in done.citations} == {"cobaltine-cbc-10904"}


async def test_a_message_marked_as_new_starts_anew(session: Session) -> None:
    _, thread = await paused(session)
    question = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
    done = await session.ask(question, thread_id=thread, new=True)
    assert (done.question, done.status, done.thread_id) == (question, "answered", thread)
    assert {citation.doc_id for citation in done.citations} == {"nv2n517"}
    assert await session.pending(thread) is None


async def test_a_chat_message_on_a_waiting_thread_is_the_reply_in_the_served_graph(session: Session) -> None:
    """A chat client sends a message where it should resume; the graph itself takes it as the reply."""
    asked = await session.ask(QUESTION)
    config: Any = {"configurable": {"thread_id": asked.thread_id}}
    update = {"messages": [HumanMessage("2", id="reply-1")]}
    done = await session.graph.ainvoke(update, config, context=Context())
    assert done["answer"]["status"] == "answered"
    assert done["answer"]["question"] == asked.question
    said = [(message.type, message.text.splitlines()[0]) for message in done["messages"]]
    assert [kind for kind, _ in said] == ["human", "ai", "human", "ai"]
    assert said[0][1] == QUESTION
    assert said[1][1] == asked.text
    assert "](/cited/" in done["messages"][-1].text, "citations are links"


async def test_a_chat_message_marked_as_new_is_a_question(session: Session) -> None:
    asked = await session.ask(QUESTION)
    config: Any = {"configurable": {"thread_id": asked.thread_id}}
    update = {"messages": [HumanMessage("what is 2+3?", id="new-1")], "new": True}
    done = await session.graph.ainvoke(update, config, context=Context())
    assert done["answer"]["text"].startswith("2+3 = 5")


async def test_a_chat_shows_the_question_back_before_the_pause_and_the_reply_after_it(
    session: Session,
) -> None:
    """What agent-chat-ui reads: the thread's messages, at the pause and at the end."""
    asked = await session.ask(QUESTION)
    config: Any = {"configurable": {"thread_id": asked.thread_id}}
    waiting = (await session.graph.aget_state(config)).values["messages"]
    assert [message.type for message in waiting] == ["human", "ai"]
    assert asked.clarification
    first = asked.clarification.options[0]
    assert waiting[1].text.startswith(asked.clarification.question)
    assert f"\n1. {first.label}" in waiting[1].text
    assert asked.thread_id
    await session.reply(asked.thread_id, first.id)
    done = (await session.graph.aget_state(config)).values["messages"]
    assert [message.type for message in done] == ["human", "ai", "human", "ai"]
    assert done[2].text == first.label
    again = await session.ask("What is 2+3?", thread_id=asked.thread_id)
    kept = (await session.graph.aget_state(config)).values["messages"]
    assert again.text.startswith("2+3 = 5")
    assert [message.text for message in kept[4:]] == ["What is 2+3?", again.text]


async def test_what_a_client_says_was_said_before_is_gone_on_from(session: Session) -> None:
    history = [HumanMessage("When is Cobaltine invoice CBC-10904 due?"), AIMessage("On 31 July 2024 [x].")]
    events = session.stream("And its total?", history=history)
    answer = [event async for event in events][-1]["answer"]  # type: ignore[typeddict-item]
    assert answer["status"] == "answered"
    assert "10904" in answer["question"]


@pytest.mark.parametrize(
    ("question", "asked", "reply"),
    [
        ("Wie hoch ist der Betrag der Rechnung von Cobaltine?", "Welches meinen Sie?", "die vom Juli"),
        ("Quel est le montant de la facture de Cobaltine ?", "Lequel voulez-vous dire ?", "celle de juillet 2024"),
        ("What is the total of the Cobaltine invoice?", "Which one do you mean?", "the one from July"),
    ],
)  # fmt: skip
async def test_a_question_back_speaks_the_language_of_the_question(
    session: Session, question: str, asked: str, reply: str
) -> None:
    first = await session.ask(question)
    assert first.clarification
    assert first.clarification.question.endswith(asked)
    last = await session.ask(reply, thread_id=first.thread_id)
    assert "2,145.00 USD" in last.text
