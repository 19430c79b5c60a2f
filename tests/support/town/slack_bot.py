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
from bot.plugins import load_adapter
from bot.settings import Settings
from bot.store import BotStore
from tests.demos.slack_day import load_manifest
from tests.support.slack_server import FakeSlack, Person, Room
from tests.support.verbatim_language import QUESTION, VerbatimLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from bot.bootstrap import EngineModels
    from tests.support.slack_server import Entry, SentMessage

PATIENCE = 20.0
CLOSED: dict[str, Any] = {"_env_prefix": "NOBODY_", "_env_file": None}  # nothing comes from outside


@dataclass
class SlackBotFixture:
    """A bot and the Slack that it serves; `restart` ends it as a signal does, and starts it anew."""

    slack: FakeSlack
    settings: Settings
    skills: EngineModels
    language: VerbatimLanguage
    _exit_stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    async def start(self) -> None:
        """The bot as `threadlore serve` makes it, but for the skills."""
        stack = self._exit_stack = contextlib.AsyncExitStack()
        desk = await stack.enter_async_context(bootstrap.open_engine(self.settings, self.skills))
        store = await stack.enter_async_context(BotStore.open(self.settings.data_path / "bot.db"))
        self.bot = await stack.enter_async_context(Bot.open(desk, store, self.settings))
        self.engine = desk.engine
        self.bot.expect_platform("slack")
        stop = asyncio.Event()
        running = asyncio.create_task(load_adapter("slack")(self.bot, self.settings, stop))

        async def end() -> None:
            stop.set()
            await running

        stack.push_async_callback(end)
        await self.slack.wait_for(lambda: running.done() or self.slack.socket.ready, PATIENCE, "for a connection")
        if running.done():
            running.result()

    async def stop(self) -> None:
        await self._exit_stack.aclose()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    # Waiting.

    async def wait_until_idle(self) -> None:
        """Until all that happened was heard, obeyed or answered, and can be found."""
        await self.slack.wait_until_delivered(PATIENCE)
        async with asyncio.timeout(PATIENCE):
            await self.bot.event_queue.wait_until_idle()
            while await self._is_backfilling():  # noqa: ASYNC110 - as it says
                await asyncio.sleep(0.02)  # the store sends no news of a back-fill
            await self.engine.wait_until_indexed()
        await self.slack.wait_until_delivered(PATIENCE)

    async def _is_backfilling(self) -> bool:
        """Whether the past of a channel is still being read."""
        known = await self.bot.store.channels.list_joined("slack")
        return any([await self.bot.store.backfill_cursors.get_position(place.room) is not None for place in known])

    async def close_conversations(self) -> None:
        """Until conversations are over and in the graph."""
        await self.wait_until_idle()
        await self.bot.ingest_service.run_due_jobs(datetime.now(UTC) + timedelta(hours=1))
        await self.engine.wait_until_indexed()

    def script_answer(self, words: str, *pieces: str) -> asyncio.Event:
        """What is said to questions with these words; behind the first piece only once the event is set."""
        go = asyncio.Event()
        self.language.scripts[words] = [pieces[0], go, *pieces[1:]]
        return go

    # What people do.

    async def post_passwords(self, secrets: Mapping[Room, str]) -> None:
        """The password of a safe is said in each of these channels."""
        for room, word in secrets.items():
            await self._member(room).says(room, f"The password of the safe is {word}.")
        await self.wait_until_idle()

    def _member(self, room: Room) -> Person:
        space = self.slack.space
        return next(Person(self.slack, space.users[each]) for each in room.channel.members if each != space.bot.id)

    async def ask_by_mention(
        self, person: Person, room: Room, text: str = QUESTION, *, thread: SentMessage | str = ""
    ) -> str:
        """A question by a mention, and what is read of the answer to it."""
        asked = await person.mentions(room, text, thread=thread)
        await self.wait_until_idle()
        return self.answer_text(person, asked)

    def answer_text(self, person: Person, asked: SentMessage) -> str:
        """What somebody reads below a question."""
        replies = self.slack.replies(person, asked.room, asked.root)
        return "\n".join(entry_text(each) for each in replies if each.ts > asked.ts)

    async def ask_privately(self, person: Person, room: Room, text: str = QUESTION) -> str:
        """`/threadlore ask`, and what its user reads of it."""
        return await self.run_command(person, room, f"ask {text}")

    async def run_command(self, person: Person, room: Room, words: str) -> str:
        """A slash command, and what its user reads of it."""
        before = Counter(each.ts for each in self.private_entries(person, room))
        await person.slash(room, words)
        await self.wait_until_idle()
        return "\n".join(entry_text(each) for each in self.private_entries(person, room) if each.ts not in before)

    async def click_button(self, person: Person, entry: Entry, label: str) -> str:
        """A button, and what its user alone reads of it."""
        room = next(each for each in self.list_rooms if each.id == entry.channel)
        before = Counter(each.ts for each in self.private_entries(person, room))
        await person.clicks(entry, label)
        await self.wait_until_idle()
        return "\n".join(entry_text(each) for each in self.private_entries(person, room) if each.ts not in before)

    async def ask_in_dm(self, person: Person, text: str = QUESTION) -> str:
        """A question in the conversation with the app, and the answer."""
        asked = await person.says(person.direct, text)
        await self.wait_until_idle()
        return self.answer_text(person, asked)

    async def home_text(self, person: Person) -> str:
        """The Home tab of somebody who looks at it now."""
        self.slack.space.homes.pop(person.id, None)
        await person.opens_app("home")
        await self.slack.wait_for(person.home_tab, PATIENCE, "for the Home tab")
        return person.home_tab()

    # What people see.

    @property
    def list_rooms(self) -> list[Room]:
        """Every channel and conversation."""
        return [Room(channel) for channel in self.slack.space.channels.values()]

    def private_entries(self, person: Person, room: Room) -> list[Entry]:
        """What only this person sees there."""
        return [each for each in self.slack.sees(person, room).all_entries() if each.private]

    def bot_entries(self, person: Person) -> list[Entry]:
        """All of the bot's messages that somebody can see anywhere."""
        seen = [each for room in self.list_rooms for each in self.slack.sees(person, room).all_entries()]
        return [each for each in seen if each.author == self.slack.space.bot.name]

    def all_bot_text(self, person: Person) -> str:
        """All that somebody can read of the bot anywhere, the Home tab included."""
        return "\n".join([*map(entry_text, self.bot_entries(person)), person.home_tab()])


