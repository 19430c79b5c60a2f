"""Limit the time that a model may think in one stream."""

from __future__ import annotations

import asyncio

from engine.llm.client.errors import thinking_timeout_error


class ThinkingTime:
    """Adds up the seconds from a first thought to the next text; at most `seconds` in all."""

    def __init__(self, model: str, seconds: float) -> None:
        self._model = model
        self._seconds = self._left = seconds
        self._since: float | None = None

    def record_thought(self) -> None:
        """Record a thought. Raises ModelTimeout once the model has thought for too long."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        if now - self._since >= self._left:
            raise thinking_timeout_error(self._model, self._seconds)

    def record_text(self) -> None:
        """Record a text: thinking has ended."""
        if self._since is not None:
            self._left -= asyncio.get_running_loop().time() - self._since
            self._since = None
