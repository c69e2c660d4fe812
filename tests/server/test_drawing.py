"""Pages are drawn in a process of their own: one that costs too much is refused, and the next is drawn."""

import zlib
from pathlib import Path

import pytest

from citegraph.errors import BadInput
from server.drawing import PageDrawer


def page_of(operators: int) -> bytes:
    """Return a PDF of one page that draws so many lines; packed, two million of them take a few kilobytes."""
    content = zlib.compress(b"0 0 m 9 9 l S\n" * operators)
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(content), content),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj%bendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        out
        + b"xref\n0 5\n0000000000 65535 f \n%btrailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
        % (
            table,
            len(out),
        )
    )


@pytest.mark.slow
def test_a_page_that_takes_too_long_is_refused_and_the_next_one_is_drawn(tmp_path: Path) -> None:
    heavy, light = tmp_path / "heavy.pdf", tmp_path / "light.pdf"
    heavy.write_bytes(page_of(4_000_000))
    light.write_bytes(page_of(2))
    drawer = PageDrawer(seconds=1.5)
    try:
        with pytest.raises(BadInput, match="page 1 was not drawn within"):
            drawer.draw(str(heavy), 1)
        assert drawer.draw(str(light), 1).startswith(b"\x89PNG")
        with pytest.raises(BadInput, match=r"light\.pdf has no page 7"):
            drawer.draw(str(light), 7)
    finally:
        drawer.close()
