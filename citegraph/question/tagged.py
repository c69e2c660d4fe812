"""What the tagger is sure of in a question: what is wanted, what is left out, and which words are conditions at all."""

from collections.abc import Sequence

from citegraph.encoder.question_tagger import SLOTS, Intent, tag_question
from citegraph.language import terms

SURE = 0.7
"""Probability from which an intent is taken as read; of new questions 93 in 100 such are right (docs/encoder.md)."""
SAID = 0.5
"""Share of a name's tokens that must be a condition or left out for the tagger to say which."""
LEFT_OUT, ALL_LEFT_OUT = 0.8, 0.95
"""Share of a name's condition from which it is left out; the second one where nothing else would be left of a question."""
LEAST = 0.3
"""Share below which a word is neither a condition nor wanted."""
NUMBERS: frozenset[Intent] = frozenset(
    {"count", "sum", "average", "median", "max", "min", "distinct", "share", "change", "group"}
)
"""Intents that a number over many documents, or its greatest or smallest one, answers."""


def intent_of(question: str) -> Intent | None:
    """Return what a question wants where the tagger is sure, else None.

    That it wants a fact is not said: "the median bill at A" is one of a document or a number over many, as A has one or
    many; nor that it wants the same as the turn before, which says what that is.
    """
    tagged = tag_question(question)
    return tagged.intent if tagged.certainty >= SURE and tagged.intent not in {"fact", "same"} else None


def wants_fact(question: str) -> bool:
    """Tell whether a question rather wants a fact of one document or thing than documents or a number over them."""
    return tag_question(question).intent == "fact"


def left_out(question: str, start: int, end: int) -> float:
    """Return how surely some characters name what the answer leaves out, 0 to 1; 0 where they are no condition.

    That the tagger does not say so proves nothing: to it "not in EUR" is a condition as a whole.
    """
    tagged = tag_question(question)
    included, excluded = (tagged.slot(start, end, slot) for slot in ("included", "excluded"))
    return excluded / (included + excluded) if included + excluded >= SAID else 0.0


def conditions_among(question: str, words: Sequence[str]) -> list[str]:
    """Return those of some bare words that may say which documents are meant, or what of them; not those of asking politely.

    A word beside one that the tagger gives a part may belong to it ("the open invoices"), whatever the tagger says of it.
    """
    tagged = tag_question(question)
    places = list(terms.WORD.finditer(question))
    idle = [1.0 - tagged.slot(*match.span(), "none") < LEAST for match in places]
    telling = {
        terms.bare(match.group())
        for place, match in enumerate(places)
        if not all(idle[max(0, place - 1) : place + 2])
    }
    known = {terms.bare(match.group()) for match in places}
    return [word for word in words if word in telling or word not in known]


def included_among(question: str, words: Sequence[str]) -> list[str]:
    """Return those of some bare words that are conditions which the documents must meet."""
    tagged = tag_question(question)
    included = {
        terms.bare(match.group())
        for match in terms.WORD.finditer(question)
        if tagged.slot(*match.span(), "included") >= SAID
    }
    return [word for word in words if word in included]


def asked_span(question: str) -> tuple[int, int] | None:
    """Return the characters from the first to the last word of the longest run that names what is wanted; None for none."""
    runs: list[list[int]] = []
    for token in tag_question(question).tokens:
        if SLOTS[token.slots.index(max(token.slots))] != "asked":
            continue
        if runs and token.start - runs[-1][1] <= 1:
            runs[-1][1] = token.end
        else:
            runs.append([token.start, token.end])
    longest = max(runs, key=lambda run: run[1] - run[0], default=None)
    return (longest[0], longest[1]) if longest else None
