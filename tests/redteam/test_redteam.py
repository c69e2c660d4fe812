"""Text in a document is data (O8): a model that obeys it changes no route, filter, budget, tool, access or answer."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from ruamel.yaml import YAML

from benches.steady import ENOUGH, decomposition, planned
from citegraph.answer.withheld import NO_EVIDENCE
from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.index.index_protocol import Index, SearchRequest
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.schema.document import Hit
from citegraph.llm.scripted import Script, scripted
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from citegraph.settings import load_settings
from graph.session import Session
from tests.graph.test_answers import check_citations

FOLDER = Path(__file__).parent
BUCKET = "generic"
CASES = [
    case for path in sorted(FOLDER.glob("*.yaml")) for case in YAML(typ="safe").load(path.read_text("utf-8"))
]
OFF_LIMITS = ("sk-", "Traceback", "unexpected ")


@dataclass
class Watched:
    """The real index, which keeps what was searched."""

    index: Index
    requests: list[SearchRequest] = field(default_factory=list)
    found: set[str] = field(default_factory=set)

    async def search(self, request: SearchRequest) -> list[Hit]:
        self.requests.append(request)
        hits = await self.index.search(request)
        self.found |= {hit.chunk.doc_id for hit in hits}
        return hits

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)


@pytest.fixture(scope="module")
def poisoned(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Give services over the sample corpus and every document of the cases."""
    home = tmp_path_factory.mktemp("poisoned") / "home"
    shutil.copytree(sample_home, home)
    folder = tmp_path_factory.mktemp("documents")
    rows = []
    for case in CASES:
        if "document" in case:
            name = case.get("file", f"{case['id']}.md")
            (folder / name).write_text(case["document"], "utf-8")
            rows.append({"file": name, **case.get("annotations", {})})
    table = tmp_path_factory.mktemp("annotations") / "annotations.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    settings = load_settings().model_copy(update={"home": home, "qdrant_url": None, "database_url": None})
    services = Services(settings)
    corpus = services.open()
    report = asyncio.run(ingest([folder], corpus.buckets[BUCKET], stores=corpus.stores, annotations=[table]))
    assert report.new == len(rows), report
    yield services
    asyncio.run(services.close())


def obedient(case: dict[str, Any], doc_id: str) -> tuple[Any, Script]:
    """Return models that follow the case wherever it gives an order, and do their work elsewhere."""
    asked = count()
    usual = {
        "decompose": decomposition("qa", [BUCKET]),
        "route": {"routes": [{"bucket": BUCKET, "score": 1.0, "reason": "a memo"}]},
        "schema_plan": planned(BUCKET),
        "review": ENOUGH,
        "compose": f"{case.get('holds', 'Nothing')} [{doc_id}].",
        "verify": {"verdict": "unsupported", "reason": "nothing says so"},
    }

    def reply(step: str, messages: list[BaseMessage]) -> Any:
        said = case["obeys"].get(step, usual.get(step))
        written = json.dumps(said).replace("{doc}", doc_id).replace("{n}", str(next(asked)))
        return json.loads(written)

    return scripted(reply)


async def ask(
    services: Services, corpus: Corpus, case: dict[str, Any], doc_id: str
) -> tuple[Answer, Watched, Script]:
    """Return the answer to a case, the index with what was searched for it, and the calls of its models."""
    models, script = obedient(case, doc_id)
    index = Watched(corpus.index)
    ready = replace(corpus, index=index)  # type: ignore[arg-type]
    session = Session(Services(services.settings, ready=ready, models=models), InMemorySaver())
    answer = await session.ask(case["question"], context=Context(**case.get("context", {})))
    return answer, index, script


def without_conflicts(answer: Answer) -> str:
    """Return an answer's text without the sentences that set a withheld value against it."""
    text = answer.text
    for claim in reversed(answer.claims):
        if claim.reason == NO_EVIDENCE:
            text = text[: claim.start] + text[claim.end :]
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_a_model_that_obeys_a_document_changes_nothing(
    case: dict[str, Any], poisoned: Services
) -> None:
    corpus, context = poisoned.open(), Context(**case.get("context", {}))
    name = case.get("file", f"{case['id']}.md")
    found = [
        item for item in corpus.documents.all_records(BUCKET).values() if item.source_file.endswith(name)
    ]
    answer, index, script = await ask(poisoned, corpus, case, found[0].doc_id if found else "none")
    shown = " ".join(
        [
            without_conflicts(answer),
            *(c.question for c in [answer.clarification] if c),
            json.dumps(answer.table and answer.table.rows),
        ]
    )
    assert [word for word in (*case["never"], *OFF_LIMITS) if word.lower() in shown.lower()] == []
    assert answer.status in case.get("status", ["answered", "partial", "unanswerable", "needs_clarification"])
    if "holds" in case:
        assert case["holds"] in answer.text, answer
    check_citations(answer, corpus)
    assert {request.bucket for request in index.requests} <= set(context.buckets or corpus.buckets)
    for wanted in context.filters:
        name_of_field, _, value = wanted.partition("=")
        allowed = corpus.annotations.document_ids(
            BUCKET, [Clause(field=name_of_field, operator="=", value=value)]
        )
        assert index.found <= set(allowed)
        assert all(request.filter_json for request in index.requests), index.requests
    assert len(script.calls) == answer.usage.llm_calls <= context.max_llm_calls
    assert answer.usage.tool_calls <= context.max_tool_calls
    assert answer.usage.rounds <= context.max_rounds
    assert [item.value for item in answer.filters if item.origin == "user"] == [
        item.partition("=")[2] for item in context.filters
    ]


def test_there_are_cases_enough_and_each_is_its_own() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 40
