"""Whatever happened on the way, at any speed: what is left is as if only that had ever come."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from engine.errors import BadQuestion, NotFound
from engine.options import Limits, Options
from engine.storage.ledger.content import rooms
from engine.storage.ledger.names import intern_names
from engine.text.names import canonical as canonical_name
from tests.support.engines import canonical, doc, light_engine

if TYPE_CHECKING:
    from pathlib import Path

    from engine import Engine
    from engine.models import Document

NAMES = ("Ada", "Bob", "Carla", "Dora", "Emil")
HASTY = Options(readers=4, project_batch=5, embed_batch=3, describing=Limits(join_fragments=3, group=3))


@dataclass(slots=True)
class History:
    """Does things to an engine at random, and remembers what should be left of them."""

    engine: Engine
    dice: random.Random
    left: dict[str, Document] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)

    async def go_on(self) -> None:
        deeds = [self.add, self.forget, self.move, self.merge, self.unmerge]
        await self.dice.choices(deeds, [50, 25, 8, 8, 6])[0]()
        if self.dice.random() < 0.05:
            await self.dice.choice([self.engine.compact, self.engine.rebuild, self.engine.settled])()
        await asyncio.sleep(self.dice.choice([0.0, 0.0, 0.01]))

    async def add(self) -> None:
        pick = self.dice.choice
        texts = [f"{pick(NAMES)} met {pick(NAMES)}. {pick(NAMES)} left {pick(NAMES)}." for _ in range(pick([1, 2, 3]))]
        document = doc(f"d{pick(range(7))}", *texts, space=pick(["here", "there"]), room=pick(["hall", "attic"]))
        self.left[document.key] = replace(document, space=self.moved.get(document.room, document.space))
        await self.engine.add(document)

    async def forget(self) -> None:
        key = f"d{self.dice.randrange(7)}"
        assert await self.engine.forget(key) == (self.left.pop(key, None) is not None)

    async def move(self) -> None:
        room, space = self.dice.choice(["hall", "attic"]), self.dice.choice(["here", "there"])
        await self.engine.move_room(room, space)
        self.moved[room] = space
        self.left |= {key: replace(each, space=space) for key, each in self.left.items() if each.room == room}

    async def merge(self) -> None:
        name, into = self.dice.sample(NAMES, 2)
        try:
            await self.engine.merge("here", name, into)
        except (BadQuestion, NotFound):
            return
        self.aliases[name] = into

    async def unmerge(self) -> None:
        if self.aliases:
            name = self.dice.choice(sorted(self.aliases))
            del self.aliases[name]
            await self.engine.unmerge("here", name)


@pytest.mark.parametrize("seed", range(4))
async def test_what_is_left_of_any_history_is_as_if_only_that_had_come(tmp_path: Path, seed: int) -> None:
    async with light_engine(tmp_path / "lived", options=HASTY) as engine:
        history = History(engine, random.Random(seed))
        for _ in range(60):
            await history.go_on()
        await engine.settled()
        assert (await engine.verify()).differences == ()
        lived = await canonical(engine)
    async with light_engine(tmp_path / "plain", options=HASTY) as engine:
        for document in history.left.values():
            await engine.add(document)
        here = await engine._ledger.write(rooms.intern, "space", "here")
        await engine._ledger.write(intern_names, here, {canonical_name(name) for name in history.aliases})
        for name, into in history.aliases.items():
            await engine.merge("here", name, into)
        await engine.settled()
        assert await canonical(engine) == lived
