"""Extraction by the declared rules against the archive's gold labels: precision, recall and F1 a field.

    python -m benches.documents.extraction_bench [ARCHIVE] [--set NAME] [--misses FIELD] [--half first|second]

What is scored is what an ingest would store: the values that the bucket's rules settle on, derived fields
included, those below the confidence that is stored left out. Sets ending in `_files` read the real files by the
readers of an ingest; the others take the archive's text of the same documents.

A value counts as found when it says what the label says: amounts and dates exactly, names without regard
to case, punctuation and legal form, lists and distinguished names as sets. Where the gold is silent a value may
be right (the labels of some sets are sparse) or false: `F1-` counts every such value as false. `sure` is the
precision of the values whose confidence is at least SURE: a reader believes those.

The documents are split in two by the hash of their id: rules are written while looking at the first half alone,
the F1 of the second says what they are worth on documents that nobody looked at.
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from benches.documents.extraction_sets import SETS, GoldSet
from citegraph.corpus.extraction.engine import extract_document
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.records.extracted.settle import settle
from citegraph.corpus.schema.bucket import Bucket, load_buckets, show
from citegraph.corpus.schema.document import Document
from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import coerce, is_missing, same
from citegraph.errors import BadInput
from citegraph.language.amounts import Quantity
from citegraph.language.names import parse_name

TODAY = date(2026, 1, 1)
HALVES = ("first", "second")
SURE = 0.8


@dataclass
class Score:
    """Counts of one field: right values, wrong ones (also where the gold is empty), and missing ones.

    `sure` counts the right and the wrong values of a high confidence.
    """

    right: int = 0
    wrong: int = 0
    spurious: int = 0
    missing: int = 0
    misses: list[tuple[str, str, str]] = field(default_factory=list)
    sure: tuple[int, int] = (0, 0)

    def __add__(self, other: "Score") -> "Score":
        """Return the counts of both."""
        return Score(
            self.right + other.right,
            self.wrong + other.wrong,
            self.spurious + other.spurious,
            self.missing + other.missing,
            self.misses + other.misses,
            (self.sure[0] + other.sure[0], self.sure[1] + other.sure[1]),
        )

    @property
    def precision(self) -> float:
        """Return the share of the values found that are right, of those that the gold speaks of."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Return the share of the gold values that were found."""
        return self.right / max(1, self.right + self.wrong + self.missing)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        return _f1(self.precision, self.recall)

    @property
    def strict(self) -> float:
        """Return the F1 when every value that was found where the gold is silent counts as wrong."""
        return _f1(self.right / max(1, self.right + self.wrong + self.spurious), self.recall)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def half_of(doc_id: str) -> str:
    """Return the half of the documents that one belongs to, by the first bit of its id's SHA-256."""
    return HALVES[hashlib.sha256(doc_id.encode()).digest()[0] >> 7]


def score_set(archive: Path, gold: GoldSet, bucket: Bucket) -> dict[str, dict[str, Score]]:
    """Return the scores of each field of one set by half."""
    halves = {half: {name: Score() for name in gold.fields} for half in HALVES}
    for document, labels in documents(archive, gold):
        scores = halves[half_of(labels["doc_id"])]
        extraction = extract_document(bucket, document, today=TODAY)
        found = settle(bucket, document.text, {}, extraction, {}).values
        for name, column in gold.fields.items():
            if name in gold.skip and gold.skip[name](labels):
                continue
            declared = bucket.field(name)
            assert declared is not None
            score = scores[name]
            before = score.right, score.wrong
            _count(score, declared, found.get(name), labels.get(column), str(labels["doc_id"]))
            if name in extraction.fields and extraction.fields[name].confidence >= SURE:
                right, wrong = score.right - before[0], score.wrong - before[1]
                score.sure = (score.sure[0] + right, score.sure[1] + wrong)
    return halves


