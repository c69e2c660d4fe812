"""The command line `citegraph`: which commands there are; the module of a command is imported when it is used."""

import sys
from collections.abc import Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.exits import report
from cli.quick_start import keep_loaded, start_quickly

COMMANDS = {
    "ask": ("cli.ask", "Answer a question."),
    "chat": ("cli.conversing", "Ask, ask on and reply in one conversation."),
    "threads": ("cli.conversing", "List, show and delete conversations."),
    "open": ("cli.conversing", "Open a document's file at a page."),
    "ingest": ("cli.ingest", "Bring documents into a bucket."),
    "buckets": ("cli.buckets", "List the buckets, or document one of them."),
    "annotate": ("cli.annotate", "Show, correct or extract again the values of documents."),
    "export": ("cli.export", "Write the documents of a bucket as CSV."),
    "verify": ("cli.verify", "Hold the claims of an answer against what it cites."),
    "bucket": ("cli.declarations", "Propose and check bucket declarations."),
    "demo": ("cli.demo", "Ask the sample corpus three questions."),
    "serve": ("cli.serve", "Serve the page and the HTTP API."),
    "mcp": ("cli.serve", "Serve the Model Context Protocol on stdin and stdout."),
    "key": ("cli.serve", "Make an API key."),
    "doctor": ("cli.doctor", "Look at settings, stores, models and tools."),
    "eval": ("cli.evaluate", "Measure sets of questions, filters, passages or claims."),
    "backup": ("cli.mending", "Write a backup of documents, threads and uploads."),
    "restore": ("cli.mending", "Put a backup in the place of the home."),
    "reembed": ("cli.ingest", "Build a bucket's index anew."),
}
"""Command -> the module that declares it, and what the list of commands says of it."""


class Commands(TyperGroup):
    """The commands by name; to list them none is imported."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # The names, from which a mistyped one is guessed.
        self.commands: Any = dict.fromkeys(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command, or the group of commands, that a module declares under this name."""
        if cmd_name not in COMMANDS:
            return None
        start_quickly()
        module = import_module(COMMANDS[cmd_name][0])
        group = typer.main.get_group(getattr(module, f"{cmd_name}_app", module.app))
        return group.commands.get(cmd_name, group)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the names of commands that begin so, without importing any."""
        named = [name for name in COMMANDS if name.startswith(incomplete)]
        return [SimpleNamespace(type="plain", value=name, help=COMMANDS[name][1]) for name in named]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


app = typer.Typer(
    name="citegraph",
    cls=Commands,
    help="Answer questions over document collections, with citations that are checked.",
    epilog="Data lives in CITEGRAPH_HOME (default .citegraph/).",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; an error is one line on stderr, never a stack trace."""
    if arguments is None:
        keep_loaded()
    try:
        app(None if arguments is None else list(arguments))
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(report(error))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"citegraph {version('citegraph')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


if __name__ == "__main__":
    main()
