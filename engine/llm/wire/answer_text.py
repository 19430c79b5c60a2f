"""The text of a streamed answer without what a server or a model puts around it. Its thoughts are gone before."""

from __future__ import annotations

from engine.llm.wire.json_answer import JsonAnswerUnwrapper
from engine.llm.wire.turn_marks import TurnFilter


class AnswerText:
    """Passes an answer without marks of turns and without an object of JSON around it."""

    def __init__(self) -> None:
        self._turn = TurnFilter()
        self._json = JsonAnswerUnwrapper()

    def feed(self, delta: str) -> str:
        """Add a piece of the answer; returns the text that can be shown now."""
        return self._json.feed(self._turn.feed(delta))

    def finish(self) -> str:
        """The rest at the end of the answer."""
        return self._json.feed(self._turn.finish()) + self._json.close()
