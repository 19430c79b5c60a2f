"""A model that answers with its whole prompt, so that a test sees what a question was shown; and planted secrets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from engine.llm.base import Embedder
from engine.llm.offline.model import OfflineModel
from engine.llm.prompts import render_entity, render_relation
from engine.models import Excerpt, Extraction, Prompt
from engine.usage import UsageMeter

QUESTION = "What is the password of the safe?"
SECRETS = (
    *("agate", "beryl", "coral", "diamond", "emerald", "flint", "garnet", "jasper", "kunzite", "lazuli", "malachite"),
    *("nephrite", "obsidian", "pearl", "quartz", "ruby", "sapphire", "topaz", "zircon"),
)


class Gate(asyncio.Event):
    """What follows in an answer waits for it. `reached`: all that comes before was taken."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()


Piece = str | Gate


class VerbatimLanguage(OfflineModel):
    """Answers with its context and history word for word.

    `scripts`: pieces of other answers, by words of the question; it waits for the gates among them. `questions` are
    those of every answer; `extraction_count` counts extractions.
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.scripts: dict[str, Sequence[Piece]] = {}
        self.questions: list[str] = []
        self.extraction_count = 0

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        self.extraction_count += 1
        return await super().extract(excerpt, meter)

    async def answer(self, prompt: Prompt, meter: UsageMeter) -> AsyncGenerator[str, None]:
        self.questions.append(prompt.question)
        script = next((pieces for words, pieces in self.scripts.items() if words in prompt.question), None)
        for piece in _render_prompt(prompt) if script is None else script:
            if isinstance(piece, Gate):
                piece.reached.set()
                await piece.wait()
            else:
                yield piece


def _render_prompt(prompt: Prompt) -> list[str]:
    context = prompt.context
    lines = [f"{source.title}, {source.label}: {source.text} [{source.number}]" for source in context.sources]
    lines += [*map(render_entity, context.entities), *map(render_relation, context.relations)]
    lines += [f"{turn.role} said: {turn.text}" for turn in prompt.history]
    return ["\n".join(lines)]


def find_secrets(text: str) -> str:
    """The secrets in a text."""
    return " ".join(word for word in SECRETS if word in text)
