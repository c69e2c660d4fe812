"""How a command is declared: once, as a dataclass of its options and the function that takes it."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, get_type_hints

import typer

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
