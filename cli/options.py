"""Options that several commands have, and those of a question read into the typed `Context` of its run."""

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from citegraph.errors import BadInput
from citegraph.run.context import Context, read_context

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket


BucketName = Annotated[str, typer.Option("--bucket", "-b", help="Name of the bucket.", show_default=False)]
BucketNames = Annotated[
    list[str], typer.Option("--bucket", "-b", help="Search only this bucket; may be repeated.")
]
FilterTexts = Annotated[
    list[str],
    typer.Option("--filter", "-f", help="Hard filter such as 'total_amount>=100'; may be repeated."),
]
ContextTexts = Annotated[
    list[str],
    typer.Option(
        "--context", "-c", help="Setting of the run as key=value, e.g. max_rounds=2; may be repeated."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]


def make_context(
    pairs: Sequence[str], *, buckets: Sequence[str] = (), filters: Sequence[str] = ()
) -> Context:
    """Return the run's settings from `key=value` texts and the repeated options.

    Raises:
        BadInput: a key is unknown or a value does not fit; the message names the field and what it takes.
    """
    given: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise BadInput(f"--context {pair[:60]!r}: write key=value, e.g. max_rounds=2.")
        given[name] = _parsed(name, text.strip()) if name in Context.model_fields else text
    for name, values in (("buckets", buckets), ("filters", filters)):
        if values:
            given[name] = [*given.get(name, []), *values]
    try:
        return read_context(given)
    except BadInput as error:
        raise BadInput(f"--context {error}") from error


def _parsed(name: str, text: str) -> Any:
    """Return a list or object as JSON says (a list also as "a,b"), anything else as text for pydantic."""
    kind = Context.model_json_schema()["properties"][name].get("type")
    if kind not in {"array", "object"}:
        return text
    try:
        return json.loads(text)
    except ValueError:
        if kind == "array":
            return [part.strip() for part in text.split(",") if part.strip()]
        raise BadInput(f"--context {name}: write a JSON object, e.g. {name}={{}}.") from None


def check_scope(context: Context, buckets: "dict[str, Bucket]") -> None:
    """Refuse unknown buckets, and filters that fit none of the buckets that will be searched.

    Raises:
        BadInput: the message says which bucket or filter, and what there is instead.
    """
    from citegraph.corpus.filters.checks import check
    from citegraph.corpus.filters.clause import FilterProblem, parse_clause
    from citegraph.corpus.schema.bucket import bucket_named

    searched = [bucket_named(buckets, name) for name in context.buckets or buckets]
    for text in context.filters:
        clause = parse_clause(text)
        results = [check(bucket, clause, today=context.now) for bucket in searched]
        problems = [result for result in results if isinstance(result, FilterProblem)]
        if len(problems) == len(searched):
            known = [
                item for bucket, item in zip(searched, problems, strict=True) if bucket.field(clause.field)
            ]
            raise BadInput(f"Filter {text[:60]!r}: {(known or problems)[0]}.")


R = TypeVar("R")


def new_app(help: str | None = None) -> typer.Typer:
    """Return the app that a module adds its commands to; with a help it is a command with commands of its own."""
    return typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[[R], int]], Callable[[R], int]]:
    """Return a decorator that declares a command: the fields of its function's dataclass are its options.

    Each field is `Annotated` with what Typer needs to know of it; what the function returns is the exit code. Its
    docstring, without what it raises, is the help.
    """

    def declare(run: Callable[[R], int]) -> Callable[[R], int]:
        request: Any = next(iter(get_type_hints(run).values()))
        hints = get_type_hints(request, include_extras=True)

        def call(**given: Any) -> None:
            raise typer.Exit(run(request(**given)))

        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(
                    item.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=_default(item),
                    annotation=hints[item.name],
                )
                for item in fields(request)
            ]
        )
        call.__doc__ = (inspect.getdoc(run) or "").partition("\n\nRaises:")[0]
        app.command(name or run.__name__)(call)
        return run

    return declare


def _default(item: "Field[Any]") -> Any:
    if item.default_factory is not MISSING:
        return item.default_factory()
    return inspect.Parameter.empty if item.default is MISSING else item.default
