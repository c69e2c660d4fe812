"""Routes of what a client may choose: who it is, which models answer, and questions that the documents can answer."""

import asyncio
from importlib.metadata import version
from pathlib import Path

from fastapi import APIRouter

from citegraph.llm.call_options import STEPS
from citegraph.settings import Settings
from server.problems import RESPONSES
from server.routes.browsing import reading
from server.routes.examples import examples_of
from server.routes.value_schemas import About, Example, Models, WatchedFolder
from server.running import Server, Who
from server.watching import Watched

router = APIRouter(tags=["buckets"], responses=RESPONSES)


@router.get("/about")
async def about(server: Server, who: Who) -> About:
    """Tell who asks, what they may do, and which models a question may choose."""
    from langsmith.utils import tracing_is_enabled

    settings = server.settings
    return About(
        version=version("citegraph"),
        name=who.name,
        may_write=who.may_write,
        labels=None if who.labels is None else sorted(who.labels),
        key_asked=settings.auth_required,
        max_upload_mb=settings.max_upload_mb,
        traced=bool(await asyncio.to_thread(tracing_is_enabled)),
        models=_models(settings),
        watched=[_told(one) for one in server.watched if who.labels is None and who.may_change(one.bucket)],
    )


@router.get("/examples")
async def examples(server: Server, who: Who) -> list[Example]:
    """Return questions about the documents that the one who asks may see, made from their values."""
    return await reading(server, who, examples_of)


def _told(one: Watched) -> WatchedFolder:
    report = one.report
    made = WatchedFolder(bucket=one.bucket, folder=one.folder.name, at=one.at, problem=one.problem)
    if report is not None:
        made.documents, made.new, made.changed = report.documents, report.new, report.changed
        made.left_out = [f"{Path(item.path).name}: {item.reason}" for item in report.skipped[:20]]
    return made


def _models(settings: Settings) -> Models:
    chosen = {step: str(spec["model"]) for step, spec in settings.step_models.items() if "model" in spec}
    names = {name for name in (settings.model, *chosen.values(), *settings.prices) if name and name != "*"}
    return Models(
        configured=bool(settings.model or chosen),
        default=settings.model,
        steps=list(STEPS),
        chosen=chosen,
        names=sorted(names),
        endpoints=sorted(settings.endpoints),
    )
