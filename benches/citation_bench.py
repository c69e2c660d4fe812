"""How well citations are verified: seeded corruptions of real passages. `citegraph eval` measures judged claims.

    python -m benches.citation_bench [--seed 7] [--each 200] [--json]

No model is called. Passages are read from the sample and from `CITEGRAPH_CORPORA` or `../shared/corpora`.
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

from benches.corruptions import FALSE_KINDS, TRUE_KINDS, Case, make_cases, read_passages
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print it; exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--show", default="", help="print the failures of one kind, or all")
    args = parser.parse_args(argv)
    result = corruption(seed=args.seed, each=args.each, show=args.show)
    print(json.dumps(result, indent=2) if args.json else _table(result))
    return 0 if result["met"] else 1


def _table(result: dict[str, Any]) -> str:
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
