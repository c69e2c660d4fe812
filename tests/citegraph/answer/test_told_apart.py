"""Of documents that fit equally well, the one to answer from."""

from typing import Any

import pytest

from citegraph.answer import told_apart
from citegraph.answer.one_document import Told
from citegraph.answer.told_apart import documents_that_say
from citegraph.corpus.schema.document import Document
from citegraph.evidence.candidates import Candidate, says_news
from citegraph.question.answer_form import measure_of
from citegraph.run.services import Corpus
from citegraph.run.state_types import AskedBack


def asked_of(*doc_ids: str) -> AskedBack:
    options: list[Any] = [
        {"id": str(number), "label": doc_id, "count": 1, "effect": {"only": [doc_id]}}
        for number, doc_id in enumerate(doc_ids, 1)
    ]
    return {"type": "ambiguous", "question": "Which one?", "options": options, "tried": []}


async def told(corpus: Corpus, question: str, bucket: str, *doc_ids: str) -> list[str]:
    plan: Any = {"intent": "qa", "buckets": [bucket], "per_bucket": {}}
    return await documents_that_say(corpus, plan, asked_of(*doc_ids), question)


async def test_the_only_document_that_answers_is_taken(corpus: Corpus) -> None:
    rent = "What is the monthly rent?"
    assert await told(corpus, rent, "contracts", "bukit-seraya-lease", "norrvolt-nda-2023") == [
        "bukit-seraya-lease"
    ]


async def test_where_several_answer_the_user_chooses(corpus: Corpus) -> None:
    law = "Which law governs it?"
    assert await told(corpus, law, "contracts", "norrvolt-nda-2023", "bukit-seraya-lease") == []


async def test_of_versions_that_answer_the_one_in_force_is_taken(corpus: Corpus) -> None:
    night = "What may a hotel night cost at most?"
    assert await told(corpus, night, "generic", "travel-policy-2023", "travel-policy-2024") == [
        "travel-policy-2024"
    ]


async def test_where_none_answers_all_documents_of_one_thing_are_read(corpus: Corpus) -> None:
    solder = "Which solder is used?"
    sheets = ["fl-200-datasheet-rev-b", "fl-200-datasheet-rev-c"]
    assert sorted(await told(corpus, solder, "datasheets", *sheets)) == sheets
    assert await told(corpus, solder, "datasheets", sheets[0]) == []


MEMO, BILL = "kestrelwick-cn-240031", "kestrelwick-kw-240117"


@pytest.mark.parametrize(
    ("memo", "bill", "found"),
    [
        ({"silent": True}, {"stated": {"due_date": "2024-02-16"}}, BILL),
        (
            {"silent": False, "stated": {"due_date": "2024-03-30"}},
            {"stated": {"due_date": "2024-02-16"}},
            None,
        ),
        ({"silent": True}, {"silent": True}, None),
    ],
)
async def test_the_invoice_that_a_credit_note_names_is_taken_where_it_alone_states_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, memo: Any, bill: Any, found: str | None
) -> None:
    told = {MEMO: memo, BILL: bill}

    async def reading(corpus: Corpus, _plan: Any, doc_id: str, _question: str) -> Told | None:
        document = corpus.documents.get(doc_id)
        said = {"stated": {}, "silent": False} | told.get(doc_id, {"silent": True})
        return None if document is None else Told(document, doc_id, places={}, passages=(), **said)

    monkeypatch.setattr(told_apart, "reading_of", reading)
    plan: Any = {"intent": "qa", "per_bucket": {}}
    led = await told_apart.led_to(corpus, plan, MEMO, "When is the invoice due that it is about?")
    assert (led and led[0]) == found
    if led:
        memo_text = corpus.documents.all_of([MEMO])[MEMO].text
        assert "KW-240117" in memo_text[led[1]["start"] : led[1]["end"]]


CALIBRATION, STAFF = "driftmoor-dm-0624-77", "perrisoke-ps-88104"


