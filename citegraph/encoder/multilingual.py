"""How the multilingual networks are run; what a question asks for, and whether a piece of a document speaks to a program.

Nothing is read before the first text. The words' vectors are kept in four bits, mapped from the file.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy

from citegraph.encoder.pieces import pieces_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTS = Path(__file__).parent / "weights"
LONGEST = 126
"""Pieces of a text that are read."""
BEGIN, PADDING, END = 0, 1, 2
BATCH = 16
"""Texts that are run together: more gains nothing on one core."""


_OPENING = threading.Lock()


@cache
def _opened(name: str, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning threads would take the cores that search and the readers need between two questions.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    # A pattern is kept for each length of a batch, of which there are hundreds, and takes memory in one piece: twice as much.
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(
        str(WEIGHTS / f"{name}.onnx"), options, providers=["CPUExecutionProvider"]
    )


@cache
def _shrinking() -> Any:
    import onnxruntime

    options = onnxruntime.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options


def session(name: str, threads: int = 1) -> Any:
    """Return the runtime of a file of weights, opened at the first call; safe to call from several threads."""
    with _OPENING:  # two first questions at once would open the file twice
        return _opened(name, threads)


def run(
    network: str,
    texts: Sequence[Sequence[int]],
    sides: Sequence[int] = (),
    *,
    batch: int = BATCH,
    threads: int = 1,
) -> list[tuple[NDArray[numpy.float32], ...]]:
    """Return what a network says of some texts, given by their pieces, in that order.

    Args:
        network: name of the file of its weights.
        sides: for a network that reads two texts, the number of pieces before the second one of each.
        batch: texts that are run together, those of like length.
        threads: processor threads of one call at most.

    Returns:
        For each text its outputs; one that has a row for each piece is of the pieces with the beginning before them.
    """
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found: dict[int, tuple[NDArray[numpy.float32], ...]] = {}
    for at in range(0, len(order), batch):
        places = order[at : at + batch]
        longest = max(len(texts[place]) for place in places) + 2
        ids = numpy.full((len(places), longest), PADDING, numpy.int64)
        side = numpy.zeros_like(ids)
        for row, place in enumerate(places):
            ids[row, : len(texts[place]) + 2] = [BEGIN, *texts[place], END]
            if sides:
                side[row, sides[place] + 1 : len(texts[place]) + 2] = 1
        given = {"words": unpacked(words()[ids]), "mask": (ids != PADDING).astype(numpy.int64)}
        # With the last batch goes what the runtime keeps of them, some 50 MB; with each it would take a tenth longer.
        ends = _shrinking() if at + batch >= len(order) else None
        outputs = session(network, threads).run(None, {**given, "side": side} if sides else given, ends)
        for row, place in enumerate(places):
            found[place] = tuple(one[row] for one in outputs)
    return [found[place] for place in range(len(texts))]


def softmax(logits: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """Return logits as shares of one, along the last axis."""
    raised = numpy.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: NDArray[numpy.float32] = raised / raised.sum(axis=-1, keepdims=True)
    return shares


@cache
def words() -> NDArray[Any]:
    """Return the words' rows: (pieces, blocks) of a scale and sixteen bytes."""
    rows: NDArray[Any] = numpy.load(WEIGHTS / "multilingual_words.npy", mmap_mode="r")
    return rows


def unpacked(rows: NDArray[Any]) -> NDArray[numpy.float32]:
    """Return rows of blocks, each a scale and sixteen bytes of 32 weights in four bits, as (..., weights) in 32 bits."""
    halves = numpy.concatenate([rows["weights"] & 15, rows["weights"] >> 4], axis=-1).astype(numpy.float32)
    weights: NDArray[numpy.float32] = (halves - 8) * rows["scale"].astype(numpy.float32)[..., None]
    return weights.reshape(*rows.shape[:-1], -1)


