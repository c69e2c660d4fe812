"""Takes a reasoning model's thoughts (<think>...</think>) out of its text, whole or streamed."""

import re

_TAGS = ("think", "thinking", "reasoning")
_BLOCK = re.compile(rf"<({'|'.join(_TAGS)})>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_CLOSE = re.compile(rf"^.*?</({'|'.join(_TAGS)})>\s*", re.DOTALL | re.IGNORECASE)
_OPENINGS = tuple(f"<{tag}>" for tag in _TAGS)


def without_reasoning(text: str) -> str:
    """Return `text` without its leading thoughts; a block that never closes leaves nothing.

    Some chat templates put the opening tag in the prompt, so a closing tag alone ends the thoughts too.
    """
    start = text.lstrip()
    if start.lower().startswith(_OPENINGS):
        block = _BLOCK.match(start)
        return start[block.end() :] if block else ""
    closed = None if _BLOCK.search(text) else _CLOSE.match(text)
    return text[closed.end() :] if closed else text


class ReasoningFilter:
    """Passes streamed text on, except a block of thoughts at its very start."""

    def __init__(self) -> None:
        self._held = ""
        self._open = True

    def add(self, piece: str) -> str:
        """Return what of the text so far may be shown now."""
        if not self._open:
            return piece
        self._held += piece
        start = self._held.lstrip().lower()
        if any(opening.startswith(start) for opening in _OPENINGS):
            return ""
        if start.startswith(_OPENINGS) and not without_reasoning(self._held):
            return ""
        return self.end()

    def end(self) -> str:
        """Return what was held back; the stream passes through from here on."""
        shown, self._held, self._open = without_reasoning(self._held), "", False
        return shown
