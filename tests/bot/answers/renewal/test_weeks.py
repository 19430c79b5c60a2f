"""Simulated weeks: facts are edited, deleted and hidden, and no posted answer shows what is not said any more."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from bot import texts
from bot.platform.events import VisibilityChanged
from bot.platform.models import Location, Message
from tests.bot.answers.renewal.test_renewer import edits, renew
from tests.support.bot_fixture import BotFixture
from tests.support.fake_platform import RecordedReply

THINGS = ("kiln", "lathe", "anvil", "loom", "forge", "press")
STEPS, DAY = 40, 24 * 60 * 60.0  # a step each half a day: three weeks


@dataclass(slots=True)
class Week:
    """What is said now of each thing and where, what was said before, and the answers with what each asks about."""

    bot: BotFixture
    rooms: list[Location]
    chance: random.Random
    said: dict[str, tuple[Message, str]] = field(default_factory=dict)
    former: set[str] = field(default_factory=set)
    answers: list[tuple[RecordedReply, tuple[str, ...], Location]] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)
    turned: set[str] = field(default_factory=set)
    count: int = 0

    def make_value(self) -> str:
        self.count += 1
        return f"q{self.chance.randrange(10**6):06d}x"

    async def say(self, thing: str) -> None:
        value, room = self.make_value(), self.chance.choice(self.rooms)
        message = await self.bot.post_indexed(room, "ada", f"The {thing} is kept in shed {value}.")
        self.said[thing] = message, value

    async def edit(self, thing: str) -> None:
        (message, old), value = self.said[thing], self.make_value()
        self.former.add(old)
        edited = await self.bot.edit(message, f"The {thing} is kept in shed {value}.")
        self.said[thing] = edited, value

    async def delete(self, thing: str) -> None:
        message, old = self.said.pop(thing)
        self.former.add(old)
        await self.bot.delete(message)

    async def ask(self) -> None:
        room = self.chance.choice(self.rooms)
        things = tuple(self.chance.sample(sorted(self.said), min(len(self.said), self.chance.choice((1, 2)))))
        await self.bot.engine.wait_until_indexed()
        reply = await self.bot.ask(room, "bob", f"Where is the {' and where is the '.join(things)} kept?")
        self.answers.append((reply, things, room))

    async def turn(self, room: Location) -> None:
        """Close an open channel, or open a closed one."""
        self.closed ^= {room.channel}
        self.turned.add(room.channel)
        kind = "closed" if room.channel in self.closed else "open"
        self.bot.platform.change_channel(room.channel, kind=kind)
        await self.bot.ingest_service.handle(VisibilityChanged(room))
        await self.bot.ingest_service.run_sync()

    async def step(self) -> None:
        kind = self.chance.choices(("say", "edit", "delete", "ask", "turn"), (3, 3, 1, 4, 0.7))[0]
        thing = self.chance.choice(sorted(self.said) or THINGS)
        if kind == "turn":
            await self.turn(self.rooms[-1])
        elif kind == "ask" and self.said:
            await self.ask()
        elif kind == "edit" and thing in self.said:
            await self.edit(thing)
        elif kind == "delete" and thing in self.said:
            await self.delete(thing)
        else:
            free = [each for each in THINGS if each not in self.said]
            await (self.say(free[0]) if free else self.edit(thing))

    def list_stale(self) -> list[str]:
        """Posted texts with a value that is not said any more, or that their channel may not read."""
        hidden = {value: message.location for message, value in self.said.values()}
        found = []
        for reply, _, room in self.answers:
            out = self.former | {v for v, at in hidden.items() if at.channel in self.closed - {room.channel}}
            if any(value in reply.text for value in out):
                found.append(reply.text)
        return found

    def list_lost(self) -> list[str]:
        """Notices in place of answers although something that was asked for was readable there all the time."""
        return [
            reply.text
            for reply, things, room in self.answers
            if reply.text == texts.SOURCE_REMOVED
            and any(self._is_said(thing, room, since=reply.target.asked_at) for thing in things)
        ]

    def _is_said(self, thing: str, room: Location, since: datetime | None) -> bool:
        message = self.said[thing][0] if thing in self.said else None
        return (
            message is not None
            and since is not None
            and message.time < since
            and room.channel not in self.closed
            and message.location.channel not in self.turned
        )


@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "steps"), [(4, 14), *(pytest.param(seed, STEPS, marks=pytest.mark.long) for seed in (1, 2, 3))]
)
async def test_no_posted_answer_is_stale_and_each_change_edits_it_once(
    bot: BotFixture, tmp_path: Path, seed: int, steps: int
) -> None:
    rooms = [await bot.join(name, "ada", "bob") for name in ("ROOF", "HALL", "BARN")]
    week = Week(bot, rooms, random.Random(seed))
    for _ in range(3):
        await week.say(THINGS[len(week.said)])
    for _ in range(steps):
        before = {id(reply): len(reply.states) for reply, _, _ in week.answers}
        await week.step()
        await renew(bot)
        assert week.list_stale() == []
        assert week.list_lost() == []
        grown = [len(reply.states) - before.get(id(reply), len(reply.states)) for reply, _, _ in week.answers]
        assert max(grown, default=0) <= 1
        bot.platform.advance(DAY / 2)
    assert edits(bot) > 1
    with closing(sqlite3.connect(tmp_path / "home" / "bot.db")) as connection:
        stored = "\n".join(connection.iterdump())
    assert [value for value in week.former if value in stored] == []
