"""How often values of a kind were right: what a rule trusts itself, put right by what it was worth on labelled documents.

The table `calibration.yaml` is made by `benches.documents.calibration_bench` from the first half of the archive's labelled
documents; that bench prints what it is worth on the second half.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources

from citegraph.corpus.records.extracted.extraction_store import STORE_FROM
from citegraph.corpus.records.extracted.found import Extracted
from citegraph.yaml_text import parse_yaml

BINS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Where the bins of a rule's own confidence begin, after the first, which holds what is not stored."""
UNSTORED = 0.49
TRUSTED, SURE = 0.95, 0.8
"""Of all values of a bucket with a confidence of SURE or more so many have to be right: nobody looks at them."""
TURNS = "sure"
"""The line of the table with the share at which a kind of value turns SURE in each bucket."""

Table = Mapping[str, Sequence[float]]
"""`bucket.field.method`, `bucket.method` or `method` -> the share of right values of each bin, rising; `bucket.sure` ->
the share at which the bucket's values turn sure."""


@cache
def shipped_table() -> Table:
    """Return the table that comes with the program."""
    text = resources.files("citegraph.corpus.extraction").joinpath("calibration.yaml").read_text("utf-8")
    return {str(key): tuple(map(float, values)) for key, values in parse_yaml(text).items()}


def share_of(bucket: str, found: Extracted, table: Table) -> float | None:
    """Return the share of values like this one that were right, None where nothing like it was measured."""
    keys = keys_of(bucket, found.best.field, found.best.method)
    listed = next((table[key] for key in keys if key in table), None)
    return listed[bin_of(found.confidence)] if listed is not None else None


def bin_of(confidence: float) -> int:
    """Return the bin of a rule's own confidence, 0 to `len(BINS)`."""
    return bisect_right(BINS, confidence)


def keys_of(bucket: str, field: str, method: str) -> tuple[str, str, str]:
    """Return under which names the table may know such a value, the closest first."""
    return f"{bucket}.{field}.{method}", f"{bucket}.{method}", method


def calibrated(
    bucket: str, fields: Mapping[str, Extracted], table: Table | None = None
) -> dict[str, Extracted]:
    """Return extracted values with the confidence that values like them deserved.

    It is SURE where TRUSTED of the values that deserved as much, or more, were right.

    Of a bucket of one's own nothing was measured: its rules are taken at their word. What is stored does not change by it: a value stays above or below `STORE_FROM` as its rule said, and is listed for
    review when it deserves less than its rule says.
    """
    known = shipped_table() if table is None else table
    if not any(key.partition(".")[0] == bucket for key in known):
        return dict(fields)
    return {name: _put_right(bucket, found, known) for name, found in fields.items()}


def scaled(share: float, turns: float = TRUSTED) -> float:
    """Return the confidence that a share of right values makes: it rises to SURE where it turns, and from there to 1."""
    if share < turns:
        return SURE * share / turns
    return SURE + (1 - SURE) * (share - turns) / (1 - turns)


def _put_right(bucket: str, found: Extracted, table: Table) -> Extracted:
    share = share_of(bucket, found, table)
    if share is None:
        return found
    said = scaled(share, *table.get(f"{bucket}.{TURNS}", ()))
    held = max(said, STORE_FROM) if found.confidence >= STORE_FROM else min(said, UNSTORED)
    return replace(found, confidence=round(held, 4))
