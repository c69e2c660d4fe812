"""One bucket's shard of the embedded engine: its one handle, and how its points leave memory while it grows."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge as edge

from citegraph.corpus.index.index_protocol import DENSE, SPARSE
from citegraph.corpus.records.database import claim_file
from citegraph.errors import Rejected, Unavailable
from citegraph.freed_memory import forget_files, give_back

T = TypeVar("T")

COLD = edge.Memory.Cold
"""Read from disk when it is needed; the system keeps in memory what is asked often."""

INDEX_KINDS: Mapping[str, Any] = {
    "keyword": edge.KeywordIndexParams(memory=COLD),
    "integer": edge.IntegerIndexParams(memory=COLD),
    "float": edge.FloatIndexParams(memory=COLD),
    "datetime": edge.DatetimeIndexParams(memory=COLD),
    "text": edge.TextIndexParams(
        tokenizer=edge.TokenizerType.Word,
        lowercase=True,
        ascii_folding=True,
        phrase_matching=True,
        memory=COLD,
    ),
}
EF_CONSTRUCT, FULL_SCAN = 100, 10_000
LINKS = 16
"""Of a point in the vector graph, the engine's default."""
MOST_SEGMENTS = 1_000
LEAST_FREE_MB = 200
"""Free space below which nothing is written: the engine writes through mapped pages, and a full disk kills the process."""
OPENING_MB = 120
"""Free space that opening a shard takes: its log and its growing segment are laid out whole, some 85 MB."""
NEVER = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """When a shard is rearranged, in points.

    Attributes:
        seal: points written since the last time after which they are laid on disk. What the engine has not yet
            laid there takes 5 to 10 KB of memory a point and is read anew at each start.
        graph: from here on the shard gets a vector graph. Below, exact search takes 7 to 36 ms over 100,000 points
            (on a busy machine); building the graph stops the process for a minute or two per 100,000.
        segment: most points that are joined under one graph, which takes 14 KB of memory a point meanwhile.
        fields: from here on the declared fields are indexed, 5 MB of mapped memory each, however few points there
            are. Below, a filter on them reads 9 µs a point; filters on few documents come as their ids.
        rest: points, or a twentieth of all where that is more, that an ingest may leave unsealed at its end.
    """

    seal: int = 10_000
    rest: int = 500
    graph: int = 250_000
    segment: int = 50_000
    fields: int = 10_000


DEFAULT_SIZES = Sizes()


class Shard:
    """A shard in use. Calls wait for each other: the engine would hold the whole process in any case.

    Attributes:
        graph: its vectors lie in a graph.
    """

    def __init__(self, folder: Path, dimensions: int, sizes: Sizes) -> None:
        self._folder = folder
        self._dimensions = dimensions
        self._sizes = sizes
        self.graph = False
        self._written = 0
        self._lock = threading.RLock()
        self._claim = _claim(folder)
        self._handle: edge.EdgeShard | None = None

    @classmethod
    def create(cls, folder: Path, dimensions: int, sizes: Sizes) -> Shard:
        """Make an empty shard in an empty folder.

        Raises:
            Unavailable: another process has it open.
        """
        require_room(folder)
        shard = cls(folder, dimensions, sizes)
        shard._take(lambda: edge.EdgeShard.create(str(folder), shard._config()))
        return shard

    @classmethod
    def load(cls, folder: Path, dimensions: int, sizes: Sizes) -> Shard:
        """Open a shard.

        Raises:
            Unavailable: another process has it open.
            Rejected: it is damaged.
        """
        shard = cls(folder, dimensions, sizes)
        shard._take(shard._opened)
        if shard.call(_points) >= sizes.graph:
            shard.graph = True
            shard._reopen()
        return shard

    def call(self, run: Callable[[edge.EdgeShard], T]) -> T:
        """Call the engine and raise its failures as this project's two kinds."""
        with self._lock:
            if self._handle is None:
                raise Unavailable(f"The index of bucket {self._folder.name!r} was closed during the call.")
            handle = self._handle
            return translated(self._folder.name, lambda: run(handle))

    def written(self, points: int) -> None:
        """Count points that were written, and lay them on disk when they have become many."""
        with self._lock:
            self._written += points
            if self._written >= self._sizes.seal:
                self._seal()

    def finish(self, *, rewritten: bool = False) -> None:
        """Make what was written durable, join segments of replaced points, give a large shard its graph.

        Args:
            rewritten: all points were replaced; until they are gone the old ones count in the frequency of words.
        """
        with self._lock:
            self.call(lambda handle: handle.flush())
            points, segments = self.call(
                lambda handle: (handle.info().points_count, handle.info().segments_count)
            )
            unsealed, held = _laid_out(self._folder)
            # The engine joins no fewer than two segments that are sealed.
            replaced = unsealed and held - points > points / 4
            if not self.graph and points >= self._sizes.graph:
                self.graph = True
                self._reopen()
                self._seal()
            elif rewritten or replaced or segments > 3 + 1.5 * points / self._sizes.seal:
                require_room(self._folder, beside=_size(self._folder))
                self._reopen(join=True)
                self.call(lambda handle: handle.optimize())
                self._reopen()
            elif not self.graph and unsealed >= max(self._sizes.rest, points / 20):
                self._seal()

    def index(self, own: Mapping[str, str], fields: Mapping[str, str]) -> None:
        """Index payload keys, each as its kind says: its own ones always, those of fields once it is large."""
        existing = self.call(lambda handle: handle.info().payload_schema)
        wanted = {**own, **fields} if self.call(_points) >= self._sizes.fields else own
        changes = [
            edge.UpdateOperation.create_field_index(key, INDEX_KINDS[kind])
            for key, kind in wanted.items()
            if key not in existing
        ]
        if wanted is own:
            changes += [edge.UpdateOperation.delete_field_index(key) for key in existing if key not in own]
        for change in changes:
            self.call(partial(updated, change))

    def close(self) -> None:
        """Let go of the shard; twice does no harm."""
        with self._lock:
            self._close()
            if self._claim >= 0:
                os.close(self._claim)
            self._claim = -1

    def _seal(self) -> None:
        """Let the engine lay its points on disk, and open the shard again: only that frees what they took."""
        require_room(self._folder)
        self._written = 0
        if self.call(lambda handle: handle.optimize()):
            self._reopen()

    def _reopen(self, *, join: bool = False) -> None:
        self._close()
        give_back()
        self._take(lambda: self._opened(join=join))

    def _take(self, opening: Callable[[], edge.EdgeShard]) -> None:
        try:
            require_room(self._folder, OPENING_MB)
            self._handle = translated(self._folder.name, opening)
            # Opening has read 80 MB, most of them of files that are empty.
            forget_files(self._folder)
        except BaseException:
            self.close()
            raise

    def _opened(self, *, join: bool = False) -> edge.EdgeShard:
        return edge.EdgeShard.load(str(self._folder), self._config(join=join))

    def _close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.close()

    def _config(self, *, join: bool = False) -> edge.EdgeConfig:
        """Return how the shard is laid out: small segments without a graph, or few with one."""
        kilobytes = self._dimensions * 4 / 1024  # a point, as the engine counts
        sizes = self._sizes
        unsealed, held = _laid_out(self._folder)
        least = 1 if join and held > unsealed else sizes.seal / 2
        if not self.graph:
            least = min(least, sizes.rest)
        return edge.EdgeConfig(
            vectors={DENSE: edge.EdgeVectorParams(self._dimensions, edge.Distance.Cosine, memory=COLD)},
            sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf, memory=COLD)},
            payload_memory=COLD,
            id_tracker_memory=COLD,
            hnsw_config=edge.HnswIndexConfig(
                LINKS if self.graph else 0, EF_CONSTRUCT, FULL_SCAN, memory=COLD
            ),
            optimizers=edge.EdgeOptimizersConfig(
                indexing_threshold=max(1, int(least * kilobytes)),
                max_segment_size=max(1, int((sizes.segment if self.graph else 4 * sizes.seal) * kilobytes)),
                default_segment_number=1 if self.graph or join else MOST_SEGMENTS,
                # Never: the engine's clearing of removed points may go round for ever. Joining removes them too.
                vacuum_min_vector_number=NEVER,
            ),
            # Without the log the engine's lock goes too.
            wal_enabled=True,
        )


