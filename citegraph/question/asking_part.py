"""The part of a message that asks: without the sentences around it, code, and numbers that are only compared."""

import re

from citegraph.language.amounts import find_amounts
from citegraph.language.claim_tokens import sentence_spans
from citegraph.language.word_tables import pattern
from citegraph.question import cues
from citegraph.question.measures import compared

_LED = re.compile(r"^(?:\S+\s+){4,}\S+:\s+")
"""A sentence that leads up to the question ("I am preparing an overview for a client: ..."); a short one is its topic."""
_CODE = re.compile(r"`[^`]*`|\S*(?:::|\w\(\))\S*")


def asking(message: str) -> str:
    """Return the sentences of a message that end as questions do, the whole message where none does."""
    sentences = [message[start:end] for start, end in sentence_spans(message)]
    asked = [_without_lead(one) for one in sentences if one.rstrip(' "”»)').endswith("?")]
    return " ".join(asked) or message


def _without_lead(sentence: str) -> str:
    """Return a sentence without what leads up to it; a lead that asks itself, or holds a number or date, stays."""
    lead = _LED.match(sentence)
    if lead is None:
        return sentence
    conditions = re.search(r"\d", lead[0])  # "invoices of Arden from 2017: what do they come to?"
    asks = cues.WHICH.search(lead[0]) or pattern("asks_how", "asks_whom").search(lead[0])
    return sentence if conditions or asks else sentence[lead.end() :]


def plain(question: str) -> str:
    """Return a question with blanks for code (`Remote::list()`) and for compared numbers ("more than 10")."""
    spans = [match.span() for match in _CODE.finditer(question)]
    for amount in find_amounts(question):
        operator, start, end = compared(question, *amount.span)
        spans += [(start, end)] if operator != "=" else []
    for start, end in spans:
        question = question[:start] + " " * (end - start) + question[end:]
    return question
