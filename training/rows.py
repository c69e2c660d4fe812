"""Rows to learn from: the public sets, and questions for cells that are made from tables of claim sets."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# How often each row of a set is taken in one pass, and never more than so many: hard sets count for more.
FINDER_SETS: dict[str, tuple[float, int]] = {
    "squad2": (2.0, 10_000),
    "squadshifts-newwiki": (1.0, 7_500),
    "squadshifts-reddit": (1.0, 5_000),
    "squadshifts-amazon": (1.0, 4_000),
    "xquad-de-es-ro": (1.0, 4_000),
    "piaf-fr": (1.0, 4_000),
    "covidqa": (1.0, 1_500),
    "qed-nq": (1.0, 1_700),
    "timesensitive": (1.0, 1_700),
    "tatqa": (2.0, 2_300),
    "qamr": (1.0, 5_000),
}


@dataclass(frozen=True)
class Asked:
    """A question over a passage; `answers` are (start, end) characters that answer it, none = not stated."""

    question: str
    passage: str
    answers: tuple[tuple[int, int], ...]
    source: str
    group: str = ""


def lines(path: Path) -> Iterator[dict[str, object]]:
    """The rows of one gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def asked(folder: Path, name: str, split: str) -> list[Asked]:
    """One finder set; the operands of calculations are another task and left out."""
    found = []
    for row in lines(folder / "finder" / f"{name}-{split}.jsonl.gz"):
        if str(row.get("made", "")).startswith("operands"):
            continue
        answers = tuple((a["start"], a["start"] + len(a["text"])) for a in row["answers"])
        found.append(Asked(row["question"], row["passage"], answers, name, str(row.get("group", ""))))
    return found


def dev_half(text: str) -> int:
    """0 or 1 by the text alone: thresholds are chosen on half 0 and reported on half 1."""
    return hashlib.md5(text.encode(), usedforsecurity=False).digest()[0] % 2


@dataclass(frozen=True)
class Table:
    """Title, column heads and rows of cells; the first column names the row."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def pipe_tables(folder: Path, split: str) -> list[Table]:
    """TabFact's tables whose rows have a name of their own."""
    found = []
    for text in sorted(
        {str(row["evidence"]) for row in lines(folder / "checker" / f"tabfact-{split}.jsonl.gz")}
    ):
        first, *rest = text.split("\n")
        split_rows = [tuple(cell.strip() for cell in line.split(" | ")) for line in rest]
        if len(split_rows) < 4:
            continue
        heads, rows = split_rows[0], [row for row in split_rows[1:] if len(row) == len(split_rows[0])]
        # A rank or a date in the first column names nothing: take the first column of distinct words.
        for place in range(min(3, len(heads))):
            names = [row[place] for row in rows]
            if (
                len(set(names)) == len(names) > 3
                and sum(any(c.isalpha() for c in name) for name in names) > 3
            ):
                order = [place, *(i for i in range(len(heads)) if i != place)]
                found.append(
                    Table(
                        first, tuple(heads[i] for i in order), tuple(tuple(r[i] for i in order) for r in rows)
                    )
                )
                break
    return found


def key_tables(folder: Path, split: str) -> list[Table]:
    """InfoTabS' boxes as tables of one row: keys are heads, the title names the row."""
    found = []
    for text in sorted(
        {str(row["evidence"]) for row in lines(folder / "checker" / f"infotabs-{split}.jsonl.gz")}
    ):
        title, *rest = text.split("\n")
        pairs = [line.split(": ", 1) for line in rest if ": " in line]
        pairs = [pair for pair in pairs if len(pair[0]) < 40 and 0 < len(pair[1]) < 80]
        if len(pairs) > 2:
            heads = ("", *(pair[0] for pair in pairs))
            found.append(Table("", heads, ((title, *(pair[1] for pair in pairs)),)))
    return found


def _kind(value: str) -> str:
    """Values of one kind can be mistaken for each other: numbers for numbers, words for words."""
    digits = sum(c.isdigit() for c in value)
    return (
        "none"
        if not value.strip("-– ")
        else "number"
        if digits * 2 >= len(value.replace(" ", ""))
        else "words"
    )


