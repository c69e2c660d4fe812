"""How well citations are verified: a seeded-corruption benchmark, WiCE and SummEdits beside simple baselines.

    python -m benches.citation_bench corruption|wice|summedits|speed [--json]

Nothing is downloaded and no model is called. Data sets are read from `CITEGRAPH_CORPORA` or
`../shared/corpora`.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benches.corruptions import FALSE_KINDS, TRUE_KINDS, Case, make_cases, read_passages
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify
from evals.claim_sets import claim_set_table, score_claim_set

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {
    **dict.fromkeys(("number", "scale", "unit", "date", "identifier", "wrong document"), 0.98),
    **dict.fromkeys(("party swap", "negation", "modality", "stitched quote"), 0.90),
}
FALSE_ALARMS = 0.05


def corpora() -> Path | None:
    """Return the folder of the archive, None when it is absent."""
    folder = Path(os.environ.get("CITEGRAPH_CORPORA", ROOT.parent / "shared" / "corpora"))
    return folder if folder.is_dir() else None


# ---------------------------------------------------------------- corruption


def judge_case(case: Case) -> tuple[bool, str, str]:
    """Return whether the verifier accepts a case, with its verdict and reason."""
    evidence = [Evidence(f"e{i}", p.doc_id, p.text) for i, p in enumerate(case.passages)]
    claims = verify(case.answer, evidence).claims
    if not claims:
        return True, "no claim", ""
    worst = next((c for c in claims if c.verdict not in ("supported", "derived")), claims[0])
    return all(c.verdict in ("supported", "derived") for c in claims), worst.verdict, worst.reason


def corruption(
    seed: int = 7, each: int = 200, folders: Sequence[Path] = (), show: str = ""
) -> dict[str, Any]:
    """Run the corruption benchmark and return rates per kind with their targets.

    Args:
        folders: where passages are read from; default: the sample corpus and the archive's documents.
        show: a kind whose failures are printed to standard error.
    """
    rng = random.Random(seed)
    cases = make_cases(read_passages(list(folders) or _default_folders(), rng), rng, each)
    kinds: dict[str, Any] = {}
    started = time.perf_counter()
    for kind in (*TRUE_KINDS, *FALSE_KINDS):
        mine = [c for c in cases if c.kind == kind]
        outcomes = [(c, *judge_case(c)) for c in mine]
        accepted = sum(o[1] for o in outcomes)
        wrong = [o for o in outcomes if o[1] != o[0].true]
        if show in (kind, "all"):
            for case, _, verdict, reason in wrong:
                print(f"[{kind}] {verdict}: {reason}\n  < {case.source}\n  > {case.answer}", file=sys.stderr)
        true = kind in TRUE_KINDS
        rate = (len(mine) - accepted) / len(mine) if mine else 0.0
        target = FALSE_ALARMS if true else TARGETS[kind]
        kinds[kind] = {
            "cases": len(mine),
            "false alarms" if true else "caught": round(rate, 4),
            "target": target,
            "met": bool(mine) and (rate <= target if true else rate >= target),
        }
    alarms = [k["false alarms"] * k["cases"] for k in kinds.values() if "false alarms" in k]
    supported = sum(kinds[k]["cases"] for k in TRUE_KINDS)
    return {
        "benchmark": "corruption",
        "seed": seed,
        "kinds": kinds,
        "met": all(k["met"] for k in kinds.values()),
        "false_alarm_rate": round(sum(alarms) / supported, 4) if supported else None,
        "milliseconds_per_answer": round((time.perf_counter() - started) * 1000 / max(1, len(cases)), 2),
    }


# ---------------------------------------------------------------- speed

MILLISECONDS = 100
_SPEED_KINDS = (("supported", TRUE_KINDS), ("corrupted", FALSE_KINDS), ("mixed", (*TRUE_KINDS, *FALSE_KINDS)))


def speed(seed: int = 7, answers: int = 15, folders: Sequence[Path] = ()) -> dict[str, Any]:
    """Time the verification of answers of 10 claims against 10 passages of 900 tokens, each passage seen once.

    What counts is the processor time of the one thread that verifies, so that a busy machine changes nothing.

    Returns:
        Median and longest milliseconds for answers of supported, of corrupted and of mixed claims; the median of
        each must stay below `MILLISECONDS`.
    """
    rng = random.Random(seed)
    passages = [p for p in read_passages(list(folders) or _default_folders(), rng) if len(p.text) > 3000]
    kinds: dict[str, Any] = {}
    for name, wanted in _SPEED_KINDS:
        took: list[float] = []
        while len(took) < answers and len(passages) >= 10:
            ten, passages = passages[:10], passages[10:]
            claims = [c.answer for c in make_cases(ten, rng, each=10) if c.kind in wanted]
            if len(claims) < 10:
                continue
            text = "\n".join(rng.sample(claims, 10))
            evidence = [Evidence(f"e{i}", p.doc_id, p.text) for i, p in enumerate(ten)]
            started = time.thread_time()
            verify(text, evidence)
            took.append((time.thread_time() - started) * 1000)
        median = round(float(np.median(took)), 1) if took else None
        kinds[name] = {
            "answers": len(took),
            "median_ms": median,
            "longest_ms": round(max(took), 1) if took else None,
            "target_ms": MILLISECONDS,
            "met": median is not None and median < MILLISECONDS,
        }
    return {"benchmark": "speed", "seed": seed, "kinds": kinds, "met": all(k["met"] for k in kinds.values())}


def _default_folders() -> list[Path]:
    folders = [ROOT / "buckets" / "sample"]
    archive = corpora()
    if archive:
        names = (
            "contracts_cuad", "contracts_kleister_nda", "datasheets_components",
            "datasheets_optical", "datasheets_sds_de",
            "generic_rustsec_advisories", "certificates_cc", "invoices_einvoice", "financebench",
        )  # fmt: skip
        folders += [archive / n for n in names if (archive / n).is_dir()]
    return folders


class DataAbsent(Exception):
    """The archive, or one of its folders, is not on this machine."""


def _need(folder: str) -> Path:
    archive = corpora()
    if archive is None or not (archive / folder).is_dir():
        raise DataAbsent(f"{folder} is absent; set CITEGRAPH_CORPORA to the archive")
    return archive / folder


def run(benchmark: str, **options: Any) -> dict[str, Any]:
    """Run one benchmark by name: corruption, wice, summedits or speed.

    Raises:
        DataAbsent: its data set is not on this machine.
    """
    if benchmark == "wice":
        return score_claim_set(_need("citation_wice"))
    if benchmark == "speed":
        return speed(options.get("seed", 7))
    if benchmark == "summedits":
        return score_claim_set(_need("faithfulness_summedits"))
    return corruption(**options)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one benchmark and print it; exit code 1 when a target is missed, 2 when its data is absent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=["corruption", "wice", "summedits", "speed"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--show", default="", help="print the failures of one kind, or all")
    args = parser.parse_args(argv)
    try:
        result = run(args.benchmark, seed=args.seed, each=args.each, show=args.show)
    except DataAbsent as absent:
        print(absent, file=sys.stderr)
        return 2
    print(json.dumps(result, indent=2) if args.json else _table(result))
    return 0 if result["met"] else 1


def _table(result: dict[str, Any]) -> str:
    if "methods" in result:
        columns, rows = claim_set_table(result)
        return "\n".join("\t".join(row) for row in [columns, *rows])
    if result["benchmark"] == "speed":
        lines = [f"{'claims':10} {'answers':>8} {'median ms':>10} {'longest':>8} {'target':>7}"]
        lines += [
            f"{n:10} {r['answers']:8} {r['median_ms']:10} {r['longest_ms']:8} {r['target_ms']:7}"
            f" {'' if r['met'] else 'MISSED'}"
            for n, r in result["kinds"].items()
        ]
        return "\n".join(lines)
    lines = [f"{'kind':16} {'cases':>6} {'rate':>8} {'target':>8}"]
    for kind, row in result["kinds"].items():
        rate = row.get("caught", row.get("false alarms"))
        lines.append(
            f"{kind:16} {row['cases']:6} {rate:8.3f} {row['target']:8.2f} {'' if row['met'] else 'MISSED'}"
        )
    rest = f"{result['milliseconds_per_answer']} ms an answer"
    return "\n".join([*lines, f"false alarms on all supported claims: {result['false_alarm_rate']}; {rest}"])


if __name__ == "__main__":
    sys.exit(main())
