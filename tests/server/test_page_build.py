"""The page as it is built: the files that are served are those of the sources, small, and from no other place."""

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.server.page_sources import BUILT, SOURCES, run

pytestmark = pytest.mark.slow
OF_PDFJS = re.compile(r"^pdf/|^assets/pdf_view\.|^assets/[\w-]+\.(svg|gif)$")
BUDGET = 350_000
"""Bytes of the page, compressed, without what PDF.js needs."""


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_what_is_served_is_what_the_sources_give(tmp_path: Path) -> None:
    run("vite", "build", PAGE_OUT=str(tmp_path / "page"))
    built, kept = files(tmp_path / "page"), files(BUILT)
    assert sorted(built) == sorted(kept), "make page builds the page anew"
    assert [name for name in built if built[name] != kept[name]] == [], "make page builds the page anew"


def test_the_types_hold() -> None:
    run("tsc", "--noEmit")


def test_the_parts_that_think_do_so_rightly() -> None:
    assert "passed" in run("vitest", "run", CI="true")


def test_the_page_is_small() -> None:
    sizes = {
        name: len(gzip.compress(content, 9))
        for name, content in files(BUILT).items()
        if not OF_PDFJS.match(name) and not name.endswith(".md")
    }
    assert {"index.html", "assets/index.js", "assets/chart.js"} <= set(sizes)
    assert sum(sizes.values()) < BUDGET, sizes


def test_nothing_is_named_that_lies_elsewhere() -> None:
    lock = json.loads((SOURCES / "package-lock.json").read_text("utf-8"))
    assert [name for name, entry in lock["packages"].items() if "resolved" in entry] == []
    page = (BUILT / "index.html").read_text("utf-8")
    assert re.findall(r"(?:src|href)=\"(?:\w+:|/)[^\"]*\"", page) == []
    assert "<style" not in page
    assert re.findall(r"<script(?![^>]*src)", page) == []
