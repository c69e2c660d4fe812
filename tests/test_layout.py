"""The house rules of ../shared/design: names that are ours, empty `__init__`, nothing opened at import."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest

from citegraph.run.services import Services
from citegraph.settings import Settings
from graph.build import build
from graph.loop import build_loop

ROOT = Path(__file__).parents[1]
PACKAGES = ("graph", "nodes", "tools", "citegraph", "server", "cli", "evals", "benches", "buckets")
SHADOW = set(PACKAGES) | {f"{name}.py" for name in PACKAGES}
MODULES = sorted(
    path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if path.name != "__init__.py"
)
FORBIDDEN_FILES = {"utils.py", "helpers.py", "common.py"}

# Imported by a first run, never by an import: they are slow, or they open something.
LAZY = (
    "openai",
    "langchain_openai",
    "langchain_qdrant",
    "qdrant_client",
    "qdrant_edge",
    "wordllama",
    "onnxruntime",
    "tokenizers",
    "sqlite3",
    "psycopg",
    "pypdfium2",
    "pdfplumber",
    "PIL",
    "lxml",
    "docx",
    "pptx",
    "openpyxl",
    "pytesseract",
    "oxmsg",
    "fastapi",
)

# Runs in a fresh interpreter: an audit hook refuses every connection, write and child process.
IMPORT_QUIETLY = """
import os, sys

def guard(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise SystemExit(f"import opens {path!r} for writing")
    elif event in {"os.mkdir", "os.rename", "sqlite3.connect", "subprocess.Popen"}:
        raise SystemExit(f"import calls {event}{arguments!r}")
    elif event in {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"}:
        raise SystemExit(f"import calls {event}")

sys.addaudithook(guard)
import graph.main
heavy = [name for name in sys.argv[1:] if name in sys.modules]
print(type(graph.main.agent).__name__, ",".join(heavy))
"""


@pytest.mark.parametrize("name", PACKAGES)
def test_name_resolves_inside_the_repository(name: str) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).resolve() == ROOT / name / "__init__.py"


def test_no_installed_distribution_ships_our_names() -> None:
    ours = metadata.distribution("citegraph").metadata["Name"]
    shipped = {
        (file.parts[0], distribution.metadata["Name"])
        for distribution in metadata.distributions()
        if distribution.metadata["Name"] != ours
        for file in distribution.files or ()
        if file.parts[0] in SHADOW
    }
    assert shipped == set()
    owners = metadata.packages_distributions()
    assert {name: owners[name] for name in PACKAGES if set(owners.get(name, [])) - {ours}} == {}


@pytest.mark.parametrize("name", PACKAGES)
def test_init_holds_only_a_docstring(name: str) -> None:
    for path in sorted((ROOT / name).rglob("__init__.py")):
        body = ast.parse(path.read_text("utf-8")).body
        assert len(body) == 1, path
        assert isinstance(body[0], ast.Expr)
        assert isinstance(body[0].value, ast.Constant)
        assert isinstance(body[0].value.value, str)


@pytest.mark.parametrize("name", PACKAGES)
def test_modules_open_with_a_docstring_and_carry_a_telling_name(name: str) -> None:
    for path in sorted((ROOT / name).rglob("*.py")):
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path
        assert path.name not in FORBIDDEN_FILES, path


def test_no_folder_holds_more_than_20_modules() -> None:
    full = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES)
    assert {folder: count for folder, count in full.items() if count > 20} == {}


def test_every_module_name_stands_once() -> None:
    named = Counter(path.stem for path in MODULES)
    assert sorted(name for name, count in named.items() if count > 1) == []


def test_nodes_are_the_nodes_of_both_graphs() -> None:
    services = Services(Settings(_env_file=None))
    graphs = build(services), build_loop(services)
    assert {path.stem for path in MODULES if path.parent.name == "nodes"} == {
        name for graph in graphs for name in graph.nodes if not name.startswith("__")
    }


def test_prompts_stand_in_nodes_and_in_modules_named_by_model() -> None:
    holding = [
        path.relative_to(ROOT).as_posix()
        for path in MODULES
        if re.search(r"^PROMPTS?\b[^=\n]*=", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert holding != []
    assert [
        name for name in holding if not name.startswith("nodes/") and not name.endswith("_by_model.py")
    ] == []


def test_imports_are_absolute() -> None:
    relative = [
        str(path.relative_to(ROOT))
        for name in PACKAGES
        for path in (ROOT / name).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_importing_the_served_graphs_opens_nothing(tmp_path: Path) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("a file where a home would be")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(nowhere),
        "CITEGRAPH_HOME": str(nowhere / "home"),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_QUIETLY, *LAZY],
        env=environment,
        cwd=workspace,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "DrawnGraph \n"
    assert list(workspace.iterdir()) == []


def test_targets_of_langgraph_json_are_dotted_and_exist() -> None:
    declared = json.loads((ROOT / "langgraph.json").read_text("utf-8"))
    assert declared["dependencies"] == ["."]
    assert "agent" in declared["graphs"]
    for served in declared["graphs"].values():
        assert served["description"].endswith(".")
        module, _, attribute = served["path"].partition(":")
        assert "/" not in module, "a path target breaks absolute imports"
        assert hasattr(importlib.import_module(module), attribute)


def test_lint_runs_the_import_contract() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").split("\nlint:", 1)[1].split("\n\n", 1)[0]
    assert "importlinter" in recipe or "lint-imports" in recipe
