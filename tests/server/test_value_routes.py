"""The values of documents over HTTP: seen with their places, reviewed, corrected; versions; examples; who asks."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.conftest import OpenApi
from tests.server.test_app import problem_of
from tests.server.test_auth import bearer, new_key

NOTE = b"# Delivery of the crates\n\nAuthor: Ada Elm\n\nThe crates came on 3 May 2024.\n"


async def uploaded(
    api: httpx.AsyncClient, text: bytes, headers: Any = None, name: str = "note.md", **form: Any
) -> str:
    file = {"file": (name, text, "text/markdown")}
    stored = await api.post("/documents", data={"bucket": "generic", **form}, files=file, headers=headers)
    assert stored.status_code == 201, stored.text
    (doc_id,) = stored.json()["documents"]
    return str(doc_id)


@pytest.fixture
async def own(tmp_path: Path, open_api: OpenApi) -> Any:
    """Give a client of a server with a corpus of its own, which may be written to."""
    from citegraph.run.services import Services
    from citegraph.settings import load_settings

    home = tmp_path / "own"
    services = Services(load_settings().model_copy(update={"home": home, "ingest_workers": 0}))
    async with open_api(services=services, home=home, ingest_workers=0) as api:
        yield api
    await services.close()


async def test_a_value_is_seen_with_its_place_corrected_and_taken_back(own: httpx.AsyncClient) -> None:
    doc_id = await uploaded(own, NOTE)
    path = f"/documents/{doc_id}"

    async def title() -> dict[str, Any]:
        values = (await own.get(f"{path}/values")).json()
        return next(item for item in values if item["field"] == "title")

    found = await title()
    assert (found["shown"], found["status"]) == ("Delivery of the crates", "stored")
    assert NOTE.decode()[found["start"] : found["end"]] == "Delivery of the crates"
    assert "Delivery of the crates" in found["quote"]
    given = {"field": "title", "action": "set", "value": "Crates of May", "note": "shorter"}
    corrected = (await own.post(f"{path}/corrections", json=given)).json()
    made = next(item for item in corrected if item["method"] == "corrected")
    assert (made["shown"], made["instead_of"], made["by"], made["note"]) == (
        "Crates of May",
        "Delivery of the crates",
        "owner",
        "shorter",
    )
    listed = (await own.get("/documents", params={"bucket": "generic"})).json()
    assert listed["documents"][0]["metadata"]["title"] == "Crates of May"
    await own.post(f"{path}/corrections", json={"field": "title", "action": "undo"})
    assert (await title())["shown"] == "Delivery of the crates"
    wrong = await own.post(f"{path}/corrections", json=given | {"field": "nope"})
    assert problem_of(wrong)[0] == 422
    wrong = await own.post(
        f"{path}/corrections", json={"field": "published_date", "action": "set", "value": "some day"}
    )
    status, detail = problem_of(wrong)
    assert (status, "a day such as" in detail) == (422, True)


async def test_documents_are_searched_and_ordered(api: httpx.AsyncClient) -> None:
    async def listed(**more: str) -> tuple[list[str], int]:
        found = (await api.get("/documents", params={"bucket": "invoices", **more})).json()
        return [item["doc_id"] for item in found["documents"]], found["total"]

    ids, total = await listed(q="COBALT", order="-invoice_date")
    assert (ids[0], ids[-1], total) == ("cobaltine-cbc-11618", "cobaltine-cbc-10231", 5)
    ids, total = await listed(q="cobalt", filter="invoice_date<2024-05-01", limit="1", order="invoice_date")
    assert (ids, total) == (["cobaltine-cbc-10231"], 2)
    assert await listed(q="100%") == ([], 0)
    wrong = await api.get("/documents", params={"bucket": "invoices", "order": "nope"})
    assert problem_of(wrong)[0] == 422


async def test_review_corrections_and_versions_keep_to_what_one_may_see(
    own: httpx.AsyncClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from citegraph.settings import load_settings
    from server.app import create_app

    keys = tmp_path / "keys.json"
    staff, board = (
        bearer(new_key(keys, capsys, name, buckets=["*"], labels=[name], write=name == "staff"))
        for name in ("staff", "board")
    )
    # Values of which only some that their type refused were found are for a person.
    doubtful = NOTE + b"\nPublished: the day after\nDate: soon\n"
    services = own.app.state.services  # type: ignore[attr-defined]
    settings = services.settings.model_copy(update={"api_keys": keys})
    from dataclasses import replace

    app = create_app(replace(services, settings=settings))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as api,
    ):
        doc_id = await uploaded(api, doubtful, staff, labels=["staff"])
        path = f"/documents/{doc_id}"
        seen = (await api.get("/review", params={"bucket": "generic", "below": 1}, headers=staff)).json()
        hidden = (await api.get("/review", params={"bucket": "generic", "below": 1}, headers=board)).json()
        assert {item["doc_id"] for item in seen["items"]} == {doc_id}
        assert (hidden["items"], hidden["total"]) == ([], 0)
        correction = {"field": "title", "action": "accept"}
        assert (await api.get(f"{path}/values", headers=board)).status_code == 404
        assert (await api.get(f"{path}/versions", headers=board)).status_code == 404
        assert (await api.get(f"{path}/versions", headers=staff)).json() == {"older": [], "newer": []}
        assert (await api.post(f"{path}/corrections", json=correction, headers=board)).status_code == 403
        assert (await api.get(f"{path}/passages", headers=board)).status_code == 404
        (passage,) = (await api.get(f"{path}/passages", headers=staff)).json()["passages"]
        out = {"passage": passage["id"], "left_out": True}
        assert (await api.post(f"{path}/passages", json=out, headers=board)).status_code == 403
        assert (await api.post(f"{path}/passages", json=out, headers=staff)).status_code == 204
        (passage,) = (await api.get(f"{path}/passages", headers=staff)).json()["passages"]
        assert (passage["left_out"], passage["by"]) == (True, "staff")
        accepted = await api.post(f"{path}/corrections", json=correction, headers=staff)
        assert [item["by"] for item in accepted.json() if item["method"] == "corrected"] == ["staff"]
    assert load_settings().api_keys is None


async def test_a_new_version_names_what_it_replaces(own: httpx.AsyncClient) -> None:
    text = " ".join(f"Clause {number} binds the lessee to the terms of the lease." for number in range(60))
    first, second = (
        f"# Lease terms, Rev. {mark}\n\nDate: {year}-01-05\n\n{text}{more}\n".encode()
        for mark, year, more in (("A", 2023, ""), ("B", 2024, " New rent."))
    )
    # A file of the same name would be the same document, changed.
    old = await uploaded(own, first, name="lease-a.md")
    new = await uploaded(own, second, name="lease-b.md")
    newer = (await own.get(f"/documents/{old}/versions")).json()
    older = (await own.get(f"/documents/{new}/versions")).json()
    assert [item["doc_id"] for item in newer["newer"]] == [new]
    assert [item["doc_id"] for item in older["older"]] == [old]


async def test_examples_are_answered_by_the_documents(api: httpx.AsyncClient) -> None:
    examples = (await api.get("/examples")).json()
    assert {item["kind"] for item in examples} == {"value", "sum", "list", "groups"}
    for item in examples:
        answer = (await api.post("/ask", json={"question": item["question"]})).json()
        assert answer["status"] == "answered", (item, answer["text"])
        assert answer["buckets"][:1] == [item["bucket"]], item


async def test_a_client_learns_who_it_is_and_what_it_may(
    open_api: OpenApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_api() as api:
        told = (await api.get("/about")).json()
        assert (told["name"], told["may_write"], told["key_asked"], told["labels"]) == (
            "owner",
            True,
            False,
            None,
        )
        assert told["models"]["configured"] is False
    keys = tmp_path / "keys.json"
    reader = bearer(new_key(keys, capsys, "bo", buckets=["invoices"], labels=["staff"]))
    models = {"model": "large", "step_models": {"compose": {"model": "small"}}}
    async with open_api(
        api_keys=keys, **models, endpoints={"fast": {"base_url": "http://x", "api_key": "secret"}}
    ) as api:
        assert problem_of(await api.get("/about"))[0] == 401
        told = await api.get("/about", headers=reader)
        assert (told.json()["name"], told.json()["may_write"], told.json()["labels"]) == (
            "bo",
            False,
            ["staff"],
        )
        assert told.json()["models"] | {"steps": []} == {
            "configured": True,
            "default": "large",
            "steps": [],
            "chosen": {"compose": "small"},
            "names": ["large", "small"],
            "endpoints": ["fast"],
        }
        assert "secret" not in told.text
        assert {item["bucket"] for item in (await api.get("/examples", headers=reader)).json()} == {
            "invoices"
        }


async def test_a_passage_is_left_out_of_search_stays_out_and_comes_back(own: httpx.AsyncClient) -> None:
    clauses = [
        f"# {name}\n\n"
        + "\n".join(f"Rule {number} of {name}: {word} number {number} holds." for number in range(300))
        for name, word in (("Berths", "mooring"), ("Cranes", "lifting"))
    ]
    text = "\n".join(clauses).encode()
    doc_id = await uploaded(own, text, name="pier.md")
    path = f"/documents/{doc_id}/passages"
    listed = (await own.get(path)).json()
    assert listed["total"] == len(listed["passages"]) >= 2
    for item in listed["passages"]:
        assert text.decode()[item["start"] : item["end"]].startswith(item["text"])
        assert (item["page"], item["left_out"]) == (None, False)
    assert (listed["passages"][0]["heading"], listed["passages"][-1]["heading"]) == ("# Berths", "# Cranes")
    part = (await own.get(path, params={"offset": 1, "limit": 1})).json()
    assert (part["passages"], part["total"]) == (listed["passages"][1:2], listed["total"])

    async def cited() -> set[int]:
        answer = (
            await own.post("/ask", json={"question": "What is lifting number 250 of the cranes?"})
        ).json()
        return {item["start"] for item in answer["citations"]}

    def holding(start: int) -> list[dict[str, Any]]:
        return [item for item in listed["passages"] if item["start"] <= start < item["end"]]

    before = await cited()
    assert before
    gone = [item for start in before for item in holding(start)]
    for item in gone:
        assert (await own.post(path, json={"passage": item["id"], "left_out": True})).status_code == 204
    assert not {
        start for start in await cited() if holding(start) and all(one in gone for one in holding(start))
    }
    assert await uploaded(own, text + b"\nSee the annex.\n", name="pier.md") == doc_id
    kept = {item["id"]: item for item in (await own.get(path)).json()["passages"] if item["left_out"]}
    assert kept
    assert set(kept) <= {item["id"] for item in gone}, "the same text, left out again"
    assert all(item["by"] == "owner" and item["at"] for item in kept.values())
    for passage in kept:
        await own.post(path, json={"passage": passage, "left_out": False})
    assert not [item for item in (await own.get(path)).json()["passages"] if item["left_out"]]
    assert problem_of(await own.post(path, json={"passage": "nope", "left_out": True}))[0] == 404
    await own.post(path, json={"passage": passage, "left_out": True})
    await own.delete(f"/documents/{doc_id}")
    again = await uploaded(own, text, name="pier.md")
    assert not [
        item
        for item in (await own.get(f"/documents/{again}/passages")).json()["passages"]
        if item["left_out"]
    ]
    assert problem_of(await own.get("/documents/nope/passages"))[0] == 404
