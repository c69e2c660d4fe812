"""Random steps of random people against a plain model: nobody reads, counts or changes what is not theirs.

OWNERSHIP_STEPS=10000 python -m pytest tests/server/test_ownership_steps.py takes that many steps.
"""

import asyncio
import os
import shutil
import tempfile
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from citegraph.corpus.records.access import Principal
from tests.server.owned import Api, owned_api
from tests.server.test_ownership import HOLDERS

pytestmark = pytest.mark.slow

STEPS = int(os.environ.get("OWNERSHIP_STEPS", "60"))
STEPS_A_RUN = 30
PEOPLE = [name for name in HOLDERS if name != "both"]
BUCKETS = ["invoices", "generic"]
LABELS = ["board", "staff"]
IDS = ["plan", "offer", "memo-1"]

people, buckets = st.sampled_from(PEOPLE), st.sampled_from(BUCKETS)
places = st.integers(0, 10_000)
labels = st.lists(st.sampled_from(LABELS), unique=True, max_size=2)


def principal(name: str) -> Principal:
    """Return what a key says, read from the key file's entry by this test's own code."""
    held = HOLDERS[name]
    seen = [None if held[kind] == "*" else frozenset(held[kind]) for kind in ("buckets", "labels")]
    return Principal(name, seen[0], seen[1], held.get("write", False))


@dataclass
class Kept:
    """A document as the model knows it; `mark` is a word that stands nowhere else."""

    bucket: str
    labels: frozenset[str]
    mark: str

    def seen_by(self, who: Principal) -> bool:
        in_bucket = who.buckets is None or self.bucket in who.buckets
        return in_bucket and (who.labels is None or not self.labels or bool(self.labels & who.labels))

    def changed_by(self, who: Principal) -> bool:
        whole = who.labels is None or (bool(self.labels) and self.labels <= who.labels)
        return who.may_write and whole and self.seen_by(who)


