"""Discord as a town."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord import client, platform
from adapters.discord.replies.reply import EditThrottle
from adapters.discord.shards import session_starts, shard, shard_set
from bot.bot import Bot
from bot.platform.models import Location
from bot.texts.control import STOP_BUTTON
from tests.support.clock import ShiftedClock
from tests.support.discord_server import (
    Channel,
    FakeDiscord,
    File,
    Guild,
    Interaction,
    Message,
    Permission,
    Person,
    Post,
)
from tests.support.discord_server.faults import Fault
from tests.support.discord_server.gateway import Session
from tests.support.discord_server.routing import ApiCall
from tests.support.discord_server.scenario import BOT
from tests.support.town.protocol import HANGING, Asked, BotPost, ShownForm, TownFile, Way, is_finished
from tests.support.verbatim_language import QUESTION

EDIT_INTERVAL = 0.02  # seconds between two writes of a reply
IDENTIFY_SECONDS = 0.06  # between two sessions
ANSWER_SECONDS = 0.2  # for which a connection that was handed over stays
LOOK_SECONDS, UNFAIR_SECONDS = 0.1, 0.3  # between two looks at who has which shard; until one is given up
LIBRARY_TASKS = ("discord.py:", "CommandTree", "discord-ui")
THREADS = "/channels/{channel}/messages/{message}/threads"
MESSAGE = "/channels/{channel}/messages/{message}"
REACTION = "/channels/{channel}/messages/{message}/reactions/{emoji}/@me"


class LastWriteFault(Fault):
    """A fault of the writes that put the buttons of a finished answer below a message."""

    def matches(self, call: ApiCall) -> bool:
        buttons = [button for row in call.body.get("components") or () for button in row["components"]]
        return any(button.get("label") != STOP_BUTTON for button in buttons) and super().matches(call)


class DiscordTown:
    """A guild; of another one with the same bot if `discord` is given. `shards`: the setting; 0: as recommended."""

    platform = "discord"

    def __init__(self, discord: FakeDiscord | None = None, shards: int = 0) -> None:
        self.discord = discord or FakeDiscord()
        self.shards = shards
        self.begin_guild()

    async def __aenter__(self) -> Self:
        self._addresses = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
        await self.discord.__aenter__()
        return self

    async def __aexit__(self, *how: object) -> None:
        await self.discord.__aexit__(*how)
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = self._addresses

    @property
    def adapter_settings(self) -> dict[str, str]:
        own = {"bot_token": self.discord.token, "api_base": self.discord.api, "gateway_url": self.discord.gateway_url}
        own["shards"] = str(self.shards)
        return {f"discord_{name}": value for name, value in own.items()}

    @property
    def is_connected(self) -> bool:
        return self.discord.gateway.connected

    def speed_up(self, patch: pytest.MonkeyPatch) -> None:
        limits = replace(shard_set.ShardRouter.limits, write_interval=EDIT_INTERVAL)
        patch.setattr(client, "GUILD_READY_TIMEOUT", 0.05)
        patch.setattr(session_starts, "IDENTIFY_SECONDS", IDENTIFY_SECONDS)
        patch.setattr(shard, "ANSWER_SECONDS", ANSWER_SECONDS)
        patch.setattr(shard_set, "LOOK_SECONDS", LOOK_SECONDS)
        patch.setattr(shard_set, "UNFAIR_SECONDS", UNFAIR_SECONDS)
        patch.setattr(platform, "EditThrottle", partial(EditThrottle, min_interval=EDIT_INTERVAL))
        patch.setattr(shard_set.ShardRouter, "limits", limits)

    @property
    def clock(self) -> ShiftedClock:
        """The clock of the platform, and of a bot in this process."""
        return self.discord.clock

    async def wait_until_received(self, *bots: Bot) -> None:
        """Wait until these bots have received all that their connections were sent."""
        routers: list[Any] = [bot.context.platforms["discord"] for bot in bots]

        def is_received(session: Session) -> bool:
            clients = [part.client for each in routers for part in each.shards if part.client is not None]
            found = [each for each in clients if each.ws is not None and each.ws.session_id == session.id]
            # The library tells of a new session after a pause.
            return any(each.ws.sequence == session.number and not each._connection._ready_task for each in found)

        def received() -> bool:
            sessions = [session for session in self.discord.gateway.sessions.all.values() if session.connection]
            return bool(sessions) and all(map(is_received, sessions)) and not _has_library_tasks()

        await self.wait_for(received)

    def drop_events(self) -> None:
        """A new session has none of them."""

    async def wait_for(self, condition: Callable[[], Any]) -> None:
        await self.discord.wait_for(condition)

    def begin_guild(self, name: str = "Club", powers: Permission = BOT) -> None:
        """Go on in another guild."""
        self.guild = self.discord.guild(name, bot=powers)
        self.people: dict[str, Person] = {}
        self.channels: dict[str, Channel] = {}

    @property
    def owner(self) -> Person:
        """Who may do anything in the guild."""
        return Person(self.discord.world, self.guild.owner, self.guild)

    @property
    def bot_member(self) -> Person:
        return self.discord.bot(self.guild)

    def add_person(self, name: str, **facts: Any) -> Person:
        guild: Guild = facts.pop("guild", self.guild)
        self.people[name] = self.discord.member(guild, facts.pop("user", facts.pop("shown", name.title())), **facts)
        return self.people[name]

    def person(self, name: str) -> Person:
        """Somebody, who comes into being when first named."""
        return self.people.get(name) or self.add_person(name)

    def channel(self, person: str, channel: str) -> Channel:
        """A channel, or somebody's conversation with the bot."""
        return self.channels[channel] if channel else self.discord.dm(self.person(person))

    def add_channel(self, name: str, members: str = "", kind: str = "public", **facts: Any) -> Channel:
        people = [self.person(part) for part in members.split()]
        if kind == "private":
            facts["only"] = people
        made = self.discord.channel(
            facts.pop("guild", self.guild), name, "text" if kind in {"public", "private"} else kind, **facts
        )
        self.channels[name] = made
        return made

    async def enable(self, channel: str) -> None:
        place = self.channels[channel]
        assert place.guild is not None
        owner = Person(self.discord.world, place.guild.owner, place.guild)
        used = await owner.slash("settings", here=place, setting="ingest", value="on")
        assert not used.error, used.error

    def mention_of(self, person: str) -> str:
        return self.person(person).mention

    def channel_mention_of(self, channel: str) -> str:
        return f"<#{self.channels[channel].id}>"

    def location(self, channel: str) -> Location:
        place = self.channels[channel]
        assert place.guild is not None
        return Location("discord", place.guild.id, place.id)

    async def add_member(self, person: str, channel: str) -> None:
        self.discord.overwrites(self.channels[channel], self.person(person), allow=Permission.VIEW_CHANNEL)

    async def remove_member(self, person: str, channel: str) -> None:
        self.discord.overwrites(self.channels[channel], self.person(person))

    async def make_private(self, channel: str, *people: str) -> None:
        place = self.channels[channel]
        for each in (*map(self.person, people), self.bot_member):
            self.discord.overwrites(place, each, allow=Permission.VIEW_CHANNEL)
        self.discord.overwrites(place, self.guild.roles[self.guild.id], deny=Permission.VIEW_CHANNEL)

    async def make_public(self, channel: str) -> None:
        self.discord.overwrites(self.channels[channel], self.guild.roles[self.guild.id])

    async def delete_channel(self, channel: str) -> None:
        self.discord.removes_channel(self.channels[channel])

    # What people do.

    async def say(
        self, person: str, channel: str, text: str = "", *, files: Sequence[TownFile] = (), thread: Any = None
    ) -> Message:
        place, shared = self.channel(person, channel), [_file(file) for file in files]
        root = thread.handle if isinstance(thread, Asked) else thread
        if root is not None and channel:
            place = root.thread or await self.person(person).opens_thread(root, "Thread")
        return await self.person(person).says(place, text, files=shared)

    async def say_fact(self, channel: str, text: str) -> Message:
        place = self.channels[channel]
        assert place.guild is not None
        return await Person(self.discord.world, place.guild.owner, place.guild).says(place, text)

    async def edit(self, said: Message, text: str) -> None:
        await self._author(said).edits(said, text)

    async def delete(self, said: Message) -> None:
        await self._author(said).deletes(said)

    def _author(self, said: Message) -> Person:
        return Person(self.discord.world, said.author, said.channel.guild or self.guild)

    async def ask(self, person: str, channel: str = "", text: str = QUESTION, way: Way = "mention") -> Asked:
        if not channel:
            return Asked(person, "", await self.person(person).dms(text))
        if way == "mention":
            words = f"{self.bot_member.mention} {text}"
            return Asked(person, channel, await self.person(person).says(self.channels[channel], words))
        return await self.run_command(person, channel, "ask", question=text, private=way == "private")

    async def follow_up(self, person: str, asked: Asked, text: str = QUESTION) -> Asked:
        return Asked(person, asked.channel, await self.say(person, asked.channel, text, thread=asked))

    async def run_command(self, person: str, channel: str, command: str, **options: Any) -> Asked:
        chosen = {name: _file(value) if isinstance(value, TownFile) else value for name, value in options.items()}
        used = await self.person(person).slash(command, here=self.channel(person, channel), **chosen)
        assert not used.error, used.error
        return Asked(person, channel, used)

    async def use_menu(self, person: str, command: str, said: Message) -> Asked:
        """Choose a command of the menu of a message."""
        return Asked(person, "", await self.person(person).context_menu(command, said))

    async def click(self, person: str, post: BotPost, button: str) -> Asked:
        used = await self.person(person).clicks(post.handle.message, button)
        assert not used.error, used.error
        return Asked(person, post.handle.message.channel.name, used)

    def open_form(self, asked: Asked) -> ShownForm:
        """The form that an interaction showed."""
        modal = asked.handle.modal
        above = [component["content"] for component in modal["components"] if component["type"] == 10]
        fields = [component["component"] for component in modal["components"] if component["type"] == 18]
        values = {field["custom_id"]: field.get("value") or _chosen(field) for field in fields}
        return ShownForm(asked.person, asked.channel, modal["title"], "\n".join(above), values, asked.handle)

    async def click_form(self, person: str, post: BotPost, button: str) -> ShownForm:
        """Press a button that opens a form."""
        return self.open_form(await self.click(person, post, button))

    async def submit_form(self, form: ShownForm, person: str = "", **answers: str) -> Asked:
        """Submit a form, also as somebody who never saw it."""
        person, handle = person or form.person, form.handle
        used = await self.person(person).submits(handle.channel, handle.modal, answers)
        assert not used.error, used.error
        return Asked(person, form.channel, used)

    # What people see.

    def posts(self, asked: Asked) -> list[BotPost]:
        person, handle = self.person(asked.person), asked.handle
        if isinstance(handle, Interaction):
            first = None if handle.message else handle.original  # a button's original is the message above it
            mine = [followup for followup in (first, *handle.followups) if followup is not None]
            return [_post(post) for post in self.discord.sees(person, handle.channel).posts if post.message in mine]
        seen = self.discord.sees(person, handle.thread or handle.channel).posts
        return [_post(post) for post in seen if post.bot and int(post.message.id) > int(handle.id)]

    def bot_posts(self, person: str, channel: str) -> list[BotPost]:
        place = self.channel(person, channel)
        threads = (
            [] if place.guild is None else [each for each in place.guild.channels.values() if each.parent is place]
        )
        return [post for thread in (place, *threads) for post in self._posts_in(person, thread)]

    def _posts_in(self, person: str, channel: Channel) -> list[BotPost]:
        return [_post(post) for post in self.discord.sees(self.person(person), channel).posts if post.bot]

    def bot_text(self, person: str) -> str:
        who = self.person(person)
        channels = [*who.guild.channels.values(), self.discord.dm(who)]
        return "\n".join(post.text for channel in channels for post in self._posts_in(person, channel))

    def reactions(self, said: Message) -> list[str]:
        return list(said.reactions)

    @property
    def pings(self) -> Sequence[object]:
        return self.discord.pings

    # What goes wrong.

    def hang_first_reply(self) -> Callable[[], bool]:
        return self._hang(("POST", THREADS))

    def hang_download(self) -> None:
        self.discord.fail_next("GET", "/attachments", "hang", times=HANGING)

    def hang_reactions(self) -> Callable[[], bool]:
        return self._hang(("PUT", REACTION), ("DELETE", REACTION))

    def lose_last_write(self) -> None:
        self.discord.rest.faults.append(LastWriteFault("PATCH", MESSAGE, "lost", times=HANGING))

    def clear_faults(self) -> None:
        self.discord.rest.faults.clear()

    def _hang(self, *routes: tuple[str, str]) -> Callable[[], bool]:
        faults = [self.discord.fail_next(method, template, "hang", times=HANGING) for method, template in routes]
        return lambda: any(fault.times < HANGING for fault in faults)


def _file(file: TownFile) -> File:
    return File(file.name, file.text.encode(), file.mimetype)


def _post(post: Post) -> BotPost:
    body, _, sources = post.content.partition("**Sources**")
    return BotPost(post.text, body, sources, post.buttons, is_finished(post.buttons), post)


def _has_library_tasks() -> bool:
    return any(task.get_name().startswith(LIBRARY_TASKS) for task in asyncio.all_tasks())


def _chosen(field: Any) -> str:
    """The option that a select of a form shows."""
    return next((str(each["value"]) for each in field.get("options", ()) if each.get("default")), "")
