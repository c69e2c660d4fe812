"""The commands `bucket propose` and `bucket check`: a declaration from example documents, and whether one is valid."""

import asyncio
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citegraph.errors import BadInput
from citegraph.settings import Settings, load_settings
from cli.exits import ANSWERED
from cli.rules_or_model import By
from cli.terminal import Progress, progress, say, write

if TYPE_CHECKING:
    from citegraph.corpus.extraction.labelled.label_pairs import Example
    from citegraph.corpus.extraction.proposal import Proposal
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.llm.chat import ChatModels

SAMPLE = 200
"""Documents that a proposal is made from."""


@dataclass
class _Read:
    """What was read of a folder: the examples, the files that give none and why, and how many files there are."""

    files: int
    examples: "list[Example]" = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def run(
    folder: Path,
    *,
    name: str | None = None,
    out: Path | None = None,
    sample: int = SAMPLE,
    by: By | None = None,
    quiet: bool = False,
) -> int:
    """Print or write the proposed declaration as YAML, each field with the rate at which it was found.

    Args:
        by: who names the fields; None: the model of step `extract`, when there is one.

    Raises:
        BadInput: the folder holds nothing that can be read, `out` is there already, or no model is configured.
    """
    from citegraph.corpus.schema.bucket import load_buckets

    if out is not None and out.exists():
        raise BadInput(f"{out} is there already; name another file with --out.")
    if out is not None and not out.absolute().parent.is_dir():
        raise BadInput(f"{out}: there is no folder {out.parent}.")
    settings = load_settings()
    models = _models(settings, by)
    with progress("propose", quiet=quiet) as show:
        read = asyncio.run(_read(folder, sample, settings, show))
    if not read.examples:
        raise BadInput(
            f"{folder}: no document could be read" + (f" ({read.skipped[0]})." if read.skipped else ".")
        )
    known = [bucket for bucket in load_buckets(settings.buckets_dir).values() if not bucket.collection]
    proposal = _proposed(name or _bucket_name(folder), read.examples, known, models)
    text = declaration(proposal, _head(proposal, read))
    if out is None:
        write(text)
    else:
        out.write_text(f"{text}\n", encoding="utf-8")
        write(f"{out}: {len(proposal.bucket.fields)} fields from {proposal.documents} documents")
        say(
            f"Look it through, put it in a folder that CITEGRAPH_BUCKETS names, then `citegraph bucket check {out}`."
        )
    return ANSWERED


def _models(settings: Settings, by: By | None) -> "ChatModels | None":
    """Return the models that name the fields, None when the labels do."""
    if by == "rules":
        return None
    from citegraph.llm.chat import ChatModels

    models = ChatModels(settings)
    if models.configured("extract"):
        return models
    if by == "model":
        raise BadInput("No model is configured: set CITEGRAPH_MODEL, or use --by rules.")
    return None


def _proposed(
    name: str, examples: "Sequence[Example]", known: "Sequence[Bucket]", models: "ChatModels | None"
) -> "Proposal":
    if models is None:
        from citegraph.corpus.extraction.proposal import propose

        return propose(name, examples, known)
    from citegraph.corpus.extraction.naming import propose_named

    return asyncio.run(propose_named(name, examples, known, models))


async def _read(folder: Path, sample: int, settings: Settings, show: Progress | None) -> _Read:
    """Read a sample of a folder's files, spread over all of them, as an ingest reads them."""
    from citegraph.corpus.extraction.labelled.label_pairs import Example
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
    workers = 0 if len(chosen) < 3 else options.workers
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


def check(path: Path) -> int:
    """Say whether a declaration, or every one of a folder, can be used.

    Raises:
        BadInput: it cannot; the message begins with "file.yaml:line:".
    """
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
    return ANSWERED


def _bucket_name(folder: Path) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", folder.resolve().stem.lower()).strip("_")
    return name if re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name) else "documents"


def _head(proposal: "Proposal", read: _Read) -> list[str]:
    """Return what stands above the declaration."""
    of = f" of {read.files:,} files" if read.files > len(read.examples) else ""
    head = [f"Proposed from {proposal.documents:,} documents{of}; check names, words and types before use."]
    if proposal.like:
        head.append(
            f"They are like those of bucket {proposal.like}: its fields that they fill come first, with their rules."
        )
        head.append(f"When these are enough, ingest with --bucket {proposal.like} instead.")
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
            f"found in {rate:.0%} of {proposal.documents} documents", "name", column=40
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
