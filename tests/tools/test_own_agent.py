"""The tools in an agent of the user's own, by LangChain's tool binding alone: what the README shows."""

import json

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from citegraph.llm.call_options import ModelSpec
from citegraph.llm.scripted import Script, ScriptedChatModel
from citegraph.run.services import Services
from tools.document_metadata import metadata_tools
from tools.query_documents import query_tools
from tools.search_tools import search_tools


async def test_a_users_own_agent_calls_the_tools(services: Services) -> None:
    asked = [
        {"name": "search_text", "args": {"bucket": "datasheets", "query": "NV2N517 VCEO"}, "id": "1"},
        {
            "name": "query_documents",
            "args": {"bucket": "invoices", "aggregate": [{"function": "count", "field": None}]},
            "id": "2",
        },
    ]
    script = Script([AIMessage(content="", tool_calls=asked), "VCEO is 45 V [nv2n517]."])
    spec = ModelSpec(step="agent", model="any", base_url=None, api_key=None)
    model: ScriptedChatModel = script.factory(spec)

    tools = [*search_tools(services), *query_tools(services), *metadata_tools(services)]
    by_name = {tool.name: tool for tool in tools}
    bound = model.bind_tools(tools)
    messages: list[BaseMessage] = [
        HumanMessage("What is VCEO of the NV2N517, and how many invoices are there?")
    ]
    while True:
        reply = await bound.ainvoke(messages)
        messages.append(reply)
        if not reply.tool_calls:
            break
        messages += [await by_name[call["name"]].ainvoke(call) for call in reply.tool_calls]

    results = [message for message in messages if isinstance(message, ToolMessage)]
    assert [message.tool_call_id for message in results] == ["1", "2"]
    assert "nv2n517" in {hit["doc_id"] for hit in json.loads(results[0].text)["hits"]}
    assert json.loads(results[1].text)["rows"][0]["count"] > 10
    assert messages[-1].text == "VCEO is 45 V [nv2n517]."
    described = {tool["function"]["name"]: tool["function"] for tool in script.calls[0].arguments["tools"]}
    assert set(described) == {"search_text", "search_semantic", "query_documents", "get_document_metadata"}
    assert "bucket" in described["search_text"]["parameters"]["required"]
