"""Watch every step of a run in one place, and tell who wants to know: observers, spans, and LangSmith.

The seam: `Watched` wraps each node of `graph.build`, so a step's begin and end, with what it found (searches) and what
it spent (model calls), pass through `Watched.__call__`. Each single model call is a LangChain run named by its step
(`citegraph.llm.call_options.Call.config`) and a span (`citegraph.llm.model_spans`). `Services.observers` hear of every step as a `StepSeen`; spans are
made in `graph.step_spans`. All of them get names, ids and counts.
"""

import contextlib
import logging
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from citegraph.run.context import Context
from citegraph.run.observing import Observer, StepSeen
from citegraph.run.state import Json, Update
from citegraph.settings import Settings
from graph.step_spans import counted, step_span

if TYPE_CHECKING:
    from uuid import UUID

    from langsmith import Client
    from langsmith.run_trees import RunTree

log = logging.getLogger(__name__)

TIMEOUT_MS = (3_000, 10_000)
"""Milliseconds for the client's background thread to connect and to read; a run waits for neither."""

NAMED = frozenset(
    """assistant_id bucket buckets doc doc_id doc_ids documents evidence_id graph_id id intent kind marker mode model
    model_name model_provider prompt_version revision_id rung run_id search_quality status step strategy thread_id tool
    verdict""".split()
)
"""Keys whose values may be sent when they are single tokens: ids, and words of this project's own lists."""
LIBRARY = ("langgraph_", "ls_", "lc_")
"""Prefixes of the metadata that the libraries write: treated as ids."""
COUNTED = frozenset(
    """cache_hits citation_precision citation_recall cost dropped evidence_count fallbacks fresh hits input_tokens
    input_token_details llm_calls matched max_tokens output_tokens
    output_token_details cache_read reasoning page rank rerank rounds score seconds side state_version steps temperature
    tool_calls tokens_in tokens_out total_tokens usage usage_metadata estimated estimated_calls retrieve""".split()
)
"""Keys whose numbers may be sent; maps below them are maps of numbers."""
OPENED = frozenset(
    "answer call calls citations claims decision evidence found gate notes plan routes".split()
)
"""Keys whose content is looked into, by the same rules."""
KIND = re.compile(r"[a-z ]{1,30}")
"""A note's kind, such as "clause dropped"."""
TOKEN = re.compile(r"[\w.:|@/+-]{1,120}")
KEY = re.compile(r"[a-z_][a-z0-9_.:-]{0,63}")
ERROR = re.compile(r"\s*(?:[\w.]+\.)?(\w+)\(")
MOST = 50
"""Entries of a list that are shown; its length is always said."""


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
        """A client that leaves out what its anonymizer is not asked about: model objects and their arguments."""

        def create_run(self, name: str, inputs: dict[str, Any], run_type: Any, **more: Any) -> None:
            """See `Client.create_run`."""
            super().create_run(name, inputs, run_type, **without_objects(more))

        def update_run(self, run_id: Any, **more: Any) -> None:
            """See `Client.update_run`."""
            super().update_run(run_id, **without_objects(more))

    return Reticent(anonymizer=redacted, timeout_ms=TIMEOUT_MS)


