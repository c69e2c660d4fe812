"""The measure of extraction: what counts as right, and the figures on the archive."""

from pathlib import Path

import pytest

from benches.documents.extraction_bench import Score, agrees, half_of, main, published, score_set, table
from benches.documents.extraction_sets import SETS
from benches.documents.reading_bench import ARCHIVE
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.field import Field
from citegraph.language.amounts import Quantity

INVOICES = load_buckets()["invoices"]


def test_names_agree_without_legal_form_and_case() -> None:
    vendor = INVOICES.field("vendor_name")
    assert vendor is not None
    assert agrees(vendor, "ELM TRADING LTD", "Elm Trading Limited")
    assert not agrees(vendor, "Elm Trading", "Oak Trading")


def test_distinguished_names_agree_in_any_order() -> None:
    issuer = load_buckets()["certificates"].field("issuer")
    assert issuer is not None
    assert agrees(issuer, "C=DE, O=Elm, CN=Root", "CN=Root,O=Elm,C=DE")
    assert agrees(issuer, "O=Elm, emailAddress=a@elm.example", "1.2.840.113549.1.9.1=a@elm.example,O=Elm")
    assert not agrees(issuer, "C=DE, O=Elm", "CN=Root,O=Elm,C=DE")


def test_lengths_agree_in_any_unit() -> None:
    term = Field(name="term", type="quantity", unit="year", description="")
    assert agrees(term, Quantity(1.5), "18 months")
    assert not agrees(term, Quantity(1.5), "2 years")


def test_what_scores_are_of() -> None:
    score = Score(right=6, wrong=2, missing=4)
    assert (score.precision, score.recall, score.f1) == (0.75, 0.5, pytest.approx(0.6))
    assert Score().f1 == 0.0
    assert Score(right=6, wrong=2, missing=4, spurious=4).strict == pytest.approx(0.5)
    both = Score(1, 2, 3, 4, [("a", "1", "2")], (1, 0)) + Score(5, 6, 7, 8, [("b", "3", "4")], (2, 1))
    assert both == Score(6, 8, 10, 12, [("a", "1", "2"), ("b", "3", "4")], (3, 1))


def test_halves_are_told_by_the_id_alone() -> None:
    assert {half_of(f"document {number}") for number in range(20)} == {"first", "second"}
    assert [half_of("a"), half_of("b"), half_of("a")] == ["second", "first", "second"]


def test_the_table_counts_both_halves_and_prints_the_misses_of_one() -> None:
    halves = {
        "first": {"title": Score(1, 1, 0, 0, [("a", "gold", "other")])},
        "second": {"title": Score(2, sure=(2, 1))},
    }
    _, head, row, miss = table("set", halves, "title", "first")
    assert head.startswith("set")
    assert (
        row == "  title                0.750  0.750  0.750  0.750  | 0.500 1.000 | 3 / 1 / 0; 0 | 0.667 of 3"
    )
    assert miss == "      a: gold 'gold', found 'other'"


def test_an_advisory_gets_its_head_back() -> None:
    labels = {"doc_id": "A-1", "package": "elm", "aliases": ["CVE-1"], "affected_functions": ["elm::run"]}
    text = published(labels, "# Title")
    assert text.startswith('```toml\n[advisory]\nid = "A-1"\npackage = "elm"\naliases = ["CVE-1"]\n')
    assert text.endswith("```\n\n# Title")


def test_a_missing_archive_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none")]) == 1
    assert "is not there" in capsys.readouterr().err


@pytest.mark.corpora
@pytest.mark.skipif(not ARCHIVE.is_dir(), reason="the shared archive is absent")
def test_certificates_and_invoices_with_xml_are_read_right() -> None:
    buckets = load_buckets()
    for name, least in (("x509", 0.98), ("einvoices_with_xml", 0.95)):
        halves = score_set(ARCHIVE, SETS[name], buckets[SETS[name].bucket])
        low = {
            (half, field): round(score.f1, 2)
            for half, scores in halves.items()
            for field, score in scores.items()
            if score.f1 < least
        }
        assert low == {}
