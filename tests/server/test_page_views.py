"""Every view of the page in a real headless Chromium: seen at two widths and in two colours, and by axe."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.page import MARKS, Page, browsing
from tests.server.page_sources import packages
from tests.server.test_page import AMBIGUOUS, GROUPS, LIST, LOOKUP, SPAN_IN_VIEW, SUM

pytestmark = MARKS


@pytest.fixture(scope="module")
def page(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(sample_home, tmp_path_factory.mktemp("views")) as opened:
        yield opened


def asked(question: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.open_fresh()
        page.ask(question)

    return go


def cited(question: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.open_fresh()
        page.ask(question)
        page.one(".source").click()
        page.until(SPAN_IN_VIEW)

    return go


def at(address: str, seen: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.open(address)
        page.until(f"return !!document.querySelector({json.dumps(seen)})")

    return go


def filtering(page: Page) -> None:
    asked(SUM)(page)
    page.one(".chip.add").click()
    page.until("return document.querySelectorAll('dialog select option').length > 10")


def passages(page: Page) -> None:
    page.open("#/library/invoices?document=cobaltine-cbc-10904")
    page.one("#tab-passages").click()
    page.until("return !!document.querySelector('.passages li')")


def with_menu(page: Page) -> None:
    page.open_fresh()
    page.driver.execute_script("document.getElementById('menu').click()")


VIEWS: dict[str, Callable[[Page], None]] = {
    "welcome": lambda page: page.open_fresh(),
    "menu": with_menu,
    "sum": asked(SUM),
    "groups": asked(GROUPS),
    "list": asked(LIST),
    "clarification": asked(AMBIGUOUS),
    "filter": filtering,
    "pdf": cited(LOOKUP),
    "text": cited(SUM),
    "passages": passages,
    "library": at("#/library", ".bucket-cards a"),
    "documents": at("#/library/invoices", "table.documents tbody tr"),
    "review": at("#/library/invoices/review", ".empty, .review-item"),
    "upload": at("#/library/invoices/upload", ".drop"),
    "settings": at("#/settings", ".facts"),
}
FOUND = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"] }).then(
  (result) => done(result.violations.map(({ id, impact, nodes }) => [impact, id, nodes.slice(0, 5).map((node) => node.html.slice(0, 160))])),
  (error) => done([["failed", String(error), []]]),
);
"""
SPREAD = """
return [document.documentElement, ...document.querySelectorAll('body *')].filter((one) => !one.matches('.table-frame, .sheet-frame, .unseen')
  && one.scrollWidth > one.clientWidth + 1 && (one === document.documentElement || /auto|scroll/.test(getComputedStyle(one).overflowX)))
  .map((one) => `${one.className || one.id || one.tagName}: ${one.scrollWidth} > ${one.clientWidth}`);
"""
"""What is wider than its place and would scroll sideways; tables and texts of fixed width may."""


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_fits_and_is_for_everyone(page: Page, view: str, width: int, scheme: str) -> None:
    page.driver.get_log("performance")
    page.size(width, scheme)
    VIEWS[view](page)
    page.until("return !document.querySelector('.skeleton, .wait, .chart-wait')")
    page.shoot(f"{view}-{width}-{scheme}")
    assert page.driver.execute_script(SPREAD) == []
    page.driver.execute_script((packages() / "axe-core" / "axe.min.js").read_text("utf-8"))
    found: list[Any] = page.driver.execute_async_script(FOUND)
    assert [one for one in found if one[0] in ("serious", "critical", "failed")] == []
    assert (page.severe(), page.elsewhere()) == ([], [])


def test_a_phone_shows_a_group_with_its_amount_and_one_bar(page: Page) -> None:
    page.size(390)
    asked(GROUPS)(page)
    page.until("return !document.querySelector('.chart-wait')")
    frame = page.one(".answer-table .table-frame")
    assert (
        page.driver.execute_script("return arguments[0].scrollWidth - arguments[0].clientWidth", frame) <= 1
    )
    boxes = [tool.rect for tool in page.all(".table-tools > *") if tool.rect["width"]]
    assert len({box["y"] + box["height"] // 2 for box in boxes}) <= 3
    assert page.one(".table-search input").rect["width"] > 120
    assert page.one(".thread-head").rect["y"] == 0


def test_a_long_word_makes_nothing_scroll_sideways(page: Page) -> None:
    page.size(390)
    asked(f"How much did {'Hollinpyestationers' * 5} invoice in 2024?")(page)
    assert page.driver.execute_script(SPREAD) == []


def test_a_phone_shows_the_whole_of_a_cited_line_of_columns(page: Page) -> None:
    page.size(390)
    cited(SUM)(page)
    edge = page.driver.execute_script("return document.querySelector('.place').getBoundingClientRect().right")
    assert edge <= 390
