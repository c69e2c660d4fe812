"""The open sample corpus for the tools."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from settings import Settings
from tools.services import Services


@pytest.fixture(scope="module")
def services(sample_home: Path) -> Iterator[Services]:
    """Give services over the sample without any model; opened once a module."""
    opened = Services(settings=Settings.model_construct(home=sample_home))
    yield opened
    asyncio.run(opened.close())
