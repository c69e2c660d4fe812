"""The page in a real headless Chromium where the server asks for a key and a model writes: drafts, corrections, keys."""

import io
import json
import threading
from collections.abc import Iterator
from contextlib import redirect_stdout
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from cli.serve import Key, make_key
from tests.citegraph.llm.endpoint import Endpoint, Http, Sse, pieces
from tests.graph.test_citation_flow import QUESTION, RIGHT, WRONG
from tests.server.page import MARKS, Page, browsing

pytestmark = MARKS


class Author(Endpoint):
    """A model that writes a wrong number, and the right one when it is asked again; `seen` lets it go on each time."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = threading.Semaphore(0)

    def reply(self, path: str, body: dict[str, Any]) -> Http | Sse:
        draft = WRONG if len(self.requests) == 1 else RIGHT
        return Sse(pieces(*(word + " " for word in draft.split())))

    def _chunk(self, handler: BaseHTTPRequestHandler, text: str) -> None:  # type: ignore[override]
        if '"finish_reason": "stop"' in text:
            self.seen.acquire(timeout=30)
        super()._chunk(handler, text)


@pytest.fixture(scope="module")
def author() -> Iterator[Author]:
    endpoint = Author()
    yield endpoint
    endpoint.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page-model")


@pytest.fixture(scope="module")
def key(folder: Path) -> str:
    with redirect_stdout(io.StringIO()) as told:
        assert make_key(Key("ana", folder / "keys.json", ["*"], ["*"], True)) == 0
    return told.getvalue().strip()


@pytest.fixture(scope="module")
def page(sample_home: Path, author: Author, folder: Path, key: str) -> Iterator[Page]:
    with browsing(
        sample_home,
        folder,
        CITEGRAPH_API_KEYS=str(folder / "keys.json"),
        CITEGRAPH_STEP_MODELS=json.dumps({"compose": {"model": "m"}}),
        OPENAI_BASE_URL=author.url,
        OPENAI_API_KEY="sk-test",
    ) as opened:
        yield opened


def test_a_key_is_asked_for_until_it_is_right_and_kept_for_the_tab(page: Page, key: str) -> None:
    page.driver.get(page.url)
    page.until("return document.getElementById('key-dialog')?.open")
    page.shoot("key")
    for _ in range(2):
        page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        page.until("return document.activeElement.id === 'key' && document.getElementById('key-dialog').open")
    field = page.one("#key")
    field.send_keys("not a key", Keys.ENTER)
    problem = page.until("return document.getElementById('key-problem')?.textContent")
    assert "key" in problem.lower()
    assert page.one("#key").get_property("value") == "", "a refused key is not left in the field"
    page.one("#key").send_keys(key, Keys.ENTER)
    page.until("return document.querySelectorAll('#buckets li').length === 5")
    assert page.all("#key-dialog") == []
    assert [line for line in page.severe() if "401" not in line] == []
    page.open_fresh()
    assert page.all("#key-dialog") == []
    assert key not in page.driver.page_source
    page.open("#/settings")
    page.until("return document.querySelector('.facts')?.textContent.includes('ana')")
    page.until("return document.querySelectorAll('.model-grid input').length > 5")
    assert (page.severe(), page.elsewhere()) == ([], [])


def test_a_draft_grows_as_it_is_written_and_a_correction_takes_its_place(
    page: Page, key: str, author: Author
) -> None:
    page.driver.get(page.url)
    page.driver.execute_script("sessionStorage.setItem('citegraph-key', arguments[0])", key)
    page.open("#/settings")
    page.one(".settings textarea").send_keys("One sentence </style> in capitals")
    page.shoot("style")
    page.open_fresh()
    page.severe()
    page.one("#question").send_keys(QUESTION, Keys.ENTER)
    page.until("return document.querySelector('.draft')?.textContent.includes('55 V')")
    asked = author.requests[-1]["messages"][-1]["content"]
    assert "<style>\nOne sentence ‹/style> in capitals\n</style>" in asked
    page.shoot("draft")
    assert page.one("#stop").is_displayed()
    assert page.all("#send") == []
    author.seen.release()
    page.until("return !document.querySelector('.draft')?.textContent.includes('55 V')")
    assert page.one("#stop").is_displayed(), "the wrong draft is gone before the next one ends"
    author.seen.release()
    turn = page.answered(0)
    page.shoot("corrected")
    assert "45 V" in turn.find_element(By.CSS_SELECTOR, ".prose").text
    assert "55 V" not in turn.find_element(By.CSS_SELECTOR, ".prose").text
    turn.find_element(By.CSS_SELECTOR, ".steps summary").click()
    assert "Wrote it again" in turn.find_element(By.CSS_SELECTOR, ".steps .correction").text
    # With a key the pages of a document and the file of a table come through the page, which sends it.
    turn.find_element(By.CSS_SELECTOR, ".prose .cite").click()
    page.until("return !!document.querySelector('.pdfViewer .place')")
    assert (page.severe(), page.elsewhere()) == ([], [])


def test_a_run_is_stopped_and_its_question_kept(page: Page, author: Author) -> None:
    page.open_fresh()
    page.one("#question").send_keys(QUESTION, Keys.ENTER)
    page.until("return !!document.querySelector('.draft')")
    page.one("#stop").click()
    page.until("return document.querySelector('.trouble')?.textContent.includes('Stopped')")
    assert page.one("article h2").text == QUESTION
    author.seen.release()
    # Whatever was kept of it, its thread opens with what was asked, to be gone on with or asked again.
    page.open(page.driver.current_url.split("/", 3)[3])
    page.until("return !!document.querySelector('article .trouble button')")
    assert page.one("article h2").text == QUESTION
    assert (page.severe(), page.elsewhere()) == ([], [])
