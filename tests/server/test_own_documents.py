"""Documents of a collection that langchain-qdrant wrote, as the server shows them."""

from pathlib import Path

from tests.graph.own_invoices import BILLS
from tests.graph.test_own_sets import SETTINGS, holding, opened

from citegraph.run.services import Services
from citegraph.settings import Settings
from tests.server.conftest import OpenApi


async def test_a_document_is_listed_and_shown_by_its_text_and_not_changed(
    open_api: OpenApi, tmp_path: Path
) -> None:
    services = Services(
        Settings(home=tmp_path / "home", **SETTINGS), ready=opened(tmp_path / "home", holding(BILLS))
    )
    async with open_api(services=services) as api:
        (bucket,) = (await api.get("/buckets")).json()
        assert (bucket["name"], bucket["documents"]) == ("bills", 5)
        listed = (await api.get("/documents", params={"bucket": "bills", "filter": "total > 3500"})).json()
        assert [one["doc_id"] for one in listed["documents"]] == ["bills:B-1.pdf"]
        page = (await api.get("/documents/bills:B-1.pdf/pages/1")).json()
        assert page["text"].startswith("Brandt KG\nInvoice B-1")
        for path in ("file", "pages/1?format=png"):
            refused = await api.get(f"/documents/bills:B-1.pdf/{path}")
            assert (refused.status_code, refused.json()["detail"]) == (
                404,
                "The file of this document is not kept here; only its text can be shown.",
            )
        removed = await api.delete("/documents/bills:B-1.pdf")
        assert removed.status_code == 422
        assert "only reads" in removed.json()["detail"]
