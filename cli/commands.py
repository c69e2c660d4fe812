"""The command line `citegraph`: declares every command; what a command needs is imported when it runs."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli.exits import report

app = typer.Typer(
    name="citegraph",
    help="Answer questions over document collections, with citations that are checked.",
    epilog="Data lives in CITEGRAPH_HOME (default .citegraph/).",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

BucketName = Annotated[str, typer.Option("--bucket", "-b", help="Name of the bucket.", show_default=False)]
BucketNames = Annotated[
    list[str] | None, typer.Option("--bucket", "-b", help="Search only this bucket; may be repeated.")
]
FilterTexts = Annotated[
    list[str] | None,
    typer.Option("--filter", "-f", help="Hard filter such as 'total_amount>=100'; may be repeated."),
]
ContextTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--context", "-c", help="Setting of the run as key=value, e.g. max_rounds=2; may be repeated."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; an error is one line on stderr, never a stack trace."""
    try:
        app(None if arguments is None else list(arguments))
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(report(error))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"citegraph {version('citegraph')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def ingest(  # noqa: PLR0913, PLR0917
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", show_default=False)],
    bucket: BucketName,
    annotations: Annotated[
        list[Path] | None,
        typer.Option(
            "--annotations", "-a", help="CSV or JSONL with metadata by document id or file; may be repeated."
        ),
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove documents whose source is gone.")] = False,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            "-l",
            help="Only who may see this label sees the documents; may be repeated; '' takes labels away.",
        ),
    ] = None,
    extract: Annotated[
        str,
        typer.Option(
            "--extract", help="Extract values: auto (documents without annotations), always or never."
        ),
    ] = "auto",
    reread: Annotated[
        bool, typer.Option("--reread", help="Read files again that have not changed since they were read.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and compare; write nothing but the report.")
    ] = False,
    report: Annotated[Path | None, typer.Option("--report", help="Write the whole report as JSON.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 when anything was left out.")] = False,
    engine: Annotated[str, typer.Option("--engine", help="Where files are read: local or ray.")] = "local",
    ray_address: Annotated[
        str | None,
        typer.Option("--ray-address", help="A Ray cluster; without, Ray is started here."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Bring documents into a bucket; safe to repeat, to kill and to resume.

    Exits with 0 done, 4 something was left out (--strict), 5 nothing could be read, 130 interrupted.
    """
    from cli.ingest import Request, extract_mode, ray_at, run

    request = Request(
        paths,
        bucket,
        annotations or [],
        prune,
        labels,
        extract=extract_mode(extract),
        reread=reread,
        dry_run=dry_run,
        report=report,
        strict=strict,
        ray=ray_at(engine, ray_address),
    )
    raise typer.Exit(run(request, as_json=as_json, quiet=quiet))


@app.command()
def ask(  # noqa: PLR0913, PLR0917
    question: Annotated[
        str | None, typer.Argument(help="The question; - reads it from stdin.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    thread: Annotated[str | None, typer.Option("--thread", "-t", help="Go on in this thread.")] = None,
    reply: Annotated[
        str | None,
        typer.Option("--reply", "-r", help="Reply to the thread's clarification (text or option)."),
    ] = None,
    new: Annotated[
        bool,
        typer.Option("--new", help="Take the text as a new question, though the thread waits for a reply."),
    ] = False,
    bucket: BucketNames = None,
    filters: FilterTexts = None,
    context: ContextTexts = None,
    quiet: Quiet = False,
) -> None:
    """Answer a question.

    Exits with 0 answered, 3 needs clarification, 4 unanswerable or partial, 5 failed.
    """
    from cli.ask import Request, run
    from cli.options import make_context

    settings = make_context(context or [], buckets=bucket or [], filters=filters or [])
    raise typer.Exit(run(Request(question, thread, reply, new), settings, as_json=as_json, quiet=quiet))


@app.command()
def buckets(
    name: Annotated[
        str | None, typer.Argument(help="Show everything about this bucket.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the buckets, or document one of them."""
    from cli.buckets import run

    raise typer.Exit(run(name, as_json=as_json))


@app.command("eval")
def evaluate(  # noqa: PLR0913, PLR0917
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Question files, folders of them, retrieval sets, judged claims.", show_default=False
        ),
    ],
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Keep each answer in this JSONL file.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Only the first questions.")
    ] = None,
    misses: Annotated[bool, typer.Option("--misses", help="List what went wrong, by question.")] = False,
    mode: Annotated[
        str,
        typer.Option("--mode", "-m", help="graph, loop or single; several, as graph,loop, are compared."),
    ] = "graph",
    langsmith: Annotated[
        bool, typer.Option("--langsmith", help="Upload questions and outcomes to LangSmith as experiments.")
    ] = False,
    context: ContextTexts = None,
    quiet: Quiet = False,
) -> None:
    """Measure question sets (routing, documents, answers, behaviour), retrieval sets and judged claims."""
    from cli.evaluate import Request, read_modes, run
    from cli.options import make_context

    settings = make_context(context or [])
    request = Request(paths, out, limit, misses, read_modes(mode), langsmith)
    raise typer.Exit(run(request, settings, as_json=as_json, quiet=quiet))


