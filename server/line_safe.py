"""JSON responses that every reader of lines takes whole."""

from typing import Any

from fastapi.responses import JSONResponse

from citegraph.run.json_output import dumped


class JsonText(JSONResponse):
    """A response of JSON whose texts end no line."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return dumped(content, allow_nan=False, separators=(",", ":")).encode("utf-8")
