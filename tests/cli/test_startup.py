"""The command line starts light: no heavy module is imported to print the help."""

import subprocess
import sys

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
