"""A scripted model's replies at step `verify`: a judge that finds every claim supported."""

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

CLAIM = re.compile(r"^<claim_(\d+)>$", re.MULTILINE)


def all_supported(prompt: str) -> dict[str, Any]:
    """Return the ruling that each claim of a verify prompt is supported."""
    numbers = [int(number) for number in CLAIM.findall(prompt)]
    return {"rulings": [{"number": each, "verdict": "supported", "reason": "stated"} for each in numbers]}


def judging(replies: Sequence[Any]) -> Any:
    """Return a script that gives the replies in order to every other step, and rules as `all_supported` does at `verify`.

    A step that finds no reply left fails as with a plain list.
    """
    left = iter(replies)

    def reply(step: str, messages: list[BaseMessage]) -> Any:
        if step == "verify":
            return all_supported(messages[-1].text)
        try:
            return next(left)
        except StopIteration:
            raise AssertionError(f"the script has no reply left for {step}") from None

    return reply
