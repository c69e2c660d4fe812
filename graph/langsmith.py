"""What LangSmith is told of a run: tags, ids, counts and scores, no text unless CITEGRAPH_TRACE_TEXT asks for it."""

import contextlib
import logging
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from langgraph.config import get_config

from citegraph.run.state import Json
from citegraph.settings import Settings

if TYPE_CHECKING:
    from uuid import UUID

    from langsmith import Client
    from langsmith.run_trees import RunTree

log = logging.getLogger(__name__)

TIMEOUT_MS = (3_000, 10_000)
"""Milliseconds for the client's background thread to connect and to read; a run waits for neither."""

SENT = frozenset(
    """assistant_id documents evidence_count graph_id hits model model_name prompt_version revision_id run_id status step
    thread_id tool usage verdicts""".split()
)
"""Keys of metadata whose ids, words of our own lists and numbers are sent."""
LIBRARY = ("langgraph_", "ls_", "lc_")
"""Prefixes of the metadata that the libraries write: sent likewise."""
TOKEN = re.compile(r"[\w.:|@/+-]{1,120}")
KEY = re.compile(r"[a-z_][a-z0-9_.:-]{0,63}")
ERROR = re.compile(r"\s*(?:[\w.]+\.)?(\w+)\(")
MOST = 50
"""Ids of a list that are sent."""


def guard(settings: Settings) -> None:
    """Make the client that every LangSmith tracer of this process uses send ids and counts only.

    Also the tracers that LangGraph and LangGraph Server start by themselves use it. Does nothing while tracing is
    off; with CITEGRAPH_TRACE_TEXT the client sends what it is given.
    """
    from langsmith.utils import tracing_is_enabled

    if tracing_is_enabled():
        import langsmith

        langsmith.configure(client=tracing_client(settings))


def tracing_client(settings: Settings) -> "Client":
    """Return a LangSmith client that sends what the settings allow; address and key come from the environment."""
    import langsmith

    if settings.trace_text:
        return langsmith.Client(timeout_ms=TIMEOUT_MS)

    class Reticent(langsmith.Client):
        """A client that leaves out what its hide functions are not asked about: errors, model objects, arguments."""

        def create_run(self, name: str, inputs: dict[str, Any], run_type: Any, **more: Any) -> None:
            """See `Client.create_run`."""
            super().create_run(name, inputs, run_type, **reticent(more))

        def update_run(self, run_id: Any, **more: Any) -> None:
            """See `Client.update_run`."""
            super().update_run(run_id, **reticent(more))

    return Reticent(hide_inputs=sizes, hide_outputs=sizes, hide_metadata=ids, timeout_ms=TIMEOUT_MS)


