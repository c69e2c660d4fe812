"""docs/buckets.md names every key of a declaration, and its worked example works as it stands there."""

import asyncio
import re
from pathlib import Path

import pytest

from citegraph.corpus.schema.bucket import Bucket, Identifier, load_bucket
from citegraph.corpus.schema.field import ExtractRule, Field, Sum, TextRule
from citegraph.run.services import Services
from citegraph.settings import Settings
from cli.commands import main
from graph.session import open_session

PAGE = (Path(__file__).parents[1] / "docs" / "buckets.md").read_text("utf-8")
SECTIONS = {
    "Keys of a bucket": (Bucket, Sum),
    "Keys of a field": (Field, TextRule),
    "Keys of a rule of `extract`": (ExtractRule,),
    "Keys of an identifier": (Identifier,),
}


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_is_documented_and_every_documented_key_exists(section: str) -> None:
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    table = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {name for cell in table for name in re.findall(r"`(\w+)`", cell)}
    first, *nested = (set(model.model_fields) for model in SECTIONS[section])
    assert named == first
    for inner in nested:
        assert inner <= set(re.findall(r"\b\w+\b", text))


def test_the_worked_example_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = tmp_path / "declared"
    declared.mkdir()
    (declared / "inspections.yaml").write_text(block("yaml"), "utf-8")
    assert load_bucket(declared / "inspections.yaml").name == "inspections"
    files = tmp_path / "files"
    files.mkdir()
    report = block("text")
    (files / "a.txt").write_text(report, "utf-8")
    other = report.replace("031", "032").replace("630 kg", "1,250 kg").replace("180.00", "95.50")
    (files / "b.txt").write_text(other.replace("Harbour House", "Quay Tower"), "utf-8")
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CITEGRAPH_BUCKETS", str(declared))
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["ingest", str(files), "--bucket", "inspections", "--quiet"])
    asyncio.run(answers())


async def answers() -> None:
    async with open_session(Services(Settings(_env_file=None), trusted=True)) as session:
        total = await session.ask("What is the sum of the fees of the inspections in 2024?")
        assert "275.50 EUR" in total.text
        heavy = await session.ask("Which inspections had a load of at least 1 t?")
        assert heavy.documents == ["b"]