Intent = Literal[
    "list", "fact", "count", "sum", "average", "median", "max", "min", "distinct", "share", "change", "group", "compare", "summarize",
    "same",
]  # fmt: skip
"""What is wanted: documents, a fact of one, a number over many, one side against another, a summary."""
Slot = Literal["none", "included", "excluded", "asked"]
"""What a word is for: nothing of these, a condition, what is left out, or what is wanted."""
Role = Literal["condition", "wanted"]
"""What words that speak of a field say of it: what its value must be, or that it is wanted."""
INTENTS: tuple[Intent, ...] = get_args(Intent)
SLOTS: tuple[Slot, ...] = get_args(Slot)
ROLES: tuple[Role, ...] = get_args(Role)
LINK = 128
"""Width of the vectors in which words and the fields that they speak of meet."""


def field_text(sort: str, name: str, words: str) -> str:
    """Return what the tagger reads of a field: its type, its name and what people call it, either of which may be empty."""
    return f"{sort}: {', '.join(filter(None, (name.replace('_', ' '), words)))}"


@dataclass(frozen=True, slots=True)
class Token:
    """Characters of a question with the probability of each slot, in the order of `SLOTS`."""

    start: int
    end: int
    slots: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TaggedQuestion:
    """A question as the tagger reads it: the probability of each intent, and its tokens in order."""

    intents: Mapping[Intent, float]
    tokens: tuple[Token, ...]

    @property
    def intent(self) -> Intent:
        """The likeliest intent."""
        return max(self.intents, key=lambda name: self.intents[name])

    @property
    def certainty(self) -> float:
        """The probability of the likeliest intent, 0 to 1."""
        return self.intents[self.intent]

    def slot(self, start: int, end: int, slot: Slot) -> float:
        """Return the mean probability of a slot over the tokens of some characters; 0 where no token stands there."""
        held = [token.slots for token in self.tokens if token.start < end and token.end > start]
        return sum(slots[SLOTS.index(slot)] for slots in held) / len(held) if held else 0.0


@lru_cache(maxsize=512)
def tag_question(question: str) -> TaggedQuestion:
    """Return intent and slots of a question, in about 6 ms of one core; the same for the same text.

    Safe to call from several threads. Of a text without a word every intent is as likely, and it has no tokens.
    """
    ids, offsets = pieces_of(question, LONGEST)
    if not question.strip():
        return TaggedQuestion(dict.fromkeys(INTENTS, 1 / len(INTENTS)), ())
    ((intents, slots, *_),) = run("multilingual", [ids])
    told = softmax(slots)
    tokens = tuple(
        Token(start, end, tuple(map(float, told[place + 1])))
        for place, (start, end) in enumerate(offsets)
        if question[start:end].strip()
    )
    return TaggedQuestion(dict(zip(INTENTS, map(float, softmax(intents)), strict=True)), tokens)


FIELDS = "fields"
"""The network that reads of what words speak: a tagger, too, which learned fields and real text beside its questions."""


@lru_cache(maxsize=2048)
def _field(text: str) -> NDArray[numpy.float32]:
    """Return the vector (`LINK`) of a field's text (`field_text`)."""
    ((*_, vector),) = run(FIELDS, [pieces_of(text, LONGEST).ids])
    return vector


@dataclass(frozen=True, slots=True)
class SpokenOf:
    """Characters of a question with the probabilities that they speak of each field (fields, roles); the rest is of none."""

    start: int
    end: int
    shares: NDArray[numpy.float32]


def fields_of(question: str, fields: Sequence[str]) -> list[SpokenOf]:
    """Return for each token of a question of which of some fields it speaks, in which role; 6 ms, and as much for each new field.

    Args:
        fields: their texts (`field_text`), of one kind of documents: they are told apart from each other.
    """
    if not question.strip() or not fields:
        return []
    ids, offsets = pieces_of(question, LONGEST)
    ((*_, said, _),) = run(FIELDS, [ids])
    keys = numpy.stack([_field(text) for text in fields])
    told = said[:, :-1].reshape(len(said), len(ROLES), LINK) @ keys.T
    shares = softmax(numpy.concatenate([told.reshape(len(said), -1), said[:, -1:]], axis=1))
    by_field = shares[:, :-1].reshape(len(said), len(ROLES), len(fields)).transpose(0, 2, 1)
    return [
        SpokenOf(start, end, by_field[place + 1])
        for place, (start, end) in enumerate(offsets)
        if question[start:end].strip()
    ]


