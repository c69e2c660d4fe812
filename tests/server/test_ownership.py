"""Documents belong to those who may see them: an upload neither takes, nor changes, nor tells of another's."""

import json
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.records.access import OWNER, Principal
from tests.server.owned import Api, owned_api
from tests.server.test_app import problem_of

HOLDERS: dict[str, dict[str, Any]] = {
    "board": {"buckets": "*", "labels": ["board"], "write": True},
    "staff": {"buckets": ["invoices", "contracts"], "labels": ["staff"], "write": True},
    "both": {"buckets": "*", "labels": ["board", "staff"], "write": True},
    "clerk": {"buckets": ["generic"], "labels": "*", "write": True},
    "all": {"buckets": "*", "labels": "*", "write": True},
    "reader": {"buckets": "*", "labels": "*"},
}
SECRET = {
    "doc_id": "merger-7",
    "text": "Invoice INV-77 of Halvorsen Dahl AS. Total amount: 910,000.00 EUR.",
    "metadata": {
        "vendor_name": "Halvorsen Dahl AS",
        "total_amount": "910000 EUR",
        "invoice_number": "INV-77",
    },
}


async def seen(api: Api, who: str, doc_id: str) -> dict[str, Any] | None:
    found = await api.call(who, "GET", f"/documents/{doc_id}")
    return found.json() if found.status_code == 200 else None


async def test_an_upload_that_names_a_hidden_document_takes_nothing_of_it(tmp_path: Path) -> None:
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        stored = (await api.lines("all", [SECRET], "invoices", ["board"])).json()
        assert stored["documents"] == ["merger-7"]
        before = await seen(api, "board", "merger-7")
        assert before is not None
        # Each under a name of its own: an answer holds the documents of all uploads of one file name.
        taken, absent = [
            await api.upload(
                "staff",
                json.dumps({"doc_id": named, "text": "mine now"}),
                "invoices",
                ["staff"],
                f"{named}.jsonl",
            )
            for named in ("merger-7", "merger-8")
        ]
        assert await seen(api, "board", "merger-7") == before, "its owners lost it, or it was changed"
        for named, answer in (("merger-7", taken), ("merger-8", absent)):
            (own,) = answer.json()["documents"]
            assert own.startswith(f"{named}-")
            shown = (await api.call("staff", "GET", f"/documents/{own}")).text
            assert "Halvorsen" not in shown
            assert "910" not in shown.replace(own, "ID"), "values of another document"
        told = [answer.text.replace(answer.json()["documents"][0], "ID") for answer in (taken, absent)]
        assert told[0] == told[1], "the answer tells whether a hidden document exists"


async def test_an_upload_does_not_tell_which_bucket_holds_an_id(tmp_path: Path) -> None:
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        await api.lines("all", [SECRET], "contracts")
        row = {"doc_id": "merger-7", "text": "something else"}
        answer = await api.lines("clerk", [row], "generic")
        assert answer.status_code == 201
        assert "contracts" not in answer.text
        assert answer.json()["skipped"] == []


async def test_what_one_may_change_is_replaced_in_its_place_and_keeps_its_labels(tmp_path: Path) -> None:
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        await api.lines("all", [SECRET], "invoices", ["board"])
        again = await api.lines("all", [{"doc_id": "merger-7", "text": "second version"}], "invoices")
        assert (again.json()["documents"], again.json()["changed"]) == (["merger-7"], 1)
        assert (await seen(api, "all", "merger-7") or {})["labels"] == ["board"]
        assert await seen(api, "staff", "merger-7") is None
        mine = await api.lines(
            "board", [{"doc_id": "merger-7", "text": "third version"}], "invoices", ["board"]
        )
        assert mine.json()["documents"] == ["merger-7"]


async def test_who_sees_some_labels_does_not_change_what_others_see_by_another(tmp_path: Path) -> None:
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        await api.lines("all", [SECRET], "invoices", ["board", "staff"])
        await api.lines("all", [{**SECRET, "doc_id": "open-1"}], "invoices")
        for shared in ("merger-7", "open-1"):
            assert await seen(api, "staff", shared) is not None
            assert problem_of(await api.call("staff", "DELETE", f"/documents/{shared}"))[0] == 403
            row = {"doc_id": shared, "text": "mine now"}
            *_, own = (await api.lines("staff", [row], "invoices", ["staff"])).json()["documents"]
            assert own != shared
            change = {"field": "vendor_name", "action": "set", "value": "Other AS"}
            for who in ("staff", "reader"):
                corrected = await api.call(who, "POST", f"/documents/{shared}/corrections", json=change)
                assert problem_of(corrected)[0] == 403
        corrected = await api.call("both", "POST", "/documents/merger-7/corrections", json=change)
        assert "Other AS" in corrected.text
        assert (await api.call("both", "DELETE", "/documents/merger-7")).status_code == 204
        assert problem_of(await api.call("reader", "DELETE", "/documents/open-1"))[0] == 403


