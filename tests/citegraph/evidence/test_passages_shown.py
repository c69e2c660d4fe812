"""Passages as a model reads them: overlaps joined, dumps of bytes and empty lines out, numbers of one line kept."""

from citegraph.corpus.schema.document import Chunk
from citegraph.evidence.shown import joined, readable, text_of

TEXT = "The first clause holds. The second clause holds. The third clause holds."
DUMP = """Serial Number:
    0a:1b:2c:3d:4e:5f:60:71:82
Modulus:
    00:c0:47:9d:27:6c:2a:91:a4:
    b0:f0:2b:34:a3:c8:75:02:5b:
    d0:ba:3f
Exponent: 65537"""


def chunk(start: int, end: int, heads: str = "", text: str = "") -> Chunk:
    own = text or TEXT[start:end]
    return Chunk(f"c{start}", "deed", "contracts", start, own, start, end, "h", "deed.pdf", heads=heads)


def test_chunks_that_overlap_are_read_as_one() -> None:
    (group,) = joined([chunk(24, 72), chunk(0, 48)])
    assert text_of(group) == TEXT


def test_chunks_apart_or_with_blanked_text_stay_apart() -> None:
    assert len(joined([chunk(0, 20), chunk(24, 72)])) == 2
    assert len(joined([chunk(0, 48), chunk(24, 72, heads="Part | Price")])) == 1, (
        "the first one has the heads"
    )
    assert len(joined([chunk(0, 48, text="shorter"), chunk(24, 72)])) == 2


def test_dumps_of_bytes_are_left_out_and_numbers_stay() -> None:
    shown = readable(DUMP)
    assert "0a:1b:2c:3d:4e:5f:60:71:82" in shown
    assert "00:c0:47" not in shown
    assert "b0:f0" not in shown
    assert shown.endswith("Exponent: 65537")


def test_indents_and_runs_of_empty_lines_are_cut() -> None:
    assert readable("      Total   5\n\n\n\n        of which   2   \n") == "Total   5\n\n  of which   2\n"
