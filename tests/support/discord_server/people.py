"""People at their screens: they talk, edit, delete, react, open threads, and use the app's commands and buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.discord_server import interacting
from tests.support.discord_server.actions import change, fresh, react, refer, remove, say, unreact
from tests.support.discord_server.drafts import Draft, check_content
from tests.support.discord_server.model import Channel, File, Guild, Interaction, Kind, Member, Message, User
from tests.support.discord_server.permissions import Can
from tests.support.discord_server.thread_routes import post_in, take_in, thread_from, thread_in
from tests.support.discord_server.threads import join, leave

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tests.support.discord_server.world import World


class Cannot(AssertionError):
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

    def can(self, channel: Channel, *powers: Can) -> bool:
        have = self.world.powers(self.user, channel)
        return Can.VIEW_CHANNEL in have and all(power in have for power in powers)

    def enters(self, channel: Channel) -> Person:
        """Look at a channel."""
        self._must(channel)
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
            self._must(channel, Can.SEND_MESSAGES if channel.thread is None else Can.SEND_MESSAGES_IN_THREADS)
        if channel.thread is not None and channel.thread.locked:
            self._must(channel, Can.MANAGE_THREADS)
        if files:
            self._must(channel, Can.ATTACH_FILES)
        self.here = channel
        message = fresh(self.world, channel, self.user, at)
        if reply_to is not None:
            refer(message, reply_to)
        return say(self.world, message, Draft(content=check_content(text), files=list(files)))

    async def dms(self, text: str = "", *, files: Sequence[File] = ()) -> Message:
        """Write to the app in private."""
        return await self.says(self.world.dm(self.user), text, files=files)

    async def edits(self, message: Message, text: str) -> Message:
        if message.author is not self.user:
            raise Cannot("only the author can edit a message")
        return change(self.world, message, Draft(content=check_content(text)))

    async def deletes(self, message: Message) -> None:
        if message.seen_by == self.user.id:
            message.deleted = True
            message.channel.messages.pop(message.id, None)
            return
        if message.author is not self.user:
            self._must(message.channel, Can.MANAGE_MESSAGES)
        remove(self.world, [message])

    async def purges(self, messages: Sequence[Message]) -> None:
        """Delete many at once, as moderation bots do."""
        self._must(messages[0].channel, Can.MANAGE_MESSAGES)
        remove(self.world, messages, bulk=True)

    async def reacts(self, message: Message, emoji: str) -> None:
        self._must(message.channel, Can.READ_MESSAGE_HISTORY, Can.ADD_REACTIONS)
        react(self.world, message, self.user, emoji)

    async def unreacts(self, message: Message, emoji: str) -> None:
        unreact(self.world, message, self.user, emoji)

    # Threads.

    async def opens_thread(self, start: Message | Channel, name: str, *, private: bool = False) -> Channel:
        """Begin a thread at a message, or a private one in a channel."""
        if isinstance(start, Message):
            self._must(start.channel, Can.CREATE_PUBLIC_THREADS)
            self.here = thread_from(self.world, start, name, self.user)
            return self.here
        self._must(start, Can.CREATE_PRIVATE_THREADS if private else Can.CREATE_PUBLIC_THREADS)
        kind = Kind.PRIVATE_THREAD if private else Kind.PUBLIC_THREAD
        self.here = thread_in(self.world, start, kind, name, self.user)
        return self.here

    async def posts(self, forum: Channel, title: str, text: str, *, files: Sequence[File] = ()) -> Message:
        """A post in a forum; its thread is the message's channel."""
        self._must(forum, Can.SEND_MESSAGES)
        self.here, message = post_in(self.world, forum, title, self.user, Draft(content=text, files=list(files)))
        return message

    async def joins_thread(self, thread: Channel) -> None:
        self._must(thread)
        join(self.world, thread, [self.user.id])

    async def leaves_thread(self, thread: Channel) -> None:
        leave(self.world, thread, [self.user.id])

    async def adds(self, thread: Channel, *people: Person) -> None:
        """Take people into a thread."""
        self._must(thread, Can.SEND_MESSAGES_IN_THREADS)
        take_in(self.world, thread, self.user, [person.user for person in people])

    async def puts_out(self, thread: Channel, person: Person) -> None:
        leave(self.world, thread, [person.user.id])

    # The app's commands, menus and buttons.

    async def slash(self, command: str, *, here: Channel | None = None, **options: Any) -> Interaction:
        """Use a slash command ("ask", or "kb status" for a sub-command); back when the app has answered at first."""
        return await interacting.slash(self, here or self._looking(), command, options)

    async def autocompletes(
        self, command: str, option: str, typed: str, *, here: Channel | None = None, **others: Any
    ) -> list[str]:
        """What is offered while an option is typed."""
        return await interacting.autocomplete(self, here or self._looking(), command, (option, typed), others)

    async def clicks(self, message: Message, button: str) -> Interaction:
        """Press a button, named by its label, its emoji or its custom id."""
        return await interacting.click(self, message, button)

    async def context_menu(self, command: str, target: Message | Person, *, here: Channel | None = None) -> Interaction:
        """Use a command of the menu of a message or of a person."""
        return await interacting.menu(self, here or self._looking(), command, target)

    async def submits(self, interaction: Interaction, **values: str) -> Interaction:
        """Fill in the form that an interaction opened; values by custom id."""
        return await interacting.submit(self, interaction, values)

    def _looking(self) -> Channel:
        if self.here is None:
            rooms = [one for one in self.guild.channels.values() if one.kind is Kind.TEXT and self.can(one)]
            assert rooms, f"{self.user.name} sees no channel"
            self.here = rooms[0]
        return self.here

    def _must(self, channel: Channel, *powers: Can) -> None:
        if channel.deleted or not self.can(channel, *powers):
            lacking = [power.name for power in powers if not self.can(channel, power)]
            raise Cannot(f"{self.user.name} cannot do that in #{channel.name}: {lacking or 'not visible'}")
