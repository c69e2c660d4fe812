"""The claims of the benchmark with a judge: whole answers of right and wrong claims, their prompts, and recorded replies.

    python -m benches.claims_judge replay                          what a judge ruled on two draws of the open half
    python -m benches.claims_judge prompts FOLDER [--draw 1|2]     write one prompt a file, as the product makes it
    python -m benches.claims_judge record FOLDER [--draw 1|2]      take up the replies (FOLDER/ID.reply.json, as the prompt asks)

A draw takes answers of the open half in a seeded order, and in the place of each claim that one, or by a throw one of its
wrong versions. So a prompt holds what an answer would: right and wrong claims side by side, never two versions of one.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.claims_bench import (
    FOLDER,
    Case,
    cases_of,
    in_place,
    place_of,
    rates,
    read_answers,
    with_markers,
)
from citegraph.answer.judge_by_model import MAX_CASES, PROMPT, Rulings, material_of
from citegraph.citations.cases_for_judge import Case as Asked
from citegraph.citations.cases_for_judge import Rulings as Given
from citegraph.citations.cases_for_judge import key_of, verify_undecided
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import Judgement, verify
from citegraph.llm.prompt_assembly import Prompts

RECORDED = FOLDER / "judged.jsonl"
SEED = 17
DRAWS = {1: (0, 100), 2: (100, 30)}
"""Of each draw: how many right and wrong claims the draws before it took, and how many of each it takes."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One answer with right and wrong claims, and the cases in it, each at its place in that answer."""

    id: str
    question: str
    answer: str
    evidence: tuple[Evidence, ...]
    cases: tuple[Case, ...]

    def asked(self) -> list[Asked]:
        """Return what the product asks a judge about this answer."""
        return verify_undecided(self.answer, self.evidence, question=self.question)[1][:MAX_CASES]

    def prompt(self) -> str:
        """Return the messages that the product sends, as text."""
        material = material_of(self.asked(), self.question, self.evidence)
        made = Prompts({}, {}, ("verify",)).assemble(PROMPT, material)
        return "\n\n".join(str(message.content) for message in made.messages)


def draw(number: int, folder: Path = FOLDER) -> list[Sheet]:
    """Return the answers of a draw; the draws have none in common."""
    before, wanted = DRAWS[number]
    rows = read_answers("open", folder)
    dice = random.Random(SEED)
    dice.shuffle(rows)
    found: list[Sheet] = []
    right = wrong = 0
    for row in rows:
        sheet = _sheet(row, dice)
        if min(right, wrong) >= before:
            found.append(sheet)
        right += sum(case.right for case in sheet.cases)
        wrong += sum(not case.right for case in sheet.cases)
        if min(right, wrong) >= before + wanted:
            break
    return found


def _sheet(row: dict[str, Any], dice: random.Random) -> Sheet:
    answer, shift, after = row["answer"], 0, 0
    chosen: list[tuple[str, bool, str, int, int]] = []
    for number, claim in enumerate(row["claims"]):
        start, end = place_of(row["answer"], claim["text"], after)
        after = end
        versions = [wrong for wrong in row["wrong"] if wrong["replaces"] == number]
        kind, right, text = claim["form"], True, claim["text"]
        piece = row["answer"][start:end]
        if versions and dice.random() < 0.5:
            taken = dice.choice(versions)
            kind, right, text = taken["kind"], False, taken["text"]
            piece = with_markers(text, claim["cites"], piece)
        answer = answer[: start + shift] + piece + answer[end + shift :]
        chosen.append((kind, right, text, start + shift, start + shift + len(piece)))
        shift += len(piece) - (end - start)
    (first, *_) = cases_of(row)
    cases = tuple(
        Case(row["id"], kind, right, text, answer, start, end, first.evidence, "", row["question"])
        for kind, right, text, start, end in chosen
    )
    return Sheet(row["id"], row["question"], answer, first.evidence, cases)


# ---------------------------------------------------------------- replies


def lines_of(number: int, sheet: Sheet, reply: str) -> Iterator[dict[str, str | int]]:
    """Yield the rulings of a reply as they are kept.

    Raises:
        ValueError: the reply is not what the prompt asks for, or leaves a claim out.
    """
    rulings = {ruling.number: ruling for ruling in Rulings.model_validate_json(reply).rulings}
    for place, case in enumerate(sheet.asked(), 1):
        if place not in rulings:
            raise ValueError(f"{sheet.id}: no ruling on claim {place}")
        ruling = rulings[place]
        yield {
            "draw": number,
            "answer": sheet.id,
            "prompt": PROMPT.version,
            "case": key_of(case),
            "claim": case[0],
            "verdict": ruling.verdict,
            "reason": ruling.reason,
        }


