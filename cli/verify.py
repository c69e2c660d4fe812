"""The command `verify`: the claims of a finished answer held against a folder of evidence."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from citegraph.citations.report_types import Claim, Report
from citegraph.errors import BadInput
from citegraph.run.json_output import dumped
from cli.exits import ANSWERED, NOT_ANSWERED
from cli.options import AsJson, new_app
from cli.terminal import write

BACKED = frozenset({"supported", "derived"})


app = new_app()


@app.command()
def verify(
    answer: Annotated[Path, typer.Argument(help="Text or Markdown with [doc_id] markers; - reads stdin.")],
    evidence: Annotated[Path, typer.Option("--evidence", "-e", help="Folder of .txt, .md and .jsonl files.")],
    as_json: AsJson = False,
) -> None:
    """Hold each claim of an answer against the spans that it cites; exits with 4 when one is not backed."""
    from citegraph.citations.cited_evidence import load_evidence
    from citegraph.citations.verify_answer import verify as verified

    try:
        text = (
            sys.stdin.read() if str(answer) == "-" else answer.read_text(encoding="utf-8", errors="replace")
        )
    except OSError as error:
        raise BadInput(f"{answer}: cannot be read ({error.strerror or type(error).__name__})") from error
    report = verified(text, load_evidence(evidence))
    write(dumped(asdict(report)) if as_json else report_text(report))
    backed = all(claim.verdict in BACKED for claim in report.claims)
    raise typer.Exit(ANSWERED if backed else NOT_ANSWERED)


def report_text(report: Report) -> str:
    """Return the claims, one block each, then the two measures."""
    blocks = [_claim_text(claim) for claim in report.claims]
    tail = f"citation precision {report.precision:.2f}, recall {report.recall:.2f}"
    tail += f" over {len(report.claims)} claims"
    if report.unknown_markers:
        tail += f"; markers that name no evidence: {', '.join(report.unknown_markers)}"
    return "\n".join([*blocks, tail])


def _claim_text(claim: Claim) -> str:
    lines = [f"{claim.verdict}: {' '.join(claim.text.split())}"]
    if claim.reason:
        lines.append(f"  {claim.reason}")
    if claim.quote:
        place = f"{claim.doc_id}, page {claim.page}" if claim.page is not None else claim.doc_id
        lines.append(f"  {place}: “{' '.join(claim.quote.split())[:200]}”")
    return "\n".join(lines)
