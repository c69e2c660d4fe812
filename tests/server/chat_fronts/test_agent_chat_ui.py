"""agent-chat-ui as LangChain publishes it, built with npm, in a real Chromium in front of `langgraph dev`."""

import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import pytest
from selenium.webdriver.common.keys import Keys

from tests.server.langgraph_server import langgraph_dev
from tests.server.page import MARKS, Page, chromium
from tests.server.test_app import AMBIGUOUS

pytestmark = [*MARKS, pytest.mark.agent_chat]
ROOT = Path(__file__).parents[3]
TEMPLATE = "create-agent-chat-app@0.1.6"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def built() -> Path:
    """Return the folder of the built chat, kept for the next time; its build with Vite needs no font of another site."""
    folder = ROOT / ".citegraph" / "agent-chat-ui"
    web = folder / "chat" / "apps" / "web"
    if not (web / "dist" / "index.html").exists():
        npm, npx = (shutil.which(name) for name in ("npm", "npx"))
        if npm is None or npx is None:
            pytest.skip("npm is not installed")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        options = "--project-name chat --package-manager npm --install-deps false --framework vite".split()
        install = [npm, "install", "--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts"]
        for command, where in (
            ([npx, "--yes", TEMPLATE, "--yes", *options], folder),
            (install, folder / "chat"),
            ([npx, "vite", "build"], web),
        ):
            subprocess.run(command, cwd=where, check=True, capture_output=True)
    return web / "dist"


@pytest.fixture(scope="module")
def chat(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Give the chat in a browser, in front of the graph over the sample; it is another site than the server."""
    folder = tmp_path_factory.mktemp("agent-chat")
    shutil.copytree(sample_home, folder / "home")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(built()))) as files:
        Thread(target=files.serve_forever, daemon=True).start()
        site = f"http://127.0.0.1:{files.server_port}"
        allowed = {"CITEGRAPH_ALLOWED_ORIGINS": site}
        with langgraph_dev(folder / "home", folder / "log", allowed) as url, chromium(folder) as driver:
            page = Page(driver, site, folder / "downloads")
            page.size(1280)
            driver.get(f"{site}/?{urlencode({'apiUrl': url, 'assistantId': 'agent'})}")
            yield page
        files.shutdown()


def say(chat: Page, text: str, shown: str) -> None:
    """Send a message and wait until something is shown and no run goes on."""
    chat.one("textarea").send_keys(text, Keys.ENTER)
    chat.until(f"return document.body.innerText.includes({shown!r})")
    chat.until("return [...document.querySelectorAll('button')].some((one) => one.textContent === 'Send')")


def test_a_question_back_a_reply_and_answers_with_links_are_shown(chat: Page) -> None:
    say(chat, AMBIGUOUS, "Which one do you mean?")
    options = [option.text for option in chat.all("ol li")]
    assert len(options) == 5
    assert any("CBC-10904" in option for option in options)
    say(chat, "CBC-10904", "Total amount: 2,145.00 USD")
    (link,) = {one.get_attribute("href") for one in chat.all("a[href*='/cited/']")}
    assert link is not None
    assert "cobaltine-cbc-10904" in link
    say(chat, "How much did Cobaltine invoice in 2024?", "8,010.00 USD")
    # The template's own page names a style sheet that its build does not have.
    assert [line for line in chat.severe() if "/src/styles.css" not in line] == []
    chat.driver.refresh()
    chat.until("return document.body.innerText.includes('8,010.00 USD')")
    assert "Total amount: 2,145.00 USD" in chat.one("body").text, "the thread is reopened whole"
    chat.driver.get(link)
    assert "2,145.00" in chat.one("mark").text
