"""A batch of stale keys on its way through the projector: gathered, folded, put, finished."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.storage.ledger import cache, profiles
from engine.storage.ledger.names import prune_pairs
from engine.storage.ledger.profile_reset import blank
from engine.storage.ledger.work import embedding_failures, work_queue
from engine.storage.ledger.work import stale_keys as marks
from engine.storage.ledger.work.orphans import note_late_drop
from engine.storage.ledger.work.stale_keys import Stale

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.projection.profile_embedder import Embedded
    from engine.storage.ledger.profiles import Key, Profile
    from engine.storage.ledger.work.embedding_failures import Failure
    from engine.storage.ledger.work.stale_keys import Mark
    from engine.storage.sqlite.connection import Connection
    from engine.usage import Bill


@dataclass(frozen=True, slots=True)
class Batch:
    """Stale keys with their facts, as of one moment; `ends` are the names of the pairs."""

    marks: tuple[Mark, ...]
    names: tuple[Key, ...]
    pairs: tuple[Key, ...]
    gone_names: frozenset[int]
    gone_pairs: frozenset[int]
    ends: dict[int, str]
    reading_left: bool
    generation: int

    @property
    def empty(self) -> bool:
        """Whether nothing is stale."""
        return not self.marks


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a batch has come to: marks that go, marks that wait, and what stands in graph and vectors now.

    `gone` are the marks of keys that left both; `failures` keys whose text cannot be embedded, each tried `attempts`
    times.
    """

    done: list[Mark]
    held: list[Mark]
    graphed_names: list[int]
    graphed_pairs: list[int]
    embedded_entities: list[Embedded]
    embedded_relations: list[Embedded]
    failures: list[Failure]
    attempts: int
    gone_pairs: set[int]
    gone: list[Mark]
    bill: Bill


@dataclass(frozen=True, slots=True)
class Made:
    """A batch whose profiles are written: what is to be put into graph and vectors, and what is to leave them."""

    batch: Batch
    held: set[tuple[Stale, int]]
    names: list[Key]
    pairs: list[Key]
    entities: list[Profile]
    relations: list[Profile]
    gone_names: set[int]
    gone_pairs: set[int]
    bill: Bill


async def gather(db: Connection, limit: int, newest: int, skip: Collection[Mark]) -> Batch:
    """The oldest stale names and pairs but `skip`; names that end a pair and have no profile yet come along."""
    name_marks = await marks.stale_marks(db, Stale.NAME, limit, skip)
    pair_marks = await marks.stale_marks(db, Stale.PAIR, limit - len(name_marks), skip)
    pairs = await profiles.pairs(db, [each.id for each in pair_marks], newest)
    ends = await profiles.surfaces(db, {end for key in pairs for end in key.ends})
    lacking = {id_ for id_, (_, described) in ends.items() if not described} - {each.id for each in name_marks}
    name_marks += await marks.marks_of(db, Stale.NAME, lacking)
    asked = {each.id for each in name_marks} | lacking
    names = await profiles.names(db, asked, newest)
    return Batch(
        tuple(name_marks + pair_marks),
        tuple(names),
        tuple(pairs),
        frozenset(asked - {key.id for key in names}),
        frozenset({each.id for each in pair_marks} - {key.id for key in pairs}),
        {id_: surface for id_, (surface, _) in ends.items()},
        await work_queue.reading_left(db),
        await work_queue.generation(db),
    )


async def write_profiles(db: Connection, made: Made) -> None:
    """Put what the fold made of a batch, and remove what it left nothing of.

    Facts may have been taken back since the batch was gathered: what it says of keys that changed again is blanked.
    """
    await profiles.drop_profiles(db, Stale.PAIR, made.gone_pairs)
    await profiles.drop_profiles(db, Stale.NAME, made.gone_names)
    await profiles.put_entities(db, made.entities)
    await profiles.put_relations(db, made.relations)
    if await work_queue.number(db, "revised") > made.batch.generation:
        changed = await marks.changed_since(db, made.batch.marks)
        await blank(
            db,
            [each.id for each in changed if each.kind == Stale.NAME],
            [each.id for each in changed if each.kind == Stale.PAIR],
        )


async def finish(db: Connection, outcome: Outcome) -> None:
    """Note what stands in graph and vectors now, and take the marks away."""
    await profiles.set_embedded(db, Stale.NAME, outcome.embedded_entities)
    await profiles.set_embedded(db, Stale.PAIR, outcome.embedded_relations)
    await work_queue.graphed(db, outcome.graphed_names, outcome.graphed_pairs)
    await prune_pairs(db, outcome.gone_pairs)
    await note_late_drop(db, outcome.gone)
    await embedding_failures.forgive(db, _settled(outcome))
    await embedding_failures.record(db, outcome.failures, outcome.attempts, time.time())
    await marks.unmark(db, outcome.done)
    await marks.hold(db, outcome.held)
    await work_queue.advance(db, [])
    if outcome.bill.items:
        await cache.add_usage(db, datetime.now(UTC).date().isoformat(), outcome.bill.items)


def _settled(outcome: Outcome) -> list[tuple[Stale, int]]:
    """The keys that have their vectors, or are gone."""
    failed = {(failure.mark.kind, failure.mark.id) for failure in outcome.failures}
    return [(mark.kind, mark.id) for mark in outcome.done if (mark.kind, mark.id) not in failed]
