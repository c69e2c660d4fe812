"""Fits how sure extracted values are to how often they were right, and shows what that is worth on documents not fitted to.

    python -m benches.documents.calibration_bench [ARCHIVE] [--write] [--strangers FOLDER LABELS]...

Every value that the rules find in a labelled document of the archive counts as right or wrong, as
`benches.documents.extraction_bench` counts; of a list, the share of its items. Values whose label the text itself does not
show (labels that came from data inside the file) are left out. The table is fitted to the first half of the documents
and all of the strangers' files that are given (`--write` stores it); printed is the second half: of the values at SURE or more, how many are right, and how many
values a person is asked to look at.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.documents import strangers_bench
from benches.documents.extraction_bench import HALVES, SURE, TODAY, agrees, documents, half_of, name_of
from benches.documents.extraction_sets import SETS, GoldSet
from citegraph.corpus.extraction.calibration import (
    BINS,
    TRUSTED,
    TURNS,
    Table,
    bin_of,
    calibrated,
    keys_of,
    share_of,
)
from citegraph.corpus.extraction.engine import found_by_rules, source_of
from citegraph.corpus.records.extracted.extraction_store import STORE_FROM
from citegraph.corpus.records.extracted.found import Extracted
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.document import Document
from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import coerce, is_missing
from citegraph.errors import BadInput

PRIOR = 4.0
"""Values that the rule's own word counts for beside what was seen of it."""
LEAST = 12
"""Values of a field and way from which it has a line of its own; fewer are told with those of their bucket, or of all."""
SHARED = 25
"""Values of one field, way and bin that count for fields without a line of their own: a field with many is not all fields."""
MOST = 250
"""Documents of a set that are looked at: advisories are all alike."""
LEFT_OUT = ("einvoices",)
"""Sets whose documents are in others too."""
IN_TEXT = {
    "vendor_name": "seller",
    "invoice_date": "date",
    "total_amount": "total",
    "invoice_number": "invoice_number",
}
ENOUGH = 200
"""Values of a bucket that tell where its values turn sure; with fewer each kind has to be as right as all are to be."""
AIM, LOWEST = 0.965, 0.88
"""What has to be right of the sure values that the fit saw, more than of those that it did not; and of each kind."""
TABLE = Path("citegraph/corpus/extraction/calibration.yaml")


@dataclass(frozen=True)
class Judged:
    """One extracted value, and how right it is (0 or 1; of a list, the share of its items)."""

    bucket: str
    found: Extracted
    right: float
    half: str

    @property
    def keys(self) -> tuple[str, str, str]:
        """Return under which names the table may know it."""
        return keys_of(self.bucket, self.found.best.field, self.found.best.method)


def judged(archive: Path, gold: GoldSet, bucket: Bucket) -> Iterator[Judged]:
    """Yield every value that the rules find where the gold says what is right."""
    for number, (document, labels) in enumerate(documents(archive, gold)):
        if number >= MOST:
            return
        fields = found_by_rules(bucket, source_of(document, today=TODAY)).fields
        shown = labels.get("in_text") or {}
        for name, column in gold.fields.items():
            label = labels.get(column)
            if name not in fields or is_missing(label) or label == []:
                continue
            if name in gold.skip and gold.skip[name](labels):
                continue
            # The data inside of some files are those of another invoice than the page shows.
            if gold.xml is False and shown and not all(shown.get(key, True) for key in set(IN_TEXT.values())):
                continue
            declared = bucket.field(name)
            assert declared is not None
            right = share_right(declared, fields[name].best.value, label)
            yield Judged(bucket.name, fields[name], right, half_of(str(labels["doc_id"])))


def judged_strangers(
    labelled: Iterable[tuple[Mapping[str, Any], Document]], buckets: Mapping[str, Bucket]
) -> Iterator[Judged]:
    """Yield every value that the rules find where the labels of strangers' files say what is right, as of the first half."""
    for row, document in labelled:
        bucket = buckets[row["bucket"]]
        fields = found_by_rules(bucket, source_of(document, today=strangers_bench.TODAY)).fields
        for key, names in strangers_bench.FIELDS[bucket.name].items():
            label, name = row["values"].get(key), next((name for name in names if name in fields), "")
            if name and label not in (None, "", []):
                value = fields[name].best.value
                items = value if isinstance(value, tuple) else (value,)
                wanted = label if isinstance(label, list) else [label]
                said = [one["name"] if isinstance(one, dict) else one for one in wanted]
                right = sum(
                    any(strangers_bench.says(bucket, name, item, one) for one in said) for item in items
                )
                yield Judged(bucket.name, fields[name], right / max(1, len(items)), HALVES[0])


def share_right(declared: Field, found: Value, label: object) -> float:
    """Return whether a value is right; of a list, the share of its items that are."""
    if not (isinstance(found, tuple) and isinstance(label, list)):
        return float(agrees(declared, found, label))
    try:
        wanted = coerce(declared, label, today=TODAY, order="DMY")
    except BadInput:
        return 0.0
    gold = {name_of(item) for item in wanted} if isinstance(wanted, tuple) else set()
    return sum(name_of(item) in gold for item in found) / max(1, len(found))