async def test_a_text_that_lost_its_file_is_not_found_by_those_who_may_not_change_it(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text(SECRET["text"], "utf-8")  # type: ignore[arg-type]
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        stores = stores_of(api)
        options = IngestOptions(workers=0, labels=("board",))
        await ingest([file], whole(api).buckets["invoices"], stores=stores, options=options)
        file.unlink()
        answer = await api.upload("staff", SECRET["text"], "invoices", ["staff"])  # type: ignore[arg-type]
        assert (answer.json()["new"], answer.json()["changed"]) == (1, 0)
        assert (await seen(api, "board", "note") or {})["labels"] == ["board"]


@pytest.mark.parametrize("lost", ["pending", "index"])
async def test_an_upload_completes_what_a_kill_left_with_the_labels_that_it_had(
    tmp_path: Path, lost: str
) -> None:
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        await api.lines("all", [SECRET], "invoices", ["board"])
        stores = stores_of(api)
        if lost == "pending":
            stores.documents.mark(["merger-7"], "pending")
        else:
            await stores.index.delete_documents("invoices", ["merger-7"])
        answer = await api.upload("staff", "a note about lunch", "invoices", ["staff"])
        assert (answer.json()["new"], answer.json()["changed"]) == (1, 0), "it counts another's document"
        assert await seen(api, "staff", "merger-7") is None
        assert stores.documents.labels(["merger-7"]) == {"merger-7": ("board",)}
        records = stores.documents.all_records("invoices")
        assert {record.status for record in records.values()} == {"done"}
        hidden = {"must": [{"key": "meta._labels", "match": {"any": ["board"]}}]}
        assert await stores.index.count("invoices", hidden) == 1


async def test_corrections_go_over_only_to_those_who_may_know_them(tmp_path: Path) -> None:
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        await api.lines("all", [{**SECRET, "metadata": {}}], "invoices", ["board"])
        stores = stores_of(api)
        document = stores.documents.get("merger-7")
        assert document is not None
        correct(stores, document, "vendor_name", "Confidential Buyer Ltd")
        for who, labels in (("staff", ["staff"]), ("all", []), ("both", ["board", "staff"])):
            answer = await api.upload(who, SECRET["text"], "invoices", labels)  # type: ignore[arg-type]
            *_, own = answer.json()["documents"]
            assert "Confidential Buyer" not in (await api.call(who, "GET", f"/documents/{own}")).text, who
        answer = await api.upload("board", SECRET["text"], "invoices", ["board"])  # type: ignore[arg-type]
        *_, own = answer.json()["documents"]
        assert "Confidential Buyer" in (await api.call("board", "GET", f"/documents/{own}")).text


async def test_nobody_says_of_a_hidden_document_that_it_was_replaced(tmp_path: Path) -> None:
    contract = {
        "doc_id": "lease-1",
        "text": "Lease 1. The rent is 900 EUR.",
        "metadata": {"title": "Lease 1"},
    }
    newer = {"text": "Lease 2. The rent is 1 EUR.", "metadata": {"title": "Lease 2"}}
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        await api.lines("all", [contract], "contracts", ["board"])
        told = []
        for named in ("lease-1", "Lease 1", "lease-9"):
            row = {**newer, "doc_id": "lease-2", "metadata": {**newer["metadata"], "supersedes": named}}  # type: ignore[dict-item]
            answer = await api.lines("staff", [row], "contracts", ["staff"])
            *_, own = answer.json()["documents"]
            assert "supersedes" not in (await seen(api, "both", own) or {})["metadata"]
            told.append(answer.json()["bad_values"][0].replace(own, "ID"))
        assert told[0] == told[2]
        for named in ("lease-1", "lease-9"):
            change = {"field": "supersedes", "action": "set", "value": named}
            corrected = await api.call("staff", "POST", f"/documents/{own}/corrections", json=change)
            assert problem_of(corrected) == (403, f"{named!r} is no id of a document that you may change.")
        row = {**newer, "doc_id": "lease-3", "metadata": {"supersedes": "lease-1"}}
        answer = await api.lines("board", [row], "contracts", ["board"])
        *_, own = answer.json()["documents"]
        assert (await seen(api, "board", own) or {})["metadata"]["supersedes"] == "lease-1"


def test_the_one_rule_of_who_may_change_what() -> None:
    staff = Principal("s", frozenset({"a"}), frozenset({"x", "y"}), may_write=True)
    allowed = [
        labels for labels in ((), ("x",), ("x", "y"), ("x", "z"), ("z",)) if staff.may_change("a", labels)
    ]
    assert allowed == [("x",), ("x", "y")]
    assert not staff.may_change("b", ["x"])
    assert OWNER.may_change("b", ["z"])
    assert not Principal("r").may_change("a")


def whole(api: Api) -> Any:
    return api.client._transport.app.state.running.services.open()  # type: ignore[attr-defined]


def stores_of(api: Api) -> Stores:
    corpus = whole(api)
    return corpus.stores


def correct(stores: Stores, document: Any, field: str, value: str) -> None:
    from datetime import UTC, datetime

    from citegraph.corpus.records.extracted.corrections import Correction

    made = Correction(document.bucket, document.doc_id, field, value, datetime.now(UTC), "ana")
    stores.extractions.corrected.keep([made.made_on(document, None)])
