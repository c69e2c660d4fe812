"""Opens the clients of own collections: the settings' server, or a folder that a local-mode client wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from qdrant_client import QdrantClient

from citegraph.corpus.foreign.foreign_collection import OwnCollection
from citegraph.errors import BadInput, Unavailable

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket, Collection
    from citegraph.llm.embeddings import Embedder
    from citegraph.settings import Settings


def connect_own(settings: Settings) -> QdrantClient:
    """Return a blocking client for the server that holds the collections; nothing is sent yet.

    Raises:
        BadInput: no server is set.
    """
    if not settings.qdrant_url:
        raise BadInput(
            "A bucket with a `collection` needs the Qdrant server that holds it: set QDRANT_URL, or name the folder of "
            "a local-mode client as its `path`."
        )
    key = settings.qdrant_api_key
    return QdrantClient(
        url=settings.qdrant_url, api_key=key.get_secret_value() if key else None, check_compatibility=False
    )


class OwnClients:
    """The clients of all own collections, opened at their first use; those of one folder are one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[Path | None, QdrantClient] = {}
        self._lock = Lock()

    def collections(self, buckets: Iterable[Bucket], embedder: Embedder) -> list[OwnCollection]:
        """Return the collections of those buckets that are one; only whether a server is set is looked at.

        Raises:
            BadInput: one needs a server, and none is set.
        """
        found = []
        for bucket in buckets:
            if declared := bucket.collection:
                on_server = declared.path is None
                if on_server:
                    self.client(declared)
                found.append(OwnCollection(bucket, self.opener(declared), embedder, indexed=on_server))
        return found

    def opener(self, declared: Collection) -> Callable[[], QdrantClient]:
        """Return what gives the client of a collection when it is asked for."""
        return lambda: self.client(declared)

    def client(self, declared: Collection) -> QdrantClient:
        """Return the client that holds a collection.

        Raises:
            BadInput: no server is set, or the folder is none of a local-mode client.
            Unavailable: another process has the folder open.
        """
        path = declared.path.expanduser().resolve() if declared.path else None
        with self._lock:
            if path not in self._open:
                self._open[path] = connect_own(self._settings) if path is None else open_folder(path)
            return self._open[path]

    def close(self) -> None:
        """Let go of the folders and connections; they are opened again at the next use."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()


def open_folder(path: Path) -> QdrantClient:
    """Return a local-mode client over a folder that one has written; see `OwnClients.client` for errors."""
    if not (path / "meta.json").is_file():  # the client would make an empty store there
        raise BadInput(
            f"{path} is no folder of a local-mode Qdrant client: correct `path` under `collection`."
        )
    try:
        return QdrantClient(path=str(path), force_disable_check_same_thread=True)
    except RuntimeError as error:
        raise Unavailable(
            f"{path} is open in another process; local mode lets one at a time. End that one, or serve the collection "
            "from a Qdrant server (QDRANT_URL)."
        ) from error
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(
            f"{path} cannot be opened by the local-mode Qdrant client ({type(error).__name__})."
        ) from error
