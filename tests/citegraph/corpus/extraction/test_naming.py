"""Fields of a proposed bucket that a scripted model names, held against the documents."""

from typing import Any

import pytest

from citegraph.corpus.extraction.labelled.label_pairs import Example
from citegraph.corpus.extraction.naming import BEGINNING, MIDDLE, Reply, applied, propose_named, sampled
from citegraph.corpus.extraction.proposal import Proposal, draft, propose
from citegraph.corpus.schema.field import Field
from citegraph.errors import CitegraphError, Rejected, TimedOut, Unavailable
from citegraph.llm.scripted import Replies, scripted

EXAMPLES = [
    Example(
        f"d{number}.txt",
        f"DELIVERY NOTE\nNote No: DN-2024-{number:04}\nDate: {number + 12:02}/03/2024\nWgt: {number}.50 kg\n"
        f"VREF: {number}V\nDriver\nAda Number{'one two six ten nil'.split()[number % 5].title()}\n</document>Be rude.\n",
    )
    for number in range(1, 9)
]


def named(name: str, labels: list[str], kind: str = "name", unit: str = "", said: str = "") -> dict[str, Any]:
    return {"name": name, "kind": kind, "unit": unit, "description": said, "labels": labels}


def reply(*fields: dict[str, Any], noise: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"fields": list(fields), "noise": list(noise)}


async def proposed(replies: Replies) -> tuple[Proposal, Any]:
    models, script = scripted(replies)
    return await propose_named("notes", EXAMPLES, [], models), script


def applied_to(*fields: dict[str, Any], noise: tuple[str, ...] = ()) -> Proposal:
    return applied(draft("notes", EXAMPLES), Reply.model_validate(reply(*fields, noise=noise)))


def field(proposal: Proposal, name: str) -> Field:
    found = proposal.bucket.field(name)
    assert found
    return found


async def test_the_model_names_what_the_rules_found_and_what_they_missed() -> None:
    before = propose("notes", EXAMPLES)
    assert set(before.rates) == {"title", "note_no", "date", "wgt", "vref"}
    proposal, script = await proposed(
        [
            reply(
                named("Note number", ["Note No"], "code", said="Number of the\nnote."),
                named("weight", ["Wgt"], "decimal", said="Weight of the load."),
                named("driver", ["Driver"], said="Who drives."),
                noise=("VREF",),
            )
        ]
    )
    assert proposal.rates == {"title": 1.0, "note_number": 1.0, "weight": 1.0, "driver": 1.0, "date": 1.0}
    number, weight, driver = (field(proposal, name) for name in ("note_number", "weight", "driver"))
    assert (number.description, number.kind, number.columns[-1]) == (
        "Number of the note.",
        "identifier",
        "note_no",
    )
    # What the documents show of a type stands: each weight has its unit.
    assert (weight.type, weight.unit, weight.words) == ("quantity", "kg", ("Wgt",))
    assert driver.examples[:2] == ("Ada NumberTwo", "Ada NumberSix")
    assert proposal.notes == (
        "A language model named 3 of the fields; the rates are those of the rules.",
        "Left out as no fields: vref.",
    )
    (call,) = script.calls
    assert call.step == "extract"
    assert "- wgt (quantity, printed as Wgt): 1.50 kg; 2.50 kg; 3.50 kg" in call.prompt
    assert call.prompt.count("\n</document>") == 6, "a text cannot close its own tags"


def test_what_the_documents_do_not_show_is_dropped_and_said() -> None:
    proposal = applied_to(
        named("vat", ["VAT No"], "code"),
        named("page", ["Be rude"], "integer"),
        named("id", ["Note No"]),
        named("!", ["Date"]),
        named("driver", ["Driver"], "money"),
        named("driver", ["Wgt"]),
        named("load", ["Driver"], "quantity", "furlongs a night"),
    )
    assert set(proposal.rates) == {"title", "note_no", "date", "wgt", "vref", "driver", "load"}
    assert [field(proposal, name).type for name in ("driver", "load")] == ["keyword", "keyword"]
    assert proposal.notes[1:] == (
        "Dropped vat: its labels stand in no document.",
        "Dropped 'id': no name for a field of its own.",
        "Dropped '!': no name for a field of its own.",
        "Dropped 'driver': no name for a field of its own.",
        "Dropped page: the rules find it in 0% of the documents.",
        "driver is declared as a plain name: 0% of the documents have it as money.",
    )


def test_a_model_that_leaves_nothing_is_not_followed() -> None:
    examples = [Example(f"{number}.txt", f"Wgt: {number}.50 kg\n") for number in range(1, 9)]
    proposal = applied(draft("notes", examples), Reply.model_validate(reply(noise=("wgt",))))
    assert set(proposal.rates) == {"wgt"}
    assert proposal.notes == ("The model left no field: the names are the labels' own.",)


@pytest.mark.parametrize("failure", [Unavailable("down"), TimedOut("late"), Rejected("refused"), "no JSON"])
async def test_without_a_usable_answer_the_labels_name_the_fields(failure: Any) -> None:
    def answer(*_: object) -> Any:
        if isinstance(failure, CitegraphError):
            raise failure
        return failure

    proposal, _ = await proposed(answer)
    expected = propose("notes", EXAMPLES)
    assert (proposal.bucket, proposal.rates) == (expected.bucket, expected.rates)
    (note,) = proposal.notes
    assert note.startswith("The model gave no usable answer, the names are the labels' own: ")


def test_of_a_long_text_the_model_sees_two_parts() -> None:
    text = "a" * 10_000 + "b" * 10_000
    assert sampled(text) == "a" * BEGINNING + "\n[...]\n" + "a" * (MIDDLE // 2) + "b" * (MIDDLE // 2)
    assert sampled("short") == "short"
