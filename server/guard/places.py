"""The places of uploads: each is held while its request comes in and until its file is ingested or refused."""

from collections.abc import Callable


class Place:
    """One place among those that work is let in by; free when nobody holds it any more."""

    def __init__(self, freed: Callable[[], None]) -> None:
        self._freed = freed
        self._holders = 1

    def hold(self) -> None:
        """Keep the place for one more."""
        self._holders += 1

    def leave(self) -> None:
        """Give the place up for one of those who hold it."""
        self._holders -= 1
        if not self._holders:
            self._freed()
