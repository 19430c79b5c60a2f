"""The fake workspace as a test uses it: people, channels, and what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server import shapes
from tests.support.slack_server.people import Person, Room, SentMessage
from tests.support.slack_server.screen import Screen, build_screen
from tests.support.slack_server.server import Server
from tests.support.slack_server.state import Message
from tests.support.slack_server.workspace import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.slack_server.screen import Entry
    from tests.support.slack_server.state import JSON, Channel, ChannelKind, Kind


class FakeSlack(Server):
    """`async with FakeSlack() as slack: ada = slack.user("Ada"); roof = slack.channel("roof", members=[ada])`."""

    @property
    def bot(self) -> Person:
        """The app as a member of channels."""
        return Person(self, self.space.bot)

    def user(self, name: str, *, kind: Kind = "member", admin: bool = False) -> Person:
        """Somebody of the workspace."""
        return Person(self, self.space.add_user(name, kind=kind, admin=admin))

    def stranger(self, name: str) -> Person:
        """Somebody of another workspace, to be met in shared channels."""
        return Person(self, self.space.add_user(name, team=FOREIGN))

    def robot(self, name: str) -> Person:
        """Another app."""
        user = self.space.add_user(name)
        user.bot_id, user.app_id = self.space.new_id("B"), self.space.new_id("A")
        return Person(self, user)

    def channel(
        self, name: str, *, members: Sequence[Person] = (), kind: ChannelKind = "public", bot: bool = True,
        shared: bool = False,
    ) -> Room:  # fmt: skip
        """A channel with its people; `bot`: the app has been in it for long, and is told nothing now."""
        people = [each.id for each in members] + ([self.space.bot.id] if bot else [])
        channel = self.space.add_channel(name, kind, people, creator=people[0] if people else "")
        channel.shared = shared
        return Room(channel)

    def sees(self, person: Person, room: Room) -> Screen:
        """What somebody has on the screen."""
        if room.id not in self.space.channels:
            return Screen(f"#{room.name} (deleted)", (), is_open=False)
        return build_screen(self, person.user, room.channel)

    def replies(self, person: Person, room: Room, ts: str) -> list[Entry]:
        """What the app said in a thread, as somebody sees it."""
        return [entry for entry in self.sees(person, room).thread(ts) if entry.author == self.space.bot.name]

    def _emit(self, kind: str, channel: Channel, body: JSON) -> None:
        """Life of a channel: of a public one everybody hears, of a private one whoever is in it."""
        event: JSON = {"type": kind, **body, "event_ts": self.space.new_ts()}
        self.notifier.event(event, None if channel.kind == "public" else channel)
        self.space.changed()

    def _kind(self, channel: Channel, what: str) -> str:
        return f"{'channel' if channel.kind == 'public' else 'group'}_{what}"

    async def opens_channel(self, name: str, by: Person) -> Room:
        """A new public channel, without the app."""
        room = self.channel(name, members=[by], bot=False)
        head = {"id": room.id, "name": name, "created": room.channel.created, "creator": by.id}
        self._emit("channel_created", room.channel, {"channel": head})
        return room

    async def renames(self, room: Room, name: str) -> None:
        room.channel.name = name
        head = {"id": room.id, "name": name, "created": room.channel.created}
        self._emit(self._kind(room.channel, "rename"), room.channel, {"channel": head})

    async def archives(self, room: Room, by: Person) -> None:
        room.channel.archived = True
        self._emit(self._kind(room.channel, "archive"), room.channel, {"channel": room.id, "user": by.id})

    async def unarchives(self, room: Room, by: Person) -> None:
        room.channel.archived = False
        self._emit(self._kind(room.channel, "unarchive"), room.channel, {"channel": room.id, "user": by.id})

    async def deletes_channel(self, room: Room) -> None:
        self._emit(self._kind(room.channel, "deleted"), room.channel, {"channel": room.id})
        del self.space.channels[room.id]

    async def converts(self, room: Room, by: Person, *, private: bool = True) -> None:
        """A public channel turns private, or the other way round; its id stays. Slack tells it by a message."""
        room.channel.kind = "private" if private else "public"
        subtype = f"channel_convert_to_{'private' if private else 'public'}"
        self.notifier.system_message(
            room.channel, subtype, by.id, f"made this channel *{'private' if private else 'public'}*"
        )
        self.space.changed()

    async def shares(self, room: Room, stranger: Person) -> None:
        """A channel is shared with the workspace of somebody, who comes in."""
        room.channel.shared = True
        self._emit("channel_shared", room.channel, {"connected_team_id": stranger.user.team, "channel": room.id})
        self.actions.join(room.channel, stranger.user)

    async def unshares(self, room: Room) -> None:
        """The other workspace's people are out again."""
        room.channel.shared = False
        for member in [each for each in room.channel.members if self.space.users[each].team == FOREIGN]:
            self.actions.leave(room.channel, self.space.users[member])
        body = {"previously_connected_team_id": FOREIGN, "channel": room.id, "is_ext_shared": False}
        self._emit("channel_unshared", room.channel, body)

    async def uninstalls(self) -> None:
        """The app is taken out of the workspace: it hears that, and then its tokens are dead."""
        tokens = {"oauth": [], "bot": [self.space.bot.id]}
        self.notifier.event({"type": "tokens_revoked", "tokens": tokens, "event_ts": self.space.new_ts()})
        self.notifier.event({"type": "app_uninstalled", "event_ts": self.space.new_ts()})
        self.space.revoked = "account_inactive"

    async def recreates_app(self) -> None:
        """Another app takes the place of the first one: its bot is another user, who is in no channel."""
        before, app = self.space.bot, self.space.app
        for channel in self.space.channels.values():
            if before.id in channel.members:
                self.actions.leave(channel, before)
        self.space.bot = self.space.add_user(app.name)
        self.space.bot.bot_id, self.space.bot.app_id = self.space.new_id("B"), app.id

    async def revokes(self) -> None:
        """The bot's token is revoked."""
        tokens = {"oauth": [], "bot": [self.space.bot.id]}
        self.notifier.event({"type": "tokens_revoked", "tokens": tokens, "event_ts": self.space.new_ts()})
        self.space.revoked = "token_revoked"

    def expires(self, ts: str) -> None:
        """Slack ends the stream of a message now."""
        for channel in self.space.channels.values():
            stream = channel.messages[ts].stream if ts in channel.messages else None
            if stream is not None:
                stream.started = self.clock.now() - self.limits.life
                self.end_if_expired(channel.messages[ts])

    def redelivers(self, kind: str = "") -> None:
        """Deliver the last event (of a kind) once more, with its event_id, as if nobody had acknowledged it."""
        told = [each for each in self.socket.deliveries if each.kind == "events_api"]
        self.socket.redeliver([each for each in told if kind in {"", each.payload["event"]["type"]}][-1])

    async def webhook_says(self, room: Room, name: str, text: str) -> SentMessage:
        """An old integration writes: under any name, with no user behind it."""
        message = Message(self.space.new_ts(), room.id, self.robot(name).id, text, subtype="bot_message")
        message.extra = {"username": name}
        return SentMessage(room, self.actions.post(room.channel, message))

    def user_shape(self, person: Person) -> JSON:
        """Somebody as users.info tells it."""
        return shapes.user(self.space, person.user)
