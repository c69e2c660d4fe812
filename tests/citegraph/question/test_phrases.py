"""phrases: a declared word is found in the forms of its noun and in no other word."""

import pytest

from citegraph.question.phrases import find_phrase, said_in


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("two leases and a lease", "lease", ["leases", "lease"]),
        ("the policies", "policy", ["policies"]),
        ("three surveys", "survey", ["surveys"]),
        ("till-slips", "till slip", ["till-slips"]),
        ("NDAs", "NDA", ["NDAs"]),
        ("taxes", "tax", ["taxes"]),
        ("die Rechnungen", "Rechnung", ["Rechnungen"]),
        ("alle Verträge", "Vertrag", ["Verträge"]),
        ("in den Datenblättern", "Datenblatt", ["Datenblättern"]),
        ("die Käufe", "Kauf", ["Käufe"]),
        ("laut des Vertrages", "Vertrag", ["Vertrages"]),
        ("les journaux de caisse", "journal", ["journaux"]),
        ("un reçu, deux reçus", "reçu", ["reçu", "reçus"]),
        ("errata", "erratum", ["errata"]),
        ("deux fiches de paie", "fiche de paie", ["fiches de paie"]),
        ("mit elliptischer Kurve", "elliptische Kurve", ["elliptischer Kurve"]),
        ("des factures acquittées", "facture acquittée", ["factures acquittées"]),
        ("the ass of base", "as of base", []),
        ("tre ricevute", "ricevuta", ["ricevute"]),
        ("i contratti", "contratto", ["contratti"]),
        ("¿cuáles caducan?", "caduca", ["caducan"]),
        ("lesquels expirent", "expire", ["expirent"]),
        ("data processing", "date", []),
        ("its content", "conte", []),
        ("nach Marketing", "Markt", []),
        ("marketing", "market", []),
        ("die Mieter", "Miete", []),
        ("universal", "university", []),
        ("Orders or an ord", "ord", ["ord"]),
        ("invoices due in May", "du", []),
        ("in any case", "CAS", []),
        ("released", "lease", []),
        ("LES PÉNALITÉS DUES", "pénalité", ["PÉNALITÉS"]),
        ("zwei Äpfel", "Apfel", ["Äpfel"]),
        ("C++ (v2.0)", "v2.0", ["v2.0"]),
    ],
)
def test_find_phrase(text: str, phrase: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_phrase(text, phrase)] == found


def test_of_many_phrases_those_are_found_that_each_alone_finds() -> None:
    text = "Zahlbar laut Verträgen: due-dates 3/b, Äpfel 5 %, d'une pénalité"
    phrases = ["Vertrag", "due date", "3/b", "Apfel", "%", "pénalité", "date", "pen", "une", "Birne"]
    found = {phrase for phrase in phrases if find_phrase(text, phrase)}
    assert said_in(text, phrases) == found >= {"Vertrag", "due date", "3/b", "Apfel", "pénalité"}
