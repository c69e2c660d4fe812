"""Speed of annotation queries and value linking over a million generated rows: p50 and p95, warm."""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from citegraph.corpus.filters.clause import Clause, Filters
from citegraph.corpus.linking.linker import ValueLinker
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.field import Value
from citegraph.language.amounts import Money

FIRST = date(2015, 1, 1)
DAYS = 3650
SYLLABLES = "ba do fi ga hu jo ka lu me ni or pa qua ri so tu ve wo xa zi".split()
TRADES = ("Trading", "Hardware", "Foods", "Systems", "Logistics", "Stationery", "Bakery", "Partners")
FORMS = ("Ltd", "GmbH", "Sdn Bhd", "Inc.", "S.A.", "BV")
COUNTRIES = ("DE", "FR", "GB", "MY", "NL", "PL", "US", "JP", "IT", "ES")


def vendor_names(count: int, chance: random.Random) -> list[str]:
    """Return that many distinct company names of two or three made-up words and a legal form."""
    names: dict[str, None] = {}
    while len(names) < count:
        words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 3))).capitalize() for _ in range(2)]
        names[f"{' '.join(words)} {chance.choice(TRADES)} {chance.choice(FORMS)}"] = None
    return list(names)


def rows(count: int, vendors: list[str], chance: random.Random) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield invoices: vendors by a long-tailed law, ten years of days, 2 % without a total."""
    for number in range(count):
        vendor = vendors[
            min(int(chance.paretovariate(0.6)) - 1, len(vendors) - 1) if number % 2 else number % len(vendors)
        ]
        values: dict[str, Value] = {
            "vendor_name": vendor,
            "invoice_number": f"INV-{number:07}",
            "document_type": chance.choice(("receipt", "invoice", "invoice", "credit note")),
            "invoice_date": FIRST + timedelta(days=chance.randrange(DAYS)),
            "currency": "EUR",
            "vendor_country": chance.choice(COUNTRIES),
        }
        if number % 50:
            values["total_amount"] = Money(Decimal(chance.randrange(100, 1_000_000)) / 100, "EUR")
        yield f"doc-{number}", values


def timed(run: Callable[[], Any], times: int) -> dict[str, float]:
    """Return p50 and p95 in milliseconds of a call that varies its own arguments, after two warm-up calls.

    `cpu_p95_ms` is this process's own time: what remains when other work on the machine is left out.
    """
    run(), run()
    spent, own = [], []
    for _ in range(times):
        start, busy = time.perf_counter(), time.process_time()
        run()
        spent.append(1000 * (time.perf_counter() - start))
        own.append(1000 * (time.process_time() - busy))
    cuts, own_cuts = statistics.quantiles(spent, n=20), statistics.quantiles(own, n=20)
    return {
        "p50_ms": round(statistics.median(spent), 1),
        "p95_ms": round(cuts[18], 1),
        "cpu_p95_ms": round(own_cuts[18], 1),
    }


class Questions:
    """Random filters of the kinds that questions lead to."""

    def __init__(self, vendors: list[str], chance: random.Random) -> None:
        self.vendors = vendors
        self.chance = chance

    def vendor(self) -> Clause:
        """Return "of one vendor", every second time one of the ten biggest."""
        few = self.vendors[:10] if self.chance.random() < 0.5 else self.vendors
        return Clause(field="vendor_name", operator="=", value=self.chance.choice(few))

    def month(self) -> Clause:
        """Return "in one month"."""
        start = date(self.chance.randint(2015, 2024), self.chance.randint(1, 12), 1)
        return Clause(
            field="invoice_date",
            operator="between",
            value=[start.isoformat(), (start + timedelta(days=30)).isoformat()],
        )

    def year(self) -> Clause:
        """Return "in one year"."""
        year = self.chance.randint(2015, 2024)
        return Clause(field="invoice_date", operator="between", value=[f"{year}-01-01", f"{year}-12-31"])

    def amount(self) -> Clause:
        """Return "over an amount"."""
        return Clause(
            field="total_amount",
            operator=">",
            value={"amount": str(self.chance.randint(100, 9000)), "currency": "EUR"},
        )

    def mention(self) -> str:
        """Return a question that mentions a vendor, with a letter wrong every fourth time."""
        name = " ".join(self.chance.choice(self.vendors).split()[:2])
        if self.chance.random() < 0.25:
            place = self.chance.randrange(1, len(name) - 1)
            name = name[:place] + self.chance.choice("aeiou") + name[place + 1 :]
        return f"What did we spend at {name} between March and May 2018, receipts only?"


def measure(store: AnnotationStore, vendors: list[str], times: int) -> dict[str, dict[str, float]]:
    """Return the timings by kind of query."""
    ask = Questions(vendors, random.Random(7))

    def of(*filters: Clause) -> Filters:
        return filters

    def sums(filters: Filters, *groups: str) -> Any:
        total = (Aggregate(function="sum", field="total_amount"), Aggregate(function="count"))
        order = ("-sum_total_amount",) if groups else ()
        return run_query(
            store,
            DocumentQuery(
                bucket="invoices", filters=filters, aggregate=total, group_by=groups, order_by=order
            ),
        )

    linker = ValueLinker(store)
    fields = ["vendor_name", "document_type", "invoice_date"]
    kinds: dict[str, Callable[[], Any]] = {
        "count: vendor, year": lambda: store.count("invoices", of(ask.vendor(), ask.year())),
        "count: year, amount": lambda: store.count("invoices", of(ask.year(), ask.amount())),
        "facets: all": lambda: store.facets("invoices", (), fields),
        "facets: month": lambda: store.facets("invoices", of(ask.month()), fields),
        "facets: year": lambda: store.facets("invoices", of(ask.year()), fields),
        "relaxations: vendor, month, amount": lambda: store.relaxations(
            "invoices", of(ask.vendor(), ask.month(), ask.amount())
        ),
        "relaxations: vendor, year, amount": lambda: store.relaxations(
            "invoices", of(ask.vendor(), ask.year(), ask.amount())
        ),
        "sum: vendor, year": lambda: sums(of(ask.vendor(), ask.year())),
        "sum by vendor: month": lambda: sums(of(ask.month()), "vendor_name"),
        "sum by vendor: year": lambda: sums(of(ask.year()), "vendor_name"),
        "sum by month: vendor": lambda: sums(of(ask.vendor()), "invoice_date.month"),
        "list: month, amount, by total": lambda: store.rows(
            "invoices", of(ask.month(), ask.amount()), None, ["-total_amount"], 50
        ),
        "link: question": lambda: linker.find_mentions("invoices", ask.mention()),
    }
    return {name: timed(run, times) for name, run in kinds.items()}


def fill(store: AnnotationStore, count: int, vendors: list[str]) -> float:
    """Store that many rows, unless they are there; return the rows stored a second."""
    if store.count("invoices") == count:
        return 0.0
    start = time.perf_counter()
    store.put("invoices", rows(count, vendors, random.Random(1)))
    return count / (time.perf_counter() - start)


def main() -> None:
    """Generate, measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--vendors", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--url", help="SQLAlchemy URL; default: SQLite in a temporary folder")
    given = parser.parse_args()
    buckets: dict[str, Bucket] = {"invoices": load_buckets()["invoices"]}
    vendors = vendor_names(given.vendors, random.Random(2))
    with tempfile.TemporaryDirectory(prefix="citegraph-bench-") as folder:
        store = AnnotationStore(given.url or f"sqlite:///{Path(folder) / 'rows.sqlite'}", buckets)
        speed = fill(store, given.rows, vendors)
        result = {"rows": given.rows, "vendors": given.vendors, "rows_per_second": round(speed)}
        print(json.dumps({**result, "queries": measure(store, vendors, given.times)}, indent=2))
        store.engine.dispose()


if __name__ == "__main__":
    main()