def reticent(run: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a run: of an error the exception's name, of what is extra the metadata, no objects."""
    extra = run.get("extra") or {}
    kept = {key: extra[key] for key in ("metadata", "runtime") if key in extra}
    sent = {key: value for key, value in run.items() if key != "serialized"} | {"extra": kept}
    if sent.get("error"):
        found = ERROR.match(str(sent["error"]))
        sent["error"] = found[1] if found else "error"
    return sent


def sizes(data: dict[str, Any]) -> dict[str, Any]:
    """Return of a run's inputs or outputs the names of their parts and how large each is."""
    return {_name(key): _size(value) for key, value in data.items()}


def ids(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return of a run's metadata what `SENT` and `LIBRARY` name: ids, numbers and words of our own; else sizes."""
    return {
        _name(key): _id(value) if key in SENT or key.startswith(LIBRARY) else _size(value)
        for key, value in metadata.items()
    }


def _name(key: str) -> str:
    """Return a key as it may be sent: one of a program, not one that a document gave."""
    return key if KEY.fullmatch(key) else "key"


def _id(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if TOKEN.fullmatch(value) else _size(value)
    if isinstance(value, list):
        return [_id(item) for item in value[:MOST] if not isinstance(item, list | dict)]
    if isinstance(value, dict):
        return {_name(key): part for key, part in value.items() if isinstance(part, int | float)}
    return _size(value)


def _size(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return f"<{len(value)} characters>"
    if isinstance(value, list | dict | tuple):
        return f"<{len(value)} entries>"
    return f"<{type(value).__name__}>"


def tell(step: str, state: Mapping[str, Any], update: Mapping[str, Any]) -> None:
    """Put tags and counts on the step's run and on the run of the whole graph; feedback after the last step.

    A run without a tracer costs one look. Nothing that goes wrong here reaches the run.
    """
    from langsmith.run_helpers import get_current_run_tree

    run = get_current_run_tree()
    if run is None:
        return
    try:
        _tell(run, step, {**state, **update}, update)
    except Exception as error:
        log.debug("tracing of step %s failed: %s", step, type(error).__name__)


def _tell(run: "RunTree", step: str, state: Json, update: Mapping[str, Any]) -> None:
    run.add_metadata({"step": step, **counts(update)})
    whole = graph_run(run)
    if whole is None:
        return
    prompts = [tag for child in run.child_runs for tag in child.tags or [] if tag.startswith("prompt:")]
    run.add_tags(fresh(run, prompts))
    whole.add_tags(fresh(whole, [*plan_tags(state), *prompts]))
    if (update.get("decision") or {}).get("status") == "clarify":
        whole.add_tags(fresh(whole, ["status:needs_clarification"]))
    answer = update.get("answer")
    if answer:
        whole.add_tags(fresh(whole, [f"status:{answer['status']}"]))
        whole.add_metadata(answer_counts(answer))
        FEEDBACK.later(partial(send_feedback, whole, feedback_of(answer)))


def fresh(run: "RunTree", tags: Iterable[str]) -> list[str]:
    """Return the tags that a run does not carry yet, once each."""
    return [tag for tag in dict.fromkeys(tags) if tag not in (run.tags or [])]


def graph_run(run: "RunTree") -> "RunTree | None":
    """Return the run of the whole graph that a step's run belongs to, from the tracer that holds both."""
    from langchain_core.tracers.langchain import LangChainTracer

    handlers = getattr(get_config().get("callbacks"), "handlers", [])
    for tracer in handlers:
        if isinstance(tracer, LangChainTracer):
            found = tracer.run_map.get(str(run.parent_run_id))
            if found is not None:
                return found
    return None


def plan_tags(state: Mapping[str, Any]) -> list[str]:
    """Return the tags of a planned run: intent, buckets and strategy."""
    plan = state.get("plan") or {}
    tags = [f"bucket:{bucket}" for bucket in plan.get("buckets", [])]
    for key in ("intent", "strategy"):
        if plan.get(key):
            tags.append(f"{key}:{plan[key]}")
    return tags


def counts(update: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a step: what it found, kept, noted and spent."""
    usage = {
        key: value for key, value in (update.get("usage") or {}).items() if isinstance(value, int | float)
    }
    found = update.get("found")
    numbers: dict[str, Any] = {"usage": usage} if usage else {}
    if found:
        numbers["hits"] = sum(len(item.get("hits", [])) for item in found)
        numbers["tool"] = found[0]["call"]["tool"]
    if "evidence" in update:
        numbers["evidence_count"] = len(update["evidence"])
        numbers["documents"] = list(dict.fromkeys(str(item["doc"]) for item in update["evidence"]))[:MOST]
    return numbers


def answer_counts(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a whole run, from its answer."""
    numbers = {key: value for key, value in answer["usage"].items() if isinstance(value, int | float)}
    lists = {f"{key}_count": len(answer[key]) for key in ("citations", "claims", "notes", "documents")}
    verdicts = [claim["verdict"] for claim in answer["claims"]]
    return {"status": answer["status"], "usage": numbers | lists, "verdicts": verdicts[:MOST]}


def feedback_of(answer: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores of a run: how often steps fell back, citation precision where claims were checked, and its confidence."""
    scores = {"fallbacks": answer["usage"]["fallbacks"]}
    scores |= {name: answer.get(name) for name in ("citation_precision", "confidence")}
    return {name: float(score) for name, score in scores.items() if score is not None}


class Feedback:
    """Attaches scores to runs from one thread in the background: the project's id must be asked for first.

    When LangSmith does not answer, scores wait in a queue of `WAITING`, and later ones are dropped.
    """

    def __init__(self) -> None:
        self._queue: queue.Queue[Callable[[], None]] = queue.Queue(WAITING)
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None

    def later(self, send: "Callable[[], None]") -> None:
        """Send something in the background; returns at once."""
        with self._lock:
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="langsmith-feedback", daemon=True)
                self._worker.start()
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(send)

    def settle(self, seconds: float) -> None:
        """Wait until nothing waits, at most `seconds`; blocking."""
        until = time.monotonic() + seconds
        while self._queue.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.01)

    def _work(self) -> None:
        while True:
            send = self._queue.get()
            try:
                send()
            except Exception as error:
                log.warning("LangSmith got no feedback: %s", type(error).__name__)
            finally:
                self._queue.task_done()


WAITING = 1_000
FEEDBACK = Feedback()
"""One a process, like the client that it uses; its thread starts with the first score."""


def send_feedback(run: "RunTree", scores: Mapping[str, float]) -> None:
    """Attach scores to a run; blocking, and raises what the client raises."""
    client: Client = run.client
    # The project exists once its first run has arrived.
    client.flush(timeout=TIMEOUT_MS[1] / 1000)
    project = project_id(client, str(run.session_name))
    for key, score in scores.items():
        client.create_feedback(key=key, score=score, run_id=run.id, trace_id=run.trace_id, session_id=project)


def reader_feedback(run_id: str, score: int, comment: str) -> None:
    """Attach what the reader thinks of a run's answer (1 good, -1 bad) to its trace, where runs are traced.

    Args:
        comment: the reader's words; "" where no text may be sent.
    """
    from langsmith.utils import tracing_is_enabled

    if score and tracing_is_enabled():
        FEEDBACK.later(partial(send_reader_feedback, run_id, score, comment))


def send_reader_feedback(run_id: str, score: int, comment: str) -> None:
    """Attach a reader's score to a run by its id; blocking, and raises what the client raises."""
    from uuid import UUID

    from langsmith.run_trees import get_cached_client
    from langsmith.utils import get_tracer_project

    client, run = get_cached_client(), UUID(run_id)
    project = project_id(client, get_tracer_project())
    client.create_feedback(
        key="reader",
        score=max(score, 0),
        comment=comment or None,
        run_id=run,
        trace_id=run,
        session_id=project,
    )


@lru_cache(maxsize=64)
def project_id(client: "Client", project: str) -> "UUID":
    """Return the id of a project by its name, asked for once."""
    found: UUID = client.read_project(project_name=project).id
    return found


def settle(seconds: float) -> None:
    """Wait until what was traced is sent, at most `seconds`: for a process that is about to end; blocking."""
    from langsmith.run_trees import get_cached_client
    from langsmith.utils import tracing_is_enabled

    if not tracing_is_enabled():
        return
    until = time.monotonic() + seconds
    FEEDBACK.settle(seconds)
    left = until - time.monotonic()
    if left > 0:
        get_cached_client().flush(timeout=left)