def without_objects(run: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a run without serialized objects, and with the metadata alone of what is extra."""
    extra = run.get("extra") or {}
    kept = {key: extra[key] for key in ("metadata", "runtime") if key in extra}
    return {key: value for key, value in run.items() if key != "serialized"} | {"extra": kept}


def redacted(data: dict[str, Any]) -> dict[str, Any]:
    """Return a run's inputs, outputs, metadata or error without text: known ids, names and counts, sizes else.

    The client hands an error in as `{"error": text}`; of it only the exception's name is kept.
    """
    if set(data) == {"error"} and isinstance(data["error"], str):
        found = ERROR.match(data["error"])
        return {"error": found[1] if found else "error"}
    return {name(key): entry(key, value) for key, value in data.items()}


def name(key: str) -> str:
    """Return a key as it may be sent: one of a program, not one that a document gave."""
    return key if KEY.fullmatch(key) else "key"


def entry(key: str, value: Any) -> Any:
    """Return what may be said of the value under a key."""
    if value is None or isinstance(value, bool):
        return value
    if key == "kind" and isinstance(value, str) and KIND.fullmatch(value):
        return value
    if key.startswith(LIBRARY) and isinstance(value, int | float):
        return value
    if key in NAMED or key.startswith(LIBRARY):
        return named(value)
    if key in COUNTED:
        return numbers(value)
    if key in OPENED and isinstance(value, dict):
        return {name(inner): entry(inner, part) for inner, part in value.items()}
    if key in OPENED and isinstance(value, list):
        shown = [redacted(item) for item in value[:MOST] if isinstance(item, dict)]
        return {"count": len(value), "items": shown}
    return size(value)


def named(value: Any) -> Any:
    """Return an id or a word of our own as it is, a list of them cut to `MOST`; anything longer by its size."""
    if isinstance(value, str):
        return value if TOKEN.fullmatch(value) else size(value)
    if isinstance(value, list) and all(isinstance(item, str) and TOKEN.fullmatch(item) for item in value):
        return value[:MOST]
    return size(value)


def numbers(value: Any) -> Any:
    """Return a number, or the numbers of a map; anything else by its size."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {name(key): numbers(part) for key, part in value.items()}
    return size(value)


def size(value: Any) -> str:
    """Return how large a value is that is not sent."""
    if isinstance(value, str):
        return f"<{len(value)} characters>"
    if isinstance(value, list | dict):
        return f"<{len(value)} entries>"
    return f"<{type(value).__name__}>"


@dataclass(frozen=True)
class Watched:
    """A node whose begin and end are seen; runs and answers are the node's own."""

    step: str
    node: Any
    observers: tuple[Observer, ...] = ()

    async def __call__(self, state: Any, runtime: Runtime[Context]) -> Update:
        """Run the node, then tell what it did."""
        config = get_config()
        with step_span(self.step, state, config) as span:
            began = time.perf_counter()
            update: Update = await self.node(state, runtime)
            seen = seen_of(self.step, update, config, time.perf_counter() - began)
            counted(span, seen)
        tell(self.step, state, update)
        observe(self.observers, seen)
        return update


def seen_of(
    step: str, update: Mapping[str, Any], config: Mapping[str, Any], seconds: float | None
) -> StepSeen:
    """Return what observers hear of a step that made this update; no text.

    What a new turn overwrites stands in LangGraph's `Overwrite`.
    """
    update = {key: value.value if isinstance(value, Overwrite) else value for key, value in update.items()}
    found = update.get("found")
    hits = [hit for item in found or [] for hit in item.get("hits", [])]
    answer = update.get("answer") or {}
    paused = (update.get("decision") or {}).get("status") == "clarify"
    return StepSeen(
        step=step,
        run_id=str((config.get("metadata") or {}).get("run_id", "")),
        thread_id=str((config.get("configurable") or {}).get("thread_id", "")),
        seconds=seconds,
        tool=str(found[0]["call"]["tool"]) if found else "",
        candidates=len(hits) if found else None,
        scores=tuple(float(hit["score"]) for hit in hits if isinstance(hit.get("score"), int | float)),
        usage={
            key: value for key, value in (update.get("usage") or {}).items() if isinstance(value, int | float)
        },
        notes=tuple(str(item["kind"]) for item in update.get("notes") or []),
        status="needs_clarification" if paused else str(answer.get("status", "")),
        run_seconds=(answer.get("usage") or {}).get("seconds"),
    )


def observe(observers: Iterable[Observer], seen: StepSeen) -> None:
    """Tell observers of a step; nothing that goes wrong there reaches the run."""
    for observer in observers:
        try:
            observer.saw(seen)
        except Exception as error:
            log.debug("observing step %s failed: %s", seen.step, type(error).__name__)


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
        FEEDBACK.give(whole, feedback_of(answer))


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
    return numbers


def answer_counts(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a whole run, from its answer."""
    numbers = {key: value for key, value in answer["usage"].items() if isinstance(value, int | float)}
    lists = {f"{key}_count": len(answer[key]) for key in ("citations", "claims", "notes", "documents")}
    return {"status": answer["status"], "usage": numbers | lists}


def feedback_of(answer: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores of a run: how often steps fell back, and citation precision where claims were checked."""
    scores = {"fallbacks": float(answer["usage"]["fallbacks"])}
    if answer.get("citation_precision") is not None:
        scores["citation_precision"] = float(answer["citation_precision"])
    return scores


class Feedback:
    """Attaches scores to runs from one thread in the background: the project's id must be asked for first.

    When LangSmith does not answer, scores wait in a queue of `WAITING`, and later ones are dropped.
    """

    def __init__(self) -> None:
        self._queue: queue.Queue[Callable[[], None]] = queue.Queue(WAITING)
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None

    def give(self, run: "RunTree", scores: Mapping[str, float]) -> None:
        """Send scores of a run that is about to end; returns at once."""
        self.later(partial(send_feedback, run, dict(scores)))

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
