"""What the documents promise exists: commands, options, make targets, files, links, variables."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from citegraph.settings import Settings
from cli.commands import app
from tests.settings_page import env_example, settings_page

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PAGES = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def named_commands() -> set[str]:
    return set(re.findall(r"\bcitegraph ([a-z]+)\b", README + "".join(PAGES.values())))


def named_targets() -> set[str]:
    return set(re.findall(r"\bmake ([a-z]+)\b", README + (ROOT / ".ci" / "run").read_text("utf-8")))


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_settings_page_and_env_example_are_those_of_the_settings() -> None:
    assert PAGES["settings.md"] == settings_page()
    assert (ROOT / ".env.example").read_text("utf-8") == env_example()


def test_every_command_of_the_documents_exists_and_says_what_it_does() -> None:
    assert named_commands() - COMMANDS == set()
    group = typer.main.get_command(app)
    for name in COMMANDS:
        command = group.get_command(typer.Context(group), name)  # type: ignore[attr-defined]
        assert command.get_short_help_str(), name


def test_every_option_of_the_readme_exists() -> None:
    options = set(re.findall(r"(?<![\w-])(--[a-z]+)\b", README))
    known = {option for name in sorted(named_commands()) for option in options_of(name)}
    assert options - known == set()


def options_of(name: str) -> set[str]:
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, name
    return set(re.findall(r"--[a-z]+", shown.output))


@pytest.mark.parametrize("target", sorted(named_targets()))
def test_every_make_target_of_the_readme_exists(target: str) -> None:
    assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)


def test_every_path_of_the_readme_exists() -> None:
    table = README.split("## Where to change what", 1)[1]
    paths = re.findall(r"`((?:[a-z]+/)+[\w*.]*)`", table)
    assert len(paths) >= 10
    assert [path for path in paths if not list(ROOT.glob(path.rstrip("/")))] == []
    links = [(ROOT, link) for link in re.findall(r"\]\(([\w./-]+)\)", README)]
    links += [
        (ROOT / "docs", link) for page in PAGES.values() for link in re.findall(r"\]\(([\w./-]+)\)", page)
    ]
    assert [link for folder, link in links if not (folder / link).exists()] == []


def test_every_variable_of_the_readme_is_a_setting() -> None:
    declared = (ROOT / ".env.example").read_text("utf-8")
    variables = set(re.findall(r"\b(?:CITEGRAPH|OPENAI|QDRANT)_[A-Z_]+\b", README))
    assert [name for name in variables if f"\n{name}=" not in f"\n{declared}"] == []


def test_the_drawing_command_prints_the_block_of_the_readme() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "graph.main"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert printed.stdout in README
    assert printed.stdout.strip() in PAGES["studio.md"]


def test_no_file_names_a_machine() -> None:
    """Neither a path of a developer's machine nor a package mirror belongs in the project."""
    forbidden = re.compile(r"/(?:home|Users|root|work)/\w|(?<!no-emit-)index-url|extra-index")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    texts = [
        ROOT / name
        for name in listed.split()
        if name.endswith((".py", ".md", ".toml", ".txt", ".json", ".yaml"))
    ]
    texts += [ROOT / "Makefile", ROOT / ".ci" / "run", ROOT / ".env.example"]
    found = [
        str(path.relative_to(ROOT))
        for path in texts
        if path.exists()
        and path != Path(__file__)
        and forbidden.search(path.read_text("utf-8", errors="replace"))
    ]
    assert found == []


def test_the_page_on_ingestion_names_every_format_and_limit() -> None:
    from citegraph.corpus.ingestion.ingest_options import Limits
    from citegraph.corpus.readers.reader_registry import _READERS

    page = (ROOT / "docs" / "ingestion.md").read_text("utf-8")
    formats = page.partition("## What is done again")[0]
    names = {reader: {suffix[1:].upper() for suffix in reader.suffixes} for reader in _READERS}
    others = {"TXT": "text", "MD": "Markdown", "TNEF": "winmail.dat"}
    missing = [
        sorted(found)
        for found in names.values()
        if not any(re.search(rf"\b{re.escape(others.get(name, name))}\b", formats) for name in found)
    ]
    assert missing == []
    given = dict(re.findall(r"`(CITEGRAPH_\w+)` \| (\w+)", page))
    limits = Limits()
    assert {name: value for name, value in given.items() if value.isdigit()} == {
        "CITEGRAPH_INGEST_FILE_MB": str(limits.file_mb),
        "CITEGRAPH_INGEST_SECONDS": f"{limits.seconds:g}",
        "CITEGRAPH_INGEST_MEMORY_MB": str(limits.memory_mb),
    }
    assert {name.removeprefix("CITEGRAPH_").lower() for name in given} <= set(Settings.model_fields)


def test_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert text.startswith("# Changelog\n")
    assert "## [Unreleased]" in text
    sections = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert sections <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_version_of_the_command_is_the_projects() -> None:
    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert declared
    assert CliRunner().invoke(app, ["--version"]).output == f"citegraph {declared[1]}\n"
