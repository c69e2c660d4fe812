"""The command `doctor`: looks at everything that a run needs and says what to mend."""

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from citegraph.errors import BadInput, CitegraphError, Unavailable
from citegraph.run.json_output import dumped
from cli.exits import ANSWERED, FAILED
from cli.options import AsJson, new_app
from cli.terminal import say, write

if TYPE_CHECKING:
    from citegraph.settings import Settings

T = TypeVar("T")
Status = Literal["ok", "warning", "failed"]
ROOT = Path(__file__).resolve().parent.parent
LOW_DISK, NO_DISK = 2_000, 200
"""Free megabytes below which an ingest may not end, and below which nothing can be written."""
SECONDS = 20.0
"""Longest wait for an endpoint; a model that must wake up first takes more at its first call."""
MARKS = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do where it is not well."""

    name: str
    status: Status
    found: str
    fix: str = ""


app = new_app()


@app.command()
def doctor(
    as_json: AsJson = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Restore damaged stores from the last backup, make a damaged index anew."
        ),
    ] = False,
) -> None:
    """Look at settings, stores, models and tools, and say what to mend; exits with 5 when something failed.

    Without --repair nothing is changed or created but a probe.
    """
    if repair:
        from citegraph.settings import load_settings
        from cli.mending import repairs

        for line in repairs(load_settings()):
            say(line)
    checks = list(examine())
    good = all(check.status != "failed" for check in checks)
    if as_json:
        write(dumped({"ok": good, "checks": [asdict(check) for check in checks]}))
    else:
        write("\n".join(line for check in checks for line in _lines(check)))
    raise typer.Exit(ANSWERED if good else FAILED)


def _lines(check: Check) -> Iterator[str]:
    yield f"{MARKS[check.status]} {check.name}: {check.found}"
    if check.fix:
        yield f"        -> {check.fix}"


def examine() -> Iterator[Check]:
    """Yield the checks, the cheap ones first; when the settings cannot be read there is nothing else to look at."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from citegraph.settings import load_settings

    yield versions()
    try:
        settings = load_settings()
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        yield Check("settings", "failed", f"{where}: {first['msg']}", "See .env.example for what it takes.")
        return
    except SettingsError as error:
        yield Check("settings", "failed", str(error), "JSON is expected; see .env.example.")
        return
    yield Check("settings", "ok", "all variables can be read")
    yield home(settings)
    yield disk(settings)
    yield recognition()
    for name, (look, fix) in LOOKS.items():
        yield guarded(name, look, settings, fix)


Found = Check | Coroutine[Any, Any, Check]


def guarded(name: str, look: "Callable[[Settings], Found]", settings: "Settings", fix: str) -> Check:
    """Return the check, or one that failed: our own errors say what to do, of others only the kind is told."""
    try:
        found = look(settings)
        return found if isinstance(found, Check) else asyncio.run(found)
    except CitegraphError as error:
        return Check(name, "failed", str(error), fix)
    except ModuleNotFoundError as error:
        fix = "Install it; `make test` brings all extras."
        return Check(name, "failed", f"the package {error.name} is missing", fix)
    except Exception as error:
        return Check(name, "failed", f"unexpected {type(error).__name__}", fix)


def versions() -> Check:
    """Look at Python and at every package that Citegraph asks for."""
    from packaging.requirements import Requirement

    wrong, shown = [], []
    for text in requires("citegraph") or []:
        wanted = Requirement(text)
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            found = version(wanted.name)
        except PackageNotFoundError:
            wrong.append(f"{wanted.name} is missing")
            continue
        if not wanted.specifier.contains(found, prereleases=True):
            wrong.append(f"{wanted.name} {found} is not {wanted.specifier}")
        if wanted.name in ("langgraph", "langchain-core", "qdrant-client", "qdrant-edge-py"):
            shown.append(f"{wanted.name} {found}")
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    if wrong:
        return Check("versions", "failed", "; ".join(wrong), "pip install -c constraints.txt -e .")
    return Check("versions", "ok", ", ".join([f"citegraph {version('citegraph')}", python, *sorted(shown)]))


