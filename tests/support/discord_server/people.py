"""People at their screens: they talk, edit, delete, react, open threads, and use the app's commands and buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.discord_server import interaction_client
from tests.support.discord_server.actions import (
    add_reaction,
    build_message,
    delete_messages,
    edit_message,
    post_message,
    remove_reaction,
    set_reference,
)
from tests.support.discord_server.drafts import Draft, check_content
from tests.support.discord_server.model import Channel, ChannelType, File, Guild, Interaction, Member, Message, User
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.thread_routes import (
    create_forum_post,
    create_thread_from,
    create_thread_in,
    invite_members,
)
from tests.support.discord_server.threads import add_members, remove_members

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tests.support.discord_server.world import World


class ActionUnavailable(AssertionError):
    """The platform's own client would not let this person do that."""


class Person:
    """Somebody in a guild; `here` is the channel they look at: the one they spoke in last, or entered."""

    def __init__(self, world: World, user: User, guild: Guild) -> None:
        self.world = world
        self.user = user
        self.guild = guild
        self.here: Channel | None = None

    def __repr__(self) -> str:
        return f"<{self.user.name}>"

    @property
    def id(self) -> str:
        return self.user.id

    @property
    def name(self) -> str:
        return self.member.nick or self.user.name

    @property
    def mention(self) -> str:
        return f"<@{self.user.id}>"

    @property
    def member(self) -> Member:
        return self.guild.members[self.user.id]

    def can(self, channel: Channel, *powers: Permission) -> bool:
        have = self.world.permissions_of(self.user, channel)
        return Permission.VIEW_CHANNEL in have and all(power in have for power in powers)

    def enters(self, channel: Channel) -> Person:
        """Look at a channel."""
        self._require(channel)
        self.here = channel
        return self

    # Talking.

    async def says(
        self,
        channel: Channel | None,
        text: str = "",
        *,
        files: Sequence[File] = (),
        reply_to: Message | None = None,
        at: datetime | None = None,
    ) -> Message:
        """Post a message; `at`: it was posted then."""
        channel = channel or self.here
        assert channel is not None, "say where"
        if channel.guild is not None:
            self._require(
                channel, Permission.SEND_MESSAGES if channel.thread is None else Permission.SEND_MESSAGES_IN_THREADS
            )
        if channel.thread is not None and channel.thread.locked:
            self._require(channel, Permission.MANAGE_THREADS)
        if files:
            self._require(channel, Permission.ATTACH_FILES)
        self.here = channel
        message = build_message(self.world, channel, self.user, at)
        if reply_to is not None:
            set_reference(message, reply_to)
        return post_message(self.world, message, Draft(content=check_content(text), files=list(files)))

    async def dms(self, text: str = "", *, files: Sequence[File] = ()) -> Message:
        """Write to the app in private."""
        return await self.says(self.world.dm(self.user), text, files=files)

    async def edits(self, message: Message, text: str) -> Message:
        if message.author is not self.user:
            raise ActionUnavailable("only the author can edit a message")
        return edit_message(self.world, message, Draft(content=check_content(text)))

    async def deletes(self, message: Message) -> None:
        if message.seen_by == self.user.id:
            message.deleted = True
            message.channel.messages.pop(message.id, None)
            return
        if message.author is not self.user:
            self._require(message.channel, Permission.MANAGE_MESSAGES)
        delete_messages(self.world, [message])

    async def purges(self, messages: Sequence[Message]) -> None:
        """Delete many at once, as moderation bots do."""
        self._require(messages[0].channel, Permission.MANAGE_MESSAGES)
        delete_messages(self.world, messages, bulk=True)

    async def reacts(self, message: Message, emoji: str) -> None:
        self._require(message.channel, Permission.READ_MESSAGE_HISTORY, Permission.ADD_REACTIONS)
        add_reaction(self.world, message, self.user, emoji)

    async def unreacts(self, message: Message, emoji: str) -> None:
        remove_reaction(self.world, message, self.user, emoji)

    # Threads.

    async def opens_thread(self, start: Message | Channel, name: str, *, private: bool = False) -> Channel:
        """Begin a thread at a message, or a private one in a channel."""
        if isinstance(start, Message):
            self._require(start.channel, Permission.CREATE_PUBLIC_THREADS)
            self.here = create_thread_from(self.world, start, name, self.user)
            return self.here
        self._require(start, Permission.CREATE_PRIVATE_THREADS if private else Permission.CREATE_PUBLIC_THREADS)
        kind = ChannelType.PRIVATE_THREAD if private else ChannelType.PUBLIC_THREAD
        self.here = create_thread_in(self.world, start, kind, name, self.user)
        return self.here

    async def posts(self, forum: Channel, title: str, text: str, *, files: Sequence[File] = ()) -> Message:
        """A post in a forum; its thread is the message's channel."""
        self._require(forum, Permission.SEND_MESSAGES)
        self.here, message = create_forum_post(
            self.world, forum, title, self.user, Draft(content=text, files=list(files))
        )
        return message

    async def joins_thread(self, thread: Channel) -> None:
        self._require(thread)
        add_members(self.world, thread, [self.user.id])

    async def leaves_thread(self, thread: Channel) -> None:
        remove_members(self.world, thread, [self.user.id])

    async def adds(self, thread: Channel, *people: Person) -> None:
        """Take people into a thread."""
        self._require(thread, Permission.SEND_MESSAGES_IN_THREADS)
        invite_members(self.world, thread, self.user, [person.user for person in people])

    async def removes_from_thread(self, thread: Channel, person: Person) -> None:
        remove_members(self.world, thread, [person.user.id])

    # The app's commands, menus and buttons.

    async def slash(self, command: str, *, here: Channel | None = None, **options: Any) -> Interaction:
        """Use a slash command ("ask", or "kb status" for a sub-command); back when the app has answered at first."""
        return await interaction_client.slash(self, here or self._current_channel(), command, options)

    async def autocompletes(
        self, command: str, option: str, typed: str, *, here: Channel | None = None, **others: Any
    ) -> list[str]:
        """What is offered while an option is typed."""
        return await interaction_client.autocomplete(
            self, here or self._current_channel(), command, (option, typed), others
        )

    async def clicks(self, message: Message, button: str) -> Interaction:
        """Press a button, named by its label, its emoji or its custom id."""
        return await interaction_client.click(self, message, button)

    async def context_menu(self, command: str, target: Message | Person, *, here: Channel | None = None) -> Interaction:
        """Use a command of the menu of a message or of a person."""
        return await interaction_client.menu(self, here or self._current_channel(), command, target)

    async def submits(self, interaction: Interaction, **values: str) -> Interaction:
        """Fill in the form that an interaction opened; values by custom id."""
        return await interaction_client.submit(self, interaction, values)

    def _current_channel(self) -> Channel:
        if self.here is None:
            rooms = [one for one in self.guild.channels.values() if one.kind is ChannelType.TEXT and self.can(one)]
            assert rooms, f"{self.user.name} sees no channel"
            self.here = rooms[0]
        return self.here

    def _require(self, channel: Channel, *powers: Permission) -> None:
        if channel.deleted or not self.can(channel, *powers):
            lacking = [power.name for power in powers if not self.can(channel, power)]
            raise ActionUnavailable(f"{self.user.name} cannot do that in #{channel.name}: {lacking or 'not visible'}")
