"""Many descriptions of one key become one: joined while they are few, else summarised, and every summary is memoised.

A key is described from its newest groups, cut by content (a row whose hash is 0 modulo 8 ends one, at the latest the
24th), so that one more mention moves no other bound. What fits is one call; what does not is summarised group by group
first, and then one more mention summarises one group anew and what stands above it. A rebuild summarises nothing. What
is older than the newest groups still counts, and is still found through its chunks.
Limits as LightRAG's: 12,000 tokens a call, fewer than 8 fragments and 1,200 tokens are joined.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from engine.errors import LanguageError
from engine.fold import row_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.fold import Fragment
    from engine.language import Language
    from engine.records import Bill

SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class Limits:
    """Where joining ends and what one call takes; tokens are o200k_base."""

    call_tokens: int = 12_000
    join_tokens: int = 1_200
    join_fragments: int = 8
    modulo: int = 8
    group: int = 24
    groups: int = 24

    @property
    def fragments(self) -> int:
        """As many newest fragments as can matter to a description."""
        return self.group * self.groups


@dataclass(frozen=True, slots=True)
class Described:
    """A description, the memos it rests on, and whether every summary that it wanted was made."""

    text: str
    memos: frozenset[bytes] = frozenset()
    complete: bool = True


class Memo(Protocol):
    """Where summaries are remembered."""

    async def recall_summary(self, key: bytes) -> str | None:
        """The summary made of these inputs, if any."""

    async def keep_summary(self, key: bytes, text: str) -> None:
        """Remember a summary."""


def newest(fragments: Sequence[Fragment], limits: Limits) -> Sequence[Fragment]:
    """The newest fragments that are described: whole groups, so that one more mention moves no other group's bounds."""
    if len(fragments) <= limits.group:
        return fragments
    tail = fragments[-limits.fragments :]
    if len(tail) < len(fragments):
        cut = next((i for i, row in enumerate(tail) if row.hash % limits.modulo == 0), -1)
        tail = tail[cut + 1 :]
    sizes = [len(group) for group in grouped([row.hash for row in tail], [0] * len(tail), limits)]
    return tail[-sum(sizes[-limits.groups :]) :]


def grouped(hashes: Sequence[int], tokens: Sequence[int], limits: Limits) -> list[range]:
    """Stable groups of consecutive rows: one ends by content, at its greatest length, or when a call would be full."""
    groups, start, held = [], 0, 0
    for i, (value, size) in enumerate(zip(hashes, tokens, strict=True)):
        if i > start and held + size > limits.call_tokens:
            groups.append(range(start, i))
            start, held = i, 0
        held += size
        if value % limits.modulo == 0 or i - start + 1 == limits.group:
            groups.append(range(start, i + 1))
            start, held = i + 1, 0
    return groups + ([range(start, len(hashes))] if start < len(hashes) else [])


def needs_model(fragments: Sequence[Fragment], count: Callable[[str], int], limits: Limits) -> bool:
    """Whether joining would go beyond the limits."""
    if len(fragments) < 2 or len(fragments) >= limits.join_fragments:
        return len(fragments) >= 2
    if sum(len(row.text.encode()) for row in fragments) < limits.join_tokens:  # a token is a byte at least
        return False
    return sum(count(row.text) for row in fragments) >= limits.join_tokens


def joined(fragments: Sequence[Fragment], count: Callable[[str], int], limits: Limits) -> str:
    """The newest fragments, joined, within the limits of a join: what is shown while no summary is at hand."""
    kept: list[str] = []
    held = 0
    for row in reversed(fragments):
        held += count(row.text)
        if kept and (held >= limits.join_tokens or len(kept) == limits.join_fragments - 1):
            break
        kept.append(row.text)
    return SEPARATOR.join(reversed(kept))


@dataclass(slots=True)
class Describer:
    """Describes keys with a language and a memo."""

    language: Language
    memo: Memo
    count: Callable[[str], int]
    limits: Limits = field(default_factory=Limits)

    async def describe(self, name: str, fragments: Sequence[Fragment], bill: Bill) -> Described:
        """One text of all fragments of a key; a failed summary becomes a join, and is said to be incomplete."""
        fragments = newest(fragments, self.limits)
        if not needs_model(fragments, self.count, self.limits):
            return Described(SEPARATOR.join(row.text for row in fragments))
        work = _Work(self, name, bill)
        try:
            text = await work.reduce([row.text for row in fragments], [row.hash for row in fragments])
        except LanguageError:
            return Described(joined(fragments, self.count, self.limits), frozenset(work.memos), complete=False)
        return Described(text, frozenset(work.memos))


def _told(outcome: str | BaseException) -> str:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


@dataclass(slots=True)
class _Work:
    """The summaries of one key."""

    by: Describer
    name: str
    bill: Bill
    memos: set[bytes] = field(default_factory=set)

    async def reduce(self, texts: Sequence[str], hashes: Sequence[int]) -> str:
        limits = self.by.limits
        tokens = [self.by.count(text) for text in texts]
        if len(texts) == 1 or (len(texts) < limits.join_fragments and sum(tokens) < limits.join_tokens):
            return SEPARATOR.join(texts)
        if len(texts) <= 2 or sum(tokens) <= limits.call_tokens:
            return await self.summarise(texts)
        groups = grouped(hashes, tokens, limits)
        if len(groups) == len(texts):  # nothing would shrink: two at a time
            groups = [range(i, min(i + 2, len(texts))) for i in range(0, len(texts), 2)]
        calls = (self.summarise([texts[i] for i in group]) for group in groups)
        made = [_told(outcome) for outcome in await asyncio.gather(*calls, return_exceptions=True)]
        made = self.fitting(made)
        return await self.reduce(made, [row_hash(text) for text in made])

    def fitting(self, texts: list[str]) -> list[str]:
        """The newest summaries that one call takes, two at least: groups of groups would move with the oldest one."""
        limits, held, kept = self.by.limits, 0, 0
        for text in reversed(texts[-limits.group :]):
            held += self.by.count(text)
            if kept >= 2 and held > limits.call_tokens:
                break
            kept += 1
        return texts[len(texts) - kept :]

    async def summarise(self, texts: Sequence[str]) -> str:
        if len(texts) == 1:
            return texts[0]
        key = self.key(texts)
        self.memos.add(key)
        known = await self.by.memo.recall_summary(key)
        if known is not None:
            return known
        text = await self.by.language.summarise(self.name, texts, self.bill)
        await self.by.memo.keep_summary(key, text)
        return text

    def key(self, texts: Sequence[str]) -> bytes:
        digest = sha256()
        for part in (self.by.language.name, self.name, *texts):
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.digest()
