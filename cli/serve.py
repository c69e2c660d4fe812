"""The commands `serve` and `key`: the HTTP API on its own, and keys for those who may use it."""

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from citegraph.errors import BadInput
from cli.exits import ANSWERED
from cli.terminal import say, write


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """Whom a key is for, and what they may see ("*" is everything) and do."""

    name: str
    file: Path
    buckets: Sequence[str] = ()
    labels: Sequence[str] = ()
    write: bool = False


def run(host: str, port: int) -> int:
    """Serve the API and the page until a signal comes."""
    # By name: the server and the command line stand side by side, neither imports the other.
    import_module("server.listening").serve(host, port)
    return ANSWERED


def run_key(request: KeyRequest) -> int:
    """Add a new key to the key file, which holds its hash, and print the key once.

    Raises:
        BadInput: the file holds something else, or cannot be written.
    """
    key = f"cg-{secrets.token_urlsafe(32)}"
    entry = {
        "name": request.name,
        "sha256": hashlib.sha256(key.encode()).hexdigest(),
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
    write(key)
    say(f"Set CITEGRAPH_API_KEYS={request.file}. The key is shown only now.")
    return ANSWERED


def _names(given: Sequence[str]) -> list[str] | str:
    return "*" if "*" in given else list(given)
