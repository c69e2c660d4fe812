"""A server that starts brings to its end what a kill left: writes, corrections, removals, uploads without a document."""

import asyncio
import io
import os
import shutil
import sqlite3
import time
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.ingestion.ingest_options import Stores
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.ingestion.writing import remove_documents
from citegraph.corpus.records.database import claim_file
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.records.extracted.editing import Change, Editor
from citegraph.corpus.schema.document import file_of
from citegraph.errors import Unavailable
from citegraph.run.services import Services
from graph.session import Session
from server.after_kill import CUT_OFF, delete_cut_off
from server.routes.ingesting import Earlier, _put_away
from server.threads import ThreadBook
from tests.server.owned import Api, own_settings, owned_api

pytestmark = pytest.mark.slow
HOLDERS: dict[str, dict[str, Any]] = {"all": {"buckets": "*", "labels": "*", "write": True}}
BUCKET = "generic"
MEMO = "# Memo WINCH-7\n\nDate: 2024-03-05\n\nThe locker of memo WINCH-7 has the number 83412.\n"
QUESTION = "Which number has the locker of memo WINCH-7?"


async def brought(home: Path) -> str:
    """Bring the memo in and return its id."""
    async with owned_api(home, HOLDERS) as api:
        (doc_id,) = (await api.upload("all", MEMO, BUCKET, name="memo.md")).json()["documents"]
    return str(doc_id)


async def said(api: Api) -> str:
    return str((await api.call("all", "POST", "/ask", json={"question": QUESTION})).json()["text"])


def stores_of(home: Path) -> tuple[Services, Stores]:
    services = Services(own_settings(home))
    whole = services.open()
    return services, whole.stores


async def test_a_document_whose_writing_was_killed_is_written(tmp_path: Path) -> None:
    doc_id = await brought(tmp_path / "home")
    services, stores = stores_of(tmp_path / "home")
    stores.documents.mark([doc_id], "pending")
    await stores.index.delete_documents(BUCKET, [doc_id])
    stores.annotations.delete(BUCKET, [doc_id])
    await services.close()
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        assert "83412" in await said(api)
        shown = (await api.call("all", "GET", f"/documents/{doc_id}")).json()
        assert shown["metadata"]["title"] == "Memo WINCH-7"
    assert not DocumentStore(own_settings(tmp_path / "home").sql_url).unfinished(10)


async def test_a_correction_that_was_kept_is_followed_by_its_values(tmp_path: Path) -> None:
    doc_id = await brought(tmp_path / "home")
    services, stores = stores_of(tmp_path / "home")
    whole = services.open()
    editor = Editor(
        whole.buckets[BUCKET], whole.documents, whole.annotations, whole.stores.extractions, "ana"
    )
    editor.apply([Change(doc_id, "author", "set", "Ada Quay")])
    record = stores.documents.record(doc_id)
    assert record
    assert record.status == "revising"
    await services.close()
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        query = {"bucket": BUCKET, "filter": "author=Ada Quay"}
        assert (await api.call("all", "GET", "/documents", params=query)).json()["total"] == 1
    assert not DocumentStore(own_settings(tmp_path / "home").sql_url).unfinished(10)


@pytest.mark.parametrize("replaced", [True, False])
async def test_a_next_version_is_read_once_its_file_is_there(tmp_path: Path, replaced: bool) -> None:
    doc_id = await brought(tmp_path / "home")
    services, stores = stores_of(tmp_path / "home")
    record = stores.documents.record(doc_id)
    assert record
    cut_off = tmp_path / "home" / "uploads" / "n3w00000" / "memo.md"
    cut_off.parent.mkdir()
    cut_off.write_text(MEMO.replace("83412", "55501"), "utf-8")
    if replaced:
        _put_away(cut_off, Earlier(Path(record.source_path), (doc_id,), same=False), stores)
    else:
        stores.documents.mark([doc_id], "revising")
    await services.close()
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        number = "55501" if replaced else "83412"
        assert number in await said(api)
        for part in ("text", "file"):
            assert number in (await api.call("all", "GET", f"/documents/{doc_id}/{part}")).text
    assert not DocumentStore(own_settings(tmp_path / "home").sql_url).unfinished(10)


