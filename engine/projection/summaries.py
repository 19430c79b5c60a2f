"""Turn stale keys into profiles: merge the facts of each, and describe many at a time; cached summaries are reused.

`knowledge.merge` decides what is summarized; every summary is cached by the hash of its inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from engine.errors import ModelError
from engine.knowledge import merge
from engine.knowledge.merge import join_newest, select_newest, summary_steps
from engine.llm.base import MODEL_LABEL, guard_plugin_call, hash_parts
from engine.models import SummaryInput
from engine.options import SummaryLimits
from engine.scheduling.foreground import iterate_cooperatively
from engine.scheduling.supervisor import gather_or_cancel
from engine.storage.ledger.records import KeyKind, Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence

    from engine.clock import Clock
    from engine.knowledge.merge import Fragment, Texts
    from engine.llm.base import LanguageModel
    from engine.scheduling.feature_breaker import SummaryFailures
    from engine.scheduling.foreground import ForegroundPriority
    from engine.scheduling.indexing_budget import IndexingBudget
    from engine.storage.ledger import LedgerStore
    from engine.storage.ledger.records import KeyFacts, ProfileKind
    from engine.usage import UsageMeter


@dataclass(slots=True)
class ProfileBuilder:
    """Merges and describes keys; summaries are cached in the ledger."""

    ledger: LedgerStore
    language: LanguageModel
    count_tokens: Callable[[str], int]
    limits: SummaryLimits
    clock: Clock
    failures: SummaryFailures
    budget: IndexingBudget
    priority: ForegroundPriority | None = None

    async def build_entities(self, keys: Sequence[KeyFacts], meter: UsageMeter) -> list[Profile]:
        """The profiles of the names that have facts."""
        return await self._describe(
            KeyKind.NAME,
            [(key, *_fold_entity(key)) async for key in iterate_cooperatively(keys, self.priority) if key.counts],
            meter,
        )

    async def build_relations(self, keys: Sequence[KeyFacts], meter: UsageMeter) -> list[Profile]:
        """The profiles of the pairs that have facts."""
        return await self._describe(
            KeyKind.PAIR,
            [(key, *_fold_relation(key)) async for key in iterate_cooperatively(keys, self.priority) if key.counts],
            meter,
        )

    async def _describe(
        self, kind: ProfileKind, folded: Sequence[tuple[KeyFacts, Profile, SummaryRequest]], meter: UsageMeter
    ) -> list[Profile]:
        """Add the descriptions; a pinned description is used as it is."""
        summarizer = Summarizer(
            self.language,
            self.ledger.cache,
            self.count_tokens,
            self.limits,
            self.priority,
            self.budget,
        )
        descriptions = iter(
            await summarizer.summarize([subject for key, _, subject in folded if key.pinned_description is None], meter)
        )
        profiles = list[Profile]()
        for key, profile, _ in folded:
            if key.pinned_description is not None:
                self.failures.clear((kind, key.id))
                profiles.append(replace(profile, description=key.pinned_description))
                continue
            described = next(descriptions)
            retry = self._plan_retry((kind, key.id), described)
            profiles.append(
                replace(profile, description=described.text, retry_at=retry, summary_keys=described.cache_keys)
            )
        return profiles

    def _plan_retry(self, key: tuple[ProfileKind, int], described: Summary) -> float | None:
        """The time at which a failed summary is tried again, in seconds since 1970."""
        if described.is_complete:
            self.failures.clear(key)
            return None
        return self.clock.time() + self.failures.record(key, described.error)


def _fold_entity(key: KeyFacts) -> tuple[Profile, SummaryRequest]:
    assert key.counts is not None  # noqa: S101 - only keys with facts come here
    entity = merge.merge_entity(key.counts, key.chosen_name)
    profile = Profile(key.id, key.space, entity.name, "", entity.mentions, entity.type)
    return profile, SummaryRequest(key.space, entity.name, entity.fragments)


def _fold_relation(key: KeyFacts) -> tuple[Profile, SummaryRequest]:
    assert key.counts is not None  # noqa: S101 - only keys with facts come here
    relation = merge.merge_relation(key.counts)
    profile = Profile(key.id, key.space, relation.keywords, "", relation.weight, ends=key.ends)
    return profile, SummaryRequest(key.space, key.title, relation.fragments)


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A key to describe. Summaries of keys of one space may share a call; keys of different spaces never do."""

    space: int
    name: str
    fragments: Sequence[Fragment]


@dataclass(frozen=True, slots=True)
class Summary:
    """A description, the cache keys of its summaries, and whether all of them could be made.

    `error`: of a call that failed.
    """

    text: str
    cache_keys: frozenset[bytes] = frozenset()
    is_complete: bool = True
    error: ModelError | None = None


