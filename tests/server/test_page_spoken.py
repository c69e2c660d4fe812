"""The page as a screen reader has it: the tree of accessibility of a real Chromium, and what live regions tell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.server.page import MARKS, Page, browsing
from tests.server.test_page import AMBIGUOUS, GROUPS, SPAN_IN_VIEW

pytestmark = MARKS
CONTROLS = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "tab", "menuitem", "spinbutton"}
LISTEN = """
window.heard = [];
const last = new WeakMap();
new MutationObserver(() => {
  for (const region of document.querySelectorAll('[role=status], [role=alert]')) {
    const text = region.textContent.trim();
    if (last.get(region) === text) continue;
    last.set(region, text);
    if (text) window.heard.push(text);
  }
}).observe(document.body, { subtree: true, childList: true, characterData: true });
"""


@dataclass(frozen=True)
class Said:
    """What is said of a part of the page; `depth` tells what lies in what."""

    role: str
    name: str
    description: str
    focused: bool
    depth: int


def tree(page: Page) -> list[Said]:
    """Return what a reader comes by, in order."""
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    known: dict[str, Any] = {node["nodeId"]: node for node in nodes}
    found: list[Said] = []

    def walk(node: dict[str, Any], depth: int) -> None:
        if not node.get("ignored"):
            role, name, description = (
                str(node.get(key, {}).get("value", "")) for key in ("role", "name", "description")
            )
            states = {item["name"]: item["value"].get("value") for item in node.get("properties", [])}
            focused = bool(states.get("focused")) and role != "RootWebArea"
            found.append(Said(role, name, description, focused, depth))
        for child in node.get("childIds", []):
            walk(known[child], depth + 1)

    walk(nodes[0], 0)
    return found


def within(said: Sequence[Said], role: str, name: str) -> list[Said]:
    """Return what lies in the last part of a role whose name begins so."""
    at = max(place for place, one in enumerate(said) if one.role == role and one.name.startswith(name))
    inside = []
    for one in said[at + 1 :]:
        if one.depth <= said[at].depth:
            break
        inside.append(one)
    return inside


def names(said: Sequence[Said], role: str) -> list[str]:
    return [one.name for one in said if one.role == role]


def focus(page: Page) -> tuple[str, str]:
    (one,) = [one for one in tree(page) if one.focused]
    return one.role, one.name


def heard(page: Page) -> list[str]:
    told: list[str] = page.driver.execute_script("const told = window.heard; window.heard = []; return told")
    return told


def all_is_named_once(page: Page) -> None:
    """Hold that every control says what it is, and says it once."""
    controls = [one for one in tree(page) if one.role in CONTROLS]
    assert controls
    assert [one for one in controls if not one.name.strip()] == []
    assert [one for one in controls if one.description.strip() == one.name.strip()] == []


@pytest.fixture(scope="module")
def page(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(sample_home, tmp_path_factory.mktemp("spoken")) as opened:
        yield opened


def test_a_conversation_is_heard_from_the_question_to_the_table(page: Page) -> None:
    page.open_fresh()
    page.driver.execute_script(LISTEN)
    said = tree(page)
    assert {"Main", "Settings"} <= set(names(said, "navigation"))
    assert "What do you need to know?" in names(said, "heading")
    assert focus(page) == ("textbox", "Question")
    all_is_named_once(page)

    page.ask(AMBIGUOUS)
    told = heard(page)
    assert told[0] == "Working"
    assert "Which one do you mean?" in told[-1]
    assert all(f" {number}: " in told[-1] for number in range(1, 6))
    options = names(within(tree(page), "region", "One question back"), "button")
    assert [name.split()[0] for name in options] == ["1", "2", "3", "4", "5"]
    assert all(name.endswith("1 document") for name in options)
    assert focus(page) == ("textbox", "Reply")
    all_is_named_once(page)

    page.driver.switch_to.active_element.send_keys("2", Keys.ENTER)
    turn = page.answered(0)
    assert turn.find_element("css selector", ".answer").is_displayed()
    (told_last,) = heard(page)[-1:]
    assert told_last.startswith("Answered. Total amount: ")
    assert "[" not in told_last
    answer = within(tree(page), "article", AMBIGUOUS)
    sources = names(within(answer, "complementary", "Sources"), "link")
    cited = next(one for one in answer if one.role == "link" and one.name.startswith("Source 1: "))
    assert cited.name.removeprefix("Source 1: ") in sources[0]
    assert "Total amount" in cited.description, "what the source says is said before it is opened"
    assert focus(page) == ("textbox", "Question")

    page.one(".prose .cite").send_keys(Keys.ENTER)
    page.until(SPAN_IN_VIEW)
    page.until("return window.heard.some((told) => told.includes('the cited place is marked'))")
    role, title = focus(page)
    assert role == "heading"
    document = within(tree(page), "complementary", title)
    assert {"Close the document", "Download the file"} <= set(names(document, "button"))
    assert "tab" in {one.role for one in document}
    assert "mark" in {one.role for one in document}
    all_is_named_once(page)
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until("return !document.getElementById('document')")
    assert focus(page) == ("link", cited.name)

    heard(page)
    page.ask(GROUPS)
    page.until("return !document.querySelector('.chart-wait')")
    told_last = heard(page)[-1]
    assert told_last.startswith("Answered. 12 groups")
    assert told_last.endswith(" 12 rows.")
    assert "Mirabund" not in told_last, "rows are heard in their table"
    table = within(tree(page), "table", "")
    assert names(table, "columnheader") == ["Sources", "vendor name", "sum total amount"]
    assert len(names(table, "rowheader")) == 12
    assert "Mirabund Software GmbH" in names(table, "rowheader")
    figure = within(tree(page), "article", GROUPS)
    assert any(name.startswith("Chart of sum total amount EUR") for name in names(figure, "image"))
    all_is_named_once(page)


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("#/library", ".bucket-cards a"),
        ("#/library/invoices", "table.documents tbody tr"),
        ("#/library/invoices/review", ".empty, .review-item"),
        ("#/library/invoices/upload", ".drop"),
        ("#/settings", ".facts"),
    ],
)
def test_every_view_has_a_heading_and_names_what_it_offers(page: Page, address: str, seen: str) -> None:
    page.open(address)
    page.one(seen)
    said = tree(page)
    assert within(said, "main", "")
    assert "heading" in {one.role for one in within(said, "main", "")}
    all_is_named_once(page)
