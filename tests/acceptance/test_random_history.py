"""Whatever happened on the way, at any speed: what is left is as if only that had ever come."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from engine import Engine
from engine.errors import InvalidQuestion, NotFound
from engine.knowledge.splits import Split
from engine.models import Document
from engine.options import EngineOptions, SummaryLimits
from engine.storage.ledger.content.rooms import Rooms
from engine.storage.ledger.names.names import Names
from engine.storage.ledger.names.splits import Splits
from engine.storage.sql.connection import Connection
from engine.text.names import normalize_name as canonical_name
from tests.support.engine_fixture import canonical_export, doc, open_memory_engine

NAMES = ("Ada", "Bob", "Carla", "Dora", "Emil")
FAST_OPTIONS = EngineOptions(
    extraction_concurrency=4,
    projection_batch_size=5,
    embed_batch_size=3,
    summary_limits=SummaryLimits(join_fragments=3, group_size=3),
)


@dataclass(slots=True)
class RandomHistory:
    """Does things to an engine at random, and remembers what should be left of them."""

    engine: Engine
    random: random.Random
    documents: dict[str, Document] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    separated: set[frozenset[str]] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)
    rules: dict[tuple[str, str], str] = field(default_factory=dict)

    async def step(self) -> None:
        deeds = [self.add, self.forget, self.move, self.merge, self.end_merge, self.split, self.unsplit]
        await self.random.choices(deeds, [50, 25, 8, 8, 6, 12, 3])[0]()
        here = {f"document {key}" for key, each in self.documents.items() if each.space == "here"}
        self.rules = {each: part for each, part in self.rules.items() if each[1] in here}
        if self.random.random() < 0.05:
            await self.random.choice(
                [self.engine.maintenance.compact, self.engine.maintenance.reindex, self.engine.wait_until_indexed]
            )()
        await asyncio.sleep(self.random.choice([0.0, 0.0, 0.01]))

    async def add(self) -> None:
        pick = self.random.choice
        texts = [f"{pick(NAMES)} met {pick(NAMES)}. {pick(NAMES)} left {pick(NAMES)}." for _ in range(pick([1, 2, 3]))]
        document = doc(f"d{pick(range(7))}", *texts, space=pick(["here", "there"]), room=pick(["hall", "attic"]))
        self.documents[document.key] = replace(document, space=self.moved.get(document.room, document.space))
        await self.engine.documents.add(document)

    async def forget(self) -> None:
        key = f"d{self.random.randrange(7)}"
        assert await self.engine.documents.forget(key) == (self.documents.pop(key, None) is not None)

    async def move(self) -> None:
        room, space = self.random.choice(["hall", "attic"]), self.random.choice(["here", "there"])
        await self.engine.documents.move_room(room, space)
        self.moved[room] = space
        self.documents |= {key: replace(each, space=space) for key, each in self.documents.items() if each.room == room}

    async def merge(self) -> None:
        name, into = self.random.sample(NAMES, 2)
        try:
            await self.engine.corrections.merge("here", name, into, allow_unknown=True)
        except (InvalidQuestion, NotFound):
            return
        self.aliases[name] = into
        self.separated.discard(frozenset((name, into)))

    async def end_merge(self) -> None:
        if not self.aliases:
            return
        name = self.random.choice(sorted(self.aliases))
        into = self.aliases.pop(name)
        if self.random.random() < 0.5:
            await self.engine.corrections.unmerge("here", name)
        else:
            self.separated.add(frozenset((name, into)))
            await self.engine.corrections.separate("here", name, into, allow_unknown=True)

    async def split(self) -> None:
        name, key = self.random.choice(NAMES), f"d{self.random.randrange(7)}"
        with suppress(InvalidQuestion, NotFound):  # not extracted yet, or merged
            change = await self.engine.corrections.split("here", name, f"{name} (2)", documents=[key])
            for correction in change.made:
                if correction.kind == "split":
                    self.rules[correction.name, correction.description] = correction.other
                else:
                    self.separated.add(frozenset((correction.name, correction.other)))

    async def unsplit(self) -> None:
        with suppress(NotFound):
            change = await self.engine.corrections.unsplit("here", f"{self.random.choice(NAMES)} (2)")
            for each in change.removed:
                self.rules.pop((each.name, each.description), None)
                self.separated.discard(frozenset((each.name, each.other)))


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", range(3))
async def test_what_is_left_of_any_history_is_as_if_only_that_had_come(tmp_path: Path, seed: int) -> None:
    async with open_memory_engine(tmp_path / "lived", options=FAST_OPTIONS) as engine:
        history = RandomHistory(engine, random.Random(seed))
        for _ in range(60):
            await history.step()
        await engine.wait_until_indexed()
        assert (await engine.maintenance.verify()).differences == ()
        lived = await canonical_export(engine)
    async with open_memory_engine(tmp_path / "plain", options=FAST_OPTIONS) as engine:
        for document in history.documents.values():
            await engine.documents.add(document)
        here = await engine._ledger.write(Rooms.get_or_create_id, "space", "here")
        await engine._ledger.write(
            Names.intern_names,
            here,
            {canonical_name(name) for name in history.aliases.keys() | set().union(*history.separated)},
        )
        for name, into in history.aliases.items():
            await engine.corrections.merge("here", name, into, allow_unknown=True)
        for a, b in history.separated:
            await engine.corrections.separate("here", a, b, allow_unknown=True)

        def save_rules(db: Connection) -> None:
            for (name, rule), part in history.rules.items():
                Splits(db).save_rules(here, [Split(name, canonical_name(part), rule)], part, 0)

        await engine._ledger.write(save_rules)
        engine._worker.wake()
        await engine.wait_until_indexed()
        assert await canonical_export(engine) == lived
