"""A limit on how long a model may think in one stream."""

from __future__ import annotations

import asyncio

from engine.llm.client.errors import endless_thoughts


class ThinkingTime:
    """Counts the seconds from a first thought to the next text; several such spans add up to at most `seconds`."""

    def __init__(self, model: str, seconds: float) -> None:
        self._model = model
        self._seconds = self._left = seconds
        self._since: float | None = None

    def thought(self) -> None:
        """Count a thought. Raises ModelTimeout once the model has thought for too long."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        if now - self._since >= self._left:
            raise endless_thoughts(self._model, self._seconds)

    def text(self) -> None:
        """Stop counting: the model says something."""
        if self._since is not None:
            self._left -= asyncio.get_running_loop().time() - self._since
            self._since = None
