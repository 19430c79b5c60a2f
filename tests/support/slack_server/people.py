"""The people of the fake workspace: what a test lets them do, as they would do it with their own client."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.interactions import action
from tests.support.slack_server.rendering import RenderedMessage, Renderer
from tests.support.slack_server.state import Channel, Message, StoredFile, User

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.slack_server.screen import Entry
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.socket import Delivery
    from tests.support.slack_server.state import JSON

URL = re.compile(r"https?://[^\s<>]+")
URL_TYPED = re.compile(r"<(https?://[^\s<>]+)>")


@dataclass(frozen=True, slots=True)
class File:
    """What somebody drops. `url`: it lies on another host; `connect`: it came from another workspace."""

    name: str
    data: bytes
    mimetype: str = ""
    url: str = ""
    connect: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """A channel, by hand."""

    channel: Channel

    @property
    def id(self) -> str:
        return self.channel.id

    @property
    def name(self) -> str:
        return self.channel.name


@dataclass(frozen=True, slots=True, eq=False)
class SentMessage:
    """A message that somebody wrote."""

    room: Room
    message: Message

    @property
    def ts(self) -> str:
        return self.message.ts

    @property
    def root(self) -> str:
        """The message with which its thread began."""
        return self.message.thread_ts or self.message.ts

    @property
    def files(self) -> list[str]:
        """The ids of its files."""
        return [each.id for each in self.message.files]


class NotOnScreen(AssertionError):
    """Nobody can press what is not there."""


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    """Somebody who acts."""

    slack: Server
    user: User

    @property
    def id(self) -> str:
        return self.user.id

    @property
    def name(self) -> str:
        return self.user.name

    @property
    def direct(self) -> Room:
        """The conversation with the app."""
        return Room(self.slack.space.direct(self.id))

    def types(self, text: str) -> str:
        """A text as the client sends it: escaped, with @names, #channels and addresses made out."""
        space = self.slack.space
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        text = URL.sub(lambda found: f"<{found.group()}>", text)
        for user in sorted(space.users.values(), key=lambda each: -len(each.name)):
            text = re.sub(rf"@{re.escape(user.name)}\b", f"<@{user.id}>", text)
        for channel in space.channels.values():
            if channel.name and channel.kind != "im":
                text = re.sub(rf"(?<!\w)#{re.escape(channel.name)}\b", f"<#{channel.id}|{channel.name}>", text)
        return text

    async def says(
        self, room: Room, text: str, *, thread: SentMessage | str = "", files: Sequence[File] = (), raw: bool = False,
        broadcast: bool = False,
    ) -> SentMessage:  # fmt: skip
        """Write a message; `raw`: the text is wire text already; `broadcast`: a reply is shown in the channel, too."""
        space, channel = self.slack.space, room.channel
        assert self.id in channel.members, f"{self.name} is not in #{room.name}"
        root = thread.root if isinstance(thread, SentMessage) else thread
        message = Message(space.new_ts(), room.id, self.id, text if raw else self.types(text), root)
        if broadcast and root:
            message.subtype = "thread_broadcast"
        if files:
            message.subtype, message.files = "file_share", [self._attach(file) for file in files]
        self.slack.actions.post(channel, message)
        return SentMessage(room, message)

    def _attach(self, file: File) -> StoredFile:
        space = self.slack.space
        kind = file.mimetype or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        attached = StoredFile(space.new_id("F"), file.name, kind, file.data, self.id, int(space.clock.now()))
        attached.url, attached.connect = file.url, file.connect
        space.files[attached.id] = attached
        return attached

    async def mentions(
        self, room: Room, text: str, *, thread: SentMessage | str = "", files: Sequence[File] = ()
    ) -> SentMessage:
        """Address the app."""
        wire = f"<@{self.slack.space.bot.id}> {self.types(text)}"
        return await self.says(room, wire, thread=thread, files=files, raw=True)

    async def edits(self, said: SentMessage, text: str, *, raw: bool = False) -> None:
        wire = text if raw else self.types(text)
        bot = f"<@{self.slack.space.bot.id}>"
        if bot in said.message.text and bot not in wire:
            wire = f"{bot} {wire}"
        self.slack.actions.edit(said.room.channel, said.message, wire)

    async def deletes(self, said: SentMessage) -> None:
        self.slack.actions.delete(said.room.channel, said.message)

    async def deletes_file(self, file: str) -> None:
        self.slack.actions.delete_file(self.slack.space.files[file])

    async def reacts(self, said: SentMessage | Entry, name: str) -> None:
        self.slack.actions.react(*self._resolve(said), self.id, name)

    async def unreacts(self, said: SentMessage | Entry, name: str) -> None:
        self.slack.actions.unreact(*self._resolve(said), self.id, name)

    def _resolve(self, said: SentMessage | Entry) -> tuple[Channel, Message]:
        if isinstance(said, SentMessage):
            return said.room.channel, said.message
        channel = self.slack.space.channels[said.channel]
        whispers = (each for each in channel.ephemeral_messages if each.only_for == self.id and each.ts == said.ts)
        return channel, channel.messages.get(said.ts) or next(whispers)

    async def joins(self, room: Room) -> None:
        self.slack.actions.join(room.channel, self.user)

    async def leaves(self, room: Room) -> None:
        self.slack.actions.leave(room.channel, self.user)

    async def invites(self, room: Room, other: Person) -> None:
        """Take somebody in, or the app (`slack.bot`)."""
        self.slack.actions.join(room.channel, other.user, inviter=self.id)

    async def removes(self, room: Room, other: Person) -> None:
        """Put somebody out."""
        self.slack.actions.leave(room.channel, other.user)

    async def slash(self, room: Room, text: str = "", command: str = "/threadlore") -> Delivery:
        """Use a command; waits for its acknowledgement."""
        space = self.slack.space
        if command in space.app.escaped:
            text = re.sub(
                r"<@(\w+)>", lambda found: f"<@{found[1]}|{space.users[found[1]].name.lower()}>", self.types(text)
            )
            text = URL_TYPED.sub(r"\1", text)
        return await self.slack.interactions.command(self.user, room.channel, command, text)

    async def clicks(self, said: SentMessage | Entry, label: str) -> Delivery:
        """Press a button of a message by what stands on it, or by its action id; waits for the acknowledgement."""
        channel, message = self._resolve(said)
        buttons = Renderer(self.slack.space, self.id).render(message).buttons
        body = self._find_button(buttons, label)
        return await self.slack.interactions.press(self.user, channel, message, body)

    def _find_button(self, buttons: list[tuple[str, JSON, JSON, JSON]], label: str) -> JSON:
        for shown, block, element, more in buttons:
            if label in {shown, element.get("action_id")}:
                return action(block, element, self.slack.space.new_ts(), **more)
        raise NotOnScreen(f"there is no button {label!r}, but {[shown for shown, *_ in buttons]}")

    async def clicks_home_tab(self, label: str) -> Delivery:
        """Press a button of the own Home tab."""
        view = self.slack.space.homes[self.id]
        face = RenderedMessage()
        Renderer(self.slack.space, self.id).blocks(view.body["blocks"], face)
        return await self.slack.interactions.press_in_view(self.user, view, self._find_button(face.buttons, label))

    async def submits(self, values: JSON, view: str = "") -> Delivery:
        """Send off the modal that was opened last, or the one named."""
        mine = [
            each for each in self.slack.space.views.values() if each.user == self.id and each.body["type"] == "modal"
        ]
        chosen = self.slack.space.views[view] if view else mine[-1]
        return await self.slack.interactions.submit(self.user, chosen, values)

    async def opens_app(self, tab: str = "home") -> None:
        """Look at the app: its Home tab, or its messages (the agent pane)."""
        space = self.slack.space
        event: JSON = {"type": "app_home_opened", "user": self.id, "channel": self.direct.id, "tab": tab}
        view = space.homes.get(self.id)
        if view is not None and tab == "home":
            event["view"] = {**view.body, "id": view.id, "hash": view.hash}
        self.slack.notifier.event({**event, "event_ts": space.new_ts()})

    def home_tab(self) -> str:
        """What stands on the own Home tab."""
        view = self.slack.space.homes.get(self.id)
        face = RenderedMessage()
        if view is not None:
            Renderer(self.slack.space, self.id).blocks(view.body["blocks"], face)
        return "\n".join([*face.lines, *(f"[ {label} ]" for label, *_ in face.buttons)])

    def reloads(self) -> None:
        """Start the client anew: what only this person saw is gone."""
        for channel in self.slack.space.channels.values():
            channel.ephemeral_messages = [each for each in channel.ephemeral_messages if each.only_for != self.id]

    async def renames_self(self, name: str) -> None:
        self.user.name = name
        self._user_changed()

    async def becomes(self, kind: str) -> None:
        """Become a member, a guest, a single_channel_guest, or deactivated."""
        if kind == "deactivated":
            self.user.deleted = True
        else:
            self.user.kind = kind  # type: ignore[assignment]
        self._user_changed()

    def _user_changed(self) -> None:
        space = self.slack.space
        body = shapes.user(space, self.user)
        self.slack.notifier.event({"type": "user_change", "user": body, "event_ts": space.new_ts()})
