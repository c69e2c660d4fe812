"""Fixtures of the model tests."""

from collections.abc import Iterator

import pytest

from tests.citegraph.llm.endpoint import Endpoint


@pytest.fixture(scope="session")
def served() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.close()


@pytest.fixture
def endpoint(served: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """Return the one endpoint, emptied: a server and its certificates per test would cost 50 ms each."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "LANGSMITH_TRACING"):
        monkeypatch.delenv(name, raising=False)
    served.replies, served.requests, served.keys = [], [], []
    return served
