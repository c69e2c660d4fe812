"""The commands `serve` and `key`: the HTTP API on its own, and keys for those who may use it."""

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from citegraph.errors import BadInput
from citegraph.run.services import Services
from cli.demo import demo_settings, own_name
from cli.exits import ANSWERED
from cli.options import command, new_app
from cli.terminal import say, write

app = new_app()


@dataclass(frozen=True, slots=True)
class Key:
    """Whom a key is for, and what they may see ("*" is everything) and do."""

    name: Annotated[str, typer.Argument(help="Whom the key is for; owns the threads.", show_default=False)]
    file: Annotated[Path, typer.Option("--file", help="Key file; made when it is not there.")] = Path(
        "keys.json"
    )
    buckets: Annotated[
        list[str], typer.Option("--bucket", "-b", help="Bucket to see; '*' is all; may be repeated.")
    ] = field(default_factory=list)
    labels: Annotated[
        list[str], typer.Option("--label", "-l", help="Label to see; '*' is all; may be repeated.")
    ] = field(default_factory=list)
    write: Annotated[bool, typer.Option("--write", help="May bring documents in and remove them.")] = False


@app.command()
def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8000,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve the sample corpus that `demo` has ingested.")
    ] = False,
) -> None:
    """Serve the page and the HTTP API; without keys (see `key`) everyone who reaches it is the owner."""
    # By name: the server and the command line stand side by side, neither imports the other.
    listening = import_module("server.listening")
    if demo:
        settings = demo_settings()
        if not settings.home.is_dir():
            raise BadInput("There is no demo yet: run `citegraph demo` first.")
        engine = settings.engine or "process"
        listening.app.state.services = Services(settings.model_copy(update={"engine": engine}))
    elif demo_settings().home.is_dir():
        say(f"This serves your own documents. The sample of the demo is there too: {own_name()} serve --demo")
    listening.serve(host, port)


@app.command()
def mcp() -> None:
    """Serve the Model Context Protocol on stdin and stdout: ask, search, list, sum and read documents.

    Put `citegraph mcp` as the command of a server into the settings of an MCP client; `citegraph serve` has the same
    tools at /mcp.
    """
    import_module("server.listening").serve_stdio()


@command(app, "key")
def make_key(request: Key) -> int:
    """Make an API key, add its hash to the key file and print it once.

    Raises:
        BadInput: the file holds something else, or cannot be written.
    """
    made = f"cg-{secrets.token_urlsafe(32)}"
    entry = {
        "name": request.name,
        "sha256": hashlib.sha256(made.encode()).hexdigest(),
        "buckets": _names(request.buckets),
        "labels": _names(request.labels),
        "write": request.write,
    }
    try:
        held = json.loads(request.file.read_text("utf-8")) if request.file.exists() else {"keys": []}
        held["keys"].append(entry)
        draft = request.file.with_name(f"{request.file.name}.new")
        draft.write_text(json.dumps(held, indent=2) + "\n", "utf-8")
        os.replace(draft, request.file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{request.file}: no key file that can be written.") from error
    write(made)
    say(f"Set CITEGRAPH_API_KEYS={request.file}. The key is shown only now.")
    return ANSWERED


def _names(given: Sequence[str]) -> list[str] | str:
    return "*" if "*" in given else list(given)