def _count(score: Score, declared: Field, found: Value | None, label: Any, doc_id: str) -> None:
    nothing = is_missing(label) or label == []
    if isinstance(found, tuple) and isinstance(label, list) and label:
        _count_items(score, declared, found, label, doc_id)
        return
    if nothing and found is None:
        return
    if nothing:
        score.spurious += 1
    elif found is None:
        score.missing += 1
    elif agrees(declared, found, label):
        score.right += 1
        return
    else:
        score.wrong += 1
    score.misses.append((doc_id, str(label), "" if found is None else show(found)))


def _count_items(
    score: Score, declared: Field, found: tuple[str, ...], label: list[Any], doc_id: str
) -> None:
    """Count a list's items one by one, as entity extraction is scored."""
    wanted = coerce(declared, label, today=TODAY, order="DMY")
    gold = {name_of(item) for item in wanted} if isinstance(wanted, tuple) else set()
    mine = {name_of(item) for item in found}
    score.right += len(gold & mine)
    score.wrong += len(mine - gold)
    score.missing += max(0, len(gold - mine) - len(mine - gold))
    if gold != mine:
        score.misses.append((doc_id, "; ".join(map(str, label)), "; ".join(found)))


def agrees(declared: Field, found: Value, label: Any) -> bool:
    """Return whether a found value says what the label says."""
    if declared.name == "issuer":
        return _components(str(found)) == _components(str(label))
    try:
        wanted = coerce(declared, label, today=TODAY, order="DMY")
    except BadInput:
        return False
    if isinstance(found, tuple) and isinstance(wanted, tuple):
        return {name_of(item) for item in found} == {name_of(item) for item in wanted}
    if isinstance(found, str) and isinstance(wanted, str):
        return name_of(found) == name_of(wanted)
    if declared.type == "quantity":
        assert isinstance(found, Quantity)
        assert isinstance(wanted, Quantity)
        return abs(found.value - wanted.value) <= 0.02 * max(1.0, abs(wanted.value))
    return same(found) == same(wanted)


def name_of(text: str) -> str:
    """Return a name without regard to case, punctuation and legal form."""
    return " ".join(parse_name(text).core) or text.casefold()


_ATTRIBUTES = {
    "1.2.840.113549.1.9.1": "emailaddress",
    "2.5.4.5": "serialnumber",
    "2.5.4.97": "organizationidentifier",
}
"""Object identifiers that stand in place of an attribute's name (RFC 2985, X.520)."""


def _components(name: str) -> frozenset[str]:
    """Return the parts of a distinguished name, whatever their order and spacing and how attributes are named."""
    parts = re.split(r",\s*(?=[A-Za-z0-9.]+\s*=)", name)
    pairs = (part.replace("\\", "").casefold().partition("=") for part in parts)
    return frozenset(
        f"{_ATTRIBUTES.get(key.strip(), key.strip())}={value.strip()}" for key, _, value in pairs
    )


