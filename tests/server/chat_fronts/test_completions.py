"""`/v1` as the openai package asks it: models, whole and streamed answers, a conversation, a question back, errors."""

from html import escape
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from tests.server.conftest import OpenApi
from tests.server.test_app import AMBIGUOUS, LOOKUP

Said = list[dict[str, str]]


@pytest.fixture
def client(api: httpx.AsyncClient) -> AsyncOpenAI:
    return AsyncOpenAI(base_url="http://localhost/v1", api_key="none", http_client=api, max_retries=0)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


async def ask(client: AsyncOpenAI, said: Said, **more: Any) -> Any:
    """Ask, and put the answer into the conversation as a front end does."""
    more = {"model": "citegraph", **more}
    reply = await client.chat.completions.create(messages=said, **more)  # type: ignore[call-overload]
    said.append({"role": "assistant", "content": reply.choices[0].message.content})
    return reply


async def test_models_are_the_whole_and_each_bucket(client: AsyncOpenAI) -> None:
    names = [model.id async for model in await client.models.list()]
    assert names[0] == "citegraph"
    assert {"citegraph/invoices", "citegraph/generic"} <= set(names)
    assert (await client.models.retrieve("citegraph/invoices")).id == "citegraph/invoices"
    with pytest.raises(openai.NotFoundError, match="there are citegraph, citegraph/"):
        await client.models.retrieve("gpt-5")


async def test_an_answer_has_its_citations_as_links_annotations_and_data(client: AsyncOpenAI) -> None:
    reply = await ask(client, [user(LOOKUP)])
    message = reply.choices[0].message
    noted = message.annotations[0]
    link = noted.url_citation
    assert message.content[link.start_index : link.end_index] == f"[[1]]({link.url})"
    assert link.url.startswith("http://localhost/cited/nv2n517?start=")
    assert reply.citegraph["status"] == "answered"
    citation = reply.citegraph["citations"][0]
    assert (citation["url"], citation["doc_id"], link.title) == (link.url, "nv2n517", citation["label"])
    assert (reply.choices[0].finish_reason, reply.usage.total_tokens) == ("stop", 0)


async def test_the_link_shows_the_cited_words_marked_and_no_mark_of_the_document(
    client: AsyncOpenAI, api: httpx.AsyncClient
) -> None:
    reply = await ask(client, [user(LOOKUP)])
    citation = reply.citegraph["citations"][0]
    shown = await api.get(citation["url"])
    assert shown.status_code == 200
    assert f"<mark>{escape(citation['quote'])}</mark>" in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert (await api.get("/cited/ghost")).status_code == 404
    assert "<mark></mark>" in (await api.get("/cited/nv2n517?start=9&end=3")).text


async def test_a_stream_tells_steps_as_reasoning_and_only_the_verified_text(client: AsyncOpenAI) -> None:
    whole = await ask(client, [user(LOOKUP)])
    options: Any = {"stream": True, "stream_options": {"include_usage": True}}
    stream = await client.chat.completions.create(model="citegraph", messages=[user(LOOKUP)], **options)
    parts = [part async for part in stream]
    deltas = [part.choices[0].delta for part in parts if part.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == whole.choices[0].message.content
    thoughts = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    assert "datasheets" in thoughts
    assert parts[-2].choices[0].finish_reason == "stop"
    assert parts[-2].citegraph["citations"][0]["doc_id"] == "nv2n517"
    assert parts[-1].usage is not None


async def test_a_conversation_goes_on_and_a_question_back_is_an_ordinary_turn(
    client: AsyncOpenAI, api: httpx.AsyncClient
) -> None:
    said: Said = [user(AMBIGUOUS)]
    asked = await ask(client, said)
    assert asked.citegraph["status"] == "needs_clarification"
    first = asked.citegraph["clarification"]["options"][0]
    assert f"\n1. {first['label']}" in said[-1]["content"]
    said.append(user("1"))
    answered = await ask(client, said)
    assert answered.citegraph["status"] == "answered"
    assert answered.citegraph["thread_id"] == asked.citegraph["thread_id"]
    said.append(user("And its date?"))
    again = await ask(client, said)
    assert again.citegraph["thread_id"] == asked.citegraph["thread_id"]
    assert len((await api.get("/threads")).json()["threads"]) == 1
    # The first question asked anew is another conversation, as is one that branches off.
    other = await ask(client, [user(AMBIGUOUS)])
    assert other.citegraph["thread_id"] != asked.citegraph["thread_id"]


async def test_a_conversation_that_no_thread_knows_is_read_from_what_was_sent(client: AsyncOpenAI) -> None:
    said: Said = [
        user("When is Cobaltine invoice CBC-10904 due?"),
        {"role": "assistant", "content": "On 31 July 2024."},
        user("And its total?"),
    ]
    reply = await ask(client, said)
    assert "10904" in reply.citegraph["question"]
    assert reply.citegraph["status"] == "answered"


async def test_a_deleted_thread_is_not_gone_on_with(client: AsyncOpenAI, api: httpx.AsyncClient) -> None:
    said: Said = [user(LOOKUP)]
    first = await ask(client, said)
    assert (await api.delete(f"/threads/{first.citegraph['thread_id']}")).status_code == 204
    said.append(user("And its maximum collector current?"))
    assert (await ask(client, said)).citegraph["thread_id"] != first.citegraph["thread_id"]


async def test_a_bucket_and_settings_bound_the_run(client: AsyncOpenAI) -> None:
    reply = await ask(client, [user("How many documents are there?")], model="citegraph/invoices")
    assert reply.citegraph["buckets"] == ["invoices"]
    bounds = {"citegraph": {"context": {"max_clarifications": 0}}}
    parts = [{"type": "text", "text": AMBIGUOUS}]
    asked = await client.chat.completions.create(
        model="citegraph", messages=[{"role": "user", "content": parts}], extra_body=bounds, temperature=0.2
    )  # type: ignore[call-overload]
    assert asked.citegraph["status"] != "needs_clarification"


async def test_errors_are_openais(client: AsyncOpenAI) -> None:
    for body, said in (
        ({"messages": [{"role": "system", "content": "x"}]}, "the last message must be the user's"),
        ({"messages": [user("x" * 4001)]}, "more than 4,000 characters"),
        ({"messages": [user("x")], "extra_body": {"citegraph": {"context": {"buckts": []}}}}, "buckts"),
        ({"messages": [user("x")], "n": 2}, "n: "),
    ):
        given: Any = {"model": "citegraph", **body}
        with pytest.raises(openai.UnprocessableEntityError, match=said):
            await client.chat.completions.create(**given)
    with pytest.raises(openai.NotFoundError, match="There is no model"):
        await client.chat.completions.create(model="x", messages=[user("x")])  # type: ignore[list-item]


async def test_a_key_shows_its_own_threads_and_buckets(open_api: OpenApi, tmp_path: Any) -> None:
    from cli.serve import Key, make_key

    file = tmp_path / "keys.json"
    for name, buckets in (("ana", ["*"]), ("bo", ["invoices"])):
        make_key(Key(name, file, buckets, ["*"]))
    async with open_api(api_keys=file) as api:
        refused = AsyncOpenAI(
            base_url="http://localhost/v1", api_key="cg-wrong", http_client=api, max_retries=0
        )
        with pytest.raises(openai.AuthenticationError):
            await refused.models.list()
