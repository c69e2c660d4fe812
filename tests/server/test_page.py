"""The page in a real headless Chromium, over the sample corpus with the twins."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.server.test_kill import server

FOUND = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
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
LOOKUP = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
AMBIGUOUS = "What is the total of the Cobaltine invoice?"
SUM = "How much did Cobaltine invoice in 2024?"
SPAN_IN_VIEW = """
const [mark, body] = ['.place', '#document-body'].map((name) => document.querySelector(name)?.getBoundingClientRect());
return !!mark && mark.height > 0 && mark.top >= body.top - 1 && mark.top < body.bottom;
"""


class Page:
    """The page as somebody uses it; every wait is for what is seen, at most half a minute."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver = driver
        self.url = url

    def open(self) -> None:
        self.driver.get(self.url)
        self.until("return document.querySelectorAll('#buckets li').length === 5")

    def until(self, script: str) -> Any:
        return WebDriverWait(self.driver, 30, poll_frequency=0.05).until(lambda d: d.execute_script(script))

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
        self.until(
            f"const all = document.querySelectorAll('article'); return all.length > {before} && "
            "!!all[all.length - 1].querySelector('.status') && !all[all.length - 1].hasAttribute('aria-busy')"
        )
        return self.all("article")[-1]


@pytest.fixture(scope="module")
def page(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(sample_home, folder / "home")
    options = webdriver.ChromeOptions()
    options.binary_location = FOUND[0] or "chromium"
    for flag in [*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with server(folder / "home", folder / "log") as (_, url):
        driver = webdriver.Chrome(options, webdriver.ChromeService(FOUND[1]))
        try:
            yield Page(driver, url)
        finally:
            driver.quit()


@pytest.fixture(autouse=True)
def _quiet_and_at_home(page: Page) -> Iterator[None]:
    """Hold every test to it: no console error, and no request to another origin."""
    page.driver.get_log("performance")
    page.open()
    yield
    assert [line for line in page.driver.get_log("browser") if line["level"] == "SEVERE"] == []
    events = [json.loads(line["message"])["message"] for line in page.driver.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    # Chromium's own new tab (chrome://) is none of the page's; nothing may go over a network to elsewhere.
    assert [url for url in asked if url.startswith(("http", "ws")) and not url.startswith(page.url)] == []


def test_an_answer_comes_with_steps_and_its_citation_opens_the_marked_place(page: Page) -> None:
    turn = page.ask(LOOKUP)
    assert "45 V" in turn.text
    assert "Answered" in turn.find_element(By.CSS_SELECTOR, ".status").text
    turn.find_element(By.CSS_SELECTOR, ".steps summary").click()
    assert "search in datasheets: 2 hits" in turn.find_element(By.CSS_SELECTOR, ".steps").text
    cited = turn.find_element(By.CSS_SELECTOR, ".cite")
    cited.click()
    page.until(SPAN_IN_VIEW)
    assert page.one(".sheet img").get_attribute("src").startswith("blob:")  # type: ignore[union-attr]
    page.one("#as-text").click()
    page.until("return document.querySelector('mark')?.textContent.includes('45 V')")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until("return document.getElementById('document').hidden")
    assert page.driver.switch_to.active_element == cited


def test_a_clarification_is_answered_by_a_click_and_the_thread_opens_again(page: Page) -> None:
    turn = page.ask(AMBIGUOUS)
    option = next(
        o for o in turn.find_elements(By.CSS_SELECTOR, ".clarification li button") if "10904" in o.text
    )
    assert "1 document" in option.text
    before = len(page.all("article"))
    option.click()
    answered = page.answered(before)
    assert "2,145.00" in answered.text
    answered.find_element(By.CSS_SELECTOR, ".cite").click()
    page.until(SPAN_IN_VIEW)
    page.one("#document-close").click()
    page.open()
    page.one("#threads button").click()
    page.until("return document.querySelector('.answer')?.textContent.includes('2,145.00')")


def test_a_filter_is_taken_away_and_the_question_runs_again(page: Page) -> None:
    turn = page.ask(SUM)
    assert "8,010.00 USD" in turn.text
    chips = turn.find_elements(By.CSS_SELECTOR, ".chip")
    assert len(chips) == 2
    before = len(page.all("article"))
    next(c for c in chips if "invoice date" in c.text).find_element(By.TAG_NAME, "button").click()
    again = page.answered(before)
    assert len(again.find_elements(By.CSS_SELECTOR, ".chip")) == 1
    assert "5 of 5 documents" in again.text


def test_a_table_is_sorted_and_leads_to_its_csv(page: Page) -> None:
    turn = page.ask("List the invoices over 1,000 EUR")
    heads = turn.find_elements(By.CSS_SELECTOR, "th button")
    at = next(number for number, head in enumerate(heads) if "amount" in head.text)

    def cells() -> list[str]:
        return [
            row.find_elements(By.TAG_NAME, "td")[at].text
            for row in turn.find_elements(By.CSS_SELECTOR, "tbody tr")
        ]

    heads[at].click()
    amounts = [float(text.split()[0].replace(",", "")) for text in cells()]
    assert (len(amounts), amounts) == (11, sorted(amounts))
    heads[at].click()
    assert [float(text.split()[0].replace(",", "")) for text in cells()] == sorted(amounts, reverse=True)
    address = turn.find_element(By.CSS_SELECTOR, ".csv").get_attribute("href")
    rows = page.driver.execute_async_script(
        "const done = arguments[1]; fetch(arguments[0]).then((r) => r.text()).then(done)", address
    )
    assert len(rows.splitlines()) == 12


def test_a_document_is_uploaded_and_hostile_text_stays_text(page: Page, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
    file = tmp_path / "note.txt"
    file.write_text(f"The quagmire badge costs 77 EUR. {hostile}\n", encoding="utf-8")
    page.one("#adding summary").click()
    page.one("#upload-bucket option[value=generic]").click()
    page.one("#upload-file").send_keys(str(file))
    page.one("#upload button").click()
    page.one("#upload-status a").click()
    page.until("return document.querySelector('pre.sheet')?.textContent.includes('onerror')")
    page.one("#document-close").click()
    turn = page.ask(f"What does the quagmire badge cost? {hostile}")
    assert "<img src=x" in turn.find_element(By.TAG_NAME, "h2").text
    assert page.driver.title == "Citegraph"
    assert page.all("article img, article script, #threads img") == []


def test_everything_is_reached_by_keyboard_and_named(page: Page) -> None:
    page.ask(LOOKUP)
    page.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    seen = []
    for _ in range(60):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(
            page.driver.execute_script(
                "const e = document.activeElement; return [e.id || e.className || e.tagName, "
                "e === document.body || getComputedStyle(e).outlineStyle !== 'none']"
            )
        )
    names = {name for name, _ in seen}
    assert {"skip", "fresh", "question", "send", "cite", "source"} <= names
    assert [name for name, outlined in seen if not outlined] == []
    unnamed = page.driver.execute_script(
        "return [...document.querySelectorAll('button, input, select, textarea, a')].filter((e) => e.checkVisibility()"
        " && !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).map((e) => e.outerHTML)"
    )
    assert unnamed == []


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_width_in_light_and_dark(page: Page, width: int, scheme: str) -> None:
    drive = page.driver.execute_cdp_cmd
    drive(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    drive("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    try:
        page.ask(SUM).find_element(By.CSS_SELECTOR, ".cite").click()
        page.until(SPAN_IN_VIEW)
        shots = os.environ.get("PAGE_SCREENSHOTS")
        if shots:
            page.driver.save_screenshot(f"{shots}/{width}-{scheme}-document.png")
        page.one("#document-close").click()
        if shots:
            page.driver.save_screenshot(f"{shots}/{width}-{scheme}.png")
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= width
        ground = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(251, 251, 250)", "dark": "rgb(21, 24, 27)"}[scheme]
    finally:
        drive("Emulation.clearDeviceMetricsOverride", {})
        drive("Emulation.setEmulatedMedia", {"features": []})