def _nearest(folder: Path) -> Path:
    """Return the folder, or the one above it that exists."""
    folder = folder.resolve()
    while not folder.exists():
        folder = folder.parent
    return folder


def home(settings: "Settings") -> Check:
    """Look whether the home can be written, by writing a file that goes again."""
    folder = _nearest(settings.home)
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
    except OSError as error:
        fix = "Set CITEGRAPH_HOME to a folder of your own."
        return Check("home", "failed", f"{folder}: {error.strerror}", fix)
    made = "" if settings.home.is_dir() else " (made by the first ingest)"
    return Check("home", "ok", f"{settings.home} can be written{made}")


def disk(settings: "Settings") -> Check:
    """Look at the free space beneath the home."""
    free = shutil.disk_usage(_nearest(settings.home)).free // 1_000_000
    fix = "Make room, or set CITEGRAPH_HOME to a larger disk."
    if free < LOW_DISK:
        return Check("disk", "failed" if free < NO_DISK else "warning", f"{free:,} MB free", fix)
    return Check("disk", "ok", f"{free:,} MB free")


def recognition() -> Check:
    """Look for Tesseract and its languages: without them scans are named as skipped."""
    from citegraph.corpus.readers.images.recognition import installed, missing

    lacks = missing()
    if lacks:
        return Check("ocr", "warning", "pictures and scans cannot be read", lacks)
    import pytesseract

    found = sorted(installed() - {"osd", "snum"})
    if not found:
        return Check("ocr", "warning", "Tesseract has no language data", "apt-get install tesseract-ocr-eng")
    return Check(
        "ocr", "ok", f"Tesseract {pytesseract.get_tesseract_version()}, languages {', '.join(found)}"
    )


def served_graphs(settings: "Settings") -> Check:
    """Import what langgraph.json names, as LangGraph Server will."""
    file = next((path for path in (Path("langgraph.json"), ROOT / "langgraph.json") if path.is_file()), None)
    if file is None:
        fix = "Only `langgraph dev` and its server need it."
        return Check("graphs", "warning", "there is no langgraph.json here", fix)
    declared = json.loads(file.read_text("utf-8"))
    targets = [
        *(served["path"] for served in declared.get("graphs", {}).values()),
        declared["auth"]["path"],
        declared["http"]["app"],
    ]
    for target in targets:
        module, _, name = target.partition(":")
        if not hasattr(import_module(module), name):
            raise BadInput(f"langgraph.json: {module} has no {name}")
    return Check("graphs", "ok", f"langgraph.json: {', '.join(targets)}")


def keys(settings: "Settings") -> Check:
    """Look whether whoever asks must show a key, and whether the keys can be read."""
    if not settings.auth_required:
        fix = "Before others reach it: `citegraph key NAME`."
        return Check("keys", "warning", "a server asks nobody for a key", fix)
    # By name: the server and the command line stand side by side, neither imports the other.
    auth = import_module("server.auth")
    try:
        auth.Credentials(settings).principal({"x-api-key": "not a key"})
    except auth.Unauthenticated:
        return Check("keys", "ok", "keys or tokens are asked for")
    raise BadInput("Anything is taken for a key.")


def buckets(settings: "Settings") -> Check:
    """Read the bucket declarations."""
    from citegraph.corpus.schema.bucket import load_buckets

    return Check("buckets", "ok", ", ".join(load_buckets(settings.buckets_dir)))


def parts(settings: "Settings") -> Check:
    """Load the parts of the user's own and name them."""
    from citegraph.run.replacements import load_parts

    named = [f"{part.kind} {part.path}" for part in load_parts(settings).values()]
    return Check("parts", "ok", ", ".join(named) or "none of your own")


def store(settings: "Settings") -> Check:
    """Count the documents."""
    from citegraph.corpus.records.documents import DocumentStore

    if settings.nothing_stored:
        return Check("store", "warning", "no document yet", "citegraph ingest PATH --bucket NAME")
    kind = "PostgreSQL" if settings.sql_url.startswith("postgres") else "SQLite"
    return Check("store", "ok", f"{DocumentStore(settings.sql_url).count():,} documents in {kind}")


