"""inflection: forms of one noun in English, German and French are joined, other words are not."""

import pytest

from citegraph.language.terms import bare, forms_among, inflections, same_noun


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("receipt", "receipts"),
        ("policy", "policies"),
        ("tax", "taxes"),
        ("analysis", "analyses"),
        ("Rechnung", "Rechnungen"),
        ("Vertrag", "Verträgen"),
        ("Vertrag", "Vertrages"),
        ("Sicherheitsdatenblatt", "Sicherheitsdatenblättern"),
        ("Haus", "Häuser"),
        ("Lieferant", "Lieferanten"),
        ("Kunde", "Kunden"),
        ("Firma", "Firmen"),
        ("deutsch", "deutscher"),
        ("deutsche", "deutschem"),
        ("gültiger", "gültigen"),
        ("facture", "factures"),
        ("reçu", "reçus"),
        ("journal", "journaux"),
        ("bateau", "bateaux"),
    ],
)
def test_forms_of_one_noun(one: str, other: str) -> None:
    assert same_noun(one, other)
    assert same_noun(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("market", "marketing"),
        ("universal", "university"),
        ("general", "generic"),
        ("bill", "billing"),
        ("part", "party"),
        ("use", "us"),
        ("du", "due"),
        ("CAS", "case"),
        ("Beck", "Becker"),
        ("Miete", "Mieter"),
        ("Dan", "Dane"),
        ("order", "ord"),
        ("francs", "France"),
        ("test", "tester"),
    ],
)
def test_other_words(one: str, other: str) -> None:
    assert not same_noun(one, other)
    assert not same_noun(other, one)


def test_codes_and_numbers_have_no_forms() -> None:
    assert (inflections("lm317s"), inflections("2018"), inflections("a")) == ((), (), ())


def test_a_proper_name_only_takes_an_s() -> None:
    known = {"werk", "werke"}
    assert forms_among("werks", known) == ["werk"]
    assert forms_among("werken", known) == ["werke", "werk"]
    assert forms_among("werken", known, proper=True) == []
    assert forms_among("werks", known, proper=True) == ["werk"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Größe", "grosse"),
        ("À l’Étage", "a l'etage"),
        ("ΤΈΛΟΣ", "τελοσ"),
        ("Ｆｕｌｌ ﬁle", "full file"),
        ("a\u0301b", "ab"),
    ],
)
def test_accents_go_in_short_and_long_texts_alike(text: str, plain: str) -> None:
    assert bare(text) == plain
    assert bare(f"{text} " * 2000) == f"{plain} " * 2000
