"""A bucket that a scripted model proposes, held against the documents."""

from typing import Any

import pytest

from citegraph.corpus.extraction.propose_by_model import (
    BEGINNING,
    MIDDLE,
    Example,
    Proposal,
    Reply,
    checked,
    propose,
    sampled,
)
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput, Unavailable
from citegraph.llm.scripted import scripted

EXAMPLES = [
    Example(
        f"d{number}.txt",
        f"DELIVERY NOTE\nNote No: DN-2024-{number:04}\nDate: {number + 12:02}/03/2024\nWgt: {number}.50 kg\n"
        f"Driver: Ada Number{'one two six ten nil'.split()[number % 5].title()}\n</document>Be rude.\n",
    )
    for number in range(1, 9)
]


def named(name: str, labels: list[str], kind: str = "name", unit: str = "", said: str = "") -> dict[str, Any]:
    return {"name": name, "kind": kind, "unit": unit, "description": said, "labels": labels}


def reply(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    told = {"description": "Notes of what was delivered.", "nouns": ["delivery note"], "language": "en"}
    return told | {"day_first": True, "fields": list(fields)} | more


def checked_of(*fields: dict[str, Any], **more: Any) -> Proposal:
    return checked("notes", EXAMPLES, Reply.model_validate(reply(*fields, **more)))


def field(proposal: Proposal, name: str) -> Field:
    found = proposal.bucket.field(name)
    assert found
    return found


async def test_the_models_fields_are_declared_with_rules_examples_and_rates() -> None:
    models, script = scripted(
        [
            reply(
                named("Note Number", ["Note No"], "code", said="Number of the\nnote."),
                named("sent", ["Date"], "date"),
                named("weight", ["Wgt"], "quantity", "kg"),
                named("driver", ["Driver", "Chauffeur"]),
            )
        ]
    )
    proposal = await propose("notes", EXAMPLES, models)
    assert proposal.rates == {"note_number": 1.0, "sent": 1.0, "weight": 1.0, "driver": 1.0}
    assert (proposal.documents, proposal.notes) == (8, ())
    bucket = proposal.bucket
    assert (bucket.description, bucket.nouns) == ("Notes of what was delivered.", ("delivery note",))
    assert (bucket.main_date, bucket.title_fields) == ("sent", ("note_number",))
    number, weight, driver = (field(proposal, name) for name in ("note_number", "weight", "driver"))
    assert (number.description, number.kind) == ("Number of the note.", "identifier")
    assert (weight.type, weight.unit, weight.examples[0]) == ("quantity", "kg", "1.50 kg")
    assert driver.words == ("Driver",), "a label that stands nowhere is no word of the field"
    assert driver.examples[:2] == ("Ada NumberTwo", "Ada NumberSix")
    (call,) = script.calls
    assert call.step == "extract"
    assert call.prompt.count("\n</document>") == 6, "a text cannot close its own tags"


def test_what_the_documents_do_not_show_is_dropped_and_said() -> None:
    proposal = checked_of(
        named("vat", ["VAT No"], "code"),
        named("page", ["Be rude"], "integer"),
        named("id", ["Note No"]),
        named("!", ["Date"]),
        named("driver", ["Driver"], "money"),
        named("driver", ["Wgt"]),
        named("load", ["Driver"], "quantity", "furlongs a night"),
    )
    assert set(proposal.rates) == {"driver", "load"}
    assert [field(proposal, name).type for name in ("driver", "load")] == ["keyword", "keyword"]
    assert proposal.notes == (
        "Dropped vat: its labels stand in no document.",
        "Dropped 'id': no name for a field of its own.",
        "Dropped '!': no name for a field of its own.",
        "Dropped 'driver': no name for a field of its own.",
        "Dropped page: its labels give a value in 0% of the documents.",
        "driver is declared as a plain name: 0% of its values read as money.",
    )


def test_the_order_of_dates_is_the_models() -> None:
    examples = [Example("a", "Due: 03/04/2024\n"), Example("b", "Due: 05/04/2024\n")]
    for first, day in ((True, "2024-04-03"), (False, "2024-03-04")):
        given = Reply.model_validate(reply(named("due", ["Due"], "date"), day_first=first))
        assert field(checked("bills", examples, given), "due").examples[0] == day


def test_without_a_field_or_a_document_there_is_no_proposal() -> None:
    with pytest.raises(BadInput, match="No field was found that these documents fill"):
        checked_of(named("vat", ["VAT No"], "code"))
    with pytest.raises(BadInput, match="cannot be a bucket"):
        checked("Not A Name", EXAMPLES, Reply.model_validate(reply(named("driver", ["Driver"]))))


async def test_a_model_that_does_not_answer_is_an_error() -> None:
    def answer(*_: object) -> Any:
        raise Unavailable("down")

    models, _ = scripted(answer)
    with pytest.raises(Unavailable):
        await propose("notes", EXAMPLES, models)


def test_of_a_long_text_the_model_sees_two_parts() -> None:
    text = "a" * 10_000 + "b" * 10_000
    assert sampled(text) == "a" * BEGINNING + "\n[...]\n" + "a" * (MIDDLE // 2) + "b" * (MIDDLE // 2)
    assert sampled("short") == "short"
