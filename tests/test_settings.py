"""`.env.example` and `citegraph/settings.py` hold the same variables, and nothing else reads the environment."""

import ast
import re
from pathlib import Path

import pytest

from citegraph.settings import Settings

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / ".env.example"
# The archive's folder is a matter of measuring, not of running: see benches/documents/reading_bench.py.
MEASURING = {"CITEGRAPH_CORPORA"}


def variables() -> dict[str, str]:
    """Return each variable that a setting is read from, with the setting's name; of aliases the first."""
    found = {}
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        assert alias is not None, name
        found[alias if isinstance(alias, str) else str(alias.choices[0])] = name  # type: ignore[union-attr]
    return found


def entries() -> dict[str, str]:
    """Return variable -> comment of `.env.example`, where each assignment stands under one comment line."""
    lines = [line for line in EXAMPLE.read_text("utf-8").splitlines() if line.strip()][1:]
    comments, assignments = lines[::2], lines[1::2]
    assert len(comments) == len(assignments)
    assert all(comment.startswith("# ") for comment in comments)
    matches = [re.fullmatch(r"([A-Z_]+)=.*", line) for line in assignments]
    assert all(matches), [line for line, match in zip(assignments, matches, strict=True) if not match]
    return {match[1]: comment[2:] for match, comment in zip(matches, comments, strict=True) if match}


def test_example_holds_exactly_the_settings_in_their_order() -> None:
    assert list(entries()) == list(variables())


def test_each_comment_is_the_description_of_its_setting() -> None:
    described = {alias: Settings.model_fields[name].description for alias, name in variables().items()}
    assert entries() == described


def test_the_example_as_it_stands_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*variables(), "OPENAI_API_BASE", "HOME"]:
        monkeypatch.delenv(name, raising=False)
    assert Settings(_env_file=EXAMPLE) == Settings(_env_file=None)


def test_field_names_are_no_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CITEGRAPH_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MODEL", "someone-elses")
    monkeypatch.setenv("CITEGRAPH_MODEL", "")
    settings = Settings(_env_file=None)
    assert (settings.home, settings.model) == (Path(".citegraph"), None)
    assert Settings(home=tmp_path).home == tmp_path


def test_aliases_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path))
    settings = Settings(_env_file=None)
    assert (settings.openai_base_url, settings.home) == ("http://127.0.0.1:1/v1", tmp_path)


def test_only_settings_reads_the_environment() -> None:
    readers = set()
    for name in ("graph", "nodes", "tools", "corpus", "llm", "citations", "server", "cli", "evals"):
        for path in (ROOT / name).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}:
                    source = path.read_text("utf-8")
                    if not any(variable in source for variable in MEASURING):
                        readers.add(str(path.relative_to(ROOT)))
    assert readers == set()