@dataclass(frozen=True)
class _Written:
    """A table as text, and where the wanted cell stands in it."""

    text: str
    start: int
    end: int


def _write(rng: random.Random, table: Table, rows: list[tuple[str, ...]], row: int, column: int) -> _Written:
    """One of the ways in which documents print tables; `row` -1 wants no cell."""
    parts: list[str] = []
    length = start = end = 0

    def put(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    style = rng.choice(("pipes", "pipes", "gaps", "lines", "sentences"))
    if table.title and rng.random() < 0.7:
        put(table.title + "\n")
    gap = {"pipes": " | ", "gaps": rng.choice(("  ", "    ", "\t"))}.get(style, "; ")
    if style in ("pipes", "gaps"):
        put(gap.join(table.heads) + "\n")
    for index, cells in enumerate(rows):
        for place, cell in enumerate(cells):
            if style == "lines" and table.heads[place]:
                put(f"{table.heads[place]}: ")
            elif style == "sentences" and place:
                put(f"{table.heads[place]} ")
            if index == row and place == column:
                start, end = length, length + len(cell)
            put(cell)
            put("\n" if place == len(cells) - 1 or (style == "lines" and len(rows) == 1) else gap)
    return _Written("".join(parts), start, end)


_QUESTIONS = (
    "{head} of {name}",
    "{name} {head}",
    "{head} {name}?",
    "What is the {head} of {name}?",
    "What was the {head} for {name}?",
    "what's the {head} for {name}",
    "Which {head} does {name} have?",
    "Tell me the {head} of {name}.",
    "{name}: {head}?",
    "How is the {head} given for {name}?",
)


def _case(rng: random.Random, text: str) -> str:
    return text.lower() if rng.random() < 0.3 else text


def _pick(rng: random.Random, table: Table) -> tuple[list[tuple[str, ...]], int, int] | None:
    """Some neighbouring rows of a table, and a cell of theirs that is worth asking for."""
    count = rng.randint(1, 7) if len(table.rows) > 1 else 1
    first = rng.randint(0, max(0, len(table.rows) - count))
    rows = list(table.rows[first : first + count])
    row, column = rng.randrange(len(rows)), rng.randrange(1, len(table.heads))
    if _kind(rows[row][column]) == "none" or not table.heads[column] or not rows[row][0]:
        return None
    return rows, row, column


def cell_questions(tables: list[Table], count: int, seed: int) -> list[Asked]:
    """Questions for a cell by its row and head; in two of five the row or the column is not there."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        table = rng.choice(tables)
        picked = _pick(rng, table)
        if picked is None:
            continue
        rows, row, column = picked
        name, head = rows[row][0], table.heads[column]
        question = _case(rng, rng.choice(_QUESTIONS).format(head=head, name=name))
        lot = rng.random()
        if lot < 0.2 and len(rows) > 1:
            shown = _write(rng, table, [r for i, r in enumerate(rows) if i != row], -1, column)
            answers: tuple[tuple[int, int], ...] = ()
        elif lot < 0.4 and len(table.heads) > 3:
            less = Table(table.title, _without(table.heads, column), ())
            shown, answers = _write(rng, less, [_without(r, column) for r in rows], -1, 0), ()
        else:
            shown = _write(rng, table, rows, row, column)
            answers = ((shown.start, shown.end),)
        found.append(Asked(question, shown.text, answers, "cells"))
    return found


def _without(cells: tuple[str, ...], place: int) -> tuple[str, ...]:
    return cells[:place] + cells[place + 1 :]


def _taken(rng: random.Random, rows: list, weight: float, limit: int) -> list:
    whole = rows * int(weight) + rng.sample(rows, int(len(rows) * (weight % 1)))
    rng.shuffle(whole)
    return whole[:limit]


def finder_rows(folder: Path, seed: int = 7) -> list[Asked]:
    """One pass of the finder's training rows, shuffled."""
    rng, rows = random.Random(seed), []
    for name, (weight, limit) in FINDER_SETS.items():
        rows += _taken(rng, asked(folder, name, "train"), weight, limit)
    rows += cell_questions(pipe_tables(folder, "train"), 3_000, seed)
    rows += cell_questions(key_tables(folder, "train"), 2_000, seed + 1)
    rng.shuffle(rows)
    return rows
