"""Slack as a town."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import pytest

from adapters.slack.http_receiver import PATH
from bot.bot import Bot
from bot.platform.models import Location
from tests.demos.slack_day import load_manifest
from tests.support.clock import ShiftedClock
from tests.support.slack_server import Entry, FakeSlack, Fault, File, Person, RateSettings, Room, SentMessage
from tests.support.slack_server.request_url import SIGNING_SECRET, RequestUrl
from tests.support.slack_server.socket import Delivery
from tests.support.town.protocol import HANGING, Asked, BotPost, ShownForm, TownFile, Way, is_finished
from tests.support.verbatim_language import QUESTION

STATUS = "assistant.threads.setStatus"
KINDS: dict[str, dict[str, Any]] = {
    "public": {},
    "private": {"kind": "private"},
    "group": {"kind": "mpim"},
    "shared": {"shared": True},
}


class SlackTown:
    """A workspace."""

    platform = "slack"

    def __init__(self, slack: FakeSlack | None = None) -> None:
        self.slack = slack or FakeSlack(load_manifest())
        self.people: dict[str, Person] = {}
        self.channels: dict[str, Room] = {}

    async def __aenter__(self) -> Self:
        await self.slack.__aenter__()
        return self

    async def __aexit__(self, *how: object) -> None:
        await self.slack.__aexit__(*how)

    @property
    def adapter_settings(self) -> dict[str, str]:
        app = self.slack.space.app
        own = {"bot_token": app.bot_token, "app_token": app.app_token, "api_base": self.slack.base_url}
        return {f"slack_{name}": value for name, value in own.items()}

    @property
    def clock(self) -> ShiftedClock:
        """The clock of the workspace, and of a bot in this process."""
        return self.slack.clock

    @property
    def is_connected(self) -> bool:
        return bool(self.slack.socket.ready)

    def speed_up(self, patch: pytest.MonkeyPatch) -> None:
        """Shorten the pauses of the adapter of a bot in this process."""
        self.slack.buckets.rates = RateSettings(on=False)

    async def wait_until_received(self, bot: Bot) -> None:
        """Wait until the bot has received all events."""
        await self.slack.wait_until_delivered()

    def drop_events(self) -> None:
        """Never deliver the events that no bot has received."""
        self.slack.socket.stop_retries()

    async def wait_for(self, condition: Callable[[], Any]) -> None:
        await self.slack.wait_for(condition)

    def add_person(self, name: str, **facts: Any) -> Person:
        add = self.slack.stranger if facts.pop("stranger", False) else self.slack.user
        self.people[name] = add(facts.pop("shown", name.title()), **facts)
        return self.people[name]

    def person(self, name: str) -> Person:
        """Somebody, who comes into being when first named."""
        return self.people.get(name) or self.add_person(name)

    def room(self, person: str, channel: str) -> Room:
        """A channel, or somebody's conversation with the bot."""
        return self.channels[channel] if channel else self.person(person).direct

    def add_channel(self, name: str, members: str = "", kind: str = "public", **facts: Any) -> Room:
        people = [self.person(part) for part in members.split()]
        self.channels[name] = self.slack.channel(name, members=people, **KINDS[kind], **facts)
        return self.channels[name]

    async def enable(self, channel: str) -> None:
        """A channel is indexed once the bot is in."""

    def mention_of(self, person: str) -> str:
        return f"@{self.person(person).name}"

    def channel_mention_of(self, channel: str) -> str:
        return f"#{channel}"

    def location(self, channel: str) -> Location:
        return Location("slack", self.slack.space.team, self.channels[channel].id)

    def _member(self, channel: str) -> Person:
        room, bot = self.channels[channel], self.slack.space.bot.id
        return next(person for person in self.people.values() if person.id in room.channel.members and person.id != bot)

    async def add_member(self, person: str, channel: str) -> None:
        await self.person(person).joins(self.channels[channel])

    async def remove_member(self, person: str, channel: str) -> None:
        await self.person(person).leaves(self.channels[channel])

    async def make_private(self, channel: str, *people: str) -> None:
        await self.slack.converts(self.channels[channel], self._member(channel))

    async def make_public(self, channel: str) -> None:
        await self.slack.converts(self.channels[channel], self._member(channel), private=False)

    async def delete_channel(self, channel: str) -> None:
        await self.slack.deletes_channel(self.channels[channel])

    # What people do.

    async def say(
        self, person: str, channel: str, text: str = "", *, files: Sequence[TownFile] = (), thread: Any = None
    ) -> SentMessage:
        shared = [File(file.name, file.content, file.mimetype) for file in files]
        root = thread.handle if isinstance(thread, Asked) else thread or ""
        return await self.person(person).says(self.room(person, channel), text, files=shared, thread=root)

    async def say_fact(self, channel: str, text: str) -> SentMessage:
        return await self._member(channel).says(self.channels[channel], text)

    async def edit(self, said: SentMessage, text: str) -> None:
        await self._author(said).edits(said, text)

    async def delete(self, said: SentMessage) -> None:
        await self._author(said).deletes(said)

    def _author(self, said: SentMessage) -> Person:
        return next(person for person in self.people.values() if person.id == said.message.user)

    async def ask(self, person: str, channel: str = "", text: str = QUESTION, way: Way = "mention") -> Asked:
        if not channel:
            return Asked(person, "", await self.person(person).says(self.person(person).direct, text))
        if way == "mention":
            return Asked(person, channel, await self.person(person).mentions(self.channels[channel], text))
        return await self.run_command(person, channel, "ask", question=text)

    async def follow_up(self, person: str, asked: Asked, text: str = QUESTION) -> Asked:
        """Ask again in the thread of an answer, without a mention."""
        return Asked(person, asked.channel, await self.say(person, asked.channel, text, thread=asked))

    async def run_command(self, person: str, channel: str, command: str, **options: Any) -> Asked:
        asked = Asked(person, channel, None, self._private(person, channel))
        await self.person(person).slash(self.room(person, channel), " ".join([command, *options.values()]))
        return asked

    async def click(self, person: str, post: BotPost, button: str) -> Asked:
        channel = next((name for name, room in self.channels.items() if room.id == post.handle.channel), "")
        asked = Asked(person, channel, None, self._private(person, channel))
        await self.person(person).clicks(post.handle, button)
        return asked

    async def use_menu(self, person: str, command: str, said: SentMessage) -> Asked:
        """Choose a shortcut of the menu of a message."""
        channel = next((name for name, room in self.channels.items() if room.id == said.room.id), "")
        asked = Asked(person, channel, None, self._private(person, channel))
        await self.person(person).uses_shortcut(said, command)
        return asked

    def open_form(self, person: str, channel: str = "") -> ShownForm:
        """The form that somebody sees."""
        view = self.person(person).modal
        inputs = [block for block in view["blocks"] if block["type"] == "input"]
        above = [block["text"]["text"] for block in view["blocks"] if block["type"] == "section"]
        values = {input_["block_id"]: _shown_value(input_["element"]) for input_ in inputs}
        return ShownForm(person, channel, view["title"]["text"], "\n".join(above), values, view)

    async def click_form(self, person: str, post: BotPost, button: str) -> ShownForm:
        """Press a button that opens a form."""
        return self.open_form(person, (await self.click(person, post, button)).channel)

    async def submit_form(self, form: ShownForm, person: str = "", **answers: str) -> Asked:
        """Submit a form, also as somebody who never saw it. What is wrong with a field fails the test."""
        person = person or form.person
        asked = Asked(person, form.channel, None, self._private(person, form.channel))
        assert await self.person(person).submits(answers, form.handle) == {}
        return asked

    def _private(self, person: str, channel: str) -> frozenset[str]:
        seen = self.slack.sees(self.person(person), self.room(person, channel)).all_entries()
        return frozenset(entry.ts for entry in seen if entry.private)

    async def home_text(self, person: str) -> str:
        """The Home tab of somebody who opens it now."""
        self.slack.space.homes.pop(self.person(person).id, None)
        await self.person(person).opens_app("home")
        await self.wait_for(self.person(person).home_tab)
        return self.person(person).home_tab()

    # What people see.

    def posts(self, asked: Asked) -> list[BotPost]:
        """What the bot answered, as the asker sees it now."""
        person, room = self.person(asked.person), self.room(asked.person, asked.channel)
        if asked.handle is None:
            entries = [entry for entry in self.slack.sees(person, room).all_entries() if entry.private]
            return [self._post(entry) for entry in entries if entry.ts not in asked.seen_before]
        status = any(entry.status for entry in self.slack.sees(person, room).entries if entry.ts == asked.handle.root)
        entries = self.slack.replies(person, room, asked.handle.root)
        return [self._post(entry, status=status) for entry in entries if entry.ts > asked.handle.ts]

    def _post(self, entry: Entry, *, status: bool = False) -> BotPost:
        text = "\n".join(replace(entry, replies=()).lines())
        sources = "\n".join(f"{label} {url}" for label, url in entry.sources)
        whole = not (entry.writing or entry.broken or status) and is_finished(entry.buttons)
        return BotPost(text, entry.body or entry.text, sources, entry.buttons, whole, entry)

    def bot_posts(self, person: str, channel: str) -> list[BotPost]:
        """All that somebody sees of the bot in a channel, threads included."""
        return self._posts_in(person, self.room(person, channel))

    def _posts_in(self, person: str, room: Room) -> list[BotPost]:
        seen = self.slack.sees(self.person(person), room).all_entries()
        return [self._post(entry) for entry in seen if entry.author == self.slack.space.bot.name]

    def all_bot_posts(self, person: str) -> list[BotPost]:
        """All of the bot's messages that somebody can see anywhere."""
        rooms = [Room(channel) for channel in self.slack.space.channels.values()]
        return [post for room in rooms for post in self._posts_in(person, room)]

    def bot_text(self, person: str) -> str:
        return "\n".join([*(post.text for post in self.all_bot_posts(person)), self.person(person).home_tab()])

    def reactions(self, said: SentMessage) -> list[str]:
        seen = self.slack.sees(self._author(said), said.room).all_entries()
        return [name for entry in seen if entry.ts == said.ts for name, _ in entry.reactions]

    @property
    def pings(self) -> Sequence[object]:
        return self.slack.space.pings

    # What goes wrong.

    def hang_first_reply(self) -> Callable[[], bool]:
        """Never finish the call that shows the start of an answer; gives whether it was tried."""
        return self._hang(STATUS)

    def hang_download(self) -> None:
        self.slack.fail_next("download", Fault("hang"), HANGING)

    def hang_reactions(self) -> Callable[[], bool]:
        return self._hang("reactions.add", "reactions.remove")

    def lose_last_write(self) -> None:
        """Perform the last write of an answer, but never confirm it."""
        self.slack.fail_next("chat.stopStream", Fault("lost"), HANGING)
        self.slack.fail_next("chat.update", Fault("hang"), HANGING)

    @property
    def lost_deliveries(self) -> list[Delivery]:
        """What Slack could not deliver to this workspace."""
        team, deliveries = self.slack.space.team, self.slack.socket.deliveries
        return [delivery for delivery in deliveries if delivery.lost and delivery.payload.get("team_id") == team]

    def clear_faults(self) -> None:
        self.slack.faults.clear()

    def _hang(self, *methods: str) -> Callable[[], bool]:
        before = len(self.slack.calls_to(*methods))
        for method in methods:
            self.slack.fail_next(method, Fault("hang"), HANGING)
        return lambda: len(self.slack.calls_to(*methods)) > before


def find_free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class SlackHttpTown(SlackTown):
    """A workspace that posts to a URL of the bot; `unplug` makes the URL unreachable, `plug` reachable again."""

    def __init__(self, slack: FakeSlack | None = None) -> None:
        super().__init__(slack)
        self.port = find_free_port()
        self.plug()

    def plug(self) -> None:
        self.slack.socket.request_url = RequestUrl(f"http://127.0.0.1:{self.port}{PATH}", self.clock)

    def unplug(self) -> None:
        self.slack.socket.request_url = RequestUrl("http://127.0.0.1:9/", self.clock)

    @property
    def adapter_settings(self) -> dict[str, str]:
        own = {"mode": "http", "signing_secret": SIGNING_SECRET, "http_port": str(self.port)}
        rest = {name: value for name, value in super().adapter_settings.items() if name != "slack_app_token"}
        return rest | {f"slack_{name}": value for name, value in own.items()}

    @property
    def is_connected(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


def _shown_value(element: Any) -> str:
    """The text or the option that an input of a form shows."""
    chosen: Any = element.get("initial_option") or next(iter(element.get("initial_options") or ()), {})
    return str(element.get("initial_value") or chosen.get("value") or "")
