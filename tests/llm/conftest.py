"""Fixtures of the model tests."""

from collections.abc import Iterator

import pytest

from tests.llm.endpoint import Endpoint


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "LANGSMITH_TRACING"):
        monkeypatch.delenv(name, raising=False)
    served = Endpoint()
    yield served
    served.close()
