"""Turn stale keys into profiles: merge the facts of each and describe it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.knowledge import merge
from engine.projection.summaries import Summarizer, SummaryRequest
from engine.scheduling.foreground import iterate_cooperatively
from engine.storage.ledger.records import KeyKind, Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.clock import Clock
    from engine.llm.base import LanguageModel
    from engine.options import SummaryLimits
    from engine.projection.summaries import Summary
    from engine.scheduling.foreground import ForegroundPriority
    from engine.scheduling.indexing_budget import IndexingBudget
    from engine.scheduling.summary_failures import SummaryFailures
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
