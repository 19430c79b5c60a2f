"""A language whose answers and keywords are written down beforehand, and which keeps what it was sent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.usage import Usage
from tests.support.language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import date

    from engine.models import Condensed, Message, Prompt, Turn
    from engine.usage import Bill


class Scripted(ToyLanguage):
    """`reply` are the pieces of every answer, an error among them is raised; `keywords` what every question becomes.

    `condensing` and `answering` are gates, open at first; an answer waits before every piece but the first. `sent` are
    the messages of every answer, `heard` the histories to condense, `ended` counts the answers that came to an end of
    any kind. `cut_off`: every answer ends before the model has finished it.
    """

    cut_off = False

    def __init__(self, *reply: str | Exception, keywords: Condensed | None = None) -> None:
        super().__init__()
        self.reply = reply
        self.keywords = keywords
        self.sent: list[list[Message]] = []
        self.heard: list[Sequence[Turn]] = []
        self.condensing, self.answering = asyncio.Event(), asyncio.Event()
        self.condensing.set()
        self.answering.set()
        self.ended = 0

    async def condense(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed:
        self.heard.append(history)
        made = await super().condense(text, history, bill, today=today, asker=asker)
        await self.condensing.wait()
        return self.keywords or made

    async def answer(self, prompt: Prompt, bill: Bill) -> AsyncGenerator[str, None]:
        self.sent.append(self.messages(prompt))
        self.calls["answer"] += 1
        try:
            for number, piece in enumerate(self.reply):
                if number:
                    await self.answering.wait()
                if isinstance(piece, Exception):
                    raise piece
                yield piece
            bill.add(Usage("answer", self.name, input_tokens=100, output_tokens=10, cost=0.5, cut_off=self.cut_off))
        finally:
            self.ended += 1
