from nodes.extract import best_passages, locate, units

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
