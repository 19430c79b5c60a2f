"""The whole bot on Slack: real engine, real adapter, the vendor's SDK; a workspace and a language made for tests."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from bot import bootstrap
from bot.bot import Bot
from bot.plugins import adapter
from bot.settings import Settings
from bot.store import Store
from tests.demos.slack_day import manifest
from tests.support.gossip import QUESTION, Gossip
from tests.support.slack_server import FakeSlack, Person, Room

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from bot.bootstrap import Skills
    from tests.support.slack_server import Entry, Said

PATIENCE = 20.0
CLOSED: dict[str, Any] = {"_env_prefix": "NOBODY_", "_env_file": None}  # nothing comes from outside


@dataclass
class House:
    """A bot and the Slack that it serves; `restart` ends it as a signal does, and starts it anew."""

    slack: FakeSlack
    settings: Settings
    able: Skills
    language: Gossip
    _inside: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def start(self) -> None:
        """The bot as `threadlore run` makes it, but for the skills."""
        stack = self._inside = contextlib.AsyncExitStack()
        desk = await stack.enter_async_context(bootstrap.desk(self.settings, self.able))
        store = await stack.enter_async_context(Store.open(self.settings.root / "bot.db"))
        self.bot = await stack.enter_async_context(Bot.open(desk, store, self.settings))
        self.engine = desk.engine
        self.bot.expect("slack")
        stop = asyncio.Event()
        running = asyncio.create_task(adapter("slack")(self.bot, self.settings, stop))

        async def end() -> None:
            stop.set()
            await running

        stack.push_async_callback(end)
        await self.slack.until(lambda: running.done() or self.slack.socket.ready, PATIENCE, "for a connection")
        if running.done():
            running.result()

    async def end(self) -> None:
        await self._inside.aclose()

    async def restart(self) -> None:
        await self.end()
        await self.start()

    # Waiting.

    async def settled(self) -> None:
        """Until all that happened was heard, obeyed or answered, and can be found."""
        await self.slack.delivered(PATIENCE)
        async with asyncio.timeout(PATIENCE):
            await self.bot.inbox.idle()
            while await self._reads():  # noqa: ASYNC110 - as it says
                await asyncio.sleep(0.02)  # the store sends no news of a back-fill
            await self.engine.settled()
        await self.slack.delivered(PATIENCE)

    async def _reads(self) -> bool:
        """Whether the past of a channel is still being read."""
        known = await self.bot.store.rooms.known("slack")
        return any([await self.bot.store.cursors.of(place.room) is not None for place in known])

    async def read_up(self) -> None:
        """Until conversations are over and in the graph."""
        await self.settled()
        await self.bot.listening.tick(datetime.now(UTC) + timedelta(hours=1))
        await self.engine.settled()

    def script(self, words: str, *pieces: str) -> asyncio.Event:
        """What is said to questions with these words; behind the first piece only once the event is set."""
        go = asyncio.Event()
        self.language.scripts[words] = [pieces[0], go, *pieces[1:]]
        return go

    # What people do.

    async def safe(self, secrets: Mapping[Room, str]) -> None:
        """The password of a safe is said in each of these channels."""
        for room, word in secrets.items():
            await self._member(room).says(room, f"The password of the safe is {word}.")
        await self.settled()

    def _member(self, room: Room) -> Person:
        space = self.slack.space
        return next(Person(self.slack, space.users[each]) for each in room.channel.members if each != space.bot.id)

    async def asks(self, person: Person, room: Room, text: str = QUESTION, *, thread: Said | str = "") -> str:
        """A question by a mention, and what is read of the answer to it."""
        asked = await person.mentions(room, text, thread=thread)
        await self.settled()
        return self.answer(person, asked)

    def answer(self, person: Person, asked: Said) -> str:
        """What somebody reads below a question."""
        replies = self.slack.replies(person, asked.room, asked.root)
        return "\n".join(read(each) for each in replies if each.ts > asked.ts)

    async def whispers(self, person: Person, room: Room, text: str = QUESTION) -> str:
        """`/threadlore ask`, and what its user reads of it."""
        return await self.calls(person, room, f"ask {text}")

    async def calls(self, person: Person, room: Room, words: str) -> str:
        """A slash command, and what its user reads of it."""
        before = Counter(each.ts for each in self.private(person, room))
        await person.slash(room, words)
        await self.settled()
        return "\n".join(read(each) for each in self.private(person, room) if each.ts not in before)

    async def clicks(self, person: Person, entry: Entry, label: str) -> str:
        """A button, and what its user alone reads of it."""
        room = next(each for each in self.rooms if each.id == entry.channel)
        before = Counter(each.ts for each in self.private(person, room))
        await person.clicks(entry, label)
        await self.settled()
        return "\n".join(read(each) for each in self.private(person, room) if each.ts not in before)

    async def in_private(self, person: Person, text: str = QUESTION) -> str:
        """A question in the conversation with the app, and the answer."""
        asked = await person.says(person.direct, text)
        await self.settled()
        return self.answer(person, asked)

    async def home(self, person: Person) -> str:
        """The Home tab of somebody who looks at it now."""
        self.slack.space.homes.pop(person.id, None)
        await person.opens_app("home")
        await self.slack.until(person.home, PATIENCE, "for the Home tab")
        return person.home()

    # What people see.

    @property
    def rooms(self) -> list[Room]:
        """Every channel and conversation."""
        return [Room(channel) for channel in self.slack.space.channels.values()]

    def private(self, person: Person, room: Room) -> list[Entry]:
        """What only this person sees there."""
        return [each for each in self.slack.sees(person, room).all() if each.private]

    def entries(self, person: Person) -> list[Entry]:
        """All of the bot's messages that somebody can see anywhere."""
        seen = [each for room in self.rooms for each in self.slack.sees(person, room).all()]
        return [each for each in seen if each.author == self.slack.space.bot.name]

    def all_read_by(self, person: Person) -> str:
        """All that somebody can read of the bot anywhere, the Home tab included."""
        return "\n".join([*map(read, self.entries(person)), person.home()])


def read(entry: Entry) -> str:
    """All that stands in one message, without the replies to it."""
    return "\n".join(replace(entry, replies=()).lines())


@contextlib.asynccontextmanager
async def living(
    home: Path, able: Skills, slack: FakeSlack | None = None, model: type[Gossip] = Gossip, **given: Any
) -> AsyncIterator[House]:
    """A house that is lived in; `model` is its language, `given` are settings."""
    async with slack or FakeSlack(manifest()) as served:
        app = served.space.app
        given = {"slack_bot_token": SecretStr(app.bot_token), "slack_app_token": SecretStr(app.app_token), **given}
        given = {"questions_per_minute": 1000, **CLOSED, **given}
        settings = Settings(home=home, slack_api_base=served.base_url, **given)
        language = model(able.embedder)
        house = House(served, settings, replace(able, language=language), language)
        await house.start()
        try:
            yield house
        finally:
            await house.end()


@contextlib.asynccontextmanager
async def skills() -> AsyncIterator[Skills]:
    """The embedded skills, to be shared by several houses."""
    async with bootstrap.skills(Settings(**CLOSED)) as able:
        yield able