SURE = 0.7
"""Probability from which an intent is taken as read; of new questions 96 in 100 such are right (docs/encoder.md)."""
SAID = 0.5
"""Share of a name's tokens that must be a condition or left out for the tagger to say which."""
LEFT_OUT, ALL_LEFT_OUT = 0.8, 0.95
"""Share of a name's condition from which it is left out; the second one where nothing else would be left of a question."""
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


def surely_lists(question: str) -> bool:
    """Tell whether a question surely wants documents, and not a fact of one that is put like a list ("which two labs")."""
    tagged = tag_question(question)
    return tagged.intent == "list" and tagged.certainty >= SURELY_LISTS


SURELY_LISTS = 0.9
"""Probability of "list" that no question for a fact of one document reached (0 of 145 lookups; 158 of 172 lists)."""


def wants_the_same(message: str) -> bool:
    """Tell whether a message surely wants what the turn before wanted, of other documents or in another form."""
    tagged = tag_question(message)
    return tagged.intent == "same" and tagged.certainty >= SURELY_SAME


SURELY_SAME = 0.9
"""Probability of "same" that few first questions reach (3 of 660 that name no documents: "everything from A")."""


def left_out(question: str, start: int, end: int) -> float:
    """Return how surely some characters name what the answer leaves out, 0 to 1; 0 where they are no condition.

    That the tagger does not say so proves nothing: to it "not in EUR" is a condition as a whole.
    """
    tagged = tag_question(question)
    included, excluded = (tagged.slot(start, end, slot) for slot in ("included", "excluded"))
    return excluded / (included + excluded) if included + excluded >= SAID else 0.0


NO_CONDITION = 0.1
"""Share of a name's tokens below which they are no condition, whatever is stored."""


def is_no_condition(question: str, start: int, end: int, *, below: float = NO_CONDITION) -> bool:
    """Tell whether the share of some characters that restricts the documents, or is left out, is below a bound."""
    tagged = tag_question(question)
    return tagged.slot(start, end, "included") + tagged.slot(start, end, "excluded") < below


def is_idle(question: str, start: int, end: int, *, above: float = 1 - NO_CONDITION) -> bool:
    """Tell whether some characters surely have no part in what a question asks: no condition, and not wanted either."""
    return tag_question(question).slot(start, end, "none") > above


def asked_runs(question: str) -> list[tuple[int, int]]:
    """Return the characters of each run of words that name what is wanted, in order."""
    runs: list[tuple[int, int]] = []
    for token in tag_question(question).tokens:
        if SLOTS[token.slots.index(max(token.slots))] != "asked":
            continue
        if runs and token.start - runs[-1][1] <= 1:
            runs[-1] = (runs[-1][0], token.end)
        else:
            runs.append((token.start, token.end))
    return runs


def asked_span(question: str) -> tuple[int, int] | None:
    """Return the characters of the longest run of words that name what is wanted; None for none."""
    return max(asked_runs(question), key=lambda run: run[1] - run[0], default=None)


def speak_to_program(texts: Sequence[str]) -> list[float]:
    """Return for each text, a sentence or a few, the probability that it speaks to the assistant or program that reads it.

    What only people are told to do ("enter the total in box 7") is not meant. A few milliseconds of one core each; of a
    long text the beginning is read.
    """
    read = run(FIELDS, [pieces_of(text, LONGEST).ids for text in texts])
    return [
        1 / (1 + math.exp(-max(-60.0, min(60.0, float(addressed))))) if text.strip() else 0.0
        for text, (_, _, addressed, *_) in zip(texts, read, strict=True)
    ]