async def test_an_upload_marks_what_it_follows_before_its_file_takes_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doc_id = await brought(tmp_path / "home")
    seen: list[Any] = []
    documents = DocumentStore(own_settings(tmp_path / "home").sql_url)

    def watched(path: Path, target: Path) -> Path:
        record = documents.record(doc_id)
        seen.append(record.status if record else None)
        return replacing(path, target)

    replacing = Path.replace
    monkeypatch.setattr(Path, "replace", watched)
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        answer = await api.upload("all", MEMO.replace("83412", "55501"), BUCKET, name="memo.md")
        assert answer.json()["documents"] == [doc_id]
    assert "revising" in seen
    assert not documents.unfinished(10)


@pytest.mark.parametrize("step", ["marked", "file", "index"])
async def test_a_removal_is_brought_to_its_end_with_the_file(tmp_path: Path, step: str) -> None:
    doc_id = await brought(tmp_path / "home")
    services, stores = stores_of(tmp_path / "home")
    record = stores.documents.record(doc_id)
    assert record
    stores.documents.mark([doc_id], "removing")
    if step != "marked":
        shutil.rmtree(Path(file_of(record.source_path)).parent)
    if step == "index":
        await stores.index.delete_documents(BUCKET, [doc_id])
    await services.close()
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        assert (await api.call("all", "GET", f"/documents/{doc_id}")).status_code == 404
        assert "83412" not in await said(api)
    assert list((tmp_path / "home" / "uploads").iterdir()) == []


async def test_a_removal_marks_first_and_deletes_the_file_before_what_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doc_id = await brought(tmp_path / "home")
    seen: list[tuple[Any, bool]] = []

    async def watched(doc_ids: Any, bucket: str, *, stores: Stores, forget: bool = False) -> None:
        record = await asyncio.to_thread(stores.documents.record, doc_ids[0])
        assert record
        seen.append((record.status, await asyncio.to_thread(Path(record.source_path).exists)))
        await remove_documents(doc_ids, bucket, stores=stores, forget=forget)

    monkeypatch.setattr("server.after_kill.remove_documents", watched)
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        assert (await api.call("all", "DELETE", f"/documents/{doc_id}")).status_code == 204
    assert seen == [("removing", False)]


async def test_files_of_uploads_that_were_cut_off_are_deleted_once_they_are_old(tmp_path: Path) -> None:
    home = tmp_path / "home"
    doc_id = await brought(home)
    for name, age in (("0ld00000", CUT_OFF + 60), ("y0ung000", 0.0)):
        (home / "uploads" / name).mkdir()
        (home / "uploads" / name / "x.md").write_text("cut off")
        os.utime(home / "uploads" / name, (time.time() - age,) * 2)
    kept = next(folder for folder in (home / "uploads").iterdir() if doc_id.endswith(folder.name))
    os.utime(kept, (0, 0))
    async with owned_api(home, HOLDERS) as api:
        assert "83412" in await said(api)
    assert {folder.name for folder in (home / "uploads").iterdir()} == {kept.name, "y0ung000"}


async def test_a_running_server_deletes_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.running.SOON", 0.05)
    monkeypatch.setattr("server.running.EVERY", 0.05)
    left = tmp_path / "home" / "uploads" / "0ld00000"
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        left.mkdir(parents=True)
        os.utime(left, (time.time() - CUT_OFF - 60,) * 2)
        async with asyncio.timeout(60):
            while left.exists():
                await api.call("all", "GET", "/buckets")