async def index(settings: "Settings") -> Check:
    """Open the index of each bucket with the embedding model of the settings, and ask both."""
    from citegraph.corpus.schema.bucket import load_buckets
    from citegraph.llm.embeddings import load_embedder
    from citegraph.run.services import load_index

    embedder = await asyncio.to_thread(load_embedder, settings)
    await asyncio.to_thread(embedder.embed_query, "ready?")
    engine = "Qdrant server" if settings.qdrant_url else "embedded engine"
    opened = load_index(settings, embedder)
    try:
        counts = [await _timely(opened.count(name), engine) for name in load_buckets(settings.buckets_dir)]
    except Unavailable as error:
        if settings.qdrant_url or "another process" not in str(error):
            raise
        fix = "Stop the server or the ingest that holds it, or leave it be."
        return Check("index", "warning", str(error), fix)
    finally:
        await opened.close()
    return Check("index", "ok", f"{sum(counts):,} chunks in the {engine}, embedded by {embedder.name}")


async def model(settings: "Settings") -> Check:
    """Make one tiny call of each model that a step is configured with."""
    from langchain_core.messages import HumanMessage

    from citegraph.llm.budget import CallBudget
    from citegraph.llm.call_options import STEPS, Call
    from citegraph.llm.chat import ChatModels, text

    models = ChatModels(settings)
    specs = {(spec.base_url, spec.model): step for step in STEPS if (spec := models.spec(step)).model}
    if not specs:
        return Check("model", "ok", "none is configured: every step is answered by its twin")
    seconds = []
    try:
        for step in specs.values():
            call = Call(step, [HumanMessage("Say ok.")], CallBudget.of(1, SECONDS))
            seconds.append((await text(models, call)).seconds)
    finally:
        await models.aclose()
    answered = [f"{name} in {took:.1f} s" for (_, name), took in zip(specs, seconds, strict=True)]
    return Check("model", "ok", f"answered: {', '.join(answered)}")


async def reranker(settings: "Settings") -> Check:
    """Let the second stage order nothing much; the chat model's ones were asked above."""
    from citegraph.corpus.index.rerankers import load_reranker
    from citegraph.corpus.schema.document import Chunk, Hit

    found = await asyncio.to_thread(load_reranker, settings)
    if "reranker" in settings.parts:
        return Check("reranker", "ok", "one of your own, see parts")
    if found is None:
        return Check(
            "reranker", "ok", "none" if settings.reranker == "none" else f"{settings.reranker}, by the model"
        )
    chunk = Chunk("1", "probe", "probe", 0, "ready", 0, 5, "", "")
    await _timely(found.rerank("ready?", [Hit(chunk, 1.0, None)]), "reranker")
    return Check("reranker", "ok", f"{settings.reranker} answers")


LOOKS: "dict[str, tuple[Callable[[Settings], Found], str]]" = {
    "graphs": (served_graphs, "Run it in the folder of langgraph.json; reinstall with `make demo`."),
    "keys": (keys, "Mend the file, or make keys with `citegraph key NAME`."),
    "buckets": (buckets, "Mend the line that is named."),
    "parts": (parts, "Mend the part or CITEGRAPH_PARTS; see docs/parts.md."),
    "store": (store, "Check CITEGRAPH_DATABASE_URL and that the database runs."),
    "index": (index, "Check QDRANT_URL and the embedding settings."),
    "model": (model, "Check CITEGRAPH_MODEL, OPENAI_API_KEY and OPENAI_BASE_URL."),
    "reranker": (reranker, "Check CITEGRAPH_RERANKER and CITEGRAPH_RERANK_URL."),
}
"""What is looked at with the settings, in this order, and what to do where it fails."""


async def _timely(asked: Awaitable[T], whom: str) -> T:
    try:
        return await asyncio.wait_for(asked, SECONDS)
    except TimeoutError as error:
        raise Unavailable(f"The {whom} did not answer within {SECONDS:.0f} s.") from error
