"""A language whose answers and keywords are written down beforehand, and which keeps what it was sent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.usage import Usage
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import date

    from engine.models import ChatTurn, LLMMessage, Prompt, SearchQuery
    from engine.usage import UsageMeter


class ScriptedLanguage(ToyLanguage):
    """`reply` are the pieces of every answer, an error among them is raised; `keywords` what every question becomes.

    `condensing` and `answering` are gates, open at first; an answer waits before every piece but the first. `sent` are
    the messages of every answer, `heard` the histories to condense, `ended` counts the answers that came to an end of
    any kind. `cut_off`: every answer ends before the model has finished it.
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
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        self.histories.append(history)
        made = await super().rewrite_query(text, history, bill, today=today, asker=asker)
        await self.condense_gate.wait()
        return self.keywords or made

    async def answer(self, prompt: Prompt, bill: UsageMeter) -> AsyncGenerator[str, None]:
        self.prompts.append(self.build_answer_messages(prompt))
        self.calls["answer"] += 1
        try:
            for number, piece in enumerate(self.reply):
                if number:
                    await self.answer_gate.wait()
                if isinstance(piece, Exception):
                    raise piece
                yield piece
            bill.record(Usage("answer", self.name, input_tokens=100, output_tokens=10, cost=0.5, cut_off=self.cut_off))
        finally:
            self.finished_count += 1
