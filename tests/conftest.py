"""What every test shares: closed sockets, strict checkpoints, and the sample corpus ingested once."""

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_socket
from hypothesis import HealthCheck, settings

# Before langgraph is imported: checkpoints may hold plain data only.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

if TYPE_CHECKING:
    from citegraph.run.services import Corpus, Services
    from citegraph.settings import Settings
    from tests.langsmith_server import Kept
    from tests.node_runtime import Read

# A loaded machine is slow at everything: time is no failure. The same examples in every CI run; at a desk each run looks
# at new ones.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("here")
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts a server or a browser, and as expected what is known to fail."""
    lines = (Path(__file__).parent / "known_failures.txt").read_text("utf-8").splitlines()
    known = {line for line in lines if line and not line.startswith("#")}
    for item in items:
        if item.nodeid.partition("[")[0] in known:
            item.add_marker(pytest.mark.xfail(reason="tests/known_failures.txt", strict=False))
        if any(item.get_closest_marker(name) for name in ("server", "browser")):
            item.add_marker(pytest.mark.slow)


_ALL_SLOW = re.compile(r"^pytestmark = \[?[^\]=]*?(?:\bmark\.(?:slow|server|browser)\b|MARKS$)", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules unread of which every test is slow, where those do not run: to import them takes seconds."""
    if "not slow" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    return True if _ALL_SLOW.search(collection_path.read_text("utf-8")) else None


LOOPBACK = ["127.0.0.1", "::1", "localhost"]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Close every socket but those of this machine, before any fixture runs."""
    pytest_socket.socket_allow_hosts(LOOPBACK, allow_unix_socket=True)


@pytest.fixture(autouse=True, scope="session")
def _own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Take no setting from the shell or from `.env`: no key, no model, a home of the tests' own."""
    from citegraph.settings import Settings

    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("CITEGRAPH_", "OPENAI_", "LANGSMITH_")) and name != "CITEGRAPH_CORPORA":
                patch.delenv(name)
        patch.setitem(Settings.model_config, "env_file", None)
        patch.setenv("CITEGRAPH_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home into which the sample corpus was ingested once; tests read it and leave it as it is."""
    from citegraph.run.services import Services
    from cli.demo import ingest_sample

    home = tmp_path_factory.mktemp("sample")

    async def fill() -> None:
        services = Services(_embedded(home))
        try:
            assert await ingest_sample(services, quiet=True) >= 40
        finally:
            await services.close()

    asyncio.run(fill())
    return home


@pytest.fixture(scope="module")
def services(sample_home: Path) -> "Iterator[Services]":
    """Give services over the sample without any model, so that the twins answer; opened once a module."""
    from citegraph.run.services import Services

    opened = Services(_embedded(sample_home))
    yield opened
    asyncio.run(opened.close())


@pytest.fixture
def corpus(services: "Services") -> "Corpus":
    """Return the open sample corpus."""
    return services.open()


@pytest.fixture
def read(corpus: "Corpus") -> "Read":
    """Return how a bucket reads a question."""
    from citegraph.question.clauses import read_question
    from tests.node_runtime import TODAY

    return lambda bucket, question: read_question(corpus.buckets[bucket], corpus.linker, question, TODAY)


@pytest.fixture
def langsmith(monkeypatch: pytest.MonkeyPatch) -> "Iterator[Kept]":
    """Switch tracing on, to a LangSmith of this test's own on loopback."""
    from langsmith import configure
    from langsmith.run_trees import get_cached_client
    from langsmith.utils import get_env_var

    from tests.langsmith_server import KEY, langsmith_server

    with langsmith_server() as kept:
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        monkeypatch.setenv("LANGSMITH_ENDPOINT", kept.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", KEY)
        monkeypatch.setenv("LANGSMITH_PROJECT", "tests")
        get_env_var.cache_clear()
        yield kept
        kept.status, kept.wait = 200, 0.0
        kept.released.set()
        get_cached_client().close(timeout=5)
        configure(client=None)
        monkeypatch.undo()
        get_env_var.cache_clear()


def _embedded(home: Path) -> "Settings":
    """Return settings of the embedded stores in a home, though a Qdrant server may be set for other tests."""
    from citegraph.settings import load_settings

    return load_settings().model_copy(update={"home": home, "qdrant_url": None, "database_url": None})
