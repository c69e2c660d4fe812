"""Rows to learn from: the public sets, and questions for cells that are made from tables of claim sets."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PUBLIC_SETS: dict[str, int] = {
    "squad2": 5_000,
    "squadshifts-newwiki": 3_000,
    "squadshifts-reddit": 1_500,
    "squadshifts-amazon": 1_500,
    "xquad-de-es-ro": 3_000,
    "piaf-fr": 3_000,
    "covidqa": 500,
    "qed-nq": 1_000,
    "timesensitive": 1_500,
    "tatqa": 1_200,
    "qamr": 1_500,
}
"""Rows of each public set at most."""
CELLS = 2_500
"""Questions for cells that are made of each kind of table."""


@dataclass(frozen=True)
class Asked:
    """A question over a passage; `answers` are (start, end) characters that answer it, none = not stated."""

    question: str
    passage: str
    answers: tuple[tuple[int, int], ...]
    source: str


def lines(path: Path) -> Iterator[dict[str, object]]:
    """The rows of one gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def asked(folder: Path, name: str) -> list[Asked]:
    """One finder set; the operands of calculations are another task and left out."""
    found = []
    for row in lines(folder / "finder" / f"{name}-train.jsonl.gz"):
        if str(row.get("made", "")).startswith("operands"):
            continue
        answers = tuple((a["start"], a["start"] + len(a["text"])) for a in row["answers"])
        found.append(Asked(row["question"], row["passage"], answers, name))
    return found


def stated(path: Path) -> list[Asked]:
    """The questions of a file of passages that fresh writers wrote (docs/encoder.md); ValueError for a misplaced answer."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for question in row["questions"]:
            answers: tuple[tuple[int, int], ...] = ()
            if question["a"] is not None:
                before = question.get("before") or ""
                start = row["passage"].index(before + question["a"]) + len(before)
                answers = ((start, start + len(question["a"])),)
            found.append(Asked(question["q"], row["passage"], answers, path.stem))
    return found


@dataclass(frozen=True)
class Table:
    """Title, column heads and rows of cells; the first column names the row."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def pipe_tables(folder: Path) -> list[Table]:
    """TabFact's tables whose rows have a name of their own."""
    found = []
    for text in sorted(
        {str(row["evidence"]) for row in lines(folder / "checker" / "tabfact-train.jsonl.gz")}
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


def key_tables(folder: Path) -> list[Table]:
    """InfoTabS' boxes as tables of one row: keys are heads, the title names the row."""
    found = []
    for text in sorted(
        {str(row["evidence"]) for row in lines(folder / "checker" / "infotabs-train.jsonl.gz")}
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


def public_rows(folder: Path, seed: int = 7) -> list[Asked]:
    """The rows of the public sets, and made ones, shuffled."""
    rng, rows = random.Random(seed), []
    for name, limit in PUBLIC_SETS.items():
        known = asked(folder, name)
        rows += rng.sample(known, min(limit, len(known)))
    rows += cell_questions(pipe_tables(folder), CELLS, seed)
    rows += cell_questions(key_tables(folder), CELLS, seed + 1)
    rng.shuffle(rows)
    return rows