@pytest.mark.parametrize(
    ("question", "asked", "found"),
    [
        ("Driftmoor sent a bill; which staffing agency does that customer use?", ["customer_name"], STAFF),
        ("Driftmoor sent a bill; which staffing agency does Marrowfen use?", ["customer_name"], None),
        ("Driftmoor sent a bill; which staffing agency is it?", ["total_amount"], None),
        ("Driftmoor sent a bill; which bakery does that customer use?", ["customer_name"], None),
    ],
)
async def test_the_other_document_of_a_company_that_is_asked_for_and_not_said_is_led_to(
    corpus: Corpus, question: str, asked: list[str], found: str | None
) -> None:
    plan: Any = {
        "intent": "qa",
        "buckets": ["invoices"],
        "per_bucket": {"invoices": {"asked": [*asked, "vendor_name"], "filters": []}},
    }
    led = await told_apart.led_to(corpus, plan, CALIBRATION, question)
    assert (led and led[0]) == found
    own = {"field": "vendor_name", "operator": "=", "value": "DRIFTMOOR CALIBRATION LTD", "origin": "user"}
    plan["per_bucket"]["invoices"]["filters"] = [own]
    assert await told_apart.led_to(corpus, plan, CALIBRATION, question) is None, (
        "not what the caller left out"
    )
    if led:
        assert led[1]["value"] == "Marrowfen Instruments B.V."
        assert told_apart.apart_from(plan, led[1], [STAFF])["per_bucket"]["invoices"]["asked"] == [
            "vendor_name"
        ]


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Which part does the note on the KT-7 name?", False),
        ("Is the KT-7 meant?", True),
        ("Which part does the note name?", True),
    ],
)
def test_a_value_that_the_question_says_is_no_news_but_to_yes_or_no(question: str, says: bool) -> None:
    assert says_news({"product": "KT-7"}, question) == says
    assert not says_news({}, question)


async def test_of_documents_of_one_title_the_one_that_answers_is_a_side(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan: Any = {"intent": "qa", "per_bucket": {}}
    sheets = [
        Candidate(name, "datasheets", score, values={"product": product})
        for name, score, product in (("b", 0.9, "FL-200"), ("c", 0.8, "FL-200"), ("d", 0.7, "HX-9"))
    ]
    answers = {"b": {"silent": True}, "c": {"silent": False}, "d": {"silent": False}}

    async def reading(_corpus: Corpus, _plan: Any, doc_id: str, _question: str) -> Any:
        return Told(DOCUMENT, doc_id, {}, {}, passages=(), whole=True, **answers[doc_id])

    monkeypatch.setattr(told_apart, "reading_of", reading)
    best = await told_apart.surest_of_one_thing(corpus, plan, sheets, "How long does the battery last?")
    assert best is sheets[1]
    assert await told_apart.surest_of_one_thing(corpus, plan, sheets[::2], "How long?") is sheets[0]
    assert await told_apart.surest_of_one_thing(corpus, plan, [], "How long?") is None


DOCUMENT = Document("a", "datasheets", "", "a.txt", "")


@pytest.mark.parametrize(
    ("question", "quantity", "other"),
    [
        ("how heavy is the lantern?", "1.7 kg", "6 W"),
        ("Welche Versorgungsspannung braucht sie?", "Supply    12    V", "12 W"),
        ("the power consumption?", "Power (W)", "5 000"),
        ("Hoe ver reikt de zender?", "80km", "80 dB"),
    ],
)
def test_only_a_quantity_of_the_dimension_asked_for_answers(question: str, quantity: str, other: str) -> None:
    measure = measure_of(question)
    assert measure
    assert measure.search(quantity)
    assert not measure.search(other)


@pytest.mark.parametrize(
    "question",
    [
        "When did the parties reach an agreement?",
        "Who may amplify the signal?",
        "Who sells the TR-40, the one with 60 V output voltage?",
        "Who signed the lease?",
    ],
)
def test_what_is_no_measure_or_a_condition_asks_for_no_quantity(question: str) -> None:
    assert measure_of(question) is None
