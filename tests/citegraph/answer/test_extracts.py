from citegraph.answer.extracts import best_passages, head_of, locate, units
from citegraph.answer.one_document import with_heads

SHEET = """NV100 transistor
Product data sheet

Features
Low noise
Maximum ratings
Collector-emitter voltage
45 V
Collector current
100 mA

Ordering information
The NV100 is delivered on reels of 3,000 pieces.
"""


def test_units_are_exact_spans_of_the_text() -> None:
    text = "One line.\n\nA long line " + "that goes on. And " * 40 + "ends.\fNext page"
    found = units(text)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in found)
    assert "".join(text[start:end] for start, end in found).replace(" ", "") == "".join(text.split())


def test_the_value_beside_its_label_is_found() -> None:
    best = best_passages(
        SHEET, "What is the maximum collector-emitter voltage of the NV100?", "en", skip=["nv100"]
    )[0]
    assert "45 V" in best.text
    assert SHEET[best.start : best.end] == best.text


def test_the_documents_name_does_not_decide() -> None:
    best = best_passages(
        SHEET, "How many NV100 transistors are on a reel?", "en", skip=["nv100", "transistor"]
    )[0]
    assert "3,000 pieces" in best.text


def test_nothing_is_found_without_a_shared_word() -> None:
    assert best_passages(SHEET, "governing law", "en") == []


def test_locate_finds_a_value_in_another_form() -> None:
    text = "Not After : Dec  6 15:08:21 2028 GMT. Total: 1.204,50 EUR"
    start, end = locate(text, "2028-12-06") or (0, 0)
    assert text[start:end].startswith("Dec")
    assert locate("Total 28.20", "28.20") == (6, 11)
    assert locate(text, "Acme") is None


ORDERS = """# Orders
Order | Part | Quantity
O-1001 | PX-100 | 40
O-1002 | PX-220 | 15

## Terms
Delivery takes ten days.
## Payment
Payment is due in 30 days.
"""


def test_a_row_stands_alone_and_a_section_ends_at_the_next_heading() -> None:
    row = best_passages(ORDERS, "How many PX-220 were ordered?", "en")[0]
    assert row.text == "O-1002 | PX-220 | 15"
    start = ORDERS.index("Order |")
    assert head_of(ORDERS, row.start) == (start, start + len("Order | Part | Quantity"))
    delivery = best_passages(ORDERS, "How long does delivery take?", "en")[0]
    assert delivery.text == "Delivery takes ten days."
    assert head_of(ORDERS, delivery.start) is None


def test_a_table_without_names_above_its_columns_has_no_head() -> None:
    assert head_of("7 | 40\n8 | 15", 7) is None
    marked = "| Part | Quantity |\n| --- | --- |\n| PX-1 | 40 |"
    assert head_of(marked, marked.index("| PX-1")) == (0, len("| Part | Quantity |"))


def test_the_rows_of_an_answer_follow_their_head_once() -> None:
    rows = best_passages(ORDERS, "Which orders of PX-100 and PX-220 are there?", "en")
    assert [ORDERS[start:end] for start, end in with_heads(ORDERS, rows)] == [
        "Order | Part | Quantity",
        *(row.text for row in rows),
    ]
    assert sorted(row.text for row in rows) == ["O-1001 | PX-100 | 40", "O-1002 | PX-220 | 15"]


LEASE = """3. Use
This lease of the boat house is dated 4 May 2021 and made between Oland Harbour Trust
("Owner") and Pell & Daughters Ltd ("Keeper").
4. Ending
4.1 From the second year on the Keeper may end the lease with eleven weeks' notice and a payment of
one month's rent. The Owner may not.
5. Law
The law of Sweden applies."""


def test_a_sentence_over_several_lines_is_shown_whole_and_alone_when_it_holds_what_is_asked() -> None:
    notice = best_passages(LEASE, "How long is the notice of the Keeper?", "en")[0]
    assert notice.text.startswith("4.1 From the second year")
    assert notice.text.endswith("one month's rent.")
    owner = best_passages(LEASE, "Who is the owner of the boat house?", "en")[0]
    assert 'Oland Harbour Trust\n("Owner") and Pell & Daughters Ltd' in owner.text


def test_a_numbered_heading_of_many_words_is_shown_with_its_clause() -> None:
    clause = "Any dispute goes to the harbour court of Oland, " + "whatever its ground, " * 14 + "for good."
    text = f"1. Goods\nWheat is sold here.\n\n17. Harbour Court and Place of Arbitration\n{clause}\n"
    found = best_passages(text, "Which place of arbitration?", "en")[0]
    assert found.text.startswith("17. Harbour Court")
    assert "court of Oland" in found.text


def test_a_heading_takes_its_long_sentence_along() -> None:
    text = (
        "11. Quarantine. "
        + "The buyer agrees that for nine months "
        + "no goods of any kind " * 40
        + "leave."
    )
    found = best_passages(text, "Length of the quarantine?", "en")[0]
    assert "nine months" in found.text
    assert not found.text.endswith(" kin")
