"""The projector drains stale keys: fold, describe, profile, embed, graph and vectors, then the mark goes.

Every step may be repeated without harm: a crash between any two of them leaves the mark, and the next run starts over.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine import fold
from engine.courtesy import Courtesy
from engine.describing import Describer, needs_model
from engine.embedding import clip, embed_or_spare, entity_text, relation_text, text_hash
from engine.graph import Edge, Node
from engine.ledger import marks, memos, profiles, work
from engine.ledger.marks import Stale
from engine.ledger.names import prune_pairs
from engine.ledger.profiles import Profile
from engine.records import Bill
from engine.vectors import Row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engine.budget import O200k
    from engine.graph import Graph
    from engine.language import Embedder, Language
    from engine.ledger import Ledger
    from engine.ledger.connection import Connection
    from engine.ledger.marks import Mark
    from engine.ledger.profiles import Key
    from engine.options import Options
    from engine.vectors import Table, Vectors

RETRY_SUMMARY = 600.0  # seconds until a failed summary is tried again

Embedded = tuple[bytes, int]


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

    @property
    def empty(self) -> bool:
        """Whether nothing is stale."""
        return not self.marks


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a batch has come to: marks that go, marks that wait, and what stands in graph and vectors now."""

    done: list[Mark]
    held: list[Mark]
    graphed_names: list[int]
    graphed_pairs: list[int]
    embedded_entities: list[Embedded]
    embedded_relations: list[Embedded]
    gone_pairs: set[int]
    bill: Bill


def _former(keys: Iterable[Key]) -> dict[int, bytes | None]:
    return {key.id: key.embedded for key in keys}


async def gather(db: Connection, limit: int, newest: int) -> Batch:
    """The oldest stale names and pairs; names that end a pair of the batch and have no profile yet come along."""
    name_marks = await marks.stale_marks(db, Stale.NAME, limit)
    pair_marks = await marks.stale_marks(db, Stale.PAIR, limit - len(name_marks))
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
        await work.reading_left(db),
    )


