"""The small real model, and services over the sample corpus that ask it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from citegraph.llm.call_options import STEPS
from citegraph.llm.chat import ChatModels
from citegraph.run.services import Services
from citegraph.settings import load_settings
from tests.local_model.server import running_model

MODEL = "smollm2"


@pytest.fixture(scope="session")
def local_model() -> Iterator[str]:
    """Give the base URL of the running model."""
    with running_model() as url:
        yield url


@pytest.fixture
def local_services(local_model: str, sample_home: Path) -> Iterator[Services]:
    """Give services whose every step asks the small model: short prompts, short replies, a breaker of their own."""
    update = {
        "home": sample_home,
        "openai_base_url": local_model,
        "openai_api_key": SecretStr("not-needed"),
        "model": MODEL,
        "prompt_tokens": {MODEL: 1_000},
        "step_models": {step: {"max_tokens": 96, "timeout": 60} for step in STEPS},
        "qdrant_url": None,
        "database_url": None,
    }
    opened = Services(load_settings().model_copy(update=update))
    yield opened
    asyncio.run(opened.close())


@pytest.fixture
def local_chat(local_services: Services) -> ChatModels:
    """Give the chat models alone."""
    return local_services.chat
