"""A loopback LangSmith: it takes what the real client sends, keeps every byte, and reads the runs back."""

import json
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import zstandard
from requests_toolbelt.multipart.decoder import MultipartDecoder

KEY = "lsv2_pt_secret_of_the_traces"
INFO = {
    "version": "0.13.0",
    "instance_flags": {"zstd_compression_enabled": True, "dataset_examples_multipart_enabled": True},
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "scale_up_qsize_trigger": 1000,
        "scale_up_nthreads_limit": 2,
        "scale_down_nempty_trigger": 4,
        "size_limit": 100,
        "size_limit_bytes": 20_971_520,
    },
}
PART = re.compile(r'name="(post|patch|feedback)\.([0-9a-f-]{36})(?:\.(\w+))?"')
NOW = "2026-11-28T00:00:00+00:00"


@dataclass
class Kept:
    """What arrived: each body decoded, the runs and feedback by id, and what was made by name.

    `status` is what every request but the first is answered with; `wait` is the seconds before.
    """

    url: str = ""
    status: int = 200
    wait: float = 0.0
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    feedback: list[dict[str, Any]] = field(default_factory=list)
    projects: dict[str, dict[str, Any]] = field(default_factory=dict)
    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def said(self) -> str:
        """Return everything that was sent as text, addresses included."""
        return "\n".join([*self.paths, *(body.decode("utf-8", "replace") for body in self.bodies)])

    def tree(self, run: dict[str, Any] | None = None) -> Any:
        """Return the runs below `run` as (name, children) in the order of their start; all roots without one."""
        parent = run["id"] if run else None
        below = [item for item in self.runs.values() if item.get("parent_run_id") == parent]
        below.sort(key=lambda item: item["dotted_order"])
        return [(item["name"], self.tree(item)) for item in below]

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the runs of a name, in the order of their start."""
        found = [run for run in self.runs.values() if run.get("name") == name]
        return sorted(found, key=lambda run: run["dotted_order"])

    def keep_parts(self, body: bytes, content_type: str) -> None:
        """Merge the parts of a multipart body into runs and feedback."""
        for part in MultipartDecoder(body, content_type).parts:
            found = PART.search(part.headers[b"Content-Disposition"].decode())
            if found is None:
                continue
            kind, number, what = found.groups()
            content = json.loads(part.content)
            if kind == "feedback":
                self.feedback.append(content)
                continue
            run = self.runs.setdefault(number, {"id": number})
            if what:
                run[what] = content
            else:
                run |= {key: value for key, value in content.items() if value is not None}
                self.project(run.get("session_name"))

    def project(self, name: str | None) -> dict[str, Any]:
        """Return the project of a name, made when it is new."""
        fresh: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "name": name,
            "tenant_id": str(uuid.uuid4()),
            "start_time": NOW,
        }
        fresh["reference_dataset_id"] = None
        return self.projects.setdefault(name or "default", fresh)


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of the client over the `Kept` of its server."""

    kept: Kept

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "zstd":
            body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
        self.kept.paths.append(f"{self.command} {self.path}")
        self.kept.bodies.append(body)
        if self.kept.wait:
            self.kept.released.wait(self.kept.wait)
        if self.kept.status >= 400:
            return self.answer({"detail": "broken"}, self.kept.status)
        return self.answer(self.taken(urlsplit(self.path).path, body))

    do_PATCH = do_POST

    def do_GET(self) -> None:
        self.kept.paths.append(f"GET {self.path}")
        if self.kept.wait:
            self.kept.released.wait(self.kept.wait)
        if self.kept.status >= 400:
            return self.answer({"detail": "broken"}, self.kept.status)
        parts = urlsplit(self.path)
        asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
        return self.answer(self.found(parts.path, asked))

    def taken(self, path: str, body: bytes) -> Any:
        """Return the reply to what was posted."""
        kept, kind = self.kept, self.headers.get("Content-Type", "")
        if path == "/runs/multipart":
            kept.keep_parts(body, kind)
            return {}
        row = json.loads(body) if body and kind.startswith("application/json") else {}
        if path == "/feedback":
            kept.feedback.append(row)
            return row
        if path.startswith("/sessions"):
            project = kept.project(row.get("name") or path.rsplit("/", 1)[-1])
            project.update({key: value for key, value in row.items() if value is not None})
            return project
        if path == "/datasets":
            made = {"id": str(uuid.uuid4()), "created_at": NOW, **row}
            return kept.datasets.setdefault(row["name"], made)
        if path == "/examples/bulk":
            for item in row:
                kept.examples[item["id"]] = {"created_at": NOW, "modified_at": NOW, **item}
            return list(kept.examples.values())
        if path.startswith("/v1/platform/datasets/") or path.startswith("/datasets/"):
            dataset = path.split("/datasets/", 1)[1].split("/", 1)[0]
            return self.examples_of(dataset, body, kind)
        return {}

    def examples_of(self, dataset: str, body: bytes, kind: str) -> Any:
        """Keep the examples of a multipart upload and return their ids."""
        made: list[str] = []
        for part in MultipartDecoder(body, kind).parts:
            name = re.search(
                r'name="([0-9a-f-]{36})(?:\.(\w+))?"', part.headers[b"Content-Disposition"].decode()
            )
            if name is None:
                continue
            number, what = name.groups()
            row = self.kept.examples.setdefault(
                number, {"id": number, "dataset_id": dataset, "created_at": NOW, "modified_at": NOW}
            )
            content = json.loads(part.content)
            row |= {what: content} if what else content
            made += [] if number in made else [number]
        return {"count": len(made), "example_ids": made, "as_of": NOW}

    def found(self, path: str, asked: dict[str, str]) -> Any:
        """Return the reply to a question."""
        kept = self.kept
        if path == "/info":
            return INFO
        if path == "/sessions":
            return [kept.projects[asked["name"]]] if asked.get("name") in kept.projects else []
        if path.startswith("/sessions/"):
            return next(item for item in kept.projects.values() if item["id"] == path.split("/")[2])
        if path == "/datasets":
            wanted = asked.get("name")
            return [kept.datasets[wanted]] if wanted in kept.datasets else []
        if path.startswith("/datasets/"):
            return next(item for item in kept.datasets.values() if item["id"] == path.split("/")[2])
        if path == "/examples":
            start = int(asked.get("offset", 0))
            return list(kept.examples.values())[start:]
        return {}

    def answer(self, content: Any, status: int = 200) -> None:
        """Send JSON."""
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def langsmith_server() -> Iterator[Kept]:
    """Run the server on a free port; yields what it keeps."""
    kept = Kept()
    handler = type("KeptHandler", (Handler,), {"kept": kept})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    kept.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        kept.released.set()
        server.shutdown()
        server.server_close()
