"""The scripted model of the first-token measurement, and the times that are read from a stream."""

import threading
import time

import httpx

from benches.first_token import Slow, one


async def test_the_model_thinks_first_and_notes_when() -> None:
    model = Slow(0.05)
    threading.Thread(target=model.serve_forever, args=(0.02,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{model.server_address[1]}/v1/chat/completions"
        async with httpx.AsyncClient() as client:
            text = (await client.post(url, json={})).text
    finally:
        model.shutdown()
        model.server_close()
    assert model.spoke[0] - model.asked[0] >= 0.05
    assert text.count("data: ") == 5
    assert text.endswith("data: [DONE]\n\n")


async def test_the_first_event_of_each_kind_counts() -> None:
    body = "event: run\r\ndata: 1\r\n\r\nevent: token\r\ndata: 2\r\n\r\nevent: token\r\ndata: 3\r\n\r\n"
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text=body))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        seen = await one(client, "?")
    assert set(seen) == {"run", "token", "began"}
    assert 0 <= seen["run"] <= seen["token"] <= time.perf_counter() - seen["began"]
