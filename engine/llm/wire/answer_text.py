"""The text of a streamed answer without what a server or a model puts around it. Its thoughts are gone before."""

from __future__ import annotations

from engine.llm.wire.echoed_prompt import EchoFilter, SentPrompt
from engine.llm.wire.json_answer import JsonAnswerUnwrapper
from engine.llm.wire.turn_marks import TurnFilter


class AnswerText:
    """Passes an answer without marks of turns, what it repeats of its prompt, and an object of JSON around it."""

    def __init__(self, prompt: SentPrompt | None = None) -> None:
        self._turn = TurnFilter()
        self._echo = EchoFilter(prompt or SentPrompt())
        self._json = JsonAnswerUnwrapper()

    @property
    def is_echo(self) -> bool:
        """Whether the reply repeated its prompt, and said nothing else."""
        return self._echo.is_echo

    def feed(self, delta: str) -> str:
        """Add a piece of the answer; returns the text that can be shown now."""
        return self._json.feed(self._echo.feed(self._turn.feed(delta)))

    def finish(self) -> str:
        """The rest at the end of the answer."""
        rest = self._echo.feed(self._turn.finish()) + self._echo.finish()
        return self._json.feed(rest) + self._json.close()
