"""The parts that docs/parts.md shows are executed as they stand there, and each of them is used."""

import functools
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citegraph.run.part_protocols import PROTOCOLS, method_of
from citegraph.run.replacements import load_parts
from citegraph.run.services import Services
from graph.session import Session

ROOT = Path(__file__).parents[2]
WHOLE = (ROOT / "docs" / "parts.md").read_text("utf-8")
GUIDE, _, ALL = WHOLE.partition("## All eight, side by side")


def blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def declared(text: str) -> dict[str, str]:
    found = re.search(r"CITEGRAPH_PARTS='(.*?)'", text, re.DOTALL)
    assert found
    named: dict[str, str] = json.loads(found[1])
    return named


@pytest.fixture
def my_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Give the guide's last block as the module `my_parts`; each function counts its calls."""
    (source,) = blocks(ALL)
    module = ModuleType("my_parts")
    exec(compile(source, "parts.md", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "my_parts", module)
    return module


def counted(module: ModuleType, path: str, calls: list[str]) -> None:
    """Let a part tell that it was called."""
    name = path.partition(":")[2]
    holder: Any = getattr(module, name)
    where, called = (module, name) if not inspect.isclass(holder) else (holder, "review")
    inner = getattr(where, called)

    @functools.wraps(inner)
    def telling(*given: Any, **named: Any) -> Any:
        calls.append(name)
        return inner(*given, **named)

    setattr(where, called, telling)


async def test_the_readmes_parts_answer_a_question(services: Services, my_parts: ModuleType) -> None:
    named, calls = declared(ALL), []
    assert set(named) == set(PROTOCOLS), "one of each kind"
    for path in named.values():
        counted(my_parts, path, calls)
    settings = services.settings.model_copy(update={"parts": named})
    session = Session(Services(settings=settings, ready=services.open()), InMemorySaver())
    answer = await session.ask("What is the Vceo of the NV2N517?")
    assert answer.question == "What is the collector-emitter voltage VCEO of the NV2N517?"
    assert answer.buckets == ["datasheets"]
    assert "45 V [nv2n517]" in answer.text
    assert {path.partition(":")[2] for path in named.values()} == set(calls), answer.notes
    assert [note for note in answer.notes if "of your own" in note.message] == []


def test_each_part_of_the_readme_takes_ten_lines_at_most() -> None:
    (source,) = blocks(ALL)
    for part in re.split(r"\n(?=def |async def |class )", source):
        assert len(part.strip().splitlines()) <= 10


async def test_the_guides_parts_answer_questions(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("my_parts")
    for source in blocks(GUIDE):
        exec(compile(source, "docs/parts.md", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "my_parts", module)
    parts = {"verifier": "my_parts:Strict", "reviewer": "my_parts:review"}
    settings = services.settings.model_copy(update={"parts": parts})
    session = Session(Services(settings=settings, ready=services.open()), InMemorySaver())
    answer = await session.ask("What does invoice CBC-11618 say about the telemetry platform?")
    assert answer.usage.tool_calls >= 2, "the agreement that the invoice names was looked up"
    assert [note for note in answer.notes if "of your own" in note.message] == []


def test_the_guides_table_and_message_are_those_of_the_protocols(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in PROTOCOLS:
        name, signature = method_of(kind)
        assert f"| `{kind}` | `{name}({', '.join(signature.parameters)})` |" in GUIDE
    module = ModuleType("my_parts")
    module.route = lambda query: [query]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_parts", module)
    from citegraph.errors import BadInput

    with pytest.raises(BadInput) as refused:
        load_parts(services.settings.model_copy(update={"parts": {"router": "my_parts:route"}}))
    (shown,) = re.findall(r"```\n(CITEGRAPH_PARTS: .*?)```", GUIDE, re.DOTALL)
    assert str(refused.value) == " ".join(shown.split())


@pytest.mark.parametrize("command", [["ask", "hello"], ["doctor"]])
@pytest.mark.slow
def test_a_part_that_cannot_be_used_ends_a_command_at_its_start(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "my_parts.py").write_text("def route(query): return [query]\n", "utf-8")
    environment = os.environ | {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}",
        "CITEGRAPH_PARTS": '{"router": "my_parts:route"}',
        "CITEGRAPH_HOME": str(tmp_path / "home"),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "cli.commands", *command],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    said = ended.stdout + ended.stderr
    assert ended.returncode in {2, 5}
    assert (
        "router my_parts:route must be callable as route(question: str, buckets: Mapping[str, str])" in said
    )
    assert "Traceback" not in said
