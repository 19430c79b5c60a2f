"""Deterministic skills for the crash tests, which dawdle a little, so that steps meet in ever other ways.

The readings are awkward on purpose: ends that are only implied, one name in several spellings, the same link twice.
"""

from __future__ import annotations

import asyncio
import re
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.errors import Refused
from engine.models import Link, Mention, Reading
from tests.support.embedder import HashEmbedder
from tests.support.language import SENTENCE, ToyLanguage

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from engine.models import Excerpt, Fragments
    from engine.usage import Bill

NAME = re.compile(r"[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*")
UNREADABLE = "illegible"


class SlowReader(ToyLanguage):
    """Neighbours in a sentence are linked, there and back; the last name of a sentence is only implied."""

    async def extract(self, excerpt: Excerpt, bill: Bill) -> Reading:
        await dawdle(excerpt.text)
        if UNREADABLE in excerpt.text:
            raise Refused("This cannot be read.")
        mentions: list[Mention] = []
        links: list[Link] = []
        for sentence in SENTENCE.split(excerpt.text):
            names = NAME.findall(sentence)
            mentions += [Mention(name, "person" if name.istitle() else "shout", sentence) for name in names[:-1]]
            for a, b in pairwise(names):
                links += [Link(a, b, "meets, knows", sentence), Link(b, a, "meets, knows", sentence)]
        return Reading(tuple(mentions), tuple(links))

    async def summarise(self, wanted: Sequence[Fragments], bill: Bill) -> list[str | None]:
        await dawdle("".join(text for each in wanted for text in each.texts))
        return await super().summarise(wanted, bill)


class SlowEmbedder(HashEmbedder):
    """Takes its time; long texts come in parts."""

    def __init__(self) -> None:
        super().__init__(dim=16, max_tokens=48)

    async def embed(self, texts: Sequence[str], bill: Bill) -> np.ndarray:
        await dawdle("".join(texts))
        return await super().embed(texts, bill)


async def dawdle(text: str) -> None:
    """Up to five milliseconds, as the text has it."""
    await asyncio.sleep(sha256(text.encode()).digest()[0] / 50_000)
