"""The state of a workspace, with its ids and timestamps; it changes through `acting`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.slack_server.refusals import SlackError
from tests.support.slack_server.state import Channel, Message, Ping, StoredFile, User, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.slack_server.app import App
    from tests.support.slack_server.clock import Clock
    from tests.support.slack_server.state import ChannelKind, Kind

TEAM = "T0SMALLC0"
FOREIGN = "T0F0REIGN"
PING = re.compile(r"<!(channel|here|everyone|subteam\^\w+)(?:\|[^>]*)?>|<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")


class Workspace:
    """`changed` is called whenever anything may look different than before.

    `hidden`: what is older than that (a ts) a plan without fee does not show.
    """

    def __init__(self, app: App, clock: Clock, changed: Callable[[], None]) -> None:
        self.app = app
        self.clock = clock
        self.changed = changed
        self.base = ""
        self.name, self.domain, self.team = "Small & Co", "smallco", TEAM
        self.users: dict[str, User] = {"USLACKBOT": User("USLACKBOT", "Slackbot", TEAM)}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, StoredFile] = {}
        self.views: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self.groups: dict[str, str] = {}  # user groups: their handles by id
        self.pings: list[Ping] = []
        self.revoked = ""
        self.hidden = "0"
        self._number = 0
        self._last = 0
        self.bot = self.add_user(app.name)
        self.bot.bot_id, self.bot.app_id = self.new_id("B"), app.id

    def new_id(self, prefix: str) -> str:
        """An id as Slack's are: a letter and ten of capitals and digits."""
        self._number += 1
        return f"{prefix}0{self._number:09X}"

    def new_ts(self) -> str:
        """A new timestamp, later than every other."""
        self._last = max(int(self.clock.now() * 1_000_000), self._last + 1)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def add_user(self, name: str, *, kind: Kind = "member", admin: bool = False, team: str = TEAM) -> User:
        user = User(self.new_id("U"), name, team, kind, admin)
        self.users[user.id] = user
        return user

    def add_channel(self, name: str, kind: ChannelKind, members: list[str], creator: str = "") -> Channel:
        prefix = "D" if kind == "im" else "C"
        channel = Channel(self.new_id(prefix), name, kind, int(self.clock.now()), creator, list(members))
        self.channels[channel.id] = channel
        return channel

    def direct(self, user: str) -> Channel:
        """The conversation of a person with the app; opened if there is none."""
        for channel in self.channels.values():
            if channel.kind == "im" and channel.user == user:
                return channel
        channel = self.add_channel("", "im", [user, self.bot.id])
        channel.user = user
        return channel

    def user(self, user: str) -> User:
        if user not in self.users:
            raise SlackError("user_not_found")
        return self.users[user]

    def visible_channel(self, channel: str) -> Channel:
        """A channel that the app can see: a public one, or one it is in. Names with # work as well."""
        found = self.channels.get(channel) or next(
            (each for each in self.channels.values() if f"#{each.name}" == channel and each.kind != "im"), None
        )
        if found is None or (found.kind != "public" and self.bot.id not in found.members):
            raise SlackError("channel_not_found")
        return found

    def joined_channel(self, channel: str) -> Channel:
        """A channel that the app is in."""
        found = self.visible_channel(channel)
        if self.bot.id not in found.members:
            raise SlackError("not_in_channel")
        return found

    def message(self, channel: Channel, ts: str, error: str = "message_not_found") -> Message:
        if ts not in channel.messages:
            raise SlackError(error)
        return channel.messages[ts]

    def record_pings(self, channel: str, ts: str, text: str) -> None:
        """Note whom a text would notify."""
        for group, person in PING.findall(text):
            ping = Ping(channel, ts, group or person)
            if ping not in self.pings:
                self.pings.append(ping)
