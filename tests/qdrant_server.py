"""A Qdrant server on loopback that answers the client's reading requests over HTTP from a local-mode client.

No server's program is to be had where the tests run. What goes over the wire is the real client's; what is computed is
the client library's own local engine. It has the payload indexes that a test gives it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from pydantic import BaseModel
from qdrant_client import QdrantClient, models


@contextmanager
def served(client: QdrantClient, schema: Mapping[str, str] | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield the URL of a server that holds the client's collections, and the requests that it got."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

        def _answer(self, body: dict[str, Any]) -> None:
            _, _, name, *rest = self.path.partition("?")[0].split("/")
            asked.append(f"{self.command} {'/'.join(rest)}".strip())
            exists = client.collection_exists(name)
            if not exists and rest != ["exists"]:
                self._send(404, {"status": {"error": f"Not found: Collection `{name}` doesn't exist!"}})
            else:
                result = answer(client, name, "/".join(rest), body, schema or {})
                self._send(200, {"result": result, "status": "ok", "time": 0.0})

        def _send(self, status: int, body: Any) -> None:
            data = json.dumps(body, default=plain).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def plain(value: Any) -> Any:
    """Return a model of the client as JSON data."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    raise TypeError(type(value))


def answer(
    client: QdrantClient, name: str, action: str, body: dict[str, Any], schema: Mapping[str, str]
) -> Any:
    """Return the result of a request about a collection."""
    chosen = models.Filter.model_validate(body["filter"]) if body.get("filter") else None
    match action:
        case "exists":
            return {"exists": client.collection_exists(name)}
        case "":
            info = client.get_collection(name)
            info.payload_schema = {
                key: models.PayloadIndexInfo(data_type=models.PayloadSchemaType(kind), points=1)
                for key, kind in schema.items()
            }
            return info
        case "points":
            return client.retrieve(name, body["ids"], with_payload=True)
        case "points/count":
            return client.count(name, count_filter=chosen, exact=True)
        case "points/scroll":
            points, following = client.scroll(
                name, scroll_filter=chosen, limit=body["limit"], offset=body.get("offset")
            )
            return {"points": points, "next_page_offset": following}
        case "facet":
            return client.facet(name, body["key"], limit=body["limit"])
        case "points/query":
            asked = models.QueryRequest.model_validate(body)
            return client.query_points(
                name,
                query=asked.query,
                using=asked.using,
                prefetch=asked.prefetch,
                query_filter=asked.filter,
                limit=asked.limit or 10,
                with_payload=True,
            )
    raise AssertionError(action)
