"""A language model with scripted answers and keywords, which records what it was sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import date

from engine.models import ChatTurn, LLMMessage, Prompt, SearchQuery
from engine.usage import Usage, UsageMeter
from tests.support.toy_language import ToyLanguage


class ScriptedLanguage(ToyLanguage):
    """Gives every answer in the pieces of `reply`, and raises an error among them; rewrites questions to `keywords`.

    `condense_gate` and `answer_gate` are open at first; an answer waits before every piece but the first. `prompts` are
    the messages of every answer, `histories` those of the rewrites; `finished_count` counts answers that ended in any
    way. `cut_off`: every answer ends before the model has finished it.
    """

    cut_off = False

    def __init__(self, *reply: str | Exception, keywords: SearchQuery | None = None) -> None:
        super().__init__()
        self.reply = reply
        self.keywords = keywords
        self.prompts: list[list[LLMMessage]] = []
        self.histories: list[Sequence[ChatTurn]] = []
        self.condense_gate, self.answer_gate = asyncio.Event(), asyncio.Event()
        self.condense_gate.set()
        self.answer_gate.set()
        self.finished_count = 0

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        self.histories.append(history)
        query = await super().rewrite_query(text, history, meter, today=today, asker=asker)
        await self.condense_gate.wait()
        return self.keywords or query

    async def answer(self, prompt: Prompt, meter: UsageMeter) -> AsyncGenerator[str, None]:
        self.prompts.append(self.build_answer_messages(prompt))
        self.calls["answer"] += 1
        try:
            for number, piece in enumerate(self.reply):
                if number:
                    await self.answer_gate.wait()
                if isinstance(piece, Exception):
                    raise piece
                yield piece
            meter.record(Usage("answer", self.name, input_tokens=100, output_tokens=10, cost=0.5, cut_off=self.cut_off))
        finally:
            self.finished_count += 1
