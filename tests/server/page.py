"""The page in a headless Chromium, driven as somebody uses it, for the tests of the page."""

import base64
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.server.test_kill import server

FOUND = shutil.which("chromium"), shutil.which("chromedriver")
MARKS = [
    pytest.mark.browser,
    pytest.mark.server,
    pytest.mark.skipif(
        not all(FOUND) and os.environ.get("CI") != "true", reason="chromium or chromedriver is not installed"
    ),
]
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1280,900"
)


class Page:
    """The page as somebody uses it; every wait is for what is seen, at most half a minute."""

    def __init__(self, driver: webdriver.Chrome, url: str, downloads: Path) -> None:
        self.driver = driver
        self.url = url
        self.downloads = downloads

    def open(self, address: str = "#/") -> None:
        """Load the page anew, at an address of it."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}/{address}")
        self.until("return !!document.querySelector('#root main > *')")

    def open_fresh(self) -> None:
        """Load the page at an empty conversation, its buckets and examples there."""
        self.open()
        self.until("return document.querySelectorAll('#buckets li').length === 5")
        self.until("return document.querySelectorAll('.examples button').length > 0")

    def until(self, script: str) -> Any:
        return WebDriverWait(self.driver, 90, poll_frequency=0.05).until(lambda d: d.execute_script(script))

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        self.until(f"return !!document.querySelector({json.dumps(css)})")
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def ask(self, question: str) -> WebElement:
        """Ask with the keyboard and return the turn that was answered."""
        before = len(self.all("article"))
        self.one("#question").send_keys(question, Keys.ENTER)
        return self.answered(before)

    def answered(self, before: int) -> WebElement:
        """Wait until there are more questions than before and the last is answered, asked back or failed."""
        self.until(
            f"const all = document.querySelectorAll('article'); return all.length > {before} && "
            "all[all.length - 1].getAttribute('aria-busy') !== 'true' && "
            "!!all[all.length - 1].querySelector('.standing, .trouble')"
        )
        return self.all("article")[-1]

    def menu(self, label: str, item: str) -> None:
        """Choose an item of a menu."""
        self.one(f".menu > button[title={json.dumps(label)}]").click()
        next(entry for entry in self.all("[role=menuitem]") if item in entry.text).click()

    def button(self, name: str, within: str = "body") -> WebElement:
        """Return the visible button of a name."""
        found = self.until(
            "return [...document.querySelectorAll("
            + json.dumps(f"{within} button, {within} a.button")
            + ")].filter("
            "(one) => one.checkVisibility() && (one.ariaLabel || one.textContent.trim() || one.title).includes("
            f"{json.dumps(name)}))"
        )
        button: WebElement = found[0]
        return button

    def size(self, width: int, scheme: str = "light") -> None:
        """Give the window a width, and the system a colour scheme."""
        drive = self.driver.execute_cdp_cmd
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        drive("Emulation.setDeviceMetricsOverride", metrics)
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        drive("Emulation.setEmulatedMedia", {"features": features})

    def drag(self, *files: Path, drop: bool = True) -> None:
        """Drag files and folders into the middle of the window as a mouse does, and drop them or stay over it."""
        data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", *(["drop"] if drop else [])):
            self.driver.execute_cdp_cmd(
                "Input.dispatchDragEvent", {"type": kind, "x": 300, "y": 400, "data": data}
            )

    def printed(self) -> list[str]:
        """Print what is shown on A4 paper and return the text of each page."""
        asked = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
        content = base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", asked)["data"])
        return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(content)]

    def downloaded(self, suffix: str) -> Path:
        """Wait until a file of a kind was kept in the folder of downloads."""

        def found(_: Any) -> Path | None:
            return next(iter(sorted(self.downloads.glob(f"*{suffix}"))), None)

        path: Path = WebDriverWait(self.driver, 90, poll_frequency=0.05).until(found)
        return path

    def severe(self) -> list[str]:
        """Return the errors that the console has told since the last time."""
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]

    def elsewhere(self) -> list[str]:
        """Return what was requested of another origin since the last time; something must have been asked at all."""
        events = [json.loads(line["message"])["message"] for line in self.driver.get_log("performance")]
        asked = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        assert asked
        # Chromium's own new tab (chrome://) is none of the page's; nothing may go over a network to elsewhere.
        return [url for url in asked if url.startswith(("http", "ws")) and not url.startswith(self.url)]

    def shoot(self, name: str) -> None:
        """Save a screenshot where PAGE_SCREENSHOTS says, to be looked at."""
        if folder := os.environ.get("PAGE_SCREENSHOTS"):
            self.driver.save_screenshot(f"{folder}/{name}.png")


@contextmanager
def chromium(folder: Path) -> Iterator[webdriver.Chrome]:
    """Start a browser whose profile and downloads lie in a folder."""
    options = webdriver.ChromeOptions()
    options.binary_location = FOUND[0] or "chromium"
    for flag in [*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    (folder / "downloads").mkdir()
    options.add_experimental_option("prefs", {"download.default_directory": str(folder / "downloads")})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(FOUND[1]))
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def browsing(sample_home: Path, folder: Path, **settings: str) -> Iterator[Page]:
    """Serve a copy of the sample corpus, with settings of its own, and give its page in a browser."""
    shutil.copytree(sample_home, folder / "home")
    with server(folder / "home", folder / "log", **settings) as (_, url), chromium(folder) as driver:
        page = Page(driver, url, folder / "downloads")
        page.size(1280)
        yield page
