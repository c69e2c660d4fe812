"""Questions and modes uploaded to a LangSmith on loopback, and read back."""

from collections.abc import Iterator

import pytest

from citegraph.errors import BadInput, Unavailable
from citegraph.run.answer_types import Answer, Citation
from evals.experiments import open_client, upload
from evals.question_files import Question
from evals.scoring import Outcome, score
from tests.langsmith_server import KEY, Kept, langsmith_server

SECRET = "the rent of the harbour is 1,250 EUR"


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    from langsmith.utils import get_env_var

    with langsmith_server() as server:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", server.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", KEY)
        get_env_var.cache_clear()
        yield server
    get_env_var.cache_clear()


def outcome(number: int, f1: bool = True) -> Outcome:
    question = Question(
        id=f"q{number}",
        category="lookup",
        turns=(f"What is rent {number}?",),
        doc_ids=("lease",),
        buckets=("contracts",),
        row={"gold_doc_ids": ["lease"]},
    )
    citation = Citation(
        marker="[1]",
        label="lease.txt",
        doc_id="lease" if f1 else "other",
        bucket="contracts",
        source_file="lease.txt",
        quote=SECRET,
        start=0,
        end=len(SECRET),
    )
    answer = Answer(question="?", text=f"{SECRET} [1]", status="answered", citations=[citation])
    made = Outcome(question, [answer], answer, 0.25)
    return Outcome(question, [answer], answer, 0.25, score(made))


def test_a_dataset_once_and_an_experiment_a_mode_with_scores(kept: Kept) -> None:
    client = open_client()
    by_mode = {"graph": [outcome(1), outcome(2)], "single": [outcome(1, f1=False), outcome(2)]}
    names = upload(client, "dev", by_mode, with_text=False)
    upload(client, "dev", {"graph": by_mode["graph"]}, with_text=False)
    assert len(kept.datasets) == 1
    dataset = next(iter(kept.datasets.values()))
    assert {row["inputs"]["turns"][0] for row in kept.examples.values()} == {
        "What is rent 1?",
        "What is rent 2?",
    }
    assert {row["outputs"]["doc_ids"][0] for row in kept.examples.values()} == {"lease"}
    experiment = kept.projects[names["single"]]
    assert experiment["reference_dataset_id"] == dataset["id"]
    runs = [run for run in kept.runs.values() if run["session_name"] == names["single"]]
    assert {run["inputs"]["id"] for run in runs} == {"q1", "q2"}
    assert {run["reference_example_id"] for run in runs} <= set(kept.examples)
    f1 = {item["run_id"]: item["score"] for item in kept.feedback if item["key"] == "document_f1"}
    assert sorted(f1[run["id"]] for run in runs) == [0.0, 1.0]


def test_answers_are_sent_only_when_text_is_allowed(kept: Kept) -> None:
    client = open_client()
    upload(client, "dev", {"graph": [outcome(1)]}, with_text=False)
    assert SECRET not in kept.said
    upload(client, "dev", {"graph": [outcome(1)]}, with_text=True)
    assert SECRET in kept.said


def test_a_server_that_refuses_is_said(kept: Kept) -> None:
    kept.status = 500
    with pytest.raises(Unavailable, match="LangSmith did not take"):
        upload(open_client(), "dev", {"graph": [outcome(1)]}, with_text=False)


def test_a_key_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    from langsmith.utils import get_env_var

    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    get_env_var.cache_clear()
    with pytest.raises(BadInput, match="LANGSMITH_API_KEY"):
        open_client()