@app.command()
def verify(
    answer: Annotated[Path, typer.Argument(help="Text or Markdown with [doc_id] markers; - reads stdin.")],
    evidence: Annotated[Path, typer.Option("--evidence", "-e", help="Folder of .txt, .md and .jsonl files.")],
    as_json: AsJson = False,
) -> None:
    """Hold each claim of an answer against the spans that it cites; exits with 4 when one is not backed."""
    from cli.verify import run

    raise typer.Exit(run(answer, evidence, as_json=as_json))


@app.command()
def export(
    bucket: BucketName,
    filters: FilterTexts = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write this file instead of stdout.")
    ] = None,
    excel: Annotated[
        bool, typer.Option("--excel", help="Begin with the mark by which Excel knows UTF-8.")
    ] = False,
) -> None:
    """Write the documents of a bucket that match the filters as CSV."""
    from cli.export import Request, run

    raise typer.Exit(run(Request(bucket, filters or [], out, excel)))


@app.command()
def annotate(  # noqa: PLR0913, PLR0917
    document: Annotated[
        str | None,
        typer.Argument(help="Show or correct this document: its id, file name or path.", show_default=False),
    ] = None,
    bucket: Annotated[
        str | None, typer.Option("--bucket", "-b", help="List what to review in this bucket.")
    ] = None,
    corrections: Annotated[
        list[str] | None, typer.Option("--set", help="Correct a value: field=value; may be repeated.")
    ] = None,
    absent: Annotated[
        list[str] | None, typer.Option("--absent", help="The document has no such value; may be repeated.")
    ] = None,
    accept: Annotated[
        list[str] | None, typer.Option("--accept", help="The value of this field is right; may be repeated.")
    ] = None,
    undo: Annotated[
        list[str] | None, typer.Option("--undo", help="Forget the correction of a field.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", help="Who corrects; default: the account's name.", show_default=False),
    ] = None,
    note: Annotated[
        str | None, typer.Option("--note", help="Why; kept with the correction.", show_default=False)
    ] = None,
    made: Annotated[bool, typer.Option("--corrections", help="List the corrections that were made.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="List every change that people made, also those taken back.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the list to this .csv or .jsonl file.", show_default=False),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--from", help="Make the corrections of such a file, filled in.", show_default=False),
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--field", help="List or extract again this field only; may be repeated."),
    ] = None,
    rerun: Annotated[
        str | None, typer.Option("--rerun", help="Extract again by: rules or model.", show_default=False)
    ] = None,
    below: Annotated[
        float, typer.Option("--below", min=0, max=1, help="List values of less certainty.")
    ] = 0.7,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Rows listed for review.")] = 100,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Rows left out before them.")] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what was extracted from a document, or list what to review in a bucket; correct, or extract again."""
    from cli.annotate import Request, run
    from cli.rules_or_model import rules_or_model

    request = Request(
        document=document,
        bucket=bucket,
        corrections=corrections or [],
        absent=absent or [],
        accept=accept or [],
        undo=undo or [],
        by=by,
        note=note,
        made=made,
        history=history,
        out=out,
        table=table,
        fields=fields or [],
        rerun=rules_or_model("--rerun", rerun),
        below=below,
        limit=limit,
        offset=offset,
    )
    raise typer.Exit(run(request, as_json=as_json, quiet=quiet))


bucket_app = typer.Typer(help="Make bucket declarations.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bucket_app, name="bucket")


@bucket_app.command("propose")
def propose(
    folder: Annotated[Path, typer.Argument(help="Folder of example documents.", show_default=False)],
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the bucket; default: the folder's.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write this file instead of stdout.")
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", min=1, help="Read at most this many documents, spread over the folder.")
    ] = 200,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="Who names the fields: model (default when there is one) or rules.",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Propose a bucket's declaration from example documents, with the rate at which each field was found."""
    from cli.propose import run
    from cli.rules_or_model import rules_or_model

    by_whom = rules_or_model("--by", by)
    raise typer.Exit(run(folder, name=name, out=out, sample=sample, by=by_whom, quiet=quiet))


