"""People of the workspace, who do what their own client lets them do."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.rendering import Renderer
from tests.support.slack_server.state import Channel, Message, StoredFile, User

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.support.slack_server.rendering import RenderedMessage
    from tests.support.slack_server.screen import Entry
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.socket import Delivery
    from tests.support.slack_server.state import JSON

URL = re.compile(r"https?://[^\s<>]+")
MARKED_URL = re.compile(r"<(https?://[^\s<>]+)>")
MENTION = re.compile(r"<@(\w+)>")


@dataclass(frozen=True, slots=True)
class File:
    """A file to share. `connect`: it came from another workspace. `external_url`: another service has it."""

    name: str
    data: bytes
    mimetype: str = ""
    connect: bool = False
    external_url: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """A channel."""

    channel: Channel

    @property
    def id(self) -> str:
        return self.channel.id

    @property
    def name(self) -> str:
        return self.channel.name


@dataclass(frozen=True, slots=True, eq=False)
class SentMessage:
    """A message that a person wrote."""

    room: Room
    message: Message

    @property
    def ts(self) -> str:
        return self.message.ts

    @property
    def root(self) -> str:
        """The message that started its thread."""
        return self.message.thread_ts or self.message.ts

    @property
    def files(self) -> list[str]:
        """The ids of its files."""
        return [file.id for file in self.message.files]


class NotOnScreen(AssertionError):
    """A person tried to press a button that they do not see."""


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    """A person who acts."""

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
        """A text as the client sends it: escaped, with ids for @names and #channels, and marked addresses."""
        space = self.slack.space
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        text = URL.sub(lambda found: f"<{found.group()}>", text)
        for user in sorted(space.users.values(), key=lambda each: -len(each.name)):
            text = re.sub(rf"@{re.escape(user.name)}\b", f"<@{user.id}>", text)
        for channel in space.channels.values():
            if channel.kind != "im":
                text = re.sub(rf"(?<!\w)#{re.escape(channel.name)}\b", f"<#{channel.id}|{channel.name}>", text)
        return text

    # Messages.

    async def says(
        self, room: Room, text: str, *, thread: SentMessage | str = "", files: Sequence[File] = ()
    ) -> SentMessage:
        """Write a message."""
        return self._post(room, self.types(text), thread, files)

    async def mentions(
        self, room: Room, text: str, *, thread: SentMessage | str = "", files: Sequence[File] = ()
    ) -> SentMessage:
        """Write a message that mentions the app."""
        return self._post(room, f"<@{self.slack.space.bot.id}> {self.types(text)}", thread, files)

    def _post(self, room: Room, wire: str, thread: SentMessage | str, files: Sequence[File]) -> SentMessage:
        assert self.id in room.channel.members, f"{self.name} is not in #{room.name}"
        root = thread.root if isinstance(thread, SentMessage) else thread
        message = Message(self.slack.space.new_ts(), room.id, self.id, wire, root)
        if files:
            message.subtype, message.files = "file_share", [self._attach(file) for file in files]
        self.slack.changes.post(room.channel, message, unfurl=True)
        return SentMessage(room, message)

    def _attach(self, file: File) -> StoredFile:
        space = self.slack.space
        kind = file.mimetype or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        stored = StoredFile(space.new_id("F"), file.name, kind, file.data, self.id, int(space.clock.time()))
        stored.connect, stored.external_url = file.connect, file.external_url
        space.files[stored.id] = stored
        return stored

    async def forwards(self, sent: SentMessage, room: Room, text: str = "") -> SentMessage:
        """Share a message in another channel; its words are in an attachment, not in the text."""
        space, message = self.slack.space, sent.message
        link = f"https://{space.domain}.slack.com/archives/{message.channel}/p{message.ts.replace('.', '')}"
        shared = {
            "is_msg_unfurl": True,
            "is_share": True,
            "channel_id": message.channel,
            "author_id": message.user,
            "author_name": space.users[message.user].name,
            "ts": message.ts,
            "text": message.text,
            "from_url": link,
            "original_url": link,
            "fallback": f"[...] {space.users[message.user].name}: {message.text}",
        }
        copy = Message(space.new_ts(), room.id, self.id, self.types(text))
        copy.previews = [shared]
        self.slack.changes.post(room.channel, copy)
        return SentMessage(room, copy)

    async def edits(self, sent: SentMessage, text: str) -> None:
        """Change the text of a message; a mention of the app stays."""
        wire, bot = self.types(text), f"<@{self.slack.space.bot.id}>"
        self.slack.changes.edit(sent.room.channel, sent.message, f"{bot} {wire}" if bot in sent.message.text else wire)

    async def deletes(self, sent: SentMessage) -> None:
        self.slack.changes.delete(sent.room.channel, sent.message)

    async def deletes_file(self, file: str) -> None:
        self.slack.changes.delete_file(self.slack.space.files[file])

    # Channels.

    async def joins(self, room: Room) -> None:
        self.slack.changes.join(room.channel, self.user)

    async def leaves(self, room: Room) -> None:
        self.slack.changes.leave(room.channel, self.user)

    async def invites(self, room: Room, other: Person) -> None:
        """Add a person, or the app (`slack.bot`)."""
        self.slack.changes.join(room.channel, other.user, inviter=self.id)

    async def removes(self, room: Room, other: Person) -> None:
        self.slack.changes.leave(room.channel, other.user)

    # The app.

    async def slash(self, room: Room, text: str = "", command: str = "/threadlore") -> Delivery:
        """Run a command; waits for its acknowledgement."""
        space = self.slack.space
        if space.app.commands.get(command):
            names = {id_: user.name.lower() for id_, user in space.users.items()}
            wire = MENTION.sub(lambda found: f"<@{found[1]}|{names[found[1]]}>", self.types(text))
            text = MARKED_URL.sub(r"\1", wire)
        return await self.slack.interactions.command(self.user, room.channel, command, text)

    async def clicks(self, entry: Entry, label: str) -> Delivery:
        """Press a button of a message by its label or action id; waits for the acknowledgement."""
        channel = self.slack.space.channels[entry.channel]
        private = {
            ephemeral_message.ts: ephemeral_message
            for ephemeral_message in channel.ephemeral_messages
            if ephemeral_message.only_for == self.id
        }
        message = channel.messages.get(entry.ts) or private[entry.ts]
        face = Renderer(self.slack.space, self.id).render(message)
        return await self.slack.interactions.press(self.user, channel, message, self._find_action(face, label))

    async def uses_shortcut(self, sent: SentMessage, name: str) -> Delivery:
        """Choose a shortcut from the menu of a message, which is only there for those who see it."""
        channel = sent.room.channel
        if self.id not in channel.members and channel.kind != "public":
            raise NotOnScreen(f"{self.name} does not see #{channel.name}")
        return await self.slack.interactions.shortcut(self.user, channel, sent.message, name)

    async def clicks_home_tab(self, label: str) -> Delivery:
        """Press a button of the own Home tab."""
        view = self.slack.space.homes[self.id]
        face = Renderer(self.slack.space, self.id).render_blocks(view["blocks"])
        return await self.slack.interactions.press_in_view(self.user, view, self._find_action(face, label))

    def _find_action(self, face: RenderedMessage, label: str) -> JSON:
        """The payload of a button, by its label or action id."""
        for shown, block, element, more in face.buttons:
            if label in {shown, element.get("action_id")}:
                body: JSON = {key: element[key] for key in ("action_id", "text", "value", "type") if key in element}
                return {**body, "block_id": block.get("block_id"), "action_ts": self.slack.space.new_ts(), **more}
        raise NotOnScreen(f"there is no button {label!r}, but {[shown for shown, *_ in face.buttons]}")

    @property
    def modal(self) -> JSON:
        """The form that is open; empty if none is."""
        return self.slack.space.modals.get(self.id, {})

    async def submits(self, answers: Mapping[str, str], view: JSON | None = None) -> JSON:
        """Submit the open form, or a forged one, with these values of its fields; gives the errors of fields."""
        values = {}
        for block in (view or self.modal)["blocks"]:
            if block["type"] == "input":
                element, name = block["element"], block["block_id"]
                state = _fill_in(element, answers[name]) if name in answers else _initial_state(element)
                values[name] = {element["action_id"]: {"type": element["type"], **state}}
        return await self.slack.interactions.submit(self.user, values, view)

    async def opens_app(self, tab: str = "home") -> None:
        """Open the app: its Home tab, or its messages (the agent pane)."""
        self.slack.changes.emit("app_home_opened", {"user": self.id, "channel": self.direct.id, "tab": tab})

    def home_tab(self) -> str:
        """What the own Home tab shows; empty if none was published."""
        blocks = self.slack.space.homes.get(self.id, {}).get("blocks", [])
        face = Renderer(self.slack.space, self.id).render_blocks(blocks)
        return "\n".join([*face.lines, *(f"[ {label} ]" for label, *_ in face.buttons)])

    # The account.

    async def renames_self(self, name: str) -> None:
        self.user.name = name
        self._emit_user_change()

    async def becomes(self, kind: str) -> None:
        """Become a member, a guest, a single_channel_guest, or deactivated."""
        if kind == "deactivated":
            self.user.deleted = True
        else:
            self.user.kind = kind  # type: ignore[assignment]
        self._emit_user_change()

    def _emit_user_change(self) -> None:
        self.slack.changes.emit("user_change", {"user": shapes.user(self.slack.space, self.user)})


def _initial_state(element: JSON) -> JSON:
    """What a field contains that nobody changed."""
    if element["type"] == "plain_text_input":
        return {"value": element.get("initial_value")}
    if element["type"] == "static_select":
        return {"selected_option": element.get("initial_option")}
    if element["type"] == "checkboxes":
        return {"selected_options": element.get("initial_options", [])}
    return {"selected_conversation": element.get("initial_conversation")}


def _fill_in(element: JSON, answer: str) -> JSON:
    """What a field contains after somebody filled it in; options are named by their values."""
    chosen = [each for each in element.get("options", []) if each["value"] == answer]
    if element["type"] == "plain_text_input":
        return {"value": answer}
    if element["type"] == "static_select":
        return {"selected_option": chosen[0]}
    if element["type"] == "checkboxes":
        return {"selected_options": chosen}
    return {"selected_conversation": answer}
