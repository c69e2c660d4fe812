"""Watched folders: brought in when their files change, waited for while they grow, told to whom it concerns."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from citegraph.run.services import Services
from citegraph.settings import load_settings
from server import watching
from tests.server.conftest import OpenApi
from tests.server.test_auth import bearer, new_key


async def until(api: httpx.AsyncClient, **wanted: Any) -> dict[str, Any]:
    while True:
        (told,) = (await api.get("/about")).json()["watched"]
        if wanted.items() <= told.items():
            return dict(told)
        await asyncio.sleep(0.02)


async def test_a_folder_is_read_when_its_files_change(
    tmp_path: Path, open_api: OpenApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "EVERY", 0.05)
    folder, home = tmp_path / "in", tmp_path / "own"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "kiln.md").write_text("# Kiln of Orla Voss\n\nThe kiln burns at night.\n", "utf-8")
    (folder / "odd.xyz").write_bytes(b"\x00\x01")
    settings = load_settings().model_copy(
        update={"home": home, "ingest_workers": 0, "watch": {"generic": folder}}
    )
    services = Services(settings)
    try:
        async with asyncio.timeout(120), open_api(services=services) as api:
            told = await until(api, documents=1)
            assert (told["bucket"], told["folder"], told["new"], told["problem"]) == ("generic", "in", 1, "")
            assert [item.split(":")[0] for item in told["left_out"]] == ["odd.xyz"]
            (folder / "glaze.md").write_text("# Glaze of Orla Voss\n\nThe glaze is blue.\n", "utf-8")
            await until(api, documents=2, new=1)
            listed = (await api.get("/documents", params={"bucket": "generic"})).json()["documents"]
            assert {item["source_file"] for item in listed} == {"kiln.md", "glaze.md"}
            (folder / "glaze.md").unlink()
            await until(api, documents=1)
            assert (await api.get("/documents", params={"bucket": "generic"})).json()["total"] == 2
            folder.rename(tmp_path / "gone")
            await until(api, problem="The folder cannot be read: No such file or directory.")
    finally:
        await services.close()


async def test_a_file_that_grows_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brought: list[Any] = []

    async def bring(paths: Any, *given: Any, **named: Any) -> None:
        brought.append(paths)

    class Server:
        services = type(
            "Open", (), {"open": lambda self: type("Whole", (), {"buckets": {"b": 0}, "stores": 0})()}
        )()
        settings = load_settings()
        ingesting = asyncio.Lock()

    monkeypatch.setattr(watching, "ingest", bring)
    one = watching.Watched("b", tmp_path)
    file = tmp_path / "long.txt"
    for text, runs in (("a", 1), ("ab", 1), ("abc", 1), ("abc", 2), ("abc", 2)):
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
        await watching.look(Server(), one)  # type: ignore[arg-type]
        assert len(brought) == runs, text
    other = watching.Watched("none", tmp_path)
    await watching.look(Server(), other)  # type: ignore[arg-type]
    assert (other.problem, len(brought)) == ("There is no bucket 'none'.", 2)


async def test_who_may_not_change_a_bucket_hears_nothing_of_its_folder(
    tmp_path: Path, open_api: OpenApi, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = tmp_path / "keys.json"
    heard = {}
    for name, more in (
        ("ana", {}),
        ("bo", {"write": False}),
        ("cy", {"labels": ["a"]}),
        ("di", {"buckets": ["x"]}),
    ):
        given = {"buckets": ["*"], "labels": ["*"], "write": True} | more
        heard[name] = bearer(new_key(keys, capsys, name, **given))
    async with open_api(api_keys=keys, watch={"invoices": tmp_path / "absent"}) as api:
        told = {
            name: len((await api.get("/about", headers=key)).json()["watched"]) for name, key in heard.items()
        }
    assert told == {"ana": 1, "bo": 0, "cy": 0, "di": 0}


async def test_a_fault_of_one_folder_ends_no_watch(
    tmp_path: Path, open_api: OpenApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "EVERY", 0.05)
    faults = iter([ValueError("odd"), None])
    read = watching.ingest

    async def faulty(*given: Any, **more: Any) -> Any:
        if error := next(faults, None):
            raise error
        return await read(*given, **more)

    monkeypatch.setattr(watching, "ingest", faulty)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "kiln.md").write_text("# Kiln of Orla Voss\n\nThe kiln burns at night.\n", "utf-8")
    changes = {"home": tmp_path / "own", "ingest_workers": 0, "watch": {"generic": folder}}
    async with (
        asyncio.timeout(120),
        open_api(services=Services(load_settings().model_copy(update=changes))) as api,
    ):
        assert (await until(api, documents=1))["problem"] == ""
