"""The server's log: one line a request, a step and a run, with ids and numbers, never text of questions or documents."""

import logging
from typing import Any

from citegraph.run.events import StepSeen
from citegraph.settings import Settings

log = logging.getLogger("citegraph")
TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def configuration(settings: Settings) -> dict[str, Any]:
    """Return the configuration of `logging`; uvicorn's line a request is left out, since it shows the query's text."""
    from pythonjsonlogger.core import RESERVED_ATTRS

    json_form = {
        "()": "pythonjsonlogger.json.JsonFormatter",
        "reserved_attrs": [*RESERVED_ATTRS, "fields"],
        "format": TEXT,
        "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": "server.logs.TextFormatter", "format": TEXT},
            "json": json_form,
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": settings.log_format,
                "stream": "ext://sys.stderr",
            }
        },
        "loggers": {
            "uvicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "uvicorn": {"level": "INFO"},
            "citegraph": {"level": "INFO"},
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
    }


class TextFormatter(logging.Formatter):
    """Writes the fields of a line behind its message as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields: dict[str, Any] = getattr(record, "fields", {})
        return " ".join([super().format(record), *(f"{key}={value}" for key, value in fields.items())])


def write(message: str, **fields: Any) -> None:
    """Write a line; a text form shows the fields behind it, a JSON form as keys."""
    log.info(message, extra={**fields, "fields": fields})


class RunLog:
    """An `Observer` that writes a line for every step and for the end of every run."""

    def saw(self, seen: StepSeen) -> None:
        """See `Observer.saw`."""
        ids = {"run_id": seen.run_id, "thread_id": seen.thread_id}
        told: dict[str, Any] = {"step": seen.step, **ids}
        if seen.seconds is not None:
            told["seconds"] = round(seen.seconds, 4)
        if seen.candidates is not None:
            told |= {"tool": seen.tool, "candidates": seen.candidates}
        if seen.notes:
            told["notes"] = list(seen.notes)
        if seen.step != "run":
            write("step", **told, **seen.usage)
        if seen.status:
            seconds = {} if seen.run_seconds is None else {"seconds": round(seen.run_seconds, 4)}
            write("run", **ids, status=seen.status, **seconds)