class SummaryCache(Protocol):
    """Cache of summaries."""

    async def load_summaries(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """The cached summaries with these keys."""

    async def save_summaries(self, summaries_by_key: Mapping[bytes, str]) -> None:
        """Store summaries."""


@dataclass(frozen=True, slots=True)
class _PlannedSummary:
    """A summary to make; `key` is the hash of all its inputs."""

    key: bytes
    space: int
    fragments: SummaryInput


@dataclass(slots=True)
class _PendingDescription:
    """A description in progress: the summaries that it waits for, and those that it has used."""

    request: SummaryRequest
    steps: Generator[list[Texts], Sequence[str], str]
    pending: list[_PlannedSummary] = field(default_factory=list)
    cache_keys: set[bytes] = field(default_factory=set)
    summary: Summary | None = None


@dataclass(slots=True)
class Summarizer:
    """Describes keys with a language model and a cache."""

    language: LanguageModel
    cache: SummaryCache
    count_tokens: Callable[[str], int]
    limits: SummaryLimits = field(default_factory=SummaryLimits)
    priority: ForegroundPriority | None = None
    budget: IndexingBudget | None = None

    async def summarize(self, requests: Sequence[SummaryRequest], meter: UsageMeter) -> list[Summary]:
        """Describe each key from all its fragments; if a summary fails, join the newest ones and mark it incomplete."""
        works: list[_PendingDescription] = []
        async for request in iterate_cooperatively(requests, self.priority):
            fragments = select_newest(request.fragments, self.limits)
            works.append(_PendingDescription(request, summary_steps(fragments, self.count_tokens, self.limits)))
            self._advance(works[-1], None)
        errors = dict[bytes, ModelError]()
        while under_way := [work for work in works if work.summary is None]:
            summaries_by_key = await self._load_or_create(
                {summary.key: summary for work in under_way for summary in work.pending}, meter, errors
            )
            async for work in iterate_cooperatively(under_way, self.priority):
                summaries = [
                    summaries_by_key[summary.key] for summary in work.pending if summary.key in summaries_by_key
                ]
                if len(summaries) == len(work.pending):
                    self._advance(work, summaries)
                else:
                    text = join_newest(
                        select_newest(work.request.fragments, self.limits), self.count_tokens, self.limits
                    )
                    failed = next((errors[summary.key] for summary in work.pending if summary.key in errors), None)
                    work.summary = Summary(text, frozenset(work.cache_keys), is_complete=False, error=failed)
        return [work.summary for work in works if work.summary is not None]

    def _advance(self, work: _PendingDescription, summaries: Sequence[str] | None) -> None:
        """Advance to the next summaries that a description needs, or to its end."""
        try:
            inputs = next(work.steps) if summaries is None else work.steps.send(summaries)
        except StopIteration as end:
            work.summary = Summary(end.value, frozenset(work.cache_keys))
            return
        work.pending = [self._plan_summary(work.request, texts) for texts in inputs]
        work.cache_keys |= {summary.key for summary in work.pending}

    def _plan_summary(self, request: SummaryRequest, texts: Texts) -> _PlannedSummary:
        key = hash_parts((self.language.summary_model, str(request.space), request.name, *texts))
        return _PlannedSummary(key, request.space, SummaryInput(request.name, texts))

    async def _load_or_create(
        self, planned: Mapping[bytes, _PlannedSummary], meter: UsageMeter, errors: dict[bytes, ModelError]
    ) -> dict[bytes, str]:
        """Cached and new summaries by key; failed ones are absent, and `errors` gets those of their calls."""
        summaries = await self.cache.load_summaries(planned.keys())
        calls = group_calls([each for key, each in planned.items() if key not in summaries], self.limits)
        for summaries_by_key in await gather_or_cancel(*(self._summarize_call(call, meter, errors) for call in calls)):
            summaries |= summaries_by_key
        return summaries

    async def _summarize_call(
        self, call: Sequence[_PlannedSummary], meter: UsageMeter, errors: dict[bytes, ModelError]
    ) -> dict[bytes, str]:
        summaries_by_key: dict[bytes, str] = {}
        if self.budget is not None and (refusal := self.budget.find_refusal(call[0].space)) is not None:
            errors.update(dict.fromkeys((summary.key for summary in call), refusal))
            return summaries_by_key
        try:
            with guard_plugin_call(MODEL_LABEL):
                texts = await self.language.summarize([summary.fragments for summary in call], meter)
            summaries_by_key = {each.key: text for each, text in zip(call, texts, strict=True) if text is not None}
            await self.cache.save_summaries(summaries_by_key)
        except ModelError as error:
            errors.update(dict.fromkeys((summary.key for summary in call), error))
        return summaries_by_key


def group_calls(planned: Sequence[_PlannedSummary], limits: SummaryLimits) -> Iterator[list[_PlannedSummary]]:
    """Group summaries by call: of one space, in order, up to the limits, at least one each."""
    calls: dict[int, list[_PlannedSummary]] = {}
    call_characters: dict[int, int] = {}
    for summary in planned:
        characters = sum(map(len, summary.fragments.texts))
        call = calls.setdefault(summary.space, [])
        if call and (
            len(call) == limits.keys_per_call
            or call_characters[summary.space] + characters > limits.characters_per_call
        ):
            yield call
            call = calls[summary.space] = []
            call_characters[summary.space] = 0
        call.append(summary)
        call_characters[summary.space] = call_characters.get(summary.space, 0) + characters
    yield from calls.values()