async def test_the_file_of_an_upload_that_goes_on_stays_however_old_it_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await brought(home)
    working, ended = (home / "uploads" / name for name in ("w0rk1ng0", "ended000"))
    for folder in (working, ended):
        folder.mkdir()
        os.utime(folder, (0, 0))
    claim = claim_file(working)
    assert claim is not None
    settings = own_settings(home)
    delete_cut_off(settings, DocumentStore(settings.sql_url))
    assert (working.is_dir(), ended.is_dir()) == (True, False)
    os.close(claim)
    delete_cut_off(settings, DocumentStore(settings.sql_url))
    assert not working.exists()


async def test_an_upload_claims_its_folder_until_its_documents_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims: list[int | None] = []

    async def claimed(paths: Any, *given: Any, **more: Any) -> Any:
        claims.append(await asyncio.to_thread(claim_file, paths[0].parent))
        return await ingest(paths, *given, **more)

    monkeypatch.setattr("server.routes.ingesting.ingest", claimed)
    async with owned_api(tmp_path / "home", HOLDERS) as api:
        (_,) = (await api.upload("all", MEMO, BUCKET)).json()["documents"]
    assert claims == [None]
    (folder,) = (entry for entry in (tmp_path / "home" / "uploads").iterdir() if entry.is_dir())
    claim = claim_file(folder)
    assert claim is not None
    os.close(claim)


async def test_the_file_of_several_documents_stays_until_the_last_is_removed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner/one.md", MEMO)
        archive.writestr("inner/two.md", MEMO.replace("WINCH", "QUAY"))
    async with owned_api(home, HOLDERS) as api:
        answer = (await api.upload("all", packed.getvalue(), BUCKET, name="memos.zip")).json()
    one, two = answer["documents"]
    for folder in (home / "uploads").iterdir():
        os.utime(folder, (0, 0))
    async with owned_api(home, HOLDERS) as api:
        for doc_id, left in ((one, 1), (two, 0)):
            assert len(list((home / "uploads").iterdir())) == 1
            assert (await api.call("all", "DELETE", f"/documents/{doc_id}")).status_code == 204
            assert len(list((home / "uploads").iterdir())) == left


async def test_a_thread_that_was_deleted_leaves_no_step_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"

    async def dies(_: Session, __: str) -> None:
        raise Unavailable("gone")

    # Until the server ends: what it could not finish it tries again by itself.
    with monkeypatch.context() as patch:
        async with owned_api(home, HOLDERS) as api:
            thread = (await api.call("all", "POST", "/ask", json={"question": QUESTION})).json()["thread_id"]
            patch.setattr(Session, "forget", dies)
            assert (await api.call("all", "DELETE", f"/threads/{thread}")).status_code == 503
            assert (await api.call("all", "GET", f"/threads/{thread}")).status_code == 404
    assert steps_of(home, thread)
    async with owned_api(home, HOLDERS) as api:
        assert (await api.call("all", "GET", f"/threads/{thread}")).status_code == 404
    assert not steps_of(home, thread)
    assert ThreadBook(own_settings(home).sql_url).leaving() == []


def steps_of(home: Path, thread: str) -> int:
    with closing(sqlite3.connect(home / "threads.sqlite")) as kept:
        found = kept.execute("SELECT count(*) FROM checkpoints WHERE thread_id = ?", (thread,))
        return int(found.fetchone()[0])


async def test_many_documents_are_left_to_the_command_that_left_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doc_id = await brought(tmp_path / "home")
    documents = DocumentStore(own_settings(tmp_path / "home").sql_url)
    documents.mark([doc_id], "pending")
    monkeypatch.setattr("server.after_kill.BATCH_DOCUMENTS", 0)
    await brought_nothing(tmp_path / "home")
    assert list(documents.unfinished(10)) == [BUCKET]


async def brought_nothing(home: Path) -> None:
    """Start a server and end it."""
    async with owned_api(home, HOLDERS):
        pass