class Ownership(RuleBasedStateMachine):
    """The server beside the model."""

    @initialize()
    def begin(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="citegraph-owned-"))
        self.runner = asyncio.Runner()
        self.kept: dict[str, Kept] = {}
        self.threads: dict[str, str] = {}
        self.marks = 0
        self.opened: AbstractAsyncContextManager[Api] = owned_api(
            self.home, HOLDERS, rate_limit="100000/second"
        )
        self.api = self.runner.run(self.opened.__aenter__())

    def teardown(self) -> None:
        if hasattr(self, "opened"):
            self.runner.run(self.opened.__aexit__(None, None, None))
            self.runner.close()
            shutil.rmtree(self.home, ignore_errors=True)

    def call(self, who: str, method: str, path: str, **more: Any) -> Any:
        return self.runner.run(self.api.call(who, method, path, **more))

    def an_id(self, place: int) -> str:
        """Return an id that may be stored; by its place, since the ids themselves differ from run to run."""
        known = [*IDS, *self.kept]
        return known[place % len(known)]

    def new_text(self) -> tuple[str, str]:
        self.marks += 1
        mark = f"quokka{self.marks:04}"
        return mark, f"Memo about {mark}. The code of {mark} is {mark[::-1]}."

    def refused(self, who: Principal, bucket: str, given: list[str]) -> int:
        """Return the status that an upload is refused with, 0 when it is let in."""
        if not who.may_write:
            return 403
        if who.buckets is not None and bucket not in who.buckets:
            return 404
        return 0 if who.labels is None or (given and who.labels.issuperset(given)) else 403

    @rule(name=people, bucket=buckets, given=labels)
    def upload(self, name: str, bucket: str, given: list[str]) -> None:
        who = principal(name)
        mark, text = self.new_text()
        # Of its own name: one of the same name would be a version of the file before (tests/server/test_ownership.py).
        answer = self.runner.run(self.api.upload(name, text, bucket, given, f"{mark}.txt"))
        if refused := self.refused(who, bucket, given):
            assert answer.status_code == refused
            return
        (doc_id,) = answer.json()["documents"]
        assert doc_id not in self.kept
        self.kept[doc_id] = Kept(bucket, frozenset(given), mark)

    @rule(name=people, bucket=buckets, given=labels, place=places)
    def upload_with_an_id(self, name: str, bucket: str, given: list[str], place: int) -> None:
        who, doc_id = principal(name), self.an_id(place)
        mark, text = self.new_text()
        answer = self.runner.run(
            self.api.lines(name, [{"doc_id": doc_id, "text": text}], bucket, given, f"{mark}.jsonl")
        )
        if refused := self.refused(who, bucket, given):
            assert answer.status_code == refused
            return
        old = self.kept.get(doc_id)
        if who.sees_all and old and old.bucket != bucket:
            assert answer.status_code == 422
            return
        told = answer.json()
        (stored,) = told["documents"]
        replaces = bool(old and old.bucket == bucket and old.changed_by(who))
        assert (told["new"], told["changed"], told["skipped"]) == (not replaces, replaces, [])
        if replaces or who.sees_all:
            assert stored == doc_id
        else:
            assert stored not in self.kept
        kept = frozenset(given) or (old.labels if replaces and old else frozenset())
        self.kept[stored] = Kept(bucket, kept, mark)

    @rule(name=people, place=places)
    def delete(self, name: str, place: int) -> None:
        who, doc_id = principal(name), self.an_id(place)
        answer, old = self.call(name, "DELETE", f"/documents/{doc_id}"), self.kept.get(doc_id)
        if not who.may_write or (old and old.seen_by(who) and not old.changed_by(who)):
            assert answer.status_code == 403
        elif old is None or not old.seen_by(who):
            assert answer.status_code == 404
        else:
            assert answer.status_code == 204
            del self.kept[doc_id]

    @rule(name=people, place=places)
    def ask(self, name: str, place: int) -> None:
        who, doc_id = principal(name), self.an_id(place)
        mark = self.kept[doc_id].mark if doc_id in self.kept else "quokka0000"
        answer = self.call(name, "POST", "/ask", json={"question": f"What is the code of {mark}?"})
        assert answer.status_code == 200
        for other in self.kept.values():
            assert other.seen_by(who) or other.mark[::-1] not in answer.text
        self.threads[answer.json()["thread_id"]] = name

    @rule(name=people, place=places, method=st.sampled_from(["GET", "DELETE"]))
    def thread(self, name: str, place: int, method: str) -> None:
        if not self.threads:
            return
        thread = list(self.threads)[place % len(self.threads)]
        answer = self.call(name, method, f"/threads/{thread}")
        if self.threads[thread] != name:
            assert answer.status_code == 404
        elif method == "DELETE":
            assert answer.status_code == 204
            del self.threads[thread]
        else:
            assert answer.status_code == 200

    @rule(name=people)
    def look(self, name: str) -> None:
        """Read everything that can be read, in every way."""
        who = principal(name)
        seen = {doc_id: item for doc_id, item in self.kept.items() if item.seen_by(who)}
        counts = {item["name"]: item["documents"] for item in self.call(name, "GET", "/buckets").json()}
        for bucket in BUCKETS:
            mine = sorted(doc_id for doc_id, item in seen.items() if item.bucket == bucket)
            if who.buckets is not None and bucket not in who.buckets:
                assert bucket not in counts
                assert self.call(name, "GET", f"/documents?bucket={bucket}").status_code == 404
                continue
            listed = self.call(name, "GET", f"/documents?bucket={bucket}&limit=500").json()
            rows = self.call(name, "GET", f"/export.csv?bucket={bucket}").text
            assert sorted(item["doc_id"] for item in listed["documents"]) == mine
            assert listed["total"] == counts[bucket] == len(mine)
            assert len(rows.splitlines()) == 1 + len(mine)
        for doc_id, item in self.kept.items():
            text = self.call(name, "GET", f"/documents/{doc_id}/text")
            detail = self.call(name, "GET", f"/documents/{doc_id}")
            if doc_id in seen:
                assert item.mark in text.json()["text"]
                assert set(detail.json()["labels"]) <= (who.labels or set(LABELS))
            else:
                assert (text.status_code, detail.status_code) == (404, 404)


def test_nobody_reads_counts_or_changes_what_is_not_theirs() -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    runs = max(1, STEPS // STEPS_A_RUN)
    how = settings(
        max_examples=runs, stateful_step_count=STEPS_A_RUN, deadline=None, suppress_health_check=checks
    )
    run_state_machine_as_test(Ownership, settings=how)  # type: ignore[no-untyped-call]
