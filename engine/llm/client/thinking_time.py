"""Limit the time that a model may think."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.llm.client.errors import thinking_timeout_error

if TYPE_CHECKING:
    from engine.clock import Clock


class ThinkingTime:
    """Adds up the seconds from a first thought to the next text; at most `seconds` in all."""

    def __init__(self, model: str, seconds: float, clock: Clock) -> None:
        self._model = model
        self._clock = clock
        self._seconds = self._left = seconds
        self._since: float | None = None

    def record_thought(self) -> None:
        """Record a thought. Raises ModelTimeout once the model has thought for too long."""
        now = self._clock.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since >= self._left:
            raise thinking_timeout_error(self._model, self._seconds)

    def record_text(self) -> None:
        """Record a text: thinking has ended."""
        if self._since is not None:
            self._left -= self._clock.monotonic() - self._since
            self._since = None
