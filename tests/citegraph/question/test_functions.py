"""functions: the words that ask for a number, in the languages of the tables."""

import pytest

from citegraph.question.functions import asks, counted_at, function_of


@pytest.mark.parametrize(
    ("function", "asked"),
    [
        ("count", "How many leases end in 2027?"),
        ("count", "leases ending in 2027, number of them?"),
        ("count", "Wie viele Mietverträge enden 2027?"),
        ("count", "Bei wie vielen Mietverträgen steht ein Ende?"),
        ("count", "Anzahl der Mietverträge"),
        ("count", "Combien de baux finissent en 2027 ?"),
        ("count", "Combien d’avoirs avons-nous ?"),
        ("count", "¿Cuántos contratos vencen en 2027?"),
        ("count", "Quanti contratti scadono nel 2027?"),
        ("count", "Hoeveel huurcontracten lopen af in 2027?"),
        ("sum", "What do the bills of Tarn come to in total?"),
        ("sum", "Wie hoch ist die Summe der Rechnungen von Tarn 2023?"),
        ("sum", "Wie viel haben wir bei Tarn ausgegeben?"),
        ("sum", "total des factures de Tarn en 2023"),
        ("sum", "Combien avons-nous dépensé chez Tarn ?"),
        ("sum", "¿Cuánto hemos gastado en total con Tarn?"),
        ("sum", "Qual è il totale delle fatture di Tarn?"),
        ("sum", "Hoeveel hebben we bij Tarn uitgegeven?"),
        ("sum", "How much has Tarn billed us?"),
        ("sum", "How much did Tarn invoice in 2024?"),
        ("sum", "How much went to Tarn in May?"),
        ("sum", "What do the invoices of Tarn come to?"),
        ("count", "Combien expirent avant 2027 ?"),
        ("count", "combien ?"),
        ("none", "Combien coûtent les pompes ?"),
        ("none", "Combien ont coûté les pompes ?"),
        ("count", "How many paid leases are there?"),
        ("none", "By how much was the Tarn invoice of May higher?"),
        ("average", "average receipt of Tarn"),
        ("average", "Was kostet eine Quittung von Tarn im Schnitt?"),
        ("average", "Montant moyen des factures de Tarn"),
        ("average", "importe promedio de las facturas"),
        ("average", "In media quanto costa una fattura?"),
        ("average", "het gemiddelde bedrag van de facturen"),
        ("median", "median invoice"),
        ("median", "Median der Beträge"),
        ("median", "la médiane des montants"),
        ("median", "la mediana de los importes"),
        ("median", "la mediana degli importi"),
        ("median", "de mediaan van de bedragen"),
        ("max", "most expensive bill"),
        ("max", "Die höchste Rechnung"),
        ("max", "la facture la plus chère"),
        ("max", "la factura más alta"),
        ("max", "la fattura più cara"),
        ("max", "de hoogste factuur"),
        ("min", "cheapest bill"),
        ("min", "Die niedrigste Rechnung"),
        ("min", "la facture la moins chère"),
        ("min", "la factura más barata"),
        ("min", "la fattura più bassa"),
        ("min", "de laagste factuur"),
        ("share", "what percentage of the bills is overdue"),
    ],
)
def test_a_function_is_read_in_every_language(function: str, asked: str) -> None:
    assert function_of(asked) == function


@pytest.mark.parametrize(
    "asked",
    [
        "serial number of the north gateway",
        "What is the part number of the blue pump?",
        "Wer hat unterschrieben?",
        "When does the lease end?",
        "Combien coûte le contrat ?",
    ],
)
def test_other_questions_ask_for_no_number_over_documents(asked: str) -> None:
    assert function_of(asked) == "none"


def test_what_is_counted_stands_behind_the_words() -> None:
    asked = "tell me the number of pages"
    assert asked[counted_at(asked) or 0 :] == " pages"
    assert counted_at("the total of May") is None
    assert asks("how many in total", "sum")
