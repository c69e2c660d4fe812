"""What an extracted value is worth is what values like it were worth, and by it nothing is stored or dropped."""

from datetime import date
from itertools import pairwise

import pytest

from benches.documents.calibration_bench import Judged, fitted, lines
from citegraph.corpus.extraction.calibration import (
    BINS,
    SURE,
    TRUSTED,
    TURNS,
    calibrated,
    scaled,
    shipped_table,
)
from citegraph.corpus.extraction.engine import Source, extract, found_by_rules
from citegraph.corpus.records.extracted.extraction_store import STORE_FROM
from citegraph.corpus.records.extracted.found import Candidate, Extracted
from citegraph.corpus.schema.bucket import load_buckets


def found(confidence: float, method: str = "labels", field: str = "total") -> Extracted:
    return Extracted(Candidate(field, "x", "x", 0, 1, None, method, confidence), confidence)


def test_a_value_is_as_sure_as_its_kind_was_right() -> None:
    table = {"slips.total.labels": (0.1, 0.3, 0.5, 0.6, 0.9, 0.95, 0.975, 1.0), "labels": (0.9,) * 8}
    values = {"a": found(0.4), "b": found(0.55), "c": found(0.82), "d": found(0.9), "e": found(0.99)}
    sure = {name: item.confidence for name, item in calibrated("slips", values, table).items()}
    assert sure["a"] < STORE_FROM
    assert sure["b"] == STORE_FROM, "a value that its rule stores stays stored"
    assert sure["c"] < SURE < sure["d"] < sure["e"] == 1.0
    other = calibrated("slips", {"a": found(0.82, field="day")}, table)["a"]
    assert other.confidence == pytest.approx(scaled(0.9), abs=1e-4), (
        "of a field without a line of its own the way's tells"
    )
    own = {"a": found(0.82)}
    assert calibrated("papers", own, table) == own, "nothing was measured of a bucket of one's own"


def test_sure_means_trusted() -> None:
    assert scaled(TRUSTED) == SURE
    assert scaled(1.0) == 1.0
    assert all(scaled(low / 20) < scaled((low + 1) / 20) for low in range(20))


def test_the_shipped_table_rises_and_is_used() -> None:
    table = shipped_table()
    assert {len(shares) for key, shares in table.items() if not key.endswith(TURNS)} == {len(BINS) + 1}
    assert all(0.85 < table[f"{name}.{TURNS}"][0] <= TRUSTED for name in ("invoices", "contracts"))
    assert all(one <= other for shares in table.values() for one, other in pairwise(shares))
    invoices = load_buckets()["invoices"]
    source = Source("Invoice number: K-77\nTotal: 12.00 EUR\n", today=date(2026, 1, 1))
    raw, sure = found_by_rules(invoices, source).fields, extract(invoices, source).fields
    assert {name: item.confidence for name, item in sure.items()} != {
        name: item.confidence for name, item in raw.items()
    }
    assert {name: item.best for name, item in sure.items()} == {name: item.best for name, item in raw.items()}


def test_a_fit_follows_what_was_right_and_rises() -> None:
    def seen(confidence: float, right: int, wrong: int) -> list[Judged]:
        return [
            Judged("slips", found(confidence), float(number < right), "first")
            for number in range(right + wrong)
        ]

    table = fitted([*seen(0.65, 20, 0), *seen(0.82, 40, 40), *seen(0.97, 60, 0)])
    shares = table["slips.total.labels"]
    assert list(shares) == sorted(shares)
    assert shares[-1] > 0.95
    assert 0.5 < shares[4] < 0.75, "half of the values at 0.82 were wrong"
    assert set(table) == {"slips.total.labels", "slips.labels", "labels", "slips.sure"}
    assert fitted(seen(0.8, 5, 0)) == {}, "five values tell nothing"
    told = list(lines([*seen(0.82, 3, 1), *seen(0.97, 4, 0)], table))
    assert told[1].split() == [
        "slips",
        "8",
        "0.875",
        "|",
        "0.875",
        "of",
        "8",
        "|",
        "1.000",
        "of",
        "4",
        "|",
        "4",
    ]
