"""The day of signing beside a place, and the days that a term runs between."""

from datetime import date

import pytest

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.extraction.signing import find_last_day, find_signing_day, find_span
from citegraph.corpus.schema.bucket import load_buckets, show

BUCKETS = load_buckets()
TODAY = date(2026, 1, 1)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Clause.\nOban, den 3. Mai 2021\n", "3. Mai 2021"),
        ("Lu et approuvé\nFait à Brest, le 1er mars 2020, en deux exemplaires\n", "1er mars 2020"),
        ("(AG) Halle (Saale), 12.11.2020        Kiel, 19.11.2020\n", "19.11.2020"),
        ("Aldus overeengekomen en ondertekend te Breskens op 4 mei 2019.\n", "4 mei 2019"),
        ("In Vigo, a 9 de octubre de 2022\nCLÁUSULAS\n", "9 de octubre de 2022"),
        ("Letto e sottoscritto\nBari, lì 1° giugno 2023\n", "1° giugno 2023"),
        ("Die Miete, 3. Mai 2021 oder später fällig, wird zum Ende eines Monats gezahlt.\n", None),
        ("§ 2 Der Vertrag endet, wenn nicht gekündigt wird, am 3. Mai 2021.\n", None),
        ("Oban, 3 May 2031\n", None),
        ("Termin: Oban, 3. Mai 2021\n", None),
    ],
)
def test_a_place_and_a_day_say_when_a_document_was_signed(text: str, day: str | None) -> None:
    at = find_signing_day(text, order="DMY", today=TODAY)
    assert (text[at[0] : at[1]] if at else None) == day


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("vom 1. August 2024 bis zum 31. Juli 2029", ("2024-08-01", "2029-07-31")),
        ("dal 15 settembre 2023 al 14 settembre 2024, salvo", ("2023-09-15", "2024-09-14")),
        ("from April 1, 2025 through March 31, 2026", ("2025-04-01", "2026-03-31")),
        ("인증기간    2025년 08월 26일 ~ 2026년 08월 27일", ("2025-08-26", "2026-08-27")),
        ("Term: 01.04.2025 – 31.03.2026", ("2025-04-01", "2026-03-31")),
        ("signed on 1 April 2025 and paid on 1 May 2026", None),
        ("from 1 May 2020 to 31 May 2021, or from 1 May 2022 to 1 June 2023", None),
        ("from 1 May 2020 to 3 May 2020", None),
    ],
)
def test_the_only_range_of_days_is_the_term(text: str, days: tuple[str, str] | None) -> None:
    span = find_span(text, order="DMY", today=TODAY)
    assert (tuple(str(day.value) for day in span) if span else None) == days


def test_a_contract_of_another_language_says_how_long_it_runs_and_how_it_ends() -> None:
    text = (
        "HUUROVEREENKOMST BERGRUIMTE\n\nDeze overeenkomst gaat in op 1 mei 2021 en wordt aangegaan voor de duur van twee jaar. "
        "Partijen kunnen opzeggen met een opzegtermijn van drie maanden.\n"
        "Op deze overeenkomst is Nederlands recht van toepassing.\n\nBreskens, 20 april 2021\n"
    )
    fields = extract(BUCKETS["contracts"], Source(text, today=TODAY)).fields
    shown = {name: show(found.best.value) for name, found in fields.items()}
    assert shown == {
        "title": "HUUROVEREENKOMST BERGRUIMTE",
        "contract_type": "Lease",
        "agreement_date": "2021-04-20",
        "effective_date": "2021-05-01",
        "term": shown["term"],
        "notice_period": shown["notice_period"],
        "governing_law": "Netherlands",
    }
    assert "twee jaar" in shown["term"]
    assert "drie maanden" in shown["notice_period"]


@pytest.mark.parametrize("title", ["Zeitmietvertrag", "WOONRUIMTEHUUROVEREENKOMST", "Bail d'habitation"])
def test_a_compound_is_of_the_kind_that_it_ends_with(title: str) -> None:
    fields = extract(BUCKETS["contracts"], Source(f"{title}\n\nEs wird vereinbart.\n", today=TODAY)).fields
    assert show(fields["contract_type"].best.value) == "Lease"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Utställt: 03.05.2021\nProvat: 01.05.2021\nGäller till: 03.05.2024\n", "03.05.2024"),
        ("Utställt: 03.05.2021\nGäller till: 10.05.2021\n", None),  # no month lies between
        ("Gäller till: 03.05.2024\n", None),  # nothing to hold it against
        ("Utställt: 03.05.2021\n\nBåten målas igen innan den säljs vidare 03.05.2024\n", None),  # no label
        ("Utställt: 03.05.2021\nGäller till: 03.05.2024\n" + "ord " * 1300, None),  # no short form
    ],
)
def test_the_last_labelled_day_of_a_short_form_is_where_it_ends(text: str, day: str | None) -> None:
    at = find_last_day(text, order="DMY", today=TODAY)
    assert (at and text[at[0] : at[1]]) == day
