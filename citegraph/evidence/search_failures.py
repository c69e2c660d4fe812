"""What of a run's searches failed, and what answered in its place."""

from typing import Any

from citegraph.corpus.index.searcher import SearchFailure
from citegraph.evidence.reranking import NOT_RERANKED
from citegraph.run.model_calls import note
from citegraph.run.pieces import StoredNote

KEYWORD_ONLY, SEMANTIC_ONLY = "keyword only", "semantic only"
"""Kinds of the notes on a search that one half of the index answered alone."""


def failure_note(failed: SearchFailure) -> StoredNote:
    """Return the note on a search that failed: what answered in its place, or that nothing did."""
    if not failed.bucket:
        return note("search", NOT_RERANKED, failed.reason)
    if failed.fallback is None:
        return note("search", "bucket failed", f"{failed.bucket}: {failed.reason}")
    if failed.fallback == "index":
        return note("search", "fallback", f"{failed.bucket} was searched by its index: {failed.reason}")
    if failed.fallback == "keyword":
        line = f"{failed.bucket} was searched by keyword only, not by meaning: {failed.reason}"
        return note("search", KEYWORD_ONLY, line)
    line = f"{failed.bucket} was searched by meaning only, not by keyword: {failed.reason}"
    return note("search", SEMANTIC_ONLY, line)


def lost_searches(state: Any) -> list[str]:
    """Return what failed in this run's searches: single buckets, or whole calls."""
    notes = state.get("notes", [])
    return [
        item["message"]
        for item in notes
        if item["step"] == "search" and item["kind"] in {"bucket failed", "failed"}
    ]
