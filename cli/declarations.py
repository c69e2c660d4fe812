"""The commands `bucket propose` and `bucket check`: a declaration from example documents, and whether one is valid."""

import asyncio
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from citegraph.errors import BadInput
from citegraph.settings import Settings, load_settings
from cli.exits import ANSWERED
from cli.options import Quiet, command, new_app
from cli.terminal import Progress, counted, progress, say, write

if TYPE_CHECKING:
    from citegraph.corpus.extraction.propose_by_model import Example, Proposal

app = new_app("Propose and check bucket declarations.")


@dataclass(frozen=True, slots=True)
class Propose:
    """Which documents to propose a bucket from."""

    folder: Annotated[Path, typer.Argument(help="Folder of example documents.", show_default=False)]
    name: Annotated[str | None, typer.Option("--name", help="Name of the bucket; default: the folder's.")] = (
        None
    )
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write this file instead of stdout.")] = None
    sample: Annotated[
        int, typer.Option("--sample", min=1, help="Read at most this many documents, spread over the folder.")
    ] = 200
    by: Annotated[Literal["model"], typer.Option("--by", help="Who names the fields.")] = "model"
    quiet: Quiet = False


@dataclass
class _Read:
    """What was read of a folder: the examples, the files that give none and why, and how many files there are."""

    files: int
    examples: "list[Example]" = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


@command(app)
def propose(request: Propose) -> int:
    """Propose a bucket's declaration from example documents, with the rate at which each field was found.

    A language model names the fields; they are held against all the documents.

    Raises:
        BadInput: the folder holds nothing that can be read, `out` is there already, or no model is configured.
    """
    from citegraph.corpus.extraction.propose_by_model import propose as proposed
    from citegraph.llm.chat import ChatModels

    out = request.out
    if out is not None and out.exists():
        raise BadInput(f"{out} is there already; name another file with --out.")
    if out is not None and not out.absolute().parent.is_dir():
        raise BadInput(f"{out}: there is no folder {out.parent}.")
    settings = load_settings()
    models = ChatModels(settings)
    if not models.configured("extract"):
        raise BadInput("A model names the fields, and none is configured: set CITEGRAPH_MODEL.")
    with progress("propose", quiet=request.quiet) as show:
        read = asyncio.run(_read(request.folder, request.sample, settings, show))
    if not read.examples:
        raise BadInput(
            f"{request.folder}: no document could be read"
            + (f" ({read.skipped[0]})." if read.skipped else ".")
        )
    proposal = asyncio.run(proposed(request.name or _bucket_name(request.folder), read.examples, models))
    text = declaration(proposal, _head(proposal, read))
    if out is None:
        write(text)
    else:
        out.write_text(f"{text}\n", encoding="utf-8")
        write(
            f"{out}: {counted(len(proposal.bucket.fields), 'field')} from {counted(proposal.documents, 'document')}"
        )
        say(
            f"Look it through, put it in a folder that CITEGRAPH_BUCKETS names, then `citegraph bucket check {out}`."
        )
    return ANSWERED


async def _read(folder: Path, sample: int, settings: Settings, show: Progress | None) -> _Read:
    """Read a sample of a folder's files, spread over all of them, as an ingest reads them."""
    from citegraph.corpus.extraction.propose_by_model import Example
    from citegraph.corpus.ingestion.ingest_options import options_from
    from citegraph.corpus.ingestion.report import IngestReport
    from citegraph.corpus.ingestion.sources import find_sources
    from citegraph.corpus.ingestion.worker import StepReader
    from citegraph.corpus.ingestion.worker_pool import open_readers
    from citegraph.corpus.readers.protocol import Reading, ReadOptions

    report = IngestReport("")
    files = [file.path for file in find_sources([folder], [], report).files]
    read = _Read(len(files), skipped=[f"{Path(item.path).name}: {item.reason}" for item in report.skipped])
    chosen = (
        [files[place * len(files) // sample] for place in range(sample)] if len(files) > sample else files
    )
    options = options_from(settings)
    workers = 1 if len(chosen) < 3 else options.workers
    async with open_readers(workers, StepReader(ReadOptions(), options.limits), options.limits) as readers:
        done = 0
        async for path, step in readers.read(chosen):
            for reading in step.readings:
                if isinstance(reading, Reading) and reading.text.strip() and len(read.examples) < sample:
                    label = reading.doc_id or reading.part or path.name
                    read.examples.append(
                        Example(
                            label
                            if label not in {item.name for item in read.examples}
                            else f"{path.parent.name}/{label}",
                            reading.text,
                            reading.metadata,
                            reading.layouts,
                            reading.embedded,
                        )
                    )
            done += step.finished
            if step.failure:
                read.skipped.append(f"{path.name}: {step.failure}")
            if show:
                show(done, len(chosen), path.name)
    return read


@app.command()
def check(
    path: Annotated[Path, typer.Argument(help="A declaration, or a folder of them.", show_default=False)],
) -> None:
    """Say whether a declaration is valid; an error names file and line."""
    from citegraph.corpus.schema.bucket import load_bucket, load_buckets

    if path.is_dir():
        buckets = list(load_buckets(path).values())
    elif path.is_file():
        buckets = [load_bucket(path)]
    else:
        raise BadInput(f"{path}: there is no such file.")
    for bucket in buckets:
        ruled = sum(bool(item.extract) for item in bucket.fields)
        write(f"{bucket.name}: {len(bucket.fields)} fields, {ruled} with rules of extraction")


def _bucket_name(folder: Path) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", folder.resolve().stem.lower()).strip("_")
    return name if re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name) else "documents"


def _head(proposal: "Proposal", read: _Read) -> list[str]:
    """Return what stands above the declaration."""
    of = f" of {read.files:,} files" if read.files > len(read.examples) else ""
    head = [
        f"Proposed from {counted(proposal.documents, 'document')}{of}; check names, words and types before use."
    ]
    head += proposal.notes
    head += [f"Not read: {line}" for line in read.skipped[:10]]
    return [*head, *([f"... and {len(read.skipped) - 10:,} more"] if read.skipped[10:] else [])]


def declaration(proposal: "Proposal", head: Sequence[str]) -> str:
    """Return the proposal as the YAML of a bucket, with a comment on how often each field was found."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    data = CommentedMap(_plain(proposal.bucket.model_dump(mode="json", exclude_defaults=True)))
    fields = CommentedSeq()
    for item in data["fields"]:
        entry = CommentedMap(item)
        rate = proposal.rates[item["name"]]
        entry.yaml_add_eol_comment(
            f"found in {rate:.0%} of {counted(proposal.documents, 'document')}", "name", column=40
        )
        fields.append(entry)
    data["fields"] = fields
    data.yaml_set_start_comment("\n".join(head))
    stream = io.StringIO()
    yaml = YAML()
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(data, stream)
    return stream.getvalue().rstrip("\n")


def _plain(value: Any) -> Any:
    """Return the declaration as plain lists and mappings, empty ones left out; a declared value may have no forms."""
    if isinstance(value, dict):
        return {
            key: {name: list(forms) for name, forms in item.items()} if key == "values" else _plain(item)
            for key, item in value.items()
            if item not in (None, [], {}, ())
        }
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
