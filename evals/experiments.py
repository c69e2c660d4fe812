"""Uploads questions to LangSmith as a dataset and each mode's outcomes as an experiment with scores as feedback."""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from citegraph.errors import BadInput, Unavailable
from evals.question_files import Question
from evals.scoring import Outcome

if TYPE_CHECKING:
    from langsmith import Client

SCORES = ("routing", "document_f1", "answer", "behaviour", "citation_precision", "citation_recall")
"""The measures that become feedback; cost goes into the run's metadata."""
COSTS = ("calls", "tokens", "tool_calls", "seconds")
TIMEOUT_MS = 20_000


def open_client() -> "Client":
    """Return a LangSmith client of the environment's address and key.

    Raises:
        BadInput: there is no key.
    """
    import langsmith
    from langsmith.utils import get_env_var

    if not get_env_var("API_KEY"):
        raise BadInput(
            "--langsmith needs LANGSMITH_API_KEY (and LANGSMITH_ENDPOINT for a server of your own)."
        )
    return langsmith.Client(timeout_ms=TIMEOUT_MS)


def upload(
    client: "Client", name: str, by_mode: Mapping[str, Sequence[Outcome]], *, with_text: bool
) -> dict[str, str]:
    """Upload the questions as a dataset (once for the same rows) and an experiment a mode; return mode -> its name.

    The dataset holds the questions and their gold rows, which are the caller's own. An experiment's runs hold
    document ids, statuses and counts; answers, which quote documents, only with `with_text`.

    Raises:
        Unavailable: LangSmith does not answer or does not take it.
    """
    from langsmith.utils import LangSmithError

    outcomes = next(iter(by_mode.values()), ())
    try:
        dataset = _dataset(client, name, [outcome.question for outcome in outcomes])
        made = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        experiments = {}
        for mode, rows in by_mode.items():
            experiment = f"{name}-{mode}-{made}-{uuid.uuid4().hex[:4]}"
            project = client.create_project(
                experiment,
                reference_dataset_id=dataset,
                metadata={"mode": mode, "rows": len(rows), "source": "citegraph eval"},
            )
            for outcome in rows:
                run = _run(
                    client, experiment, example_id(dataset, outcome.question), outcome, with_text=with_text
                )
                _scores(client, run, project.id, outcome)
            experiments[mode] = experiment
        client.flush(timeout=TIMEOUT_MS / 1000)
    except (LangSmithError, OSError) as error:
        raise Unavailable(f"LangSmith did not take the evaluation ({type(error).__name__}).") from error
    return experiments


def _dataset(client: "Client", name: str, questions: Sequence[Question]) -> uuid.UUID:
    """Return the id of the dataset of exactly these rows, made when it is not there."""
    rows = [question_row(question) for question in questions]
    digest = hashlib.sha256(json.dumps(rows, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:10]
    title = f"{name}-{digest}"
    if client.has_dataset(dataset_name=title):
        known: uuid.UUID = client.read_dataset(dataset_name=title).id
        return known
    dataset = client.create_dataset(title, description="Questions of `citegraph eval` with their gold rows.")
    examples = [
        {"id": example_id(dataset.id, question), "inputs": row["inputs"], "reference_outputs": row["outputs"]}
        for question, row in zip(questions, rows, strict=True)
    ]
    client.create_examples(dataset_id=dataset.id, examples=examples)
    return dataset.id


def question_row(question: Question) -> dict[str, Any]:
    """Return a question as the inputs and outputs of an example."""
    outputs = {
        "behaviour": question.behaviour,
        "doc_ids": sorted(question.doc_ids),
        "buckets": list(question.buckets),
        "gold": _json(question.row),
    }
    return {
        "inputs": {"id": question.id, "turns": list(question.turns), "category": question.category},
        "outputs": outputs,
    }


def example_id(dataset: uuid.UUID, question: Question) -> uuid.UUID:
    """Return the id of a question's example: the same in every upload to the same dataset."""
    return uuid.uuid5(dataset, question.id)


def _run(
    client: "Client", experiment: str, example: uuid.UUID, outcome: Outcome, *, with_text: bool
) -> uuid.UUID:
    run_id = uuid.uuid4()
    ended = datetime.now(UTC)
    began = ended - timedelta(seconds=outcome.seconds)
    answer = outcome.last
    outputs: dict[str, Any] = {
        "status": answer.status,
        "doc_ids": answer.documents or list(dict.fromkeys(citation.doc_id for citation in answer.citations)),
        "citations": len(answer.citations),
        "bad_citations": outcome.bad_citations,
    }
    if with_text:
        outputs["text"] = answer.text
    client.create_run(
        "question",
        {"id": outcome.question.id, "category": outcome.question.category},
        "chain",
        id=run_id,
        outputs=outputs,
        trace_id=run_id,
        dotted_order=f"{began:%Y%m%dT%H%M%S%f}Z{run_id}",  # as LangSmith orders the runs of a trace
        start_time=began,
        end_time=ended,
        project_name=experiment,
        reference_example_id=example,
        extra={
            "metadata": {key: outcome.scores[key] for key in COSTS if outcome.scores.get(key) is not None}
        },
    )
    return run_id


def _scores(client: "Client", run: uuid.UUID, project: uuid.UUID, outcome: Outcome) -> None:
    for key in SCORES:
        if (score := outcome.scores.get(key)) is not None:
            client.create_feedback(run, key, score=score, trace_id=run, session_id=project)


def _json(row: Any) -> Any:
    return json.loads(json.dumps(row, ensure_ascii=False, default=str))
