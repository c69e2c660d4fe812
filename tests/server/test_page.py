"""The page in a real headless Chromium, over the sample corpus with the twins."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.server.page import MARKS, Page, browsing

pytestmark = MARKS
LOOKUP = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
AMBIGUOUS = "What is the total of the Cobaltine invoice?"
SUM = "How much did Cobaltine invoice in 2024?"
ONE_LINE = """
return [...document.querySelectorAll('.bar button')].filter((b) => b.checkVisibility()).map((b) => b.offsetHeight);
"""
COLUMNS = """
const sheet = document.querySelector('pre.sheet');
const lines = sheet.textContent.trimEnd().split('\\n').length, style = getComputedStyle(sheet);
const rows = (sheet.clientHeight - 2 * parseFloat(style.paddingTop)) / parseFloat(style.lineHeight);
return Math.round(rows) - lines;
"""
SPAN_IN_VIEW = """
const [mark, body] = ['.place', '#document-body'].map((name) => document.querySelector(name)?.getBoundingClientRect());
return !!mark && mark.height > 0 && mark.top >= body.top - 1 && mark.top < body.bottom;
"""


@pytest.fixture(scope="module")
def page(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(sample_home, tmp_path_factory.mktemp("page")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _quiet_and_at_home(page: Page) -> Iterator[None]:
    """Hold every test to it: no console error, and no request to another origin."""
    page.driver.get_log("performance")
    page.open()
    yield
    assert page.severe() == []
    assert page.elsewhere() == []


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


def test_a_clarification_is_answered_in_ones_own_words(page: Page) -> None:
    turn = page.ask(AMBIGUOUS)
    before = len(page.all("article"))
    page.shoot("clarification")
    turn.find_element(By.CSS_SELECTOR, ".clarification input").send_keys("CBC-10904", Keys.ENTER)
    answered = page.answered(before)
    assert answered.find_element(By.TAG_NAME, "h2").text == "CBC-10904"
    assert "2,145.00" in answered.text
    closed = turn.find_elements(By.CSS_SELECTOR, ".clarification button, .clarification input")
    assert [control for control in closed if control.is_enabled()] == [], "it is answered once"


def test_ones_own_filter_is_marked_and_taken_out_without_touching_the_others(page: Page) -> None:
    page.one("#narrow summary").click()
    page.one("#filters").send_keys("total_amount>=2000\nvendor_name=Cobaltine Cloud Inc.")
    turn = page.ask("List the invoices of 2024")
    page.shoot("own-filters")
    own = turn.find_elements(By.CSS_SELECTOR, ".chip.hard")
    assert sorted(chip.text.split()[0] for chip in own) == ["total", "vendor"]
    assert all("set by you" in chip.text for chip in own)
    assert len(turn.find_elements(By.CSS_SELECTOR, "tbody tr")) == 2
    page.one("#filters").clear()
    # The answer itself tells which filters were one's own when the thread is opened again.
    page.open()
    page.one("#threads button").click()
    before = len(page.all("article"))
    page.one(".chip.hard")
    chip = next(c for c in page.all(".chip.hard") if c.text.startswith("total"))
    chip.find_element(By.TAG_NAME, "button").click()
    again = page.answered(before)
    left = [c.text.split()[0] for c in again.find_elements(By.CSS_SELECTOR, ".chip.hard")]
    assert left == ["vendor"]
    assert len(again.find_elements(By.CSS_SELECTOR, "tbody tr")) == 4


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
        page.shoot(f"{width}-{scheme}-document")
        assert page.driver.execute_script(COLUMNS) == 0, "no line of a text in columns is broken"
        page.one("#document-close").click()
        page.shoot(f"{width}-{scheme}")
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= width
        heights = page.driver.execute_script(ONE_LINE)
        assert len(heights) >= 1
        assert max(heights) < 48, "the buttons of the head stand in one line"
        ground = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(251, 251, 250)", "dark": "rgb(21, 24, 27)"}[scheme]
    finally:
        drive("Emulation.clearDeviceMetricsOverride", {})
        drive("Emulation.setEmulatedMedia", {"features": []})
