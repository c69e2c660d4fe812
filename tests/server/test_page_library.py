"""The library in a real headless Chromium: documents with fields, files brought in, corrections, deletion."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.server.page import MARKS, Page, browsing

pytestmark = MARKS
HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"


@pytest.fixture(scope="module")
def page(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("library")
    (folder / "drop-off").mkdir()
    (folder / "drop-off" / "odd.xyz").write_bytes(b"\x00\x01")
    watched = json.dumps({"generic": str(folder / "drop-off")})
    with browsing(sample_home, folder, CITEGRAPH_WATCH=watched) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _quiet_and_at_home(page: Page) -> Iterator[None]:
    page.driver.get_log("performance")
    yield
    assert page.severe() == []
    assert page.elsewhere() == []


def rows(page: Page) -> list[str]:
    return [row.text for row in page.all("table.documents tbody tr")]


def test_documents_are_ordered_searched_and_filtered(page: Page) -> None:
    page.open("#/library")
    page.one(".bucket-cards a[href='#/library/invoices']").click()
    page.until("return document.querySelectorAll('table.documents tbody tr').length === 24")
    named = "[...document.querySelectorAll('thead th button')].find(head => head.innerText.trim() === 'total amount')"
    page.until(f"return {named}").click()
    page.until("return document.querySelector('tbody tr').textContent.includes('-309.60')")
    page.one(".table-search input").send_keys("cobalt")
    page.until("return document.querySelectorAll('tbody tr').length === 5")
    assert "5 documents · of 24" in page.one(".table-count").text
    page.button("Filter", ".table-tools").click()
    page.until("return document.querySelectorAll('dialog select option').length > 10")
    Select(page.all("dialog select")[0]).select_by_value("total_amount")
    Select(page.all("dialog select")[1]).select_by_value(">")
    page.one("dialog input").send_keys("2000", Keys.ENTER)
    page.until("return document.querySelectorAll('tbody tr').length === 3")
    page.one(".columns-menu summary").click()
    next(label for label in page.all(".checks-list label") if label.text.strip() == "due date").click()
    page.until(
        "return [...document.querySelectorAll('thead th')].some((one) => one.textContent === 'due date')"
    )
    page.one("table.documents tbody a").click()
    page.until("return document.querySelector('#document-title')?.textContent.includes('Cobaltine')")


def test_what_came_of_a_watched_folder_is_told(page: Page) -> None:
    page.open("#/library/generic")
    page.until(
        "return document.querySelector('.watched')?.textContent.includes('0 documents, 0 new, 0 changed')"
    )
    page.one(".watched summary").click()
    assert page.one(".watched li").text.startswith("odd.xyz: ")
    page.shoot("watched")
    page.open("#/library/invoices")
    page.one("table.documents")
    assert not page.all(".watched")


def test_chosen_documents_alone_are_asked(page: Page) -> None:
    page.open("#/library/invoices")
    page.one(".table-search input").send_keys("cobalt")
    page.until("return document.querySelectorAll('tbody tr').length === 5")
    for number in ("10231", "10577"):
        page.one(f"tbody tr:has(a[href*='cbc-{number}']) input").click()
    page.button("Ask 2 documents").click()
    page.until("return document.activeElement.id === 'question'")
    page.driver.switch_to.active_element.send_keys("What is the sum of the invoices?", Keys.ENTER)
    turn = page.answered(0)
    assert "3,720.00 USD" in turn.text
    assert "Asked of 2 chosen documents alone." in turn.text
    assert "as CSV" not in turn.text, "a file of all that match would hold others too"
    page.button("Ask all documents again", ".composer-scope").click()
    assert "10,290.00 USD" in page.ask("What is the sum of all COBALTINE CLOUD INC. invoices?").text


def test_files_and_folders_are_dropped_anywhere(page: Page, tmp_path: Path) -> None:
    """One in a folder of a folder, one alone, and one of no kind that is read: beside a conversation, and on a bucket."""
    (tmp_path / "quay" / "berths").mkdir(parents=True)
    (tmp_path / "quay" / "berths" / "log.txt").write_text("Berth log. Four boats lay at the quay.", "utf-8")
    (tmp_path / "quay" / "crane.exe").write_bytes(b"MZ\x90\x00" * 50)
    (tmp_path / "crane.txt").write_text("The crane is due for paint.", "utf-8")
    dragged = (tmp_path / "quay", tmp_path / "crane.txt")
    page.open_fresh()
    page.ask("How much did Cobaltine invoice in 2024?")
    page.drag(*dragged, drop=False)
    page.until("return document.querySelector('.drop-veil')?.textContent.includes('library')")
    page.drag(*dragged)
    page.until("return document.querySelector('.held')?.textContent.includes('3 files wait')")
    assert page.all(".drop-veil") == []
    assert not page.one("#upload-held").is_enabled(), "the bucket is missing"
    Select(page.one("#upload-bucket")).select_by_visible_text("generic")
    page.one("#upload-held").click()
    ended = (
        "return document.querySelectorAll('.upload-item.done').length === 2"
        " && document.querySelectorAll('.upload-item.failed').length === 1"
    )
    page.until(ended)
    assert "no reader for .exe" in page.one(".upload-item.failed").text
    assert "quay/berths/log.txt" in page.one("#upload-results").text
    name, result = (page.one(f".upload-item.done .upload-{part}").rect for part in ("name", "result"))
    assert name["width"] > 200, "a name stands in a line"
    assert result["y"] >= name["y"] + name["height"]
    page.button("Close", "#upload-dialog").click()
    page.until("return !document.querySelector('dialog')")
    assert "8,010.00 USD" in page.one("article .answer").text
    page.open("#/library/generic")
    page.one("table.documents tbody tr")
    page.drag(*dragged)
    page.until("return location.hash === '#/library/generic/upload'")
    page.until(ended)
    assert page.one("#upload-results").text.count("Already here") == 2


def test_many_files_are_brought_in_with_a_result_each(page: Page, tmp_path: Path) -> None:
    good, hostile, bad = (tmp_path / name for name in ("badge.txt", "note.txt", "broken.pdf"))
    good.write_text("The quagmire badge costs 77 EUR.\n", encoding="utf-8")
    hostile.write_text(f"About the marsh ladder. {HOSTILE}\n", encoding="utf-8")
    bad.write_bytes(b"%PDF-1.4 nothing")
    page.open("#/library/generic/upload")
    page.one("#upload-file").send_keys("\n".join(map(str, (good, hostile, bad))))
    page.until("return document.querySelectorAll('.upload-item.done').length === 2")
    page.until("return document.querySelectorAll('.upload-item.failed').length === 1")
    failed = page.one(".upload-item.failed")
    assert "broken.pdf" in failed.text
    assert "no document" in failed.text
    assert "3 of 3 files" in page.one(".upload-results").text
    page.one("#upload-file").send_keys(str(good))
    page.until("return document.querySelectorAll('.upload-item.done').length === 3")
    assert "Already here" in page.all(".upload-item")[-1].text
    next(item for item in page.all(".upload-item") if "note.txt" in item.text).find_element(
        By.TAG_NAME, "a"
    ).click()
    page.until("return document.querySelector('.sheet')?.textContent.includes('onerror')")
    assert page.driver.title.endswith(" · Citegraph")
    assert page.all(".sheet img, .sheet script") == []
    page.open()
    turn = page.ask("What does the quagmire badge cost?")
    assert "77" in turn.text


def test_the_newest_documents_are_shown_first(page: Page, tmp_path: Path) -> None:
    slip = tmp_path / "tidewater.txt"
    slip.write_text("The tidewater lamp is lit at six.\n", "utf-8")
    page.open("#/library/generic/upload")
    page.one("#upload-file").send_keys(str(slip))
    page.until("return document.querySelectorAll('.upload-item.done').length === 1")
    page.open("#/library/generic")
    heads = "[...document.querySelectorAll('thead th button')]"
    page.until(f"return {heads}.find((head) => head.innerText.trim() === 'Added')").click()
    page.until("return document.querySelector('tbody tr')?.textContent.includes('tidewater.txt')")
    assert re.search(r"\d{4}-\d\d-\d\d", page.one("tbody tr").text)
    page.one("tbody .document-name a").click()
    page.until("return document.querySelector('.reader-title')?.textContent.includes('added ')")


def test_a_file_is_dropped(page: Page) -> None:
    page.open("#/library/generic/upload")
    page.one(".drop")
    page.driver.execute_script(
        "const files = new DataTransfer();"
        "files.items.add(new File(['The osprey lamp weighs 9 kg.'], 'lamp.txt', { type: 'text/plain' }));"
        "document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true }))"
    )
    page.until("return document.querySelectorAll('.upload-item.done').length === 1")


def test_a_value_is_corrected_taken_back_and_the_document_deleted(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "ferry.md"
    file.write_text("# Ferry notes\n\nAuthor: Ada Elm\n\nThe ferry leaves at nine.\n", encoding="utf-8")
    page.open("#/library/generic/upload")
    page.one("#upload-file").send_keys(str(file))
    page.until("return document.querySelectorAll('.upload-item.done').length === 1")
    page.one(".upload-item.done a").click()
    page.one("#tab-fields").click()
    page.until("return document.querySelector('.value .value-text')?.textContent === 'Ferry notes'")
    page.one(".value .link").click()
    page.until("return document.querySelector('mark.place')?.textContent === 'Ferry notes'")
    page.one("#tab-fields").click()
    page.one("button[title='Correct title']").click()
    field = page.one(".edit-value input")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("Ferry timetable", Keys.ENTER)
    page.until("return document.querySelector('.value .value-text')?.textContent === 'Ferry timetable'")
    assert "by owner" in page.one(".value-note").text
    page.button("Undo", ".tidings").click()
    page.until("return document.querySelector('.value .value-text')?.textContent === 'Ferry notes'")
    page.open("#/library/generic")
    page.one(".table-search input").send_keys("ferry")
    page.until("return document.querySelectorAll('tbody tr').length === 1")
    page.one("tbody input[type=checkbox]").click()
    page.button("Delete 1").click()
    page.button("Delete", "dialog").click()
    page.until("return !!document.querySelector('.empty-line')")


def test_a_passage_is_seen_at_its_place_left_out_and_put_back(page: Page) -> None:
    page.open("#/library/invoices?document=cobaltine-cbc-10904")
    page.one("#tab-passages").click()
    page.until("return document.querySelectorAll('.passages li').length > 0")
    page.button("Leave out", ".passages").click()
    page.until(
        "return document.querySelector('.passages .out .warn')?.textContent.startsWith('Left out by owner')"
    )
    page.button("Put back", ".passages").click()
    page.until("return !!document.querySelector('.passages') && !document.querySelector('.passages .out')")
    page.one(".passages .link").click()
    page.until("return document.querySelectorAll('.reader .place').length > 0")


def test_what_is_doubtful_is_reviewed(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "slip.txt"
    text = "INVOICE\n\nElm & Oak Trading Ltd\nInvoice number: EO-77\nInvoice date: 45/99/2024\nTotal: EUR 120.00\n"
    file.write_text(text, encoding="utf-8")
    page.open("#/library/invoices/upload")
    page.one("#upload-file").send_keys(str(file))
    page.until("return document.querySelectorAll('.upload-item.done').length === 1")
    page.open("#/library/invoices/review")
    page.until("return document.querySelectorAll('.review-item').length > 0")
    page.shoot("review-items")
    before = len(page.all(".review-item"))
    page.button("There is none", ".review-item").click()
    decided = page.one(".review-item.decided")
    assert "There is none" in decided.text
    assert len(page.all(".review-item")) == before, "what was decided stays, to be taken back"
    page.button("Undo", ".review-item.decided").click()
    page.until("return !document.querySelector('.decided')")
    # By keyboard alone one is led to the undoing, and back.
    page.button("Correct", ".review-item").send_keys(Keys.ENTER)
    page.until("return !!document.activeElement.closest('.edit-value')")
    field = page.driver.switch_to.active_element
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("2024-03-05", Keys.ENTER)
    page.until("return !!document.activeElement.closest('.decided')")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.until(
        "return !document.querySelector('.decided') && !!document.activeElement.closest('.review-item')"
    )


def test_a_value_that_stands_elsewhere_is_taken_by_a_click(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "toner.txt"
    dates = "Invoice date: 21 February 2025   Payment due 23 March 2025"
    file.write_text(
        f"ALDER & FINCH PRESS LTD\n\nINVOICE\n\nInvoice number: AF-0231\n{dates}\n\nTotal GBP 540.00\n",
        "utf-8",
    )
    page.open("#/library/invoices/upload")
    page.one("#upload-file").send_keys(str(file))
    page.until("return document.querySelectorAll('.upload-item.done').length === 1")
    page.open("#/library/invoices/review")
    page.button("Take this one", ".review-item").click()
    assert re.search(r"2025-0[23]-2[13]", page.one(".review-item.decided").text)
