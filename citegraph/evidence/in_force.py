"""Which of several versions of a document is in force."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

from rapidfuzz import fuzz

from citegraph.corpus.schema.bucket import Bucket
from citegraph.evidence.candidates import Candidate
from citegraph.language import terms
from citegraph.language.word_tables import alternation

CURRENT = re.compile(rf"\b(?:{alternation('asking', 'current')})\b", re.IGNORECASE)

FORMER = re.compile(alternation("asking", "former"), re.IGNORECASE)
ORIGINAL = re.compile(rf"\b(?:{alternation('asking', 'original')})\b", re.IGNORECASE)
"""Words for a version that is no longer in force: the one before it, and the first of all."""


def in_force(
    bucket: Bucket, tied: Sequence[Candidate], question: str, today: date
) -> tuple[list[Candidate], str]:
    """Return the versions that are in force among tied documents, and a line that says why.

    A version that another one supersedes falls, unless the question asks for an earlier one; where it asks for the
    current one, the latest that has taken effect stays.
    """
    before = {
        new.doc_id: old for new in tied for old in tied if old is not new and replaces(bucket, new, old)
    }
    superseded = {old.doc_id for old in before.values()}
    kept = [item for item in tied if item.doc_id not in superseded]
    if superseded and len(kept) == 1:
        [newest] = kept
        earlier = _earlier(before, newest, question)
        if earlier is not None:
            said = (
                f"{newest.doc_id} is in force; {earlier.doc_id}, an earlier version, was asked for and used."
            )
            return [earlier], said
        return (
            kept,
            f"{newest.doc_id} replaces {', '.join(sorted(superseded))}; the version in force was used.",
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


def _earlier(before: Mapping[str, Candidate], newest: Candidate, question: str) -> Candidate | None:
    """Return the version before the newest, or the first of all, where the question asks for it."""
    asks_first = ORIGINAL.search(question) is not None
    if not asks_first and not FORMER.search(question):
        return None
    earlier, seen = before.get(newest.doc_id), {newest.doc_id}
    while asks_first and earlier and earlier.doc_id in before and earlier.doc_id not in seen:
        seen.add(earlier.doc_id)
        earlier = before[earlier.doc_id]
    return earlier


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