def entry_text(entry: Entry) -> str:
    """All that stands in one message, without the replies to it."""
    return "\n".join(replace(entry, replies=()).lines())


@contextlib.asynccontextmanager
async def open_slack_bot(
    home: Path,
    able: EngineModels,
    slack: FakeSlack | None = None,
    model: type[VerbatimLanguage] = VerbatimLanguage,
    **given: Any,
) -> AsyncIterator[SlackBotFixture]:
    """A house that is lived in; `model` is its language, `given` are settings."""
    async with slack or FakeSlack(load_manifest()) as served:
        app = served.space.app
        own = {"bot_token": app.bot_token, "app_token": app.app_token, "api_base": served.base_url}
        adapter_settings = {f"slack_{name}": SecretStr(value) for name, value in own.items()}
        given = {"questions_per_minute": 1000, **CLOSED, **given}
        settings = Settings(data_dir=home, adapter_settings=adapter_settings, **given)
        language = model(able.embedder)
        house = SlackBotFixture(served, settings, replace(able, language=language), language)
        await house.start()
        try:
            yield house
        finally:
            await house.stop()


@contextlib.asynccontextmanager
async def open_skills() -> AsyncIterator[EngineModels]:
    """The embedded skills, to be shared by several houses."""
    async with bootstrap.open_models(Settings(**CLOSED)) as able:
        yield able
