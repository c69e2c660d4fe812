"""JSON as it leaves the process, one line a value for every reader of lines."""

import json
from typing import Any

LINE_ENDS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\u0085": "\\u0085"})
"""Characters that JSON lets stand in a text, and that end a line for Python, httpx and others."""


def dumped(value: Any, **options: Any) -> str:
    """Return a value as JSON without those characters; `options` are those of `json.dumps`."""
    return json.dumps(value, ensure_ascii=False, **options).translate(LINE_ENDS)
