"""A model that keeps nothing to itself, so that a story sees what a question was shown; and the secrets it is shown."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.llm.offline.model import EmbeddedLanguage
from engine.llm.prompts import entity_line, relation_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from engine.llm.base import Embedder
    from engine.models import Excerpt, Prompt, Reading
    from engine.usage import Bill

QUESTION = "What is the password of the safe?"
SECRETS = ("agate", "beryl", "coral", "diamond", "emerald")

Piece = str | asyncio.Event


class Gossip(EmbeddedLanguage):
    """Tells all that it is shown, word for word; nothing that it must not be shown stays hidden.

    `scripts`: what it says instead, by words of the question; it waits for the events among the pieces. `asked` are the
    questions, `read` counts extractions.
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.scripts: dict[str, Sequence[Piece]] = {}
        self.asked: list[str] = []
        self.read = 0

    async def extract(self, excerpt: Excerpt, bill: Bill) -> Reading:
        self.read += 1
        return await super().extract(excerpt, bill)

    async def answer(self, prompt: Prompt, bill: Bill) -> AsyncGenerator[str, None]:
        self.asked.append(prompt.question)
        script = next((pieces for words, pieces in self.scripts.items() if words in prompt.question), None)
        for piece in _told(prompt) if script is None else script:
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            else:
                yield piece


def _told(prompt: Prompt) -> list[str]:
    context = prompt.context
    lines = [f"{each.title}, {each.label}: {each.text} [{each.number}]" for each in context.sources]
    lines += [*map(entity_line, context.entities), *map(relation_line, context.relations)]
    lines += [f"{turn.role} said: {turn.text}" for turn in prompt.history]
    return ["\n".join(lines)]


def told(text: str) -> str:
    """The secrets in a text."""
    return " ".join(word for word in SECRETS if word in text)
