"""People who write, edit, delete, create threads, and use the app's commands and buttons."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.support.discord_server import actions, threads
from tests.support.discord_server.model import (
    Channel,
    ChannelType,
    File,
    Guild,
    Interaction,
    Member,
    Message,
    MessageType,
    User,
)
from tests.support.discord_server.payloads import format_time, message_json
from tests.support.discord_server.people import client
from tests.support.discord_server.people.client import ActionUnavailable
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.routes.channels import create_forum_post, start_thread_from, start_thread_in
from tests.support.discord_server.routes.limits import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tests.support.discord_server.model import Json
    from tests.support.discord_server.world import World


class Person:
    """A member of a guild."""

    def __init__(self, world: World, user: User, guild: Guild) -> None:
        self.world = world
        self.user = user
        self.guild = guild

    @property
    def id(self) -> str:
        return self.user.id

    @property
    def name(self) -> str:
        return self.user.name

    @property
    def mention(self) -> str:
        return f"<@{self.user.id}>"

    @property
    def member(self) -> Member:
        return self.guild.members[self.user.id]

    def can(self, channel: Channel, *powers: Permission) -> bool:
        have = self.world.permissions_of(self.user, channel)
        return Permission.VIEW_CHANNEL in have and all(power in have for power in powers)

    async def says(
        self,
        channel: Channel | None,
        text: str = "",
        *,
        files: Sequence[File] = (),
        reply_to: Message | None = None,
        at: datetime | None = None,
    ) -> Message:
        """Post a message, of now or of an earlier time."""
        assert channel is not None, "name the channel"
        in_thread = channel.thread is not None
        self._require(channel, Permission.SEND_MESSAGES_IN_THREADS if in_thread else Permission.SEND_MESSAGES)
        if files:
            self._require(channel, Permission.ATTACH_FILES)
        message = actions.build_message(self.world, channel, self.user, at)
        if reply_to is not None:
            actions.set_reference(message, reply_to)
        return actions.post_message(self.world, message, Draft(content=text, files=list(files)))

    async def dms(self, text: str = "", *, files: Sequence[File] = ()) -> Message:
        """Write to the app in private."""
        return await self.says(self.world.dm(self.user), text, files=files)

    async def edits(self, message: Message, text: str) -> Message:
        if message.author is not self.user:
            raise ActionUnavailable("only the author can edit a message")
        return actions.edit_message(self.world, message, Draft(content=text))

    async def deletes(self, message: Message) -> None:
        if message.author is not self.user:
            self._require(message.channel, Permission.MANAGE_MESSAGES)
        actions.delete_messages(self.world, [message])

    async def purges(self, messages: Sequence[Message]) -> None:
        """Delete many messages at once, as moderation bots do."""
        self._require(messages[0].channel, Permission.MANAGE_MESSAGES)
        actions.delete_messages(self.world, messages, bulk=True)

    async def opens_thread(self, start: Message | Channel, name: str, *, private: bool = False) -> Channel:
        """Create a thread at a message or in a channel."""
        place = start.channel if isinstance(start, Message) else start
        self._require(place, Permission.CREATE_PRIVATE_THREADS if private else Permission.CREATE_PUBLIC_THREADS)
        if isinstance(start, Message):
            return start_thread_from(self.world, start, name, self.user)
        kind = ChannelType.PRIVATE_THREAD if private else ChannelType.PUBLIC_THREAD
        return start_thread_in(self.world, start, kind, name, self.user)

    async def starts_poll(self, channel: Channel, question: str, answers: Sequence[str]) -> Message:
        """Post a poll, whose message has no text."""
        self._require(channel, Permission.SEND_MESSAGES)
        message = actions.build_message(self.world, channel, self.user, None)
        choices = [{"answer_id": number, "poll_media": {"text": each}} for number, each in enumerate(answers, 1)]
        message.extra = {
            "poll": {
                "question": {"text": question},
                "answers": choices,
                "expiry": format_time(message.time + timedelta(days=1)),
                "allow_multiselect": False,
                "layout_type": 1,
                "results": {"is_finalized": False, "answer_counts": []},
            }
        }
        return actions.post_message(self.world, message, Draft())

    async def forwards(self, original: Message, channel: Channel) -> Message:
        """Forward a message: its words and embeds are in a snapshot, without its author."""
        self._require(channel, Permission.SEND_MESSAGES)
        message = actions.build_message(self.world, channel, self.user, None)
        shown = message_json(original, self.world)
        names = ("type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "components")
        reference = {"type": 1, "channel_id": original.channel.id, "message_id": original.id}
        message.extra = {
            "message_reference": reference,
            "message_snapshots": [{"message": {name: shown[name] for name in names}}],
        }
        return actions.post_message(self.world, message, Draft())

    async def posts(self, forum: Channel, title: str, text: str, *, files: Sequence[File] = ()) -> Message:
        """Post in a forum; the thread is the message's channel."""
        self._require(forum, Permission.SEND_MESSAGES)
        return create_forum_post(self.world, forum, title, self.user, Draft(content=text, files=list(files)))

    async def adds(self, thread: Channel, *people: Person) -> None:
        """Add people to a thread, which the platform notes there."""
        self._require(thread, Permission.SEND_MESSAGES_IN_THREADS)
        for person in people:
            threads.add_members(self.world, thread, [person.id])
            actions.post_system_message(self.world, thread, MessageType.RECIPIENT_ADD, self.user, about=person.user)

    async def removes_from_thread(self, thread: Channel, person: Person) -> None:
        threads.remove_members(self.world, thread, [person.id])

    async def slash(self, command: str, *, here: Channel, **options: Any) -> Interaction:
        """Use a slash command; returns once the app has responded."""
        return await client.slash(self, here, command, options)

    async def autocompletes(self, command: str, option: str, typed: str, *, here: Channel) -> list[str]:
        """What is offered while an option is typed."""
        return await client.autocomplete(self, here, command, option, typed)

    async def clicks(self, message: Message, button: str) -> Interaction:
        """Press a button, named by its label, emoji or custom id."""
        return await client.click(self, message, button)

    async def submits(self, channel: Channel, modal: Json, answers: dict[str, str]) -> Interaction:
        """Submit a modal."""
        return await client.submit(self, channel, modal, answers)

    async def context_menu(self, command: str, target: Message) -> Interaction:
        """Use a command in the menu of a message."""
        return await client.menu(self, target, command)

    def _require(self, channel: Channel, *powers: Permission) -> None:
        if channel.deleted or not self.can(channel, *powers):
            lacking = [power.name for power in powers if not self.can(channel, power)]
            raise ActionUnavailable(f"{self.name} cannot do that in #{channel.name}: {lacking or 'not visible'}")
