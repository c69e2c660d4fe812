"""The page in a real headless Chromium, over the sample corpus with the twins: asking, and what an answer offers."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from tests.server.page import MARKS, Page, browsing

pytestmark = MARKS
LOOKUP = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
AMBIGUOUS = "What is the total of the Cobaltine invoice?"
SUM = "How much did Cobaltine invoice in 2024?"
GROUPS = "Total of the invoices by vendor"
LIST = "List the invoices over 1,000 EUR"
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
    page.open_fresh()
    yield
    assert page.severe() == []
    assert page.elsewhere() == []


def texts(turn: WebElement, css: str) -> list[str]:
    return [found.text for found in turn.find_elements(By.CSS_SELECTOR, css)]


def test_an_answer_comes_with_its_sources_and_a_citation_opens_the_marked_page(page: Page) -> None:
    turn = page.ask(LOOKUP)
    assert "45 V" in turn.find_element(By.CSS_SELECTOR, ".prose").text
    assert "Answered" in turn.find_element(By.CSS_SELECTOR, ".standing").text
    turn.find_element(By.CSS_SELECTOR, ".steps summary").click()
    assert "datasheets: 2 hits" in turn.find_element(By.CSS_SELECTOR, ".steps").text
    cited = turn.find_element(By.CSS_SELECTOR, ".prose .cite")
    cited.click()
    page.until(SPAN_IN_VIEW)
    assert "document=nv2n517" in page.driver.current_url
    # The text of the page can be selected, and lies where the page shows it.
    page.until(
        "return [...document.querySelectorAll('.textLayer span')].some((one) => one.textContent === 'VCEO')"
    )
    before = page.one(".zoom").text
    page.button("Larger", "#document").click()
    page.until(f"return document.querySelector('.zoom').textContent !== {before!r}")
    page.until(SPAN_IN_VIEW.replace("mark.top >= body.top - 1 &&", ""))
    page.button("Search in the document", "#document").click()
    page.one("#document-search").send_keys("junction to case")
    page.until("return document.querySelector('.reader-search [role=status]').textContent.includes('1 / 1')")
    page.one("#tab-fields").click()
    page.until("return !!document.querySelector('.value .value-text')")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until("return !document.getElementById('document')")
    assert page.driver.switch_to.active_element == cited


def test_a_link_to_a_cited_place_opens_it_anywhere(page: Page) -> None:
    address = page.ask(LOOKUP).find_element(By.CSS_SELECTOR, ".source").get_attribute("href")
    assert address is not None
    page.open(address.split("/", 3)[3])
    page.until(SPAN_IN_VIEW)
    page.until("return document.querySelector('.answer')?.textContent.includes('45 V')")


def test_a_document_that_is_read_is_asked_by_itself(page: Page) -> None:
    page.open("#/library/invoices?document=cobaltine-cbc-10231")
    page.button("Ask about this document", "#document").click()
    page.until("return document.activeElement.id === 'question'")
    assert "cobaltine-cbc-10231.txt" in page.one(".composer-scope .chip").text
    page.driver.switch_to.active_element.send_keys("when is it due?", Keys.ENTER)
    turn = page.answered(0)
    assert "2024-02-01" in turn.text
    assert set(texts(turn, ".source-name")) == {"cobaltine-cbc-10231.txt"}


def test_text_in_columns_keeps_its_lines_and_shows_the_cited_place(page: Page) -> None:
    page.ask(SUM).find_element(By.CSS_SELECTOR, ".source").click()
    page.until(SPAN_IN_VIEW)
    lines = page.driver.execute_script(
        "const sheet = document.querySelector('.sheet'), style = getComputedStyle(sheet);"
        "const rows = (sheet.clientHeight - 2 * parseFloat(style.paddingTop)) / parseFloat(style.lineHeight);"
        "return Math.round(rows) - sheet.textContent.trimEnd().split('\\n').length"
    )
    assert lines in (0, 1), "no line of the columns is broken, one of prose may be"
    page.one("#document-search").send_keys("amount usd")
    page.until("return document.querySelectorAll('mark.hit').length >= 2")


def test_a_clarification_is_answered_by_a_click_once_and_reopens_as_it_was(page: Page) -> None:
    turn = page.ask(AMBIGUOUS)
    page.shoot("clarification")
    option = next(o for o in turn.find_elements(By.CSS_SELECTOR, ".option") if "10904" in o.text)
    assert "1 document" in option.text
    option.click()
    page.until("return document.querySelector('article .answer')?.textContent.includes('2,145.00')")
    assert len(page.all("article")) == 1, "question, reply and answer are one turn"
    assert page.all(".option") == []
    assert "CBC-10904" in page.one(".exchange-reply").text
    page.ask(LOOKUP)
    page.open(page.driver.current_url.split("/", 3)[3])
    page.until("return document.querySelectorAll('article .answer').length === 2")
    assert "CBC-10904" in page.one(".exchange-reply").text
    first = page.all("article")[0]
    assert "2,145.00" in first.find_element(By.CSS_SELECTOR, ".prose").text
    assert first.find_elements(By.CSS_SELECTOR, ".source"), "an earlier answer keeps its sources"


def test_a_reply_in_the_box_resumes_and_another_question_closes_what_was_asked_back(page: Page) -> None:
    page.ask(AMBIGUOUS)
    page.one("#question").send_keys("CBC-10904", Keys.ENTER)
    page.until("return document.querySelector('article .answer')?.textContent.includes('2,145.00')")
    assert len(page.all("article")) == 1
    page.ask(AMBIGUOUS)
    page.button("Ask something else instead").click()
    turn = page.ask(LOOKUP)
    assert "45 V" in turn.text
    assert page.all(".option") == [], "what was asked back and not answered can be chosen no more"
    assert [one.text for one in page.all("article h2")] == [AMBIGUOUS, AMBIGUOUS, LOOKUP]


def test_a_question_of_its_own_in_the_box_that_replies_is_asked_anew(page: Page) -> None:
    page.ask(AMBIGUOUS)
    turn = page.ask(LOOKUP)
    assert "45 V" in turn.text
    assert [one.text for one in page.all("article h2")] == [AMBIGUOUS, LOOKUP]
    assert page.all(".exchange-reply") == []
    assert page.all(".option") == []


def test_a_follow_up_keeps_head_and_answers_in_view(page: Page) -> None:
    page.ask(LOOKUP)
    page.ask("and its package?")
    head, first, second = (
        page.one(css) for css in (".thread-head", "article:nth-of-type(1)", "article:nth-of-type(2)")
    )
    assert head.is_displayed()
    assert head.rect["y"] == 0
    top = page.driver.execute_script("return arguments[0].getBoundingClientRect().top", second)
    assert 0 <= top <= head.rect["height"] + 2, "the new question stands at the top"
    assert "45 V" in first.text
    assert page.driver.execute_script("return document.scrollingElement.scrollHeight <= innerHeight")


def test_a_question_is_edited_and_asked_again(page: Page) -> None:
    page.ask(SUM)
    page.button("Edit the question", "article").click()
    field = page.one(".question textarea")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("How much did Cobaltine invoice in 2025?", Keys.ENTER)
    turn = page.answered(1)
    assert "2,280.00 USD" in turn.text


def test_filters_are_changed_and_taken_away_and_the_question_runs_again(page: Page) -> None:
    turn = page.ask(SUM)
    assert "8,010.00 USD" in turn.text
    chips = turn.find_elements(By.CSS_SELECTOR, ".chip.applied")
    assert len(chips) == 2
    next(c for c in chips if "invoice date" in c.text).find_element(By.CSS_SELECTOR, ".icon-button").click()
    again = page.answered(1)
    assert len(again.find_elements(By.CSS_SELECTOR, ".chip.applied")) == 1
    assert "5 of 5 documents" in again.text
    again.find_element(By.CSS_SELECTOR, ".chip.add").click()
    page.until("return document.querySelectorAll('dialog select option').length > 10")
    Select(page.all("dialog select")[0]).select_by_value("total_amount")
    Select(page.all("dialog select")[1]).select_by_value(">=")
    page.one("dialog input").send_keys("2200", Keys.ENTER)
    narrowed = page.answered(2)
    own = narrowed.find_elements(By.CSS_SELECTOR, ".chip.own")
    assert len(own) == 1
    assert "yours" in own[0].text
    assert "2,280.00 USD" in narrowed.text
    # Of a thread that is opened again the answer says which filters were one's own.
    page.open(page.driver.current_url.split("/", 3)[3])
    page.until("return document.querySelectorAll('article .answer').length === 3")
    page.all("article")[2].find_element(By.CSS_SELECTOR, ".chip.own .icon-button").click()
    assert page.answered(3).find_elements(By.CSS_SELECTOR, ".chip.own") == []


def test_a_table_is_ordered_searched_and_taken_away_as_it_is_seen(page: Page) -> None:
    turn = page.ask(LIST)
    assert "- Kestrelwick" not in turn.text, "the list is not said beside its table"
    heads = texts(turn, "thead th")
    at = next(number for number, head in enumerate(heads) if "total" in head)

    def amounts() -> list[float]:
        rows = turn.find_elements(By.CSS_SELECTOR, "tbody tr")
        cells = [row.find_elements(By.TAG_NAME, "td")[at].text for row in rows]
        return [float(cell.split()[0].replace(",", "")) for cell in cells]

    head = turn.find_elements(By.CSS_SELECTOR, "thead th")[at].find_element(By.TAG_NAME, "button")
    head.click()
    assert (len(amounts()), amounts()) == (11, sorted(amounts()))
    head.click()
    assert amounts() == sorted(amounts(), reverse=True)
    turn.find_element(By.CSS_SELECTOR, ".table-search input").send_keys("halbrecht")
    page.until("return document.querySelector('.table-count').textContent === '2 of 11 rows'")
    seen = amounts()
    page.button("CSV", "article").click()
    rows = list(csv.DictReader(io.StringIO(page.downloaded(".csv").read_text("utf-8-sig"))))
    assert [float(row["total amount"]) for row in rows] == seen
    assert {row["total amount currency"] for row in rows} == {"EUR"}
    page.button("Excel", "article").click()
    sheet = load_workbook(page.downloaded(".xlsx")).worksheets[0]
    heads = [cell.value for cell in next(sheet.iter_rows())]
    values: list[Any] = [row[heads.index("total amount")].value for row in sheet.iter_rows(min_row=2)]
    assert values == seen


def test_amounts_are_ordered_within_their_currency_and_groups_are_drawn(page: Page) -> None:
    turn = page.ask(GROUPS)
    verdicts = {shown.get_attribute("class") for shown in turn.find_elements(By.CSS_SELECTOR, ".verdict")}
    assert verdicts <= {"verdict derived"}, "computed, and not called unsupported"
    assert "12 of 12 statements held" in turn.find_element(By.CSS_SELECTOR, ".standing").text
    page.until("return document.querySelector('.chart canvas')?.width > 100")
    assert texts(turn, ".chart .segments button") == ["EUR", "MYR", "USD"]
    page.shoot("groups")
    assert turn.find_elements(By.CSS_SELECTOR, ".prose li") == [], "groups are said once, in the table"
    assert len(turn.find_elements(By.CSS_SELECTOR, "tbody .source-column .cite")) >= 12
    turn.find_elements(By.CSS_SELECTOR, "thead th button")[1].click()
    cells = texts(turn, "tbody td.number")
    keyed = [(cell.split()[1], float(cell.split()[0].replace(",", ""))) for cell in cells]
    assert keyed == sorted(keyed)
    assert len({currency for currency, _ in keyed}) == 3
    drawn = page.driver.execute_script("return document.querySelector('canvas').getAttribute('aria-label')")
    assert "8 values" in drawn
    page.button("MYR", ".chart").click()
    page.until("return document.querySelector('canvas').getAttribute('aria-label').includes('MYR, 2 values')")


def test_an_answer_is_copied_with_its_sources_and_rated(page: Page) -> None:
    turn = page.ask(SUM)
    page.driver.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    page.button("Copy the answer", "article").click()
    copied = page.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert "8,010.00 USD. [1] [2] [3] [4]" in copied
    assert "[4] cobaltine-cbc-11260.txt: “" in copied
    good = page.button("A good answer", "article")
    good.click()
    page.until(
        "return document.querySelector('[title=\"A good answer\"]').getAttribute('aria-pressed') === 'true'"
    )
    page.open(page.driver.current_url.split("/", 3)[3])
    page.until(
        "return document.querySelector('[title=\"A good answer\"]')?.getAttribute('aria-pressed') === 'true'"
    )
    assert turn is not None


def test_a_note_is_kept_with_its_answer_found_printed_and_taken_back(page: Page) -> None:
    page.ask(SUM)
    page.button("Note of your own", "article").click()
    page.driver.switch_to.active_element.send_keys("Ask Ute about <b>line</b> two", Keys.ENTER)
    page.until(
        "return document.querySelector('p.note')?.textContent.includes('Ask Ute about <b>line</b> two')"
    )
    page.open(page.driver.current_url.split("/", 3)[3])
    page.until("return document.querySelector('p.note')?.textContent.startsWith('Your note (no source):')")
    assert "Ask Ute about" in page.one("p.note").text
    page.shoot("note")
    assert "Your note (no source): Ask Ute" in "\n".join(page.printed()).replace("\r\n", " ")
    page.menu("Thread actions", "Markdown")
    assert "\n> **Your note (no source):** Ask Ute about <b>line</b> two\n" in page.downloaded(
        ".md"
    ).read_text("utf-8")
    page.button("Note of your own", "article").click()
    page.driver.switch_to.active_element.send_keys(Keys.CONTROL, "a")
    page.driver.switch_to.active_element.send_keys(Keys.DELETE, Keys.ENTER)
    page.until("return !document.querySelector('.note')")


def test_an_answer_is_printed_as_a_report(page: Page) -> None:
    """With the question and the day, all rows under repeated heads, and all sources written out."""
    page.size(1280, "dark")
    try:
        turn = page.ask("Total of the invoices by month")
        page.until("return document.querySelector('.chart canvas')?.width > 100")
        rows = len(turn.find_elements(By.CSS_SELECTOR, "tbody tr"))
        printed = page.printed()
    finally:
        page.size(1280)
    whole = "\n".join(printed)
    assert "Total of the invoices by month" in printed[0]
    assert re.search(r"Printed \w{3} \d{1,2}, 20\d\d", printed[0])
    assert page.driver.current_url in printed[0].replace("\r\n", "")
    month = re.compile(r"(?<![-\d])20\d\d-\d\d -?[\d,]+\.\d\d")
    assert len(month.findall(whole)) == rows
    with_rows = [text for text in printed if month.search(text)]
    assert all("sum total amount" in text for text in with_rows)
    assert len(with_rows) > 1
    sources = int(turn.find_element(By.CSS_SELECTOR, ".sources h3").text.split()[0])
    assert whole.replace("\r\n", "").count("document=") == sources > 4
    assert not {"New question", "Ask a follow-up", "CSV", "Show"} & set(re.findall(r"[A-Z][\w -]+", whole))
    assert page.driver.execute_script("return document.querySelectorAll('thead th button').length") > 0


def test_threads_are_found_renamed_exported_and_deleted(page: Page) -> None:
    page.ask(LOOKUP)
    page.ask(SUM)
    page.menu("Thread actions", "Rename")
    field = page.one("#thread-name")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("Audit of March", Keys.ENTER)
    page.until("return document.querySelector('.thread-head h1').textContent === 'Audit of March'")
    page.menu("Thread actions", "Markdown")
    text = page.downloaded(".md").read_text("utf-8")
    assert text.startswith("# Audit of March\n")
    assert f"## {SUM}" in text
    assert "| document | invoice date | total amount |" in text
    page.one("#fresh").click()
    page.until("return !!document.getElementById('welcome')")
    search = page.one("#thread-search")
    search.send_keys("invoice in 2024")
    page.until(
        "return [...document.querySelectorAll('.thread')].some((one) => one.textContent.includes('Audit of March'))"
    )
    link = next(one for one in page.all(".thread a") if one.text == "Audit of March")
    link.click()
    page.until("return document.querySelectorAll('article .answer').length === 2")
    page.menu("Actions for Audit of March", "Delete")
    page.button("Delete", "dialog").click()
    page.until("return !!document.getElementById('welcome')")
    page.until(
        "return ![...document.querySelectorAll('.thread')].some((one) => one.textContent.includes('Audit of March'))"
    )


def test_what_went_wrong_is_over_when_one_leaves_it(page: Page) -> None:
    page.open(f"#/thread/{'0' * 32}")
    page.until(
        "return document.querySelector('.tiding.bad')?.textContent.startsWith('This thread is not there')"
    )
    page.driver.execute_script("location.hash = '#/library'")
    page.until("return !!document.querySelector('.bucket-cards a') && !document.querySelector('.tiding.bad')")
    page.severe()


def test_an_example_is_asked_by_a_click(page: Page) -> None:
    example = page.one(".examples button")
    question = example.text
    example.click()
    turn = page.answered(0)
    assert turn.find_element(By.TAG_NAME, "h2").text == question
    assert "Answered" in turn.find_element(By.CSS_SELECTOR, ".standing").text


def test_what_may_be_asked_next_is_offered_and_keeps_what_was_meant(page: Page) -> None:
    turn = page.ask(SUM)
    page.until("return document.querySelectorAll('ul.next button').length > 1")
    assert "Total of the invoices by vendor" not in texts(turn, "ul.next button"), "one vendor is meant"
    page.button("Total of the invoices by month", "ul.next").click()
    turn = page.answered(1)
    assert "4 groups" in turn.text
    assert turn.text.count("Cobaltine Cloud Inc.") >= 1
    assert len(page.all("ul.next")) <= 1, "only the newest answer is gone on from"
    page.open_fresh()
    page.ask(LOOKUP)
    page.until("return document.querySelectorAll('ul.next button').length > 0")
    page.one("ul.next button").click()
    turn = page.answered(1)
    assert "Answered" in turn.text
    assert set(texts(turn, ".source-name")) == set(texts(page.all("article")[0], ".source-name"))


def test_an_error_keeps_the_question_and_offers_it_again(page: Page) -> None:
    page.ask(LOOKUP)
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/ask"]})
    page.one("#question").send_keys(SUM, Keys.ENTER)
    page.until("return document.querySelector('.trouble.bad')?.textContent.includes('does not answer')")
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    assert page.all("article h2")[-1].text == SUM
    page.button("Ask again", ".trouble").click()
    page.until(
        "return document.querySelector('article:last-of-type .answer')?.textContent.includes('8,010.00 USD')"
    )
    assert len(page.all("article")) == 2
    refused = [line for line in page.severe() if "ERR_BLOCKED_BY_CLIENT" not in line]
    assert refused == []


def test_hostile_text_stays_text(page: Page) -> None:
    hostile = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
    turn = page.ask(f"What does the quagmire badge cost? {hostile}")
    assert "<img src=x" in turn.find_element(By.TAG_NAME, "h2").text
    assert page.driver.title.endswith(" · Citegraph")
    assert page.all("article img, article script, .thread img") == []


def test_everything_is_reached_by_keyboard_and_named(page: Page) -> None:
    page.ask(LOOKUP)
    page.driver.execute_script("document.activeElement.blur()")
    seen = []
    for _ in range(60):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(
            page.driver.execute_script(
                "const e = document.activeElement; return [e.id || e.className.toString().split(' ')[0] || e.tagName, "
                "e === document.body || getComputedStyle(e).outlineStyle !== 'none' || "
                "getComputedStyle(e.parentElement).borderColor !== '']"
            )
        )
    names = {name for name, _ in seen}
    assert {"skip", "fresh", "thread-search", "question", "cite", "source"} <= names
    assert [name for name, outlined in seen if not outlined] == []


def test_the_keyboard_alone_asks_reads_chooses_and_is_never_lost(page: Page) -> None:
    """From the box to the answer and back; dialogs give the focus back; what goes away hands it on."""

    def press(*keys: str) -> str:
        ActionChains(page.driver).send_keys(*keys).perform()
        return str(
            page.driver.execute_script(
                "const e = document.activeElement; return e.ariaLabel || e.id || e.className || e.tagName"
            )
        )

    page.until("return document.activeElement.id === 'question'")
    page.driver.switch_to.active_element.send_keys(AMBIGUOUS, Keys.ENTER)
    page.answered(0)
    assert press(Keys.ARROW_UP) == "turn"
    assert press(Keys.ESCAPE) == "question"
    press(Keys.ARROW_UP)
    while press(Keys.TAB) != "option":
        pass
    assert press(Keys.ENTER) == "question"
    page.until("return !!document.querySelector('article .answer')")
    press(Keys.ARROW_UP)
    while press(Keys.TAB) != "chip-text":
        pass
    press(Keys.ENTER)
    page.one("dialog[open]")
    assert press(Keys.ESCAPE) == "chip-text"
    page.one("#fresh").send_keys(Keys.ENTER)
    page.driver.switch_to.active_element.send_keys(LIST, Keys.ENTER)
    page.answered(0)
    first, second = page.all("tbody .cite")[:2]
    page.driver.execute_script("arguments[0].focus()", first)
    press(Keys.ARROW_DOWN)
    assert page.driver.switch_to.active_element == second
    assert press(Keys.HOME, Keys.ARROW_RIGHT, Keys.TAB) == "chip-text", "the rows are one stop"
    page.open("#/library/invoices")
    page.button("Filter", ".table-tools").send_keys(Keys.ENTER)
    page.one("dialog[open] input").send_keys("a", Keys.ENTER)
    page.one(".chip.own .icon-button").send_keys(Keys.ENTER)
    page.until("return !document.querySelector('.chip.own')")
    page.until("return document.activeElement !== document.body")


def test_the_page_speaks_three_languages_and_wears_two_colours(page: Page) -> None:
    page.open("#/settings")
    try:
        page.one("select option[value=de]").click()
        page.until("return document.querySelector('h1').textContent === 'Einstellungen'")
        assert page.driver.execute_script("return document.documentElement.lang") == "de"
        page.open_fresh()
        assert page.one("#welcome h1").text == "Was möchten Sie wissen?"
        page.open("#/settings")
        page.one("select option[value=fr]").click()
        page.until("return document.querySelector('h1').textContent === 'Réglages'")
        page.button("Sombre", ".settings").click()
        ground = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(22, 24, 28)"
    finally:
        page.driver.execute_script("localStorage.clear()")


def test_the_api_is_shown_without_an_error(page: Page) -> None:
    """Nothing is asked of another site: the fixture holds that, and that the console stays empty."""
    for path, shown in (("docs", ".swagger-ui .opblock"), ("redoc", ".redoc-wrap h1")):
        page.driver.get(f"{page.url}/{path}")
        page.one(shown)
        page.until("return [...document.images].every((one) => one.complete)")


def test_a_page_without_documents_names_the_demo(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "served").mkdir()
    with browsing(tmp_path / "none", tmp_path / "served") as empty:
        empty.open()
        assert "citegraph serve --demo" in empty.one("#welcome .empty").text
