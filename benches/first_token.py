"""Measures when a streaming client sees the first event and the first token, beside what the model itself takes.

A scripted endpoint on loopback waits before its first word, as a model does; what the client waits beyond that is ours:
the steps before the model's call, and the way of the word to the client.
"""

import argparse
import asyncio
import json
import statistics
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from benches.load import questions, ready, serving

WORD = {"object": "chat.completion.chunk", "id": "c", "created": 1, "model": "m"}


class Slow(ThreadingHTTPServer):
    """A chat endpoint that thinks `think` seconds before its first word; it notes when it was asked and when it spoke."""

    daemon_threads = True

    def __init__(self, think: float) -> None:
        super().__init__(("127.0.0.1", 0), Reply)
        self.think = think
        self.asked: list[float] = []
        self.spoke: list[float] = []


class Reply(BaseHTTPRequestHandler):
    """One streamed completion."""

    server: Slow

    def do_POST(self) -> None:
        """Answer as the chat API streams."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(time.perf_counter())
        time.sleep(self.server.think)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.server.spoke.append(time.perf_counter())
        for word in ("The ", "documents ", "say so."):
            self._send(WORD | {"choices": [{"index": 0, "delta": {"content": word}}]})
        self._send(WORD | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, chunk: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


async def one(client: httpx.AsyncClient, question: str) -> dict[str, float]:
    """Return when the first event of each kind came, since the question was sent, and when that was."""
    seen: dict[str, float] = {}
    began = time.perf_counter()
    headers = {"Accept": "text/event-stream"}
    async with client.stream("POST", "/ask", json={"question": question}, headers=headers) as response:
        async for line in response.aiter_lines():
            if line.startswith("event:"):
                seen.setdefault(line.removeprefix("event:").strip(), time.perf_counter() - began)
    return seen | {"began": began}


async def measure(base: str, model: Slow, asked: list[str]) -> dict[str, Any]:
    """Return medians in milliseconds over the questions that the model wrote the answer of."""
    rows = []
    async with httpx.AsyncClient(base_url=base, timeout=120) as client:
        await ready(client)
        await one(client, asked[0])
        for question in asked:
            calls = len(model.spoke)
            seen = await one(client, question)
            if len(model.spoke) > calls and "token" in seen:
                rows.append(
                    {
                        "first_event": seen["run"],
                        "steps_before_the_model": model.asked[calls] - seen["began"],
                        "model": model.spoke[calls] - model.asked[calls],
                        "from_model_to_client": seen["began"] + seen["token"] - model.spoke[calls],
                        "first_token": seen["token"],
                    }
                )
    if not rows:
        raise SystemExit("No question came to the model.")
    told = {name: round(1000 * statistics.median(row[name] for row in rows), 1) for name in rows[0]}
    return {"answers": len(rows), "median_ms": told}


def main() -> None:
    """Start the endpoint and a server on CITEGRAPH_HOME, ask one question after the other and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="+", type=Path, help="question files (JSONL)")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--think", type=float, default=0.5, help="seconds before the model's first word")
    given = parser.parse_args()
    model = Slow(given.think)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with serving(
        CITEGRAPH_MODE="single",
        CITEGRAPH_STEP_MODELS=json.dumps({"compose": {"model": "m"}}),
        OPENAI_BASE_URL=f"http://127.0.0.1:{model.server_address[1]}/v1",
        OPENAI_API_KEY="none",
    ) as (base, _):
        told = asyncio.run(measure(base, model, questions(given.questions)[: given.count]))
    print(json.dumps(told, indent=2))
    model.shutdown()


if __name__ == "__main__":
    main()
