"""Which of several versions of a document is in force."""

import re
from collections.abc import Sequence
from datetime import date

from rapidfuzz import fuzz

from corpus import terms
from corpus.buckets import Bucket
from nodes.candidates import Candidate

CURRENT = re.compile(
    r"\b(?:current(?:ly)?|in\s+force|valid|now|today|latest|newest|applies|apply|aktuell\w*|gültig\w*|derzeit\w*|geltend\w*|actuel\w*|en\s+vigueur)\b",
    re.IGNORECASE,
)


def in_force(
    bucket: Bucket, tied: Sequence[Candidate], question: str, today: date
) -> tuple[list[Candidate], str]:
    """Return the versions that are in force among tied documents, and a line that says why.

    A version that another one supersedes falls; where the question asks for the current one, the latest that has
    taken effect stays.
    """
    superseded = {old.doc_id for new in tied for old in tied if old is not new and replaces(bucket, new, old)}
    kept = [item for item in tied if item.doc_id not in superseded]
    if superseded and len(kept) == 1:
        return (
            kept,
            f"{kept[0].doc_id} replaces {', '.join(sorted(superseded))}; the version in force was used.",
        )
    name = bucket.effective_field or bucket.main_date
    dated = [
        item
        for item in kept
        if name and isinstance(item.values.get(name), date) and item.values[name] <= today
    ]
    if name and CURRENT.search(question) and len(dated) == len(kept) > 1 and alike(kept):
        latest = max(dated, key=lambda item: item.values[name])
        return [
            latest
        ], f"{latest.doc_id} is the latest of {len(kept)} versions ({latest.value(name)}) and was used."
    return kept, ""


SAME_TITLE = 80
"""Similarity (0 to 100) of two titles from which documents count as versions of one."""


def alike(documents: Sequence[Candidate]) -> bool:
    """Tell whether documents can be versions of one: their titles, numbers apart, are the same or nearly."""
    titles = [re.sub(r"[\W\d_]+", " ", item.title).casefold().strip() for item in documents]
    return all(fuzz.ratio(titles[0], title) >= SAME_TITLE for title in titles[1:])


def replaces(bucket: Bucket, new: Candidate, old: Candidate) -> bool:
    """Tell whether `new` names `old` as what it supersedes: by its id, its title or a number in its title."""
    value = new.value(bucket.supersedes_field) if bucket.supersedes_field else ""
    if not value:
        return False
    wanted = terms.bare(value)
    if wanted in {terms.bare(old.doc_id), terms.bare(old.title)}:
        return True
    # A word alone ("policy") stands in many titles, and "PO-1" in "PO-12".
    number = re.compile(rf"(?<!\d){re.escape(wanted)}(?!\d)")
    names = terms.bare(f"{old.title} {old.doc_id}")
    return any(char.isdigit() for char in wanted) and number.search(names) is not None
