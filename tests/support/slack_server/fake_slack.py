"""The fake workspace for tests: its people and channels, and changes by administrators and by Slack itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server.people import Person, Room, SentMessage
from tests.support.slack_server.screen import Screen, build_screen
from tests.support.slack_server.server import Server
from tests.support.slack_server.state import Message
from tests.support.slack_server.workspace import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.slack_server.screen import Entry
    from tests.support.slack_server.state import ChannelKind, Kind


class FakeSlack(Server):
    """`async with FakeSlack() as slack: ada = slack.user("Ada"); roof = slack.channel("roof", members=[ada])`."""

    @property
    def bot(self) -> Person:
        """The app as a member of channels."""
        return Person(self, self.space.bot)

    def user(self, name: str, *, kind: Kind = "member", admin: bool = False) -> Person:
        """A person of the workspace."""
        return Person(self, self.space.add_user(name, kind=kind, admin=admin))

    def stranger(self, name: str) -> Person:
        """A person of another workspace, for shared channels."""
        return Person(self, self.space.add_user(name, team=FOREIGN))

    def robot(self, name: str) -> Person:
        """Another app."""
        return Person(self, self.space.add_robot(name))

    def channel(
        self,
        name: str,
        *,
        members: Sequence[Person] = (),
        kind: ChannelKind = "public",
        bot: bool = True,
        shared: bool = False,
    ) -> Room:
        """A channel with its people; `bot`: the app has been in it for long, so no event is sent now."""
        people = [member.id for member in members] + ([self.space.bot.id] if bot else [])
        channel = self.space.add_channel(name, kind, people)
        channel.shared = shared
        return Room(channel)

    # Screens.

    def sees(self, person: Person, room: Room) -> Screen:
        """What a person has on the screen."""
        if room.id not in self.space.channels:
            return Screen(f"#{room.name} (deleted)", (), is_open=False)
        return build_screen(self, person.user, room.channel)

    def replies(self, person: Person, room: Room, ts: str) -> list[Entry]:
        """The app's messages in a thread, as a person sees them."""
        return [entry for entry in self.sees(person, room).thread(ts) if entry.author == self.space.bot.name]

    # Changes of channels and of the app.

    async def archives(self, room: Room, by: Person) -> None:
        room.channel.archived = True
        self.changes.emit_lifecycle("archive", room.channel, user=by.id)

    async def deletes_channel(self, room: Room) -> None:
        self.changes.emit_lifecycle("deleted", room.channel)
        del self.space.channels[room.id]

    async def converts(self, room: Room, by: Person, *, private: bool = True) -> None:
        """Make a public channel private, or the reverse; its id stays. Slack sends a message about it."""
        room.channel.kind = "private" if private else "public"
        self.changes.emit_notice(
            room.channel, f"channel_convert_to_{room.channel.kind}", by.id, f"made this channel *{room.channel.kind}*"
        )

    async def shares(self, room: Room, stranger: Person) -> None:
        """Share a channel with the workspace of a stranger, who joins."""
        room.channel.shared = True
        self.changes.emit_lifecycle("shared", room.channel, connected_team_id=FOREIGN)
        self.changes.join(room.channel, stranger.user)

    async def unshares(self, room: Room) -> None:
        """End that; the strangers leave."""
        room.channel.shared = False
        for member in [each for each in room.channel.members if self.space.users[each].team == FOREIGN]:
            self.changes.leave(room.channel, self.space.users[member])
        self.changes.emit_lifecycle("unshared", room.channel, previously_connected_team_id=FOREIGN)

    async def uninstalls(self) -> None:
        """Uninstall the app from the workspace: it gets two last events, and its tokens stop working."""
        self.changes.emit("tokens_revoked", {"tokens": {"oauth": [], "bot": [self.space.bot.id]}})
        self.changes.emit("app_uninstalled", {})
        self.space.revoked = "account_inactive"

    async def recreates_app(self) -> None:
        """Replace the app by another one, whose bot is a new user without channels."""
        before, app = self.space.bot, self.space.app
        for channel in self.space.channels.values():
            self.changes.leave(channel, before)
        self.space.bot = self.space.add_robot(app.name, app.id)

    def expires(self, ts: str) -> None:
        """Let Slack end the stream of a message now."""
        for channel in self.space.channels.values():
            message = channel.messages.get(ts)
            if message is not None and message.stream is not None:
                message.stream.started = self.clock.time() - self.limits.life
                self.end_if_expired(message)

    def redelivers(self, kind: str = "") -> None:
        """Deliver the last event (of a kind) again, with its event_id, as if it had not been acknowledged."""
        events = [delivery for delivery in self.socket.deliveries if delivery.kind == "events_api"]
        self.socket.redeliver([event for event in events if kind in {"", event.payload["event"]["type"]}][-1])

    async def webhook_says(self, room: Room, name: str, text: str) -> SentMessage:
        """Post as an incoming webhook: under any name, without a user."""
        message = Message(self.space.new_ts(), room.id, self.robot(name).id, text, subtype="bot_message")
        message.extra = {"username": name}
        return SentMessage(room, self.changes.post(room.channel, message))
