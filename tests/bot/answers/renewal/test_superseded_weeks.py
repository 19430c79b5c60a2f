"""Simulated weeks: newer messages replace facts while the model comes and goes, and no posted answer is stale."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from bot.answers.renewal.superseded import SupersessionFinder
from bot.platform.models import Location, Message
from bot.platform.ports import MessageLimits
from engine.errors import ModelUnavailable
from tests.bot.answers.renewal.test_renewer import edits, renew
from tests.support.bot_fixture import BotFixture
from tests.support.fake_platform import RecordedReply

THINGS = ("kiln", "lathe", "anvil", "loom")
MARK = "A newer message says otherwise"
DAY = 24 * 60 * 60.0
DOWN = (ModelUnavailable("Down."),)


@dataclass(slots=True)
class Week:
    """What was said of each thing, the newest last, and the answers with the thing that each asks about."""

    bot: BotFixture
    rooms: list[Location]
    attic: Location
    chance: random.Random
    said: dict[str, list[tuple[Message, str]]] = field(default_factory=lambda: {thing: [] for thing in THINGS})
    answers: list[tuple[RecordedReply, str]] = field(default_factory=list)

    async def say(self, thing: str, place: Location, *, is_new: bool) -> tuple[Message, str]:
        """Say where a thing is kept, instead of what was said before unless it `is_new`."""
        value = str(self.chance.randrange(3000, 10000))
        words = "is kept" if is_new else "is now kept"
        message = await self.bot.post_indexed(place, "ada", f"The {thing} {words} in shed {value}.")
        await SupersessionFinder(self.bot.context).check(message)
        return message, value

    async def step(self) -> None:
        kind, thing = (
            self.chance.choices(("say", "ask", "delete", "attic"), (4, 4, 1, 1))[0],
            self.chance.choice(THINGS),
        )
        is_down = self.bot.language.reply == DOWN
        known = self.said[thing]
        if kind == "attic":
            await self.say(thing, self.attic, is_new=False)
        elif kind == "delete" and known:
            message, _ = known.pop()
            await self.bot.delete(message)
        elif kind == "ask" and known and not is_down:
            reply = await self.bot.ask(self.chance.choice(self.rooms), "bob", f"In which shed is the {thing} kept?")
            self.answers.append((reply, thing))
        else:
            known.append(await self.say(thing, self.chance.choice(self.rooms), is_new=not known))

    def list_stale(self) -> list[str]:
        """Posted texts with an older value than the newest, which neither have that nor a mark."""
        newest = {thing: known[-1][1] for thing, known in self.said.items() if known}
        older = {thing: [value for _, value in known[:-1]] for thing, known in self.said.items()}
        return [
            reply.text
            for reply, thing in self.answers
            if any(value in reply.text for value in older[thing])
            and newest[thing] not in reply.text
            and MARK not in reply.text
        ]


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(2, 12), *(pytest.param(seed, 60, marks=pytest.mark.long) for seed in (*range(3, 9), 75000, 75003))],
)
async def test_no_posted_answer_is_stale_whether_a_model_can_be_asked_or_not(
    bot: BotFixture, seed: int, steps: int
) -> None:
    bot.platform.limits = MessageLimits(20_000, 0.0)  # the model of these tests quotes all that it is shown
    rooms = [await bot.join(name, "ada", "bob") for name in ("ROOF", "HALL")]
    week = Week(bot, rooms, await bot.join("ATTIC", "ada", kind="closed"), random.Random(seed))
    for _ in range(steps):
        before = {id(reply): len(reply.states) for reply, _ in week.answers}
        bot.language.reply = DOWN if week.chance.random() < 0.3 else ()
        await week.step()
        for _ in range(2):  # a second look changes nothing
            await renew(bot)
        assert week.list_stale() == []
        grown = [len(reply.states) - before.get(id(reply), len(reply.states)) for reply, _ in week.answers]
        assert max(grown, default=0) <= 1
        bot.platform.advance(DAY / 2)
    assert edits(bot) > 0
