"""Names that stand in texts alone, each in the same words: "published by the user ___ to run"."""

import re
from collections.abc import Mapping

from citegraph.corpus.filters.clause import Filters
from citegraph.language import terms
from citegraph.run.services import Corpus
from citegraph.run.state_types import Offsets

LONGEST, SHORTEST = 80, 8
"""Characters of a name at most, and of the words before it at least."""
MOST = 5_000
"""Documents whose texts are read."""
_GAP = re.compile(r"_{2,}")
_MARKS = r"[\s`'\"“”„«»‘’*_]*"
"""What stands around a name and is no part of it."""


def worded(text: str) -> re.Pattern[str] | None:
    """Return what finds the name in words with one gap for it, None for words that fit anything: too few, or none before it."""
    parts = _GAP.split(text)
    if len(parts) != 2 or len(" ".join(terms.words(parts[0]))) < SHORTEST:
        return None
    # One word may stand between two of them: "uploaded by the malicious account ___".
    before, after = (r"\s+(?:\w+\s+)?".join(map(re.escape, part.split())) for part in parts)
    edge = r"\b" if after[:1].isalnum() else ""
    last = rf"{_MARKS}{edge}{after}" if after else rf"(?={_MARKS}(?:[.,;:!?()\[\]\n]|$))"
    name = rf"(?P<name>[^\s`'\"“”„«»*][^`\"“”„«»*]{{0,{LONGEST}}}?)"
    # In quotes it ends with them, whatever follows.
    quoted = rf"\s+[`\"“„«](?P<quoted>[^`\"“”„«»]{{1,{LONGEST}}})[`\"”“»]"
    return re.compile(rf"(?<!\w){before}(?:{quoted}|{_MARKS}{name}{last})", re.IGNORECASE)


def name_at(found: re.Match[str]) -> str:
    """Return the name of a match as it is printed, on one line."""
    return " ".join((found["quoted"] or found["name"]).split())


def names_in_texts(
    corpus: Corpus, bucket: str, words: re.Pattern[str], filters: Filters
) -> tuple[dict[str, Offsets], int]:
    """Return where each matching document prints a name in these words, and how many were read; blocking."""
    ids = corpus.annotations.document_ids(bucket, filters, limit=MOST)
    spans: dict[str, Offsets] = {}
    for doc_id in ids:
        if found := words.search(corpus.documents.text(doc_id)):
            spans[doc_id] = {"start": found.start(), "end": found.end()}
    return spans, len(ids)


def grouped_by_name(
    corpus: Corpus, words: re.Pattern[str], spans: Mapping[str, Offsets]
) -> dict[str, list[str]]:
    """Return the documents of each name, the most frequent name first; other case is the same name; blocking."""
    groups: dict[str, tuple[str, list[str]]] = {}
    for doc_id, span in spans.items():
        found = words.search(corpus.documents.text(doc_id), span["start"])
        if found is not None:
            name = name_at(found)
            groups.setdefault(terms.fold(name), (name, []))[1].append(doc_id)
    return dict(sorted(groups.values(), key=lambda group: -len(group[1])))
