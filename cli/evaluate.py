"""The command `eval`: question, filter and retrieval sets and judged claims measured, as a table or as JSON."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from citegraph.errors import BadInput
from citegraph.run.answer_types import Table
from citegraph.run.json_output import dumped
from citegraph.run.services import Services
from cli.answer_text import line_width, table_text
from cli.exits import ANSWERED, FAILED
from cli.options import AsJson, ContextTexts, Quiet, command, make_context, new_app
from cli.terminal import progress, say, write
from evals.question_files import Question, read_questions
from evals.questions import is_question_set, keep_in, run_questions
from evals.scoring import MEASURES, Outcome, misses, summarise

if TYPE_CHECKING:
    from langsmith import Client

    from citegraph.run.context import Context

MODES = ("graph", "loop", "single")
"""The search graph, the single-loop agent, and the graph in a single pass."""
FELL_BACK = "no model is configured for the step agent, so one pass by rules answered in place of the loop"
COMPARED = ("rows", *MEASURES[3:], "failed", "bad_citations")
COLUMNS = ("rows", *MEASURES, "failed", "bad_citations")


app = new_app()


@dataclass(frozen=True, slots=True)
class Evaluate:
    """What to measure, and how."""

    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Question files, folders of them, retrieval sets, judged claims.", show_default=False
        ),
    ]
    as_json: AsJson = False
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep each answer in this JSONL file.")] = (
        None
    )
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Only the first questions.")] = (
        None
    )
    misses: Annotated[bool, typer.Option("--misses", help="List what went wrong, by question.")] = False
    mode: Annotated[
        str,
        typer.Option("--mode", "-m", help="graph, loop or single; several, as graph,loop, are compared."),
    ] = "graph"
    langsmith: Annotated[
        bool, typer.Option("--langsmith", help="Upload questions and outcomes to LangSmith as experiments.")
    ] = False
    context: ContextTexts = field(default_factory=list)
    quiet: Quiet = False


@command(app, "eval")
def evaluate(request: Evaluate) -> int:
    """Measure question sets (routing, documents, answers, behaviour), retrieval sets and judged claims.

    Exits with 5 when any run failed.

    Raises:
        BadInput: a path holds nothing that can be measured, a row is broken, or LangSmith's key is missing.
        Unavailable: LangSmith does not take the results; they were printed before.
    """
    from evals.claim_sets import score_claim_set
    from evals.experiments import open_client
    from evals.filter_sets import is_filter_set, score_filter_set

    context, modes = make_context(request.context), read_modes(request.mode)
    client = open_client() if request.langsmith else None
    planned = [path for path in request.paths if is_filter_set(path)]
    questions, collections, claims = _sorted_out([path for path in request.paths if path not in planned])
    results: dict[str, Any] = {}
    outcomes: list[Outcome] = []
    compared: dict[str, Any] = {}
    if questions:
        by_mode = asyncio.run(_questions(questions, modes, request, context))
        outcomes = [outcome for made in by_mode.values() for outcome in made]
        compared = {mode: summarise(made) for mode, made in by_mode.items()}
        results |= compared[modes[0]] if len(compared) == 1 else {}
    said = fallback_notes(modes, context) if questions else {}
    for folder in collections:
        results[folder.name] = asyncio.run(_retrieval(folder, request.limit))
    judged = {folder.name: score_claim_set(folder) for folder in claims}
    filtered = {folder.name: score_filter_set(folder, limit=request.limit) for folder in planned}
    if request.as_json:
        several = {"modes": compared} if len(compared) > 1 else {}
        notes = {"notes": said} if said else {}
        write(dumped(results | judged | filtered | several | notes))
    else:
        _print_filter_sets(filtered, list_misses=request.misses)
        if len(compared) > 1:
            _print_modes(compared)
        for mode, line in said.items():
            say(f"{mode}: {line}")
        _print_tables(results, [folder.name for folder in collections])
        _print_claim_sets(judged)
    if request.misses and questions:
        (say if request.as_json else write)(misses_text(outcomes))
    if client is not None and questions:
        _upload(client, questions, by_mode)
    return FAILED if any(summary["overall"]["failed"] for summary in compared.values()) else ANSWERED


def _upload(client: "Client", paths: Sequence[Path], by_mode: dict[str, list[Outcome]]) -> None:
    from citegraph.settings import load_settings
    from evals.experiments import upload

    name = "-".join(dict.fromkeys(path.stem for path in paths))[:60]
    experiments = upload(client, name, by_mode, with_text=load_settings().trace_text)
    for mode, experiment in experiments.items():
        say(f"{mode}: experiment {experiment}")


def read_modes(text: str) -> tuple[str, ...]:
    """Return the modes that a text such as "graph,loop" names, each once.

    Raises:
        BadInput: there is no such mode.
    """
    modes = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown or not modes:
        raise BadInput(f"--mode {text!r}: give one or several of {', '.join(MODES)}.")
    return modes


def fallback_notes(modes: Sequence[str], context: "Context") -> dict[str, str]:
    """Return what must be said of the modes' numbers: a loop without a model is none."""
    if "loop" not in modes or Services().chat.configured("agent", context.models):
        return {}
    return {"loop": FELL_BACK}


