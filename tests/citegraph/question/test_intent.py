"""intent: what a question wants by its words and by the tagger, before a schema is asked."""

import pytest

from citegraph.question.functions import number_said
from citegraph.question.intent import classify, settle_intent
from citegraph.run.services import Corpus
from nodes.decompose import decompose
from tests.node_runtime import Read


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the flash point of Terraclean 9?", ("qa", "none")),
        ("Wer hat das Protokoll geschrieben?", ("qa", "none")),
        ("Qui a signé le contrat ?", ("qa", "none")),
        ("List the invoices from Bramley", ("list", "none")),
        ("Show me everything from 2023", ("list", "none")),
        ("Alle Verträge mit Bramley", ("list", "none")),
        ("Toutes les factures de juin", ("list", "none")),
        ("How many invoices did Bramley send?", ("compute", "count")),
        ("Wie viele Rechnungen kamen 2023?", ("compute", "count")),
        ("Combien de factures en 2023 ?", ("compute", "count")),
        ("How much have we paid Bramley?", ("compute", "sum")),
        ("Summe der Rechnungen von Bramley", ("compute", "sum")),
        ("What did we spend in total?", ("compute", "sum")),
        ("What is the average receipt?", ("compute", "average")),
        ("Durchschnitt aller Belege", ("compute", "average")),
        ("What is the biggest invoice?", ("compute", "max")),
        ("Welche Rechnung ist die höchste?", ("compute", "max")),
        ("What is the cheapest receipt?", ("compute", "min")),
        ("Günstigste Rechnung 2023", ("compute", "min")),
        ("Summarize the travel rules", ("summarize", "none")),
        ("Fasse die Richtlinie zusammen", ("summarize", "none")),
        ("Résumé du contrat Bramley", ("summarize", "none")),
        ("Compare Bramley with Colworth", ("compare", "none")),
        ("Which contract ends first, Bramley or Colworth?", ("compare", "none")),
        ("Welcher Vertrag läuft länger, Bramley oder Colworth?", ("compare", "none")),
        ("Bramley vs. Colworth: highest voltage", ("compare", "none")),
        ("How many more invoices has Bramley or Colworth?", ("compare", "none")),
        ("Total of Bramley and Colworth combined", ("compute", "sum")),
    ],
)
def test_intent_and_aggregate(question: str, expected: tuple[str, str]) -> None:
    assert classify(question) == expected


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("parts rated 60 V or more", "qa"),
        ("Verträge mit einer Laufzeit von 3 Jahren oder länger", "qa"),
        ("Which is older, the lease or the licence?", "compare"),
        ("Was the first or the second invoice higher?", "compare"),
    ],
)
def test_or_more_joins_no_sides(question: str, intent: str) -> None:
    assert classify(question)[0] == intent


@pytest.mark.parametrize(
    ("question", "function", "changes"),
    [
        ("By how much did the bills of Tarn grow from 2023 to 2024?", "none", True),
        ("What share of the leases ends in 2027?", "share", False),
        ("List the leases that end in 2027", "none", False),
        ("What did we spend at Tarn in total?", "sum", False),
    ],
)
def test_one_number_is_said(question: str, function: str, changes: bool) -> None:
    said = number_said(question)
    assert (said.function, said.changes) == (function, changes)


def test_a_sure_list_is_one_whatever_its_nouns(read: Read, corpus: Corpus) -> None:
    """ "Products" of a data sheet are no word for the documents; a fact put like a list stays a fact."""
    for question, intent in [
        ("Der Kurier fragt: welche unserer Produkte haben laut Datenblatt TO-92? Bitte alle.", "list"),
        ("we collected data on TO-92 once. I need each sheet of NorrVolt, not the manual", "list"),
        ("Which two people signed the Tannick NDA?", "qa"),
    ]:
        bucket = corpus.buckets["contracts" if "NDA" in question else "datasheets"]
        lead = read(bucket.name, question)
        assert settle_intent(bucket, question, decompose(question), lead)[0] == intent, question