def fitted(values: Sequence[Judged]) -> dict[str, tuple[float, ...]]:
    """Return the table: the shares of each kind of value, and where those of each bucket turn sure."""
    table = _shares(values)
    turns = {
        f"{bucket}.{TURNS}": (_turning([value for value in values if value.bucket == bucket], table),)
        for bucket in sorted({value.bucket for value in values})
    }
    return table | turns if table else {}


def _turning(values: Sequence[Judged], table: Table) -> float:
    """Return the least share such that AIM of the stored values with as much, or more, were right."""
    shares = [(share_of(value.bucket, value.found, table), value.right) for value in values if _stored(value)]
    ordered = sorted(((share, right) for share, right in shares if share is not None), reverse=True)
    best, sum_right = TRUSTED, 0.0
    if len(ordered) < ENOUGH:
        return best
    for number, (share, right) in enumerate(ordered, 1):
        sum_right += right
        last = number == len(ordered) or ordered[number][0] < share
        if last and share >= LOWEST and sum_right / number >= AIM:
            best = min(best, share)
    return best


def _stored(value: Judged) -> bool:
    return value.found.confidence >= STORE_FROM


def _shares(values: Sequence[Judged]) -> dict[str, tuple[float, ...]]:
    """Return for each kind of value the share that was right a bin, rising with the rule's own confidence."""
    grouped: dict[str, list[Judged]] = defaultdict(list)
    seen: Counter[tuple[str, int]] = Counter()
    for value in values:
        own, *shared = value.keys
        grouped[own].append(value)
        of_field = own, bin_of(value.found.confidence)
        seen[of_field] += 1
        for key in shared if seen[of_field] <= SHARED else ():
            grouped[key].append(value)
    return {key: _rising(some) for key, some in sorted(grouped.items()) if len(some) >= LEAST}


def _rising(values: Sequence[Judged]) -> tuple[float, ...]:
    """Return the share that was right by bin, neighbours joined until it rises (pool adjacent violators)."""
    middles = [(low + high) / 2 for low, high in zip((0.3, *BINS), (*BINS, 1.0), strict=True)]
    blocks: list[tuple[float, float, int]] = []
    for number, middle in enumerate(middles):
        some = [value.right for value in values if bin_of(value.found.confidence) == number]
        blocks.append((sum(some) + PRIOR * middle, len(some) + PRIOR, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            (right, count, bins), (more, others, further) = blocks[-2:]
            blocks[-2:] = [(right + more, count + others, bins + further)]
    return tuple(round(right / count, 3) for right, count, bins in blocks for _ in range(bins))


def lines(values: Sequence[Judged], table: Table) -> Iterator[str]:
    """Yield a line for each bucket, and for each field of it, with what rules say and what the table makes of it."""
    groups: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for value in values:
        if _stored(value):
            groups[value.bucket, ""].append(value)
            groups[value.bucket, value.found.best.field].append(value)
    yield f"{'':34}  stored  right |  at {SURE} or more by its rule | by the table | to review"
    for (bucket, field), some in sorted(groups.items()):
        after = [calibrated(bucket, {"": value.found}, table)[""].confidence for value in some]
        by_rule = [value.right for value in some if value.found.confidence >= SURE]
        by_table = [value.right for value, sure in zip(some, after, strict=True) if sure >= SURE]
        name = f"  {field}" if field else bucket
        right = sum(value.right for value in some) / len(some)
        yield (
            f"{name:34}  {len(some):6}  {right:.3f} | {_told(by_rule):>26} | {_told(by_table):>12} | {len(some) - len(by_table)}"
        )


def _told(right: Sequence[float]) -> str:
    return f"{sum(right) / len(right):.3f} of {len(right)}" if right else "none"


def written(table: Mapping[str, Sequence[float]]) -> str:
    """Return the table as it is stored."""
    head = (
        "# Made by `python -m benches.documents.calibration_bench --write`; do not edit.\n"
        f"# Share of right values by bin of the rule's own confidence: below {BINS[0]}, from {', '.join(map(str, BINS))}.\n"
    )
    return head + "".join(f"{key}: [{', '.join(map(str, values))}]\n" for key, values in table.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the second half's figures; return 0, or 1 when the archive is not there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archive", type=Path, nargs="?", default=Path("../shared/corpora"))
    parser.add_argument("--write", action="store_true", help=f"store the table as {TABLE}")
    parser.add_argument(
        "--strangers", nargs=2, type=Path, metavar=("FOLDER", "LABELS"), action="append", default=[]
    )
    chosen = parser.parse_args(arguments)
    if not chosen.archive.is_dir():
        print(f"{chosen.archive}: the archive is not there; nothing was measured", file=sys.stderr)
        return 1
    buckets = load_buckets()
    looked_at = [strangers_bench.documents(*pair) for pair in chosen.strangers]
    values = [value for some in looked_at for value in judged_strangers(some, buckets)]
    values += [
        value
        for name, gold in SETS.items()
        if name not in LEFT_OUT
        for value in judged(chosen.archive, gold, buckets[gold.bucket])
    ]
    table = fitted([value for value in values if value.half == "first"])
    if chosen.write:
        TABLE.write_text(written(table), encoding="utf-8")
    print("\n".join(lines([value for value in values if value.half == "second"], table)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
