"""Markup and scripts in every field of documents stay text in a real browser, wherever the page shows them."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from citegraph.corpus.schema.bucket import load_buckets
from citegraph.run.json_output import dumped
from tests.server.page import MARKS, Page, browsing

pytestmark = MARKS
BROKEN = "document.title='broken'"
ATTACKS = (
    f'<img src=x onerror="{BROKEN}">',
    f"<script>{BROKEN}</script>",
    f"[press](javascript:{BROKEN})",
    f'"><svg onload={BROKEN}>',
    f"<iframe srcdoc='<script>parent.{BROKEN}</script>'></iframe>",
    f"{{{{constructor.constructor(&quot;{BROKEN}&quot;)()}}}}",
)
PLACES = ("#/library", "#/library/generic", "#/library/generic/upload", "#/review", "#/")


@pytest.fixture(scope="module")
def page(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browsing(sample_home, tmp_path_factory.mktemp("hostile")) as opened:
        yield opened


def clean(page: Page) -> None:
    """Fail when a document's markup became part of the page."""
    assert not page.driver.title.startswith("broken")
    found = "img[src='x'], svg[onload], iframe[srcdoc], a[href^='javascript']"
    assert page.all(found) == []
    assert page.driver.execute_script(
        "return [...document.scripts].every((one) => !one.textContent.includes('broken'))"
    )


def test_markup_in_every_field_stays_text(page: Page, tmp_path: Path) -> None:
    fields = load_buckets()["generic"].fields
    texts = [field.name for field in fields if field.type in ("keyword", "text")]
    assert len(texts) > 5
    lines = []
    for number, attack in enumerate(ATTACKS):
        values = {name: f"{attack} {name}" for name in texts if name != "document_type"}
        text = (
            f"# {attack} Wharf crane {number}\n\nThe wharf crane {number} lifts {40 + number} t. {attack}\n"
        )
        lines.append(dumped({"doc_id": f"crane-{number}", "text": text, "title": attack, "metadata": values}))
    sent = httpx.post(
        f"{page.url}/documents",
        data={"bucket": "generic", "labels": ATTACKS[0]},
        files={"file": (f"{ATTACKS[0]} crane.jsonl", "\n".join(lines).encode())},
        timeout=120,
    )
    assert sent.status_code == 201, sent.text
    documents = sent.json()["documents"]
    assert len(documents) == len(ATTACKS)
    for place in PLACES:
        page.open(place)
        clean(page)
    page.open("#/library/generic")
    page.one(".table-search input").send_keys("wharf")
    page.until("return document.querySelectorAll('tbody tr').length > 0")
    clean(page)
    for at in range(len(ATTACKS)):
        page.open("#/library/generic")
        page.until("return document.querySelectorAll('table.documents tbody a').length > 0")
        named = f"[...document.querySelectorAll('table.documents tbody a')].find((a) => a.href.includes('crane-{at}'))"
        if not page.driver.execute_script(f"return !!{named}"):
            continue
        page.until(f"return {named}").click()
        page.one("#tab-fields").click()
        page.until("return document.querySelectorAll('.value .value-text').length > 3")
        clean(page)
    page.open()
    turn = page.ask("What does the wharf crane 3 lift?")
    assert "43" in turn.text
    clean(page)
    page.ask("List the documents titled wharf crane")
    clean(page)
    assert page.severe() == []
