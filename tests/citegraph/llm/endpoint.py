"""A loopback endpoint that answers the real client as a test tells it to."""

import contextlib
import json
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import SecretStr

from citegraph.llm.chat import ChatModels
from citegraph.settings import Settings

KEY = "sk-secret-4f9a8b7c6d5e"


@dataclass
class Http:
    """One reply: status, JSON (or text) body and headers; `wait` seconds first; `drop` closes without one.

    `reset` tears the connection down instead; `hang` waits in the middle of the body and `cut` ends there.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    drop: bool = False
    reset: bool = False
    hang: float = 0.0
    cut: bool = False


@dataclass
class Sse:
    """A streamed reply: each event in turn; `hang` seconds before the last, `cut` leaves out the end."""

    events: list[Any]
    hang: float = 0.0
    cut: bool = False


def said(content: str | None, *, finish: str = "stop", usage: bool = True, **message: Any) -> dict[str, Any]:
    """Return a chat completion."""
    counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        **({"usage": counted} if usage else {}),
    }


def pieces(*words: str, finish: str | None = "stop", usage: bool = True) -> list[dict[str, Any]]:
    """Return the chunks of a streamed completion."""
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [base | {"choices": [{"index": 0, "delta": {"role": "assistant", "content": w}}]} for w in words]
    if finish:
        chunks.append(base | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return [*chunks, base | {"choices": [], "usage": counted}] if usage else chunks


class Endpoint:
    """A scripted HTTP server on loopback; `requests` are the bodies that it was sent, in order, `headers` theirs."""

    def __init__(self) -> None:
        self.replies: list[Http | Sse] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.headers: list[dict[str, str]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(size))
                endpoint.requests.append(body)
                endpoint.keys.append(self.headers["Authorization"])
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                try:
                    endpoint.answer(self, endpoint.reply(self.path, body))
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Say nothing: a client that tears its connection down is what some tests are about."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def reply(self, path: str, body: dict[str, Any]) -> Http | Sse:
        """Return the reply to one request: the next of `replies`."""
        return self.replies.pop(0)

    def answer(self, handler: BaseHTTPRequestHandler, reply: Http | Sse) -> None:
        """Write one reply."""
        if isinstance(reply, Sse):
            self._stream(handler, reply)
            return
        time.sleep(reply.wait)
        if reply.drop or reply.reset:
            handler.close_connection = True
            if reply.reset:
                reset(handler.connection)
            return
        payload = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        handler.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(payload)))
        handler.end_headers()
        middle = len(payload) // 2 if reply.hang or reply.cut else len(payload)
        handler.wfile.write(payload[:middle])
        time.sleep(reply.hang)
        handler.close_connection = reply.cut
        if not reply.cut:
            handler.wfile.write(payload[middle:])

    def _stream(self, handler: BaseHTTPRequestHandler, reply: Sse) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for number, event in enumerate(reply.events):
            if number == len(reply.events) - 1:
                time.sleep(reply.hang)
            self._chunk(handler, f"data: {json.dumps(event)}\n\n")
        handler.close_connection = reply.cut
        if not reply.cut:
            self._chunk(handler, "data: [DONE]\n\n")
            self._chunk(handler, "")

    @staticmethod
    def _chunk(handler: BaseHTTPRequestHandler, text: str) -> None:
        handler.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
        handler.wfile.flush()

    def models(self, **options: Any) -> ChatModels:
        """Return the real client's models against this endpoint."""
        chosen = {"openai_base_url": self.url, "openai_api_key": SecretStr(KEY), "model": "m", **options}
        return ChatModels(Settings.model_construct(**chosen))

    def close(self) -> None:
        """Stop serving."""
        self.server.shutdown()
        self.server.server_close()


def reset(connection: socket.socket) -> None:
    """Tear a connection down: lingering for no time makes the kernel send RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with contextlib.suppress(OSError):
        connection.close()
