"""The command line starts light: no heavy module is imported to print the help."""

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from cli.commands import COMMANDS
from cli.options import command, new_app
from tests.cli.conftest import Run

HEAVY = (
    "langgraph",
    "langchain_core",
    "pydantic",
    "sqlalchemy",
    "numpy",
    "qdrant_edge",
    "rich",
    "graph.session",
)
SCRIPT = """
import sys
from cli.commands import main
try:
    main(["--help"])
except SystemExit as ended:
    assert ended.code in (0, None), ended.code
print("LOADED", [name for name in sys.argv[1:] if name in sys.modules])
"""


def test_help_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *HEAVY], capture_output=True, text=True, timeout=60, check=True
    )
    assert "ask " in done.stdout
    assert done.stdout.endswith("LOADED []\n")


QUICK = """
import atexit, gc, sys
atexit.register(lambda: print("FROZEN", gc.get_freeze_count() > 100_000))
from cli.quick_start import UNUSED, start_quickly
start_quickly()
start_quickly()
import graph.session
import langgraph_sdk, langsmith
heavy = ("langgraph_sdk.client", "langsmith.types.run", "filetype.match", "rich", UNUSED)
print("LOADED", [name for name in heavy if sys.modules.get(name)])
from langgraph_sdk import get_client
from langsmith.types import Run
import filetype, httpx
print("ASKED FOR", get_client.__module__, Run.__module__, filetype.guess.__module__, langsmith.types is sys.modules["langsmith.types"], httpx.__version__ > "0")
"""


COLLECTED = """
import gc
from cli.quick_start import COLLECTED_AFTER, LOADED, keep_loaded, start_quickly
start_quickly()
start_quickly()
keep_loaded()
assert (gc.get_threshold()[0], gc.get_freeze_count()) == (LOADED, 0)
loaded = [[] for _ in range(LOADED + 1)]
assert gc.get_freeze_count() > LOADED
assert (gc.get_threshold()[0], gc.callbacks) == (COLLECTED_AFTER, [])
"""


def test_what_is_loaded_first_is_left_out_of_every_collection() -> None:
    subprocess.run([sys.executable, "-c", COLLECTED], timeout=60, check=True)


@pytest.mark.slow
def test_packages_that_langgraph_needs_one_name_of_are_loaded_when_more_is_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", QUICK], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [
        "LOADED []",
        "ASKED FOR langgraph_sdk._async.client langsmith.types.run filetype.filetype True True",
        "FROZEN True",
    ]


@pytest.mark.slow
def test_an_error_of_the_command_itself_has_no_trace() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.commands", "ingest", "."],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "--bucket" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_command_is_declared_where_the_list_says(run: Run) -> None:
    for name in COMMANDS:
        shown = run(name, "--help")
        assert shown.code == 0
        assert f" {name} [OPTIONS]" in shown.out.splitlines()[0]


def test_a_command_is_its_dataclass_and_its_function() -> None:
    seen: list[object] = []
    app = new_app()

    @dataclass
    class Look:
        where: Annotated[str, typer.Argument()]
        words: Annotated[list[str], typer.Option("--word")] = field(default_factory=list)
        count: Annotated[int, typer.Option("--count")] = 3

    @command(app, "look")
    def look(request: Look) -> int:
        """Look around.

        Exits with 4.

        Raises:
            BadInput: never.
        """
        seen.append(request)
        return 4

    runner = CliRunner()
    assert runner.invoke(app, ["here", "--word", "a", "--word", "b"]).exit_code == 4
    assert runner.invoke(app, ["there", "--count", "5"]).exit_code == 4
    assert seen == [Look("here", ["a", "b"], 3), Look("there", [], 5)]
    assert runner.invoke(app, []).exit_code == 2
    shown = runner.invoke(app, ["--help"]).output
    assert "Exits with 4." in shown
    assert "BadInput" not in shown