def recorded(path: Path = RECORDED) -> dict[str, Judgement]:
    """Return the rulings that are kept, by their case; empty when there is no file."""
    if not path.is_file():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["case"]: Judgement(line["verdict"], line["reason"]) for line in lines}


def judged(number: int, given: dict[str, Judgement], show: bool = False) -> dict[str, Any]:
    """Return the rates of a draw without a judge and with the kept rulings; `unruled` cases keep the verdict of the code."""
    without: list[tuple[Case, bool]] = []
    judged_so: list[tuple[Case, bool]] = []
    unruled = 0
    for sheet in draw(number):
        asked = sheet.asked()
        unruled += sum(key_of(case) not in given for case in asked)
        rulings = Given({case: given[key_of(case)] for case in asked if key_of(case) in given})
        reports = [
            verify(sheet.answer, sheet.evidence, question=sheet.question, judge=judge)
            for judge in (None, rulings)
        ]
        for case in sheet.cases:
            plain, ruled = (
                all(c.verdict in ("supported", "derived") for c in in_place(case, report))
                for report in reports
            )
            without.append((case, plain))
            judged_so.append((case, ruled))
            if show and ruled != case.right:
                said = "; ".join(c.reason for c in in_place(case, reports[1]))
                print(f"[{case.id}] {case.kind}: {case.text}\n    {said}", file=sys.stderr)
    return {
        "draw": number,
        "right claims": sum(case.right for case, _ in without),
        "wrong versions": sum(not case.right for case, _ in without),
        "unruled": unruled,
        "without": rates(without),
        "with": rates(judged_so),
    }


def replayed(show: bool = False) -> list[dict[str, Any]]:
    """Return the rates of each draw with the kept rulings."""
    given = recorded()
    return [judged(number, given, show) for number in DRAWS]


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return the results as people read them."""
    lines = [f"{'':36} {'right refused':>14} {'wrong passed':>13} {'facts passed':>13}"]
    for result in results:
        count = f"draw {result['draw']}: {result['right claims']} right, {result['wrong versions']} wrong"
        for name in ("without", "with"):
            row = result[name]
            lines.append(
                f"{count + ', ' + name:36} {row['right refused']:14.1%} {row['wrong passed']:13.1%} {row['facts passed']:13.1%}"
            )
        if result["unruled"]:
            lines.append(
                f"  {result['unruled']} cases have no recorded ruling and keep the verdict of the code"
            )
        for title in ("refused by form", "passed by kind"):
            for kind, row in result["with"][title].items():
                if row["bad"]:
                    lines.append(f"  {title}: {kind:22} {row['bad']:3} of {row['n']:3}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Replay the recorded rulings, write the prompts of a draw, or take up the replies to them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["replay", "prompts", "record"])
    parser.add_argument("folder", type=Path, nargs="?", help="of the prompts and replies")
    parser.add_argument("--draw", type=int, choices=sorted(DRAWS), default=1)
    parser.add_argument("--show", action="store_true", help="print the cases too")
    args = parser.parse_args(argv)
    if args.action == "replay":
        print(table(replayed(show=args.show)))
        return 0
    if args.folder is None:
        parser.error(f"{args.action} needs a folder")
    sheets = draw(args.draw)
    if args.action == "prompts":
        args.folder.mkdir(parents=True, exist_ok=True)
        for sheet in sheets:
            (args.folder / f"{sheet.id}.txt").write_text(sheet.prompt(), encoding="utf-8")
        print(f"{len(sheets)} prompts in {args.folder}")
        return 0
    kept = RECORDED.read_text("utf-8").splitlines() if RECORDED.is_file() else []
    lines = [line for line in kept if json.loads(line)["draw"] != args.draw]
    for sheet in sheets:
        reply = (args.folder / f"{sheet.id}.reply.json").read_text(encoding="utf-8")
        lines += [json.dumps(line, ensure_ascii=False) for line in lines_of(args.draw, sheet, reply)]
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} rulings in {RECORDED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
