"""Keys are described, many at a time: summaries that are known are not made again, new ones share calls.

What is summarised is decided in `reducing`; every summary is memoised by its inputs.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from engine.errors import LanguageError
from engine.knowledge.summary_plan import joined, newest, reduction
from engine.llm.plugin_calls import MODEL, guarded
from engine.models import Fragments
from engine.options import Limits
from engine.scheduling.foreground import in_turns
from engine.scheduling.tasks import together

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence

    from engine.knowledge.merge import Fragment
    from engine.knowledge.summary_plan import Texts
    from engine.llm.base import Language
    from engine.scheduling.foreground import Courtesy
    from engine.usage import Bill


@dataclass(frozen=True, slots=True)
class Subject:
    """A key that is to be described: summaries of keys of one space may share a call, of different ones never."""

    space: int
    name: str
    fragments: Sequence[Fragment]


@dataclass(frozen=True, slots=True)
class Described:
    """A description, the memos it rests on, and whether every summary that it wanted was made."""

    text: str
    memos: frozenset[bytes] = frozenset()
    complete: bool = True


class Memo(Protocol):
    """Where summaries are remembered."""

    async def recall_summaries(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """The summaries made of these inputs, as far as they are known."""

    async def keep_summaries(self, made: Mapping[bytes, str]) -> None:
        """Remember summaries."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A summary that is to be made; `key` is the hash of all that it depends on."""

    key: bytes
    space: int
    fragments: Fragments


@dataclass(slots=True)
class _Work:
    """A description on its way: the summaries it waits for, and those that it has used."""

    subject: Subject
    reducing: Generator[list[Texts], Sequence[str], str]
    waiting: list[_Wanted] = field(default_factory=list)
    memos: set[bytes] = field(default_factory=set)
    described: Described | None = None


@dataclass(slots=True)
class Describer:
    """Describes keys with a language and a memo."""

    language: Language
    memo: Memo
    count: Callable[[str], int]
    limits: Limits = field(default_factory=Limits)
    courtesy: Courtesy | None = None

    async def describe(self, subjects: Sequence[Subject], bill: Bill) -> list[Described]:
        """A text of all fragments of each; where a summary fails there is a join, said to be incomplete."""
        works: list[_Work] = []
        async for subject in in_turns(subjects, self.courtesy):
            fragments = newest(subject.fragments, self.limits)
            works.append(_Work(subject, reduction(fragments, self.count, self.limits)))
            self._go_on(works[-1], None)
        while under_way := [work for work in works if work.described is None]:
            made = await self._summaries({each.key: each for work in under_way for each in work.waiting}, bill)
            async for work in in_turns(under_way, self.courtesy):
                summaries = [made[each.key] for each in work.waiting if each.key in made]
                if len(summaries) == len(work.waiting):
                    self._go_on(work, summaries)
                else:
                    text = joined(newest(work.subject.fragments, self.limits), self.count, self.limits)
                    work.described = Described(text, frozenset(work.memos), complete=False)
        return [work.described for work in works if work.described is not None]

    def _go_on(self, work: _Work, summaries: Sequence[str] | None) -> None:
        """Up to the next summaries that a description wants, or to its end."""
        try:
            inputs = next(work.reducing) if summaries is None else work.reducing.send(summaries)
        except StopIteration as end:
            work.described = Described(end.value, frozenset(work.memos))
            return
        work.waiting = [self._wanted(work.subject, texts) for texts in inputs]
        work.memos |= {each.key for each in work.waiting}

    def _wanted(self, subject: Subject, texts: Texts) -> _Wanted:
        digest = sha256()
        for part in (self.language.summary_model, str(subject.space), subject.name, *texts):
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
        return _Wanted(digest.digest(), subject.space, Fragments(subject.name, texts))

    async def _summaries(self, wanted: Mapping[bytes, _Wanted], bill: Bill) -> dict[bytes, str]:
        """Those that are known and those that could be made, by key."""
        found = await self.memo.recall_summaries(wanted.keys())
        calls = shared([each for key, each in wanted.items() if key not in found], self.limits)
        for made in await together(*(self._made(call, bill) for call in calls)):
            found |= made
        return found

    async def _made(self, call: Sequence[_Wanted], bill: Bill) -> dict[bytes, str]:
        made: dict[bytes, str] = {}
        with suppress(LanguageError):
            with guarded(MODEL):
                texts = await self.language.summarise([each.fragments for each in call], bill)
            made = {each.key: text for each, text in zip(call, texts, strict=True) if text is not None}
            await self.memo.keep_summaries(made)
        return made


def shared(wanted: Sequence[_Wanted], limits: Limits) -> Iterator[list[_Wanted]]:
    """Summaries that share a call: of one space, in order, as many as the limits allow, one at least."""
    calls: dict[int, list[_Wanted]] = {}
    held: dict[int, int] = {}
    for each in wanted:
        letters = sum(map(len, each.fragments.texts))
        call = calls.setdefault(each.space, [])
        if call and (len(call) == limits.together or held[each.space] + letters > limits.together_letters):
            yield call
            call = calls[each.space] = []
            held[each.space] = 0
        call.append(each)
        held[each.space] = held.get(each.space, 0) + letters
    yield from calls.values()
