"""A page put back into rows and columns, and the way back to the text."""

from citegraph.corpus.extraction.labelled.laid_out import laid_out
from citegraph.corpus.schema.document import Box, Layout, Line

TEXT = "Total\nNet\n5,00\n1,00 EUR\nSecond page"


def line(words: str, left: float, top: float) -> Line:
    start = TEXT.index(words)
    return Line(start, start + len(words), Box(left, top, left + 5.0 * len(words), top + 8))


LAYOUTS = (
    # The label is stored far from its value, the upper row after the lower one.
    Layout(
        1,
        200,
        100,
        (line("Total", 10, 40), line("Net", 10, 20), line("5,00", 100, 40), line("1,00 EUR", 100, 21)),
    ),
    Layout(2, 200, 100, (line("Second page", 10, 20),)),
)


def test_what_stands_side_by_side_is_one_row() -> None:
    look = laid_out(TEXT, LAYOUTS)
    assert look is not None
    assert look.text == "  Net               1,00 EUR\n\n  Total             5,00\n\f  Second page\n"


def test_a_span_leads_back_to_the_document() -> None:
    look = laid_out(TEXT, LAYOUTS)
    assert look is not None
    for words in ("Net", "EUR", "Total", "5,00", "page"):
        at = look.text.index(words)
        span = look.span(at, at + len(words))
        assert span is not None
        assert TEXT[slice(*span)] == words
    blank = look.text.index(" 1,00")
    assert look.span(blank, blank + 4) is None
    assert look.span(0, 1) is None


def test_a_span_over_two_pieces_is_cut_to_the_first() -> None:
    look = laid_out(TEXT, LAYOUTS)
    assert look is not None
    span = look.span(look.text.index("Net"), look.text.index("1,00") + 4)
    assert span is not None
    assert TEXT[slice(*span)] == "Net"


def test_a_text_without_layouts_has_no_look() -> None:
    assert laid_out(TEXT, ()) is None
    assert laid_out(TEXT, (Layout(1, 10, 10),)) is None


def test_a_text_of_several_lines_is_placed_as_far_as_they_follow_each_other() -> None:
    look = laid_out(TEXT, LAYOUTS)
    assert look is not None
    net, total, amount = (
        (at := look.text.index(words), at + len(words)) for words in ("Net", "Total", "1,00 EUR")
    )
    assert look.span_of((total, net)) == (0, len("Total\nNet"))
    assert look.span_of((net, amount)) == (TEXT.index("Net"), TEXT.index("Net") + 3)
    assert look.span_of(()) is None