def updated(operation: edge.UpdateOperation, handle: edge.EdgeShard) -> None:
    """Make one change; for `Shard.call`."""
    handle.update(operation)


def require_room(folder: Path, least: int = LEAST_FREE_MB, *, beside: int = 0) -> None:
    """Refuse to write when the disk is nearly full.

    Args:
        least: MB that are to be free.
        beside: bytes that will be written before as many are freed.

    Raises:
        Unavailable: there is too little room; what was written before is safe.
    """
    place = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    free, needed = shutil.disk_usage(place).free // 1_000_000, least + beside // 1_000_000
    if free < needed:
        raise Unavailable(
            f"The disk of {place} has {free:,} MB free, and the index of bucket {folder.name!r} needs {needed:,}: "
            "make room, or set CITEGRAPH_HOME to a larger disk."
        )


def _size(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


def _laid_out(folder: Path) -> tuple[int, int]:
    """Return how many points are not sealed, and how many there are in all with those that were removed or replaced.

    The engine tells neither; it keeps eight bytes a point in files of these names.
    """
    points = {file: file.stat().st_size // 8 for file in folder.glob("segments/*/*id_tracker.versions")}
    return sum(many for file, many in points.items() if file.name.startswith("mutable")), sum(points.values())


def _points(handle: edge.EdgeShard) -> int:
    return int(handle.info().points_count)


def _claim(folder: Path) -> int:
    """Take the shard for this process, also for the moments in which the engine lets go of it to open it again."""
    claim = claim_file(folder.with_suffix(".lock"))
    if claim is None:
        raise Unavailable(_elsewhere(folder.name))
    return claim


def _elsewhere(bucket: str) -> str:
    return (
        f"The index of bucket {bucket!r} is open in another process. Close that process, "
        f"or serve both from a Qdrant server (QDRANT_URL)."
    )


def translated(bucket: str, call: Callable[[], T]) -> T:
    """Call the engine and raise its failures as this project's two kinds."""
    try:
        return call()
    except Exception as error:  # the engine raises plain Exception: only its text tells the cases apart
        text = str(error)
        if "WouldBlock" in text:
            raise Unavailable(_elsewhere(bucket)) from error
        if "not initialized" in text:
            raise Unavailable(f"The index of bucket {bucket!r} was closed during the call.") from error
        raise Rejected(
            f"The embedded index refused the request on bucket {bucket!r}: {text[:300]}. If it is damaged, `citegraph "
            "doctor --repair` makes it anew from the documents."
        ) from error
