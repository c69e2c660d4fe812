"""What is shown of long passages: the lines that the question points at, with their surroundings, heads and pages."""

from citegraph.corpus.schema.document import Chunk
from citegraph.evidence.excerpts import Found, excerpts, heads_above
from citegraph.evidence.shown import by_page

FILLER = "The parties agree on the general terms of this undertaking and on nothing else at all.\n"
DEED = FILLER * 30 + "The rent of the mill is 4,200 guilders a quarter.\n" + FILLER * 30
TABLE = "Consumption of the pumps\nModel | Power (kW) | Current (A)\n" + "".join(
    f"TQ-{number} | {number}.5 | {number * 2}\n" for number in range(10, 60)
)


def parts(text: str, asked: str, room: int = 900) -> list[str]:
    (spans,) = excerpts([Found("d", text)], [asked], room)
    return [text[start:end] for start, end in spans]


def test_what_has_room_is_shown_whole() -> None:
    assert parts("Short.", "What?") == ["Short."]


def test_the_line_that_is_pointed_at_is_shown_with_those_around_it() -> None:
    (part,) = parts(DEED, "How much rent does the mill bring?")
    assert "4,200 guilders" in part
    assert part.startswith("The parties agree")
    assert part.endswith("all.")
    assert len(part) < 900


def test_a_row_is_shown_below_the_heads_of_its_table() -> None:
    shown = parts(TABLE, "What current does the TQ-47 take?", room=500)
    assert shown[0].startswith("Consumption of the pumps\nModel | Power (kW) | Current (A)")
    assert any("TQ-47 | 47.5 | 94" in part for part in shown)
    assert not any("TQ-35 |" in part for part in shown)


def test_a_row_of_a_statement_is_shown_below_its_title_and_its_years() -> None:
    rows = "".join(f"  Item number {number}      {number},100     {number},200\n" for number in range(10, 70))
    page = (
        f"MILL TRUST\nStatement of Grain\n(In bushels)\n\n      Year ended      2022     2021\nGrain:\n{rows}"
    )
    shown = parts(
        page.replace("Item number 55", "Total barley sold"), "How much barley was sold in 2022?", room=400
    )
    assert shown[0].startswith("MILL TRUST\nStatement of Grain\n(In bushels)\n")
    assert "2022     2021" in shown[0]
    assert "Total barley sold      55,100" in shown[-1]


def test_a_statement_of_which_two_rows_are_asked_about_is_shown_whole() -> None:
    rows = "".join(f"  Item number {number}      {number},100     {number},200\n" for number in range(10, 30))
    page = f"MILL TRUST\nStatement of Grain\n\n      Year ended      2022     2021\n{rows}"
    page = page.replace("Item number 12", "Barley sold").replace("Item number 25", "Rye milled")
    text = FILLER * 20 + page + FILLER * 20
    shown = parts(text, "How much barley was sold and how much rye milled in 2022?", room=3000)
    assert any("Barley sold" in part and "Item number 18" in part and "Rye milled" in part for part in shown)
    shown = parts(text, "How much barley was sold?", room=3000)
    assert not any("Item number 18" in part for part in shown)


def test_a_table_that_begins_above_what_was_found_has_its_heads() -> None:
    above = "MILL TRUST\nStatement of Grain\n(In bushels)\n  Year ended   2022   2021\nGrain:\n  Barley   9,100   8,200\n"
    heads = "MILL TRUST | Statement of Grain | (In bushels) | Year ended 2022 2021"
    assert heads_above(above, "  Rye   7,100   6,200") == heads
    assert heads_above(above, "The mill grinds rye.") == ""
    assert heads_above("", "  Rye   7,100   6,200") == ""


def test_a_row_counts_with_what_its_page_is_headed_with() -> None:
    def page(title: str, sold: int) -> str:
        rows = "".join(
            f"  Entry of the ledger {number}      {number},100     {number},200\n" for number in range(10, 40)
        )
        return f"{title}\n(In bushels)\n      Year ended      2022     2021\n{rows}  Cost of milling      {sold}     9\n{rows}"

    text = (
        page("Statement of Taxes", 111)
        + "\f"
        + page("Statement of Income", 777)
        + "\f"
        + page("Statement of Debts", 333)
    )
    shown = parts(text, "What does the income statement give as the cost of milling in 2022?", room=700)
    assert any("777" in part for part in shown)


def test_lines_that_head_every_page_point_at_nothing() -> None:
    head = "Mill deed, page {}\n"
    text = (
        "\f".join(head.format(number) + FILLER * 16 for number in range(1, 6))
        + "\nThe deed of the mill ends in May.\n"
    )
    shown = parts(text, "When does the mill deed end?", room=700)
    assert any("ends in May" in part for part in shown)
    assert sum(part.count("Mill deed, page") for part in shown) <= 1


def test_each_document_and_each_side_has_its_share() -> None:
    rich = Found("rich", "rent of the mill 5\n" * 200, side=0)
    poor = Found("poor", FILLER * 40 + "The rent is 7 guilders.\n" + FILLER * 40, side=1)
    first, second = excerpts([rich, poor], ["How do the rents differ?"], 1000)
    assert sum(end - start for start, end in first) <= 500
    assert any("7 guilders" in poor.text[start:end] for start, end in second)


def test_each_page_is_a_passage_of_its_own_and_says_what_is_left_out() -> None:
    text = "First line.\nSecond line.\fThird line.\nFourth line."
    chunk = Chunk("c", "deed", "contracts", 0, text, 0, len(text), "h", "deed.pdf", page_first=3, page_last=4)
    third = text.index("Third")
    first, second = by_page([chunk], [(0, 11), (third, third + 11)], "title=Deed")
    assert (first.passage.place, first.passage.text) == ("deed.pdf, page 3", "First line.\n…")
    assert (second.passage.place, second.passage.text) == ("deed.pdf, page 4", "Third line.\n…")
    assert (first.known, first.chunk_ids) == ("title=Deed", ("c",))


def test_pages_that_are_not_marked_in_the_text_are_given_together() -> None:
    chunk = Chunk("c", "deed", "contracts", 0, "Plain.", 0, 6, "h", "deed.pdf", page_first=3, page_last=4)
    (piece,) = by_page([chunk], [(0, 6)], "")
    assert piece.passage.place == "deed.pdf, pages 3 to 4"