@bucket_app.command("check")
def check_declaration(
    path: Annotated[Path, typer.Argument(help="A declaration, or a folder of them.", show_default=False)],
) -> None:
    """Say whether a declaration is valid; an error names file and line."""
    from cli.propose import check

    raise typer.Exit(check(path))


@app.command()
def demo(quiet: Quiet = False) -> None:
    """Ingest the sample corpus and ask it three questions, one of which asks back."""
    from cli.demo import run

    raise typer.Exit(run(quiet=quiet))


@app.command()
def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8000,
) -> None:
    """Serve the HTTP API; without keys (see `key`) everyone who reaches it is the owner."""
    from cli.serve import run

    raise typer.Exit(run(host, port))


@app.command()
def key(
    name: Annotated[str, typer.Argument(help="Whom the key is for; owns the threads.", show_default=False)],
    file: Annotated[Path, typer.Option("--file", help="Key file; made when it is not there.")] = Path(
        "keys.json"
    ),
    bucket: Annotated[
        list[str] | None, typer.Option("--bucket", "-b", help="Bucket to see; '*' is all; may be repeated.")
    ] = None,
    labels: Annotated[
        list[str] | None, typer.Option("--label", "-l", help="Label to see; '*' is all; may be repeated.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="May bring documents in and remove them.")] = False,
) -> None:
    """Make an API key, add its hash to the key file and print it once."""
    from cli.serve import KeyRequest, run_key

    raise typer.Exit(run_key(KeyRequest(name, file, bucket or [], labels or [], write)))


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Look at settings, stores, models and tools, and say what to mend; exits with 5 when something failed."""
    from cli.doctor import run

    raise typer.Exit(run(as_json=as_json))


@app.command()
def reembed(bucket: Annotated[str, typer.Argument(help="Name of the bucket.")], quiet: Quiet = False) -> None:
    """Build a bucket's index anew from the stored documents, e.g. after a change of the embedding model."""
    from cli.ingest import run_reembed

    raise typer.Exit(run_reembed(bucket, quiet=quiet))


@app.command()
def mirror(bucket: Annotated[str, typer.Argument(help="A bucket with a `collection`.")]) -> None:
    """Read the values of a collection of your own, however large, for lists, sums and counts over it."""
    from cli.mirroring import run

    raise typer.Exit(run(bucket))


if __name__ == "__main__":
    main()