def documents(archive: Path, gold: GoldSet) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Yield each document of a set as extraction reads it, with its labels.

    Where the archive has the real file of an invoice, its embedded XML is read; where it published an
    advisory without its front matter, the front matter is put back as it is published.
    """
    folder = archive / gold.folder
    rows = [json.loads(line) for path in sorted(folder.glob("docs*.jsonl")) for line in _lines(path)]
    texts = {row["doc_id"]: row["text"] for row in rows}
    files = {path.stem: path for path in (archive / "files").rglob(f"*{gold.files or '.pdf'}")}
    for labels in map(json.loads, _lines(folder / "metadata.jsonl")):
        doc_id = labels["doc_id"]
        wanted = doc_id in files and (gold.files or (gold.bucket == "invoices" and gold.xml is not False))
        if gold.files and not wanted:
            continue
        text = published(labels, texts[doc_id]) if gold.front_matter else texts[doc_id]
        document = Document(doc_id, gold.bucket, text, doc_id, "")
        if wanted:
            document = as_read(document, files[doc_id], whole=bool(gold.files))
        if gold.xml is not None and bool(document.embedded) != gold.xml:
            if gold.xml:
                continue
            document = replace(document, embedded=())
        yield document, labels


def as_read(document: Document, path: Path, *, whole: bool) -> Document:
    """Return a document with the XML inside its file, as the reader of an ingest finds it.

    Args:
        whole: take text, pages, layouts and tables of the file too.
    """
    reading = next((item for item in read_file(path) if isinstance(item, Reading)), None)
    if reading is None:
        return replace(document, text="") if whole else document
    if not whole:
        return replace(document, embedded=reading.embedded)
    return replace(
        document,
        text=reading.text,
        pages=reading.pages,
        layouts=reading.layouts,
        tables=reading.tables,
        embedded=reading.embedded,
    )


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def published(labels: Mapping[str, Any], text: str) -> str:
    """Return an advisory with its TOML head, in the layout of the RustSec advisory format."""
    head = ["[advisory]", f'id = "{labels["doc_id"]}"']
    for key in ("package", "date", "url", "cvss"):
        if labels.get(key):
            head.append(f"{key} = {json.dumps(labels[key])}")
    for key in ("categories", "keywords", "aliases"):
        if labels.get(key):
            head.append(f"{key} = {json.dumps(labels[key], ensure_ascii=False)}")
    if labels.get("affected_functions"):
        head += [
            "",
            "[affected]",
            "functions = {"
            + ", ".join(f'{json.dumps(name)} = ["*"]' for name in labels["affected_functions"])
            + "}",
        ]
    head += ["", "[versions]", f"patched = {json.dumps(labels.get('patched') or [])}"]
    if labels.get("unaffected"):
        head.append(f"unaffected = {json.dumps(labels['unaffected'])}")
    return "```toml\n" + "\n".join(head) + "\n```\n\n" + text


def table(name: str, halves: Mapping[str, Mapping[str, Score]], misses: str, half: str) -> Iterator[str]:
    """Yield the lines of one set's table, with the misses of one field in one half."""
    yield ""
    yield f"{name:21}  prec.  recall     F1    F1-  |  F1 by half | right / wrong / missing; where the gold is silent | sure"
    for field_name in halves[HALVES[0]]:
        score = halves[HALVES[0]][field_name] + halves[HALVES[1]][field_name]
        both = " ".join(f"{halves[one][field_name].f1:.3f}" for one in HALVES)
        right, wrong = score.sure
        sure = f"{right / (right + wrong):.3f} of {right + wrong}" if right + wrong else "none"
        yield (
            f"  {field_name:19}  {score.precision:.3f}  {score.recall:.3f}  {score.f1:.3f}  {score.strict:.3f}"
            f"  | {both} | {score.right} / {score.wrong} / {score.missing}; {score.spurious} | {sure}"
        )
        if misses == field_name:
            for doc_id, label, value in halves[half][field_name].misses:
                yield f"      {doc_id}: gold {label[:100]!r}, found {value[:100]!r}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 0, or 1 when the archive is not there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archive", type=Path, nargs="?", default=Path("../shared/corpora"))
    parser.add_argument("--set", choices=sorted(SETS), dest="name", action="append")
    parser.add_argument("--misses", metavar="FIELD", default="", help="print where this field is not right")
    parser.add_argument("--half", choices=HALVES, default=HALVES[0], help="whose misses; default: the first")
    chosen = parser.parse_args(arguments)
    if not chosen.archive.is_dir():
        print(f"{chosen.archive}: the archive is not there; nothing was measured", file=sys.stderr)
        return 1
    buckets = load_buckets()
    for name, gold in SETS.items():
        if not chosen.name or name in chosen.name:
            halves = score_set(chosen.archive, gold, buckets[gold.bucket])
            print("\n".join(table(name, halves, chosen.misses, chosen.half)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
