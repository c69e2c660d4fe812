"""Scoring of proposed buckets: fields are paired on one half and scored on the other."""

from benches.documents.extraction_sets import GoldSet
from benches.documents.proposal_bench import score, table
from citegraph.corpus.extraction.labelled.label_pairs import Example


def halves(second_total: str):
    def document(number: int, total: str):
        text = f"Slip No: S-{number}0{number}\nMade: {number}/02/2024\nTotal: {total}\n"
        labels = {
            "number": f"S-{number}0{number}",
            "day": f"2024-02-0{number}",
            "seller": "Elm",
            "sum": f"{number}.50",
        }
        return Example(f"d{number}", text), labels

    first = [document(number, f"{number}.50") for number in range(1, 6)]
    second = [document(number, f"{number}.50" if number < 9 else second_total) for number in range(6, 10)]
    return {"first": first, "second": second}


def test_fields_are_paired_by_what_they_say_and_scored_on_the_other_half() -> None:
    gold = GoldSet("slips", "slips", {"number": "number", "date": "day", "vendor": "seller", "total": "sum"})
    scored = score(gold, halves("99.00"), [])
    assert [(item.column, item.field, item.precision, item.recall) for item in scored.columns] == [
        ("number", "slip_no", 1.0, 1.0),
        ("day", "made", 1.0, 1.0),
        ("seller", None, 0.0, 0.0),
        ("sum", "total", 0.75, 0.75),
    ]
    assert (scored.promised, scored.kept) == (1.0, 1.0)
    assert table("slips", "labels", scored)[0] == (
        "slips (labels): 3 of 4 gold columns among 3 fields, precision 0.92; filled: promised 1.00, kept 1.00"
    )