def _print_modes(compared: dict[str, Any]) -> None:
    rows = [
        [mode, *(number_text(summary["overall"][column]) for column in COMPARED)]
        for mode, summary in compared.items()
    ]
    print_table(["mode", *COMPARED], rows)


def _sorted_out(paths: Sequence[Path]) -> tuple[list[Path], list[Path], list[Path]]:
    """Return the question files, the retrieval sets and the sets of judged claims among the paths."""
    from evals.claim_sets import claim_set
    from evals.retrieval import is_retrieval_set

    questions: list[Path] = []
    collections: list[Path] = []
    claims: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: no such file or folder")
        if path.is_dir() and is_retrieval_set(path):
            collections.append(path)
        elif claim_set(path):
            claims.append(path)
        elif is_question_set(path):
            questions.append(path)
        else:
            raise BadInput(
                f"{path}: neither questions (*.jsonl) nor a filter set nor a retrieval set (corpus, queries, qrels)"
                " nor judged claims"
            )
    return questions, collections, claims


async def _questions(
    paths: Sequence[Path], modes: Sequence[str], request: Evaluate, context: "Context"
) -> dict[str, list[Outcome]]:
    """Return the outcomes of all questions in each mode, one mode after the other."""
    questions = read_questions(paths)[: request.limit]
    with ExitStack() as stack:
        out = stack.enter_context(request.out.open("w", encoding="utf-8")) if request.out else None
        return {
            mode: await _in_mode(
                mode, questions, context, keep_in(out, mode) if out else None, quiet=request.quiet
            )
            for mode in modes
        }


async def _in_mode(
    mode: str,
    questions: Sequence[Question],
    context: "Context",
    keep: Callable[[Outcome], None] | None,
    *,
    quiet: bool,
) -> list[Outcome]:
    """Return the outcomes of all questions in one mode; stores are opened anew."""
    from langgraph.checkpoint.memory import InMemorySaver

    from graph.session import open_session

    services = Services(trusted=True)
    chosen = context.model_copy(update={"mode": "single"}) if mode == "single" else context
    graph: Literal["agent", "tool_loop"] = "tool_loop" if mode == "loop" else "agent"
    with progress("eval" if mode == "graph" else f"eval {mode}", quiet=quiet) as show:
        async with open_session(services, InMemorySaver(), graph) as session:
            documents = (await services.corpus()).documents
            return await run_questions(
                questions, session, documents, context=chosen, keep=keep, progress=show
            )


async def _retrieval(folder: Path, limit: int | None) -> dict[str, Any]:
    """Return the measures of a retrieval set: those of the default search, and of each mode under "modes"."""
    from citegraph.settings import load_settings
    from evals.retrieval import evaluate as evaluate_set
    from evals.retrieval import load_retrieval_set

    try:
        import ir_measures  # noqa: F401
    except ImportError as error:
        raise BadInput("A retrieval set needs ir-measures: pip install -e '.[eval]'.") from error
    with tempfile.TemporaryDirectory() as home:
        modes = await evaluate_set(load_retrieval_set(folder), load_settings(), Path(home), limit=limit)
    corpus = modes.pop("corpus", {})
    default = modes.get("hybrid+rerank") or modes["hybrid"]
    return {**default, **corpus, "modes": modes}


def _print_claim_sets(results: dict[str, Any]) -> None:
    from evals.claim_sets import claim_set_table

    for name, result in results.items():
        columns, rows = claim_set_table(result)
        print_table([f"{name} ({result['rows']} rows)", *columns[1:]], rows)


def _print_filter_sets(results: dict[str, Any], *, list_misses: bool) -> None:
    for name, result in results.items():
        shares = [key for key, value in result.items() if isinstance(value, float)]
        print_table(
            [name, "rows", *shares],
            [["all", str(result["rows"]), *(number_text(result[key]) for key in shares)]],
        )
        if list_misses:
            write("\n".join(f"{count} × {cause}" for cause, count in result["misses"].items()) or "no misses")


def _print_tables(results: dict[str, Any], collections: Sequence[str]) -> None:
    scored = {name: values for name, values in results.items() if name not in collections}
    if scored:
        rows = [
            [name, *(number_text(values[column]) for column in COLUMNS)] for name, values in scored.items()
        ]
        print_table(["category", *COLUMNS], rows)
    for name in collections:
        modes = results[name]["modes"]
        columns = list(next(iter(modes.values())))
        rows = [
            [mode, *(number_text(values[column]) for column in columns)] for mode, values in modes.items()
        ]
        print_table([name, *columns], rows)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout: aligned on a terminal, tab-separated when piped."""
    if not sys.stdout.isatty():
        write("\n".join("\t".join(row) for row in [columns, *rows]))
        return
    named = [column.replace("document_", "doc ") for column in columns]
    write(table_text(Table(columns=named, rows=[list(row) for row in rows]), line_width()))


def number_text(value: float | int | None) -> str:
    """Return a measure with up to three decimals, "-" when it does not apply."""
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def misses_text(outcomes: Sequence[Outcome]) -> str:
    """Return every question that was not answered as expected, with the causes."""
    lines: list[str] = []
    for outcome in outcomes:
        causes = misses(outcome)
        if causes:
            lines.append(
                f"{outcome.question.id} ({outcome.question.category}): {' / '.join(outcome.question.turns)}"
            )
            lines += [f"    {cause}" for cause in causes]
    return "\n".join(lines) or "no misses"
