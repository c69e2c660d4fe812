"""led_to: the document that another one names, where only that one states what is asked."""

from typing import Any

import pytest

from citegraph.answer import led_on
from citegraph.answer.led_on import led_to
from citegraph.answer.one_document import Reading
from citegraph.run.services import Corpus

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

    async def reading(corpus: Corpus, _plan: Any, doc_id: str, _question: str) -> Reading | None:
        document = corpus.documents.get(doc_id)
        said = {"stated": {}, "silent": False} | told.get(doc_id, {"silent": True})
        return None if document is None else Reading(document, doc_id, places={}, passages=(), **said)

    monkeypatch.setattr(led_on, "reading_of", reading)
    assert await led_to(corpus, {"intent": "qa"}, MEMO, "When is the invoice due that it is about?") == found
