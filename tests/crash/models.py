"""Deterministic skills for the crash tests, which dawdle a little, so that steps meet in ever other ways.

The readings are awkward on purpose: ends that are only implied, one name in several spellings, the same link twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise

import numpy as np

from engine.errors import ModelRefused
from engine.models import Excerpt, Extraction, Link, Mention, SummaryInput
from engine.usage import UsageMeter
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import SENTENCE, ToyLanguage

NAME = re.compile(r"[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*")
UNREADABLE = "illegible"


class SlowReader(ToyLanguage):
    """Neighbors in a sentence are linked, there and back; the last name of a sentence is only implied."""

    async def extract(self, excerpt: Excerpt, bill: UsageMeter) -> Extraction:
        await sleep_briefly(excerpt.text)
        if UNREADABLE in excerpt.text:
            raise ModelRefused("This cannot be read.")
        mentions: list[Mention] = []
        links: list[Link] = []
        for sentence in SENTENCE.split(excerpt.text):
            names = NAME.findall(sentence)
            mentions += [Mention(name, "person" if name.istitle() else "shout", sentence) for name in names[:-1]]
            for a, b in pairwise(names):
                links += [Link(a, b, "meets, knows", sentence), Link(b, a, "meets, knows", sentence)]
        return Extraction(tuple(mentions), tuple(links))

    async def summarize(self, wanted: Sequence[SummaryInput], bill: UsageMeter) -> list[str | None]:
        await sleep_briefly("".join(text for summary_input in wanted for text in summary_input.texts))
        return await super().summarize(wanted, bill)


class SlowEmbedder(HashEmbedder):
    """Takes its time; long texts come in parts."""

    def __init__(self) -> None:
        super().__init__(dim=16, max_tokens=48)

    async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        await sleep_briefly("".join(texts))
        return await super().embed(texts, bill)


async def sleep_briefly(text: str) -> None:
    """Up to five milliseconds, as the text has it."""
    await asyncio.sleep(sha256(text.encode()).digest()[0] / 50_000)
