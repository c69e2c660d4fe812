"""docs/settings.md and .env.example, made from the declared settings: `python -m tests.settings_page` writes both."""

import json
from pathlib import Path
from typing import Any

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from citegraph.settings import Settings

ROOT = Path(__file__).parents[1]
HEAD = """# Settings

Each environment variable, with its default; `.env.example` holds the same, ready to be copied to `.env`. What differs from
run to run (buckets, filters, budgets, models, today's date) is the run's context: `--context KEY=VALUE`, the body of a
request, the form in Studio; at the end of this page. [models_and_search.md](models_and_search.md) says how they work together.

| variable | default | what it does |
|---|---|---|
"""
CONTEXT = """
## The context of a run

| key | default | what it does |
|---|---|---|
"""


def variable(name: str, field: FieldInfo) -> str:
    """Return the name of a setting's environment variable."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return str(alias.choices[0])
    return alias if isinstance(alias, str) else f"CITEGRAPH_{name.upper()}"


def default_of(field: FieldInfo) -> str:
    """Return a default as the environment would give it, "" for none."""
    value: Any = field.default
    if value is PydanticUndefined or value is None or value in ({}, []):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, tuple | list | dict) else str(value)


def settings_page() -> str:
    """Return docs/settings.md."""
    from citegraph.run.context import Context

    def row(name: str, field: FieldInfo) -> str:
        shown = f"`{default}`" if (default := default_of(field)) else ""
        said = (field.description or "").replace("|", "\\|")
        return f"| `{name}` | {shown} | {said} |"

    lines = [row(variable(name, field), field) for name, field in Settings.model_fields.items()]
    keys = [row(name, field) for name, field in Context.model_fields.items()]
    return HEAD + "\n".join(lines) + "\n" + CONTEXT + "\n".join(keys) + "\n"


def env_example() -> str:
    """Return .env.example."""
    blocks = [
        f"# {field.description}\n{variable(name, field)}={default_of(field)}"
        for name, field in Settings.model_fields.items()
    ]
    head = "# Every environment variable with its default; copy to .env and change what you need.\n"
    return head + "\n" + "\n\n".join(blocks) + "\n"


def main() -> None:
    """Write both files."""
    (ROOT / "docs" / "settings.md").write_text(settings_page(), encoding="utf-8")
    (ROOT / ".env.example").write_text(env_example(), encoding="utf-8")


if __name__ == "__main__":
    main()
