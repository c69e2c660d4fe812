"""Pieces of a text in the order in which they overlap."""

import random

from langchain_text_splitters import RecursiveCharacterTextSplitter

from citegraph.corpus.foreign.foreign_reading import EDGE, MOST_PIECES, in_order


def edges(text: str) -> tuple[str, str]:
    return text[:EDGE], text[-EDGE:]


def test_the_pieces_of_a_splitter_are_put_together_again() -> None:
    numbers = random.Random(7)
    words = " ".join(f"word{numbers.randrange(10_000)}" for _ in range(900))
    pieces = RecursiveCharacterTextSplitter(chunk_size=500, chunk_overlap=80).split_text(words)
    mixed = pieces[:]
    numbers.shuffle(mixed)
    assert [mixed[number] for number in in_order([edges(piece) for piece in mixed])] == pieces


def test_what_overlaps_nothing_or_several_stays_in_its_place() -> None:
    shared = "the same twenty and more characters"
    pieces = [f"{shared} begin one", "alone", f"an end: {shared}", f"{shared} begin two"]
    assert in_order([edges(piece) for piece in pieces]) == [0, 1, 2, 3]
    assert in_order([edges("")] * 3) == [0, 1, 2]
    ring = [f"{'b' * 30} and {'a' * 30}", f"{'a' * 30} and {'b' * 30}"]
    assert sorted(in_order([edges(piece) for piece in ring])) == [0, 1]
    assert in_order([edges("x" * 50)] * (MOST_PIECES + 1)) == list(range(MOST_PIECES + 1))
