"""A language model whose answers a test can write beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from engine.models import Prompt
from engine.usage import Usage, UsageMeter
from tests.support.echo_language import EchoLanguage


class CannedLanguage(EchoLanguage):
    """Answers with `reply`, or else with what it was shown; an error among the pieces is raised.

    `cut_off`: the model stops before its answer is complete; `filtered`: because of a filter. `answer_gate`: every
    piece but the first waits until it is open. `prompts`: what it was asked.
    """

    cut_off = False
    filtered = False

    def __init__(self, *reply: str | Exception) -> None:
        super().__init__()
        self.reply = reply
        self.answer_gate = asyncio.Event()
        self.answer_gate.set()
        self.piece_sent = asyncio.Event()
        self.prompts: list[Prompt] = []

    async def answer(self, prompt: Prompt, bill: UsageMeter) -> AsyncGenerator[str, None]:
        self.prompts.append(prompt)
        bill.record(
            Usage("answer", self.name, input_tokens=100, output_tokens=10, cut_off=self.cut_off, filtered=self.filtered)
        )
        if not self.reply:
            async for quoted in super().answer(prompt, bill):
                yield quoted
            return
        for number, piece in enumerate(self.reply):
            if number:
                await self.answer_gate.wait()
            if isinstance(piece, Exception):
                raise piece
            yield piece
            self.piece_sent.set()
