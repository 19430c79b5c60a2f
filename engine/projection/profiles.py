"""Stale keys become profiles: what is told of each is folded, and described."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.knowledge import merge
from engine.projection.summaries import Describer, Subject
from engine.scheduling.foreground import in_turns
from engine.storage.ledger import cache
from engine.storage.ledger.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from engine.llm.base import Language
    from engine.options import Limits
    from engine.scheduling.foreground import Courtesy
    from engine.storage.ledger import Ledger
    from engine.storage.ledger.profiles import Key
    from engine.usage import Bill

RETRY_SUMMARY = 600.0  # seconds until a failed summary is tried again


@dataclass(slots=True)
class Folder:
    """Folds and describes keys; summaries are remembered in the ledger."""

    ledger: Ledger
    language: Language
    count: Callable[[str], int]
    limits: Limits
    courtesy: Courtesy | None = None

    async def entities(self, keys: Sequence[Key], bill: Bill) -> list[Profile]:
        """The profiles of those names of which anything is told."""
        return await self._described(
            [(key, *_entity(key)) async for key in in_turns(keys, self.courtesy) if key.told], bill
        )

    async def relations(self, keys: Sequence[Key], bill: Bill) -> list[Profile]:
        """The profiles of those pairs of which anything is told."""
        return await self._described(
            [(key, *_relation(key)) async for key in in_turns(keys, self.courtesy) if key.told], bill
        )

    async def _described(self, folded: Sequence[tuple[Key, Profile, Subject]], bill: Bill) -> list[Profile]:
        """With their descriptions; what was pinned by hand is described by that."""
        describer = Describer(self.language, self, self.count, self.limits, self.courtesy)
        made = iter(await describer.describe([subject for key, _, subject in folded if key.pin is None], bill))
        retry_at, profiles = time.time() + RETRY_SUMMARY, list[Profile]()
        for key, profile, _ in folded:
            if key.pin is not None:
                profiles.append(replace(profile, description=key.pin))
                continue
            described = next(made)
            retry = None if described.complete else retry_at
            profiles.append(replace(profile, description=described.text, retry_at=retry, memos=described.memos))
        return profiles

    async def recall_summaries(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """The summaries made of these inputs, as far as they are known."""
        return await self.ledger.read(cache.summaries, keys)

    async def keep_summaries(self, made: Mapping[bytes, str]) -> None:
        """Remember summaries."""
        await self.ledger.write(cache.keep_summaries, made)


def _entity(key: Key) -> tuple[Profile, Subject]:
    assert key.told is not None  # noqa: S101 - only told keys come here
    entity = merge.entity(key.told)
    profile = Profile(key.id, key.space, entity.name, "", entity.mentions, entity.type)
    return profile, Subject(key.space, entity.name, entity.fragments)


def _relation(key: Key) -> tuple[Profile, Subject]:
    assert key.told is not None  # noqa: S101 - only told keys come here
    relation = merge.relation(key.told)
    profile = Profile(key.id, key.space, relation.keywords, "", relation.weight, ends=key.ends)
    return profile, Subject(key.space, key.title, relation.fragments)