@dataclass(slots=True)
class Projector:
    """Keeps profiles, graph and vectors in step with the facts. One runs at a time.

    `ticked`: a quiet period has ended since everything was last in step.
    `unsure`: after a crash or a failure the graph may hold more than the ledger knows, so it is looked up first.
    `without_graph`: a rebuild fills the graph at its end, all at once.
    """

    ledger: Ledger
    graph: Graph
    vectors: Vectors
    language: Language
    embedder: Embedder
    tokenizer: O200k
    options: Options
    unsure: bool = True
    ticked: bool = False
    without_graph: bool = False
    renewed: set[tuple[Stale, int]] = field(default_factory=set)
    courtesy: Courtesy = field(default_factory=Courtesy)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def step(self) -> bool:
        """Project one batch; says whether there was anything to do."""
        async with self.lock:
            batch = await self.ledger.read(gather, self.options.project_batch, self.options.describing.fragments)
            if batch.empty:
                self.unsure = self.ticked = False
                return False
            try:
                await self._project(batch)
            except BaseException:
                self.unsure = True
                raise
            return True

    async def end_quiet(self) -> None:
        """A new period begins: every hot key may be summarised once more."""
        self.renewed.clear()
        self.ticked = True
        await self.ledger.write(marks.release_held)
        await self.ledger.write(work.due_summaries, time.time())

    async def _project(self, batch: Batch) -> None:
        bill = Bill()
        hot = self._hot(batch)
        names = [key for key in batch.names if (Stale.NAME, key.id) not in hot]
        pairs = [key for key in batch.pairs if (Stale.PAIR, key.id) not in hot]
        entities = await asyncio.gather(*(self._entity(key, bill) for key in names if key.told))
        relations = await asyncio.gather(*(self._relation(key, bill) for key in pairs if key.told))
        await self.courtesy.after_you()
        gone_names = {key.id for key in names if not key.told} | batch.gone_names
        gone_pairs = {key.id for key in pairs if not key.told} | batch.gone_pairs
        await self.ledger.write(_write_profiles, entities, relations, gone_names, gone_pairs)
        await self.courtesy.after_you()
        surfaces = batch.ends | {row.id: row.label for row in entities}
        _, embedded_entities, embedded_relations = await asyncio.gather(
            self._graph(names, pairs, gone_names),
            self._vectors("entities", _former(names), [(row, entity_text(row)) for row in entities], bill),
            self._vectors(
                "relations", _former(pairs), [(row, relation_text(row, surfaces)) for row in relations], bill
            ),
        )
        if gone_names:
            await self.vectors.drop("entities", gone_names)
        if gone_pairs:
            await self.vectors.drop("relations", gone_pairs)
        outcome = Outcome(
            [mark for mark in batch.marks if (mark.kind, mark.id) not in hot],
            [mark for mark in batch.marks if (mark.kind, mark.id) in hot],
            [] if self.without_graph else [row.id for row in entities],
            [] if self.without_graph else [row.id for row in relations],
            embedded_entities,
            embedded_relations,
            gone_pairs,
            bill,
        )
        await self.ledger.write(_finish, outcome)

    def _hot(self, batch: Batch) -> set[tuple[Stale, int]]:
        """The keys of the batch that have a profile, need the model, and must wait for the end of the quiet period.

        They were given it in this period, or there is much to read: then whole periods pass before it is asked.
        """
        needing = {
            (kind, key.id)
            for kind, keys in ((Stale.NAME, batch.names), (Stale.PAIR, batch.pairs))
            for key in keys
            if key.told
            and key.pin is None
            and needs_model(key.told.fragments, self.tokenizer.count, self.options.describing)
        }
        hot = {
            (kind, key.id)
            for kind, keys in ((Stale.NAME, batch.names), (Stale.PAIR, batch.pairs))
            for key in keys
            if key.described
            and (kind, key.id) in needing
            and ((kind, key.id) in self.renewed or (batch.reading_left and not self.ticked))
        }
        self.renewed |= needing - hot
        return hot

    async def _entity(self, key: Key, bill: Bill) -> Profile:
        assert key.told is not None  # noqa: S101 - only told keys come here
        entity = fold.entity(key.told)
        described = await self._describe(key, entity.name, entity.fragments, bill)
        return Profile(
            key.id, key.space, entity.name, described[0], entity.mentions, entity.type, (0, 0), *described[1:]
        )

    async def _relation(self, key: Key, bill: Bill) -> Profile:
        assert key.told is not None  # noqa: S101 - only told keys come here
        relation = fold.relation(key.told)
        described = await self._describe(key, key.title, relation.fragments, bill)
        return Profile(
            key.id, key.space, relation.keywords, described[0], relation.weight, "", key.ends, *described[1:]
        )

    async def _describe(
        self, key: Key, name: str, fragments: Sequence[fold.Fragment], bill: Bill
    ) -> tuple[str, float | None, frozenset[bytes]]:
        if key.pin is not None:
            return key.pin, None, frozenset()
        describer = Describer(self.language, self, self.tokenizer.count, self.options.describing)
        described = await describer.describe(name, fragments, bill)
        return described.text, None if described.complete else time.time() + RETRY_SUMMARY, described.memos

    async def recall_summary(self, key: bytes) -> str | None:
        """The summary made of these inputs, if any."""
        return await self.ledger.read(memos.summary, key)

    async def keep_summary(self, key: bytes, text: str) -> None:
        """Remember a summary."""
        await self.ledger.write(memos.keep_summary, key, text)

    async def _graph(self, names: Sequence[Key], pairs: Sequence[Key], dropped: Collection[int]) -> None:
        if self.without_graph:
            return
        known = {key.id: self._known(key) for key in names}
        touched = {key.id for key in names} | {end for key in pairs for end in key.ends}
        rows = await self.ledger.read(profiles.nodes, touched)
        nodes = [
            Node(id_, space, degree, mentions, known.get(id_, True if graphed else self._known(None)))
            for id_, space, degree, mentions, graphed in rows
        ]
        weights = await self.ledger.read(profiles.weights, [key.id for key in pairs if key.told])
        edges = [Edge(key.id, *key.ends, weights[key.id], self._known(key)) for key in pairs if key.id in weights]
        await self.graph.put(nodes, edges)
        gone = [Edge(key.id, *key.ends, 0.0) for key in pairs if not key.told]
        if gone or dropped:
            await self.graph.drop(dropped, gone)

    def _known(self, key: Key | None) -> bool | None:
        if key is not None and key.graphed:
            return True
        return None if self.unsure else False

    async def _vectors(
        self, table: Table, former: dict[int, bytes | None], texts: Sequence[tuple[Profile, str]], bill: Bill
    ) -> list[Embedded]:
        """Embed what is new and put it; gives the hashes of the texts of which the vectors are now."""
        hashed = [(row, text, text_hash(self.embedder.name, text)) for row, text in texts]
        changed = [each for each in hashed if each[2] != former[each[0].id]]
        if changed:
            clipped = [clip(text, self.embedder.max_tokens, self.tokenizer) for _, text, _ in changed]
            made = await embed_or_spare(self.embedder, clipped, [row.label for row, _, _ in changed], bill)
            await self.vectors.put(table, [Row(row.id, row.space, 0, 0) for row, _, _ in changed], made)
        return [(digest, row.id) for row, _, digest in hashed]


async def _write_profiles(
    db: Connection,
    entities: Sequence[Profile],
    relations: Sequence[Profile],
    dropped_names: Collection[int],
    dropped_pairs: Collection[int],
) -> None:
    await profiles.drop_profiles(db, Stale.PAIR, dropped_pairs)
    await profiles.drop_profiles(db, Stale.NAME, dropped_names)
    await profiles.put_entities(db, entities)
    await profiles.put_relations(db, relations)


async def _finish(db: Connection, outcome: Outcome) -> None:
    await profiles.set_embedded(db, Stale.NAME, outcome.embedded_entities)
    await profiles.set_embedded(db, Stale.PAIR, outcome.embedded_relations)
    await work.graphed(db, outcome.graphed_names, outcome.graphed_pairs)
    await prune_pairs(db, outcome.gone_pairs)
    await marks.unmark(db, outcome.done)
    await marks.hold(db, outcome.held)
    await work.advance(db, [])
    if outcome.bill.items:
        await memos.add_usage(db, datetime.now(UTC).date().isoformat(), outcome.bill.items)
