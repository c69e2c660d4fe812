"""Extraction by the declared rules against the archive's gold labels: precision, recall and F1 a field.

    python -m evals.extraction [ARCHIVE] [--set NAME] [--misses FIELD]

A value counts as found when it says what the label says: amounts and dates exactly, names without regard
to case, punctuation and legal form, lists and distinguished names as sets.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from corpus.buckets import Bucket, load_buckets, show
from corpus.coercion import coerce, is_missing
from corpus.extraction.engine import Source, extract, same
from corpus.fields import Field, Quantity, Value
from corpus.names import parse_name
from corpus.readers.protocol import Reading
from corpus.readers.registry import read_file
from llm.errors import BadInput

TODAY = date(2026, 1, 1)


@dataclass(frozen=True)
class GoldSet:
    """One set of the archive.

    Attributes:
        fields: our field -> column of the gold labels.
        front_matter: put back the head that the archive took off.
        xml: only documents whose file carries XML (True), or none of it read (False).
        skip: labels that are not to be trusted.
    """

    folder: str
    bucket: str
    fields: Mapping[str, str]
    front_matter: bool = False
    xml: bool | None = None
    skip: Mapping[str, Callable[[Mapping[str, Any]], bool]] = field(default_factory=dict)


EINVOICE = {
    "invoice_number": "invoice_number",
    "invoice_date": "date",
    "due_date": "due_date",
    "vendor_name": "seller",
    "customer_name": "buyer",
    "currency": "currency",
    "net_amount": "net",
    "tax_amount": "tax",
    "total_amount": "total",
}
SETS = {
    "einvoices": GoldSet("invoices_einvoice", "invoices", EINVOICE),
    "einvoices_with_xml": GoldSet("invoices_einvoice", "invoices", EINVOICE, xml=True),
    "einvoices_text_only": GoldSet("invoices_einvoice", "invoices", EINVOICE, xml=False),
    "receipts": GoldSet(
        "receipts_sroie",
        "invoices",
        {"vendor_name": "company", "invoice_date": "date", "total_amount": "total"},
    ),
    "contracts": GoldSet(
        "contracts_cuad",
        "contracts",
        {
            "title": "title",
            "parties": "parties",
            "agreement_date": "agreement_date",
            "effective_date": "effective_date",
            "governing_law": "governing_law",
        },
        skip={
            "agreement_date": lambda row: row.get("agreement_date_span_check") == "disagrees",
            "effective_date": lambda row: row.get("effective_date_span_check") == "disagrees",
        },
    ),
    "ndas": GoldSet(
        "contracts_kleister_nda",
        "contracts",
        {
            "parties": "parties",
            "effective_date": "effective_date",
            "governing_law": "jurisdiction",
            "term": "term",
        },
    ),
    "x509": GoldSet(
        "certificates_x509",
        "certificates",
        {
            "subject": "common_name",
            "organization": "organization",
            "organizational_unit": "organizational_unit",
            "country": "country",
            "issuer": "issuer",
            "serial_number": "serial_hex",
            "valid_from": "not_before",
            "valid_until": "not_after",
            "validity": "validity_years",
            "key_type": "key_type",
            "key_bits": "key_bits",
            "curve": "curve",
            "signature_hash": "signature_hash",
            "x509_version": "version",
            "fingerprint": "sha256",
        },
    ),
    "advisories": GoldSet(
        "generic_rustsec_advisories",
        "generic",
        {
            "title": "title",
            "package": "package",
            "published_date": "date",
            "categories": "categories",
            "keywords": "keywords",
            "cvss": "cvss",
            "identifiers": "aliases",
            "fixed_versions": "patched",
            "unaffected_versions": "unaffected",
            "affected_functions": "affected_functions",
            "url": "url",
        },
        front_matter=True,
    ),
}


@dataclass
class Score:
    """Counts of one field: right values, wrong ones (also where the gold is empty), and missing ones."""

    right: int = 0
    wrong: int = 0
    spurious: int = 0
    missing: int = 0
    misses: list[tuple[str, str, str]] = field(default_factory=list)

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
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score_set(archive: Path, gold: GoldSet, bucket: Bucket) -> dict[str, Score]:
    """Return the score of each field of one set."""
    scores = {name: Score() for name in gold.fields}
    for source, labels in sources(archive, gold):
        found = extract(bucket, source).values
        found = {**found, **{n: v for n, v in bucket.derive(found, source.text).items() if n not in found}}
        for name, column in gold.fields.items():
            if name in gold.skip and gold.skip[name](labels):
                continue
            declared = bucket.field(name)
            assert declared is not None
            _count(scores[name], declared, found.get(name), labels.get(column), str(labels["doc_id"]))
    return scores


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
    gold = {_name(item) for item in wanted} if isinstance(wanted, tuple) else set()
    mine = {_name(item) for item in found}
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
        return {_name(item) for item in found} == {_name(item) for item in wanted}
    if isinstance(found, str) and isinstance(wanted, str):
        return _name(found) == _name(wanted)
    if declared.type == "quantity":
        assert isinstance(found, Quantity)
        assert isinstance(wanted, Quantity)
        return abs(found.value - wanted.value) <= 0.02 * max(1.0, abs(wanted.value))
    return same(found) == same(wanted)


def _name(text: str) -> str:
    return " ".join(parse_name(text).core) or text.casefold()


def _components(name: str) -> frozenset[str]:
    """Return the parts of a distinguished name, whatever their order and spacing."""
    parts = re.split(r",\s*(?=[A-Za-z0-9.]+\s*=)", name)
    return frozenset(re.sub(r"\s*=\s*", "=", part.replace("\\", "")).strip().casefold() for part in parts)


def sources(archive: Path, gold: GoldSet) -> Iterator[tuple[Source, dict[str, Any]]]:
    """Yield each document of a set as extraction reads it, with its labels.

    Where the archive has the real file of an invoice, its embedded XML is read; where it published an
    advisory without its front matter, the front matter is put back as it is published.
    """
    folder = archive / gold.folder
    rows = [json.loads(line) for path in sorted(folder.glob("docs*.jsonl")) for line in _lines(path)]
    texts = {row["doc_id"]: row["text"] for row in rows}
    files = {path.stem: path for path in (archive / "files").rglob("*.pdf")}
    for labels in map(json.loads, _lines(folder / "metadata.jsonl")):
        doc_id = labels["doc_id"]
        text = texts[doc_id]
        if gold.front_matter:
            text = published(labels, text)
        wanted = doc_id in files and gold.bucket == "invoices" and gold.xml is not False
        embedded = attachments(files[doc_id]) if wanted else []
        if gold.xml and not embedded:
            continue
        yield Source(text, embedded=embedded, today=TODAY), labels


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def attachments(path: Path) -> list[bytes]:
    """Return the XML files inside a PDF, as the reader of an ingest finds them."""
    readings = [reading for reading in read_file(path) if isinstance(reading, Reading)]
    return [file.text.encode() for reading in readings for file in reading.embedded]


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 0, or 1 when the archive is not there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archive", type=Path, nargs="?", default=Path("../shared/corpora"))
    parser.add_argument("--set", choices=sorted(SETS), dest="name")
    parser.add_argument("--misses", metavar="FIELD", help="print the documents where this field is not right")
    chosen = parser.parse_args(arguments)
    if not chosen.archive.is_dir():
        print(f"{chosen.archive}: the archive is not there; nothing was measured", file=sys.stderr)
        return 1
    buckets = load_buckets()
    for name, gold in SETS.items():
        if chosen.name and chosen.name != name:
            continue
        scores = score_set(chosen.archive, gold, buckets[gold.bucket])
        print(
            f"\n{name}: field, precision, recall, F1 (right / wrong / missing; found where the gold is silent)"
        )
        for field_name, score in scores.items():
            print(
                f"  {field_name:20} {score.precision:.3f} {score.recall:.3f} {score.f1:.3f}"
                f"  ({score.right} / {score.wrong} / {score.missing}; {score.spurious})"
            )
            if chosen.misses == field_name:
                for doc_id, label, value in score.misses:
                    print(f"      {doc_id}: gold {label[:100]!r}, found {value[:100]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
