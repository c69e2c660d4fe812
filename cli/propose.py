"""The command `bucket propose`: a declaration made from a folder of example documents."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.exits import ANSWERED
from cli.terminal import write
from llm.errors import BadInput

if TYPE_CHECKING:
    from corpus.extraction.proposal import Example, Proposal

MOST = 500
"""Documents that a proposal is made from."""


def run(folder: Path, *, name: str | None = None, out: Path | None = None) -> int:
    """Print or write the proposed declaration as YAML, each field with the rate at which it was found.

    Raises:
        BadInput: the folder holds nothing that can be read, or `out` is there already.
    """
    from corpus.extraction.proposal import propose

    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder.")
    if out is not None and out.exists():
        raise BadInput(f"{out} is there already; name another file with --out.")
    skipped: list[str] = []
    examples = list(_examples(folder, skipped))
    if not examples:
        raise BadInput(f"{folder}: no document could be read" + (f" ({skipped[0]})." if skipped else "."))
    proposal = propose(name or _bucket_name(folder), examples)
    text = declaration(proposal, skipped)
    if out is None:
        write(text)
    else:
        out.write_text(text, encoding="utf-8")
        write(f"{out}: {len(proposal.bucket.fields)} fields from {proposal.documents} documents")
    return ANSWERED


def _examples(folder: Path, skipped: list[str]) -> Iterator["Example"]:
    from corpus.extraction.proposal import Example
    from corpus.readers.protocol import Reading, ReadOptions
    from corpus.readers.registry import read_file

    count = 0
    for path in sorted(item for item in folder.rglob("*") if item.is_file() and not item.is_symlink()):
        try:
            for reading in read_file(path, ReadOptions()):
                if isinstance(reading, Reading) and reading.text.strip() and count < MOST:
                    count += 1
                    yield Example(reading.doc_id or reading.part or path.name, reading.text, reading.metadata)
        except BadInput as error:
            skipped.append(f"{path.name}: {error}")


def _bucket_name(folder: Path) -> str:
    import re

    name = re.sub(r"[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_")
    return name if re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name) else "documents"


def declaration(proposal: "Proposal", skipped: list[str]) -> str:
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
    head = [f"Proposed from {proposal.documents} documents; check names, words and types before use."]
    head += [f"Not read: {line}" for line in skipped[:10]]
    data.yaml_set_start_comment("\n".join(head))
    stream = io.StringIO()
    yaml = YAML()
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(data, stream)
    return stream.getvalue().rstrip("\n")


def _plain(value: Any) -> Any:
    """Return the declaration as plain lists and mappings, empty ones left out."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item not in (None, [], {}, ())}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
