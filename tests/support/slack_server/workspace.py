"""A workspace: its clock, ids and timestamps, and lookups that refuse what the app may not see."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from tests.support.slack_server.state import JSON, Channel, Message, Ping, SlackError, StoredFile, User

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.clock import ShiftedClock
    from tests.support.slack_server.app import App
    from tests.support.slack_server.state import ChannelKind, Kind

TEAM = "T0SMALLC0"
FOREIGN = "T0F0REIGN"
PING = re.compile(r"<!(channel|here|everyone|subteam\^\w+)(?:\|[^>]*)?>|<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")


class Workspace:
    """The state. `changed` is called after every visible change; a free plan hides messages older than `hidden`.

    `tokens`: the bot tokens with the time at which they expire. `organization`: its id, if the workspace is in one;
    `is_org_install`: the app is installed in all of it.
    """

    def __init__(self, app: App, clock: ShiftedClock, changed: Callable[[], None], team: str = TEAM) -> None:
        self.app = app
        self.clock = clock
        self.changed = changed
        self.base = ""
        self.name, self.domain, self.team = "Small & Co", "smallco", team
        self.organization, self.is_org_install = "", False
        self.tokens = {app.bot_token: math.inf} if app.bot_token else {}
        self.users: dict[str, User] = {"USLACKBOT": User("USLACKBOT", "Slackbot", team)}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, StoredFile] = {}
        self.homes: dict[str, JSON] = {}  # views by user
        self.modals: dict[str, JSON] = {}  # open views by user
        self.triggers: dict[str, tuple[str, float]] = {}  # who may be shown a view, and since when
        self.groups: dict[str, str] = {}  # handles of user groups by id
        self.group_members: dict[str, list[str]] = {}
        self.pings: list[Ping] = []
        self.revoked = ""
        self.hidden = "0"
        self._number = 0
        self._last = 0
        self.bot = self.add_robot(app.name, app.id)

    def new_trigger(self, user: str) -> str:
        """An id with which a view can be opened once for somebody."""
        trigger = self.new_id("1")
        self.triggers[trigger] = user, self.clock.time()
        return trigger

    def new_id(self, prefix: str) -> str:
        self._number += 1
        mark = "" if self.team == TEAM else self.team[1:]  # no other workspace has the id
        return f"{prefix}0{self._number:09X}{mark}"

    def new_ts(self) -> str:
        """A timestamp later than every other."""
        self._last = max(int(self.clock.time() * 1_000_000), self._last + 1)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def add_user(self, name: str, *, kind: Kind = "member", admin: bool = False, team: str = "") -> User:
        user = User(self.new_id("U"), name, team or self.team, kind, admin)
        self.users[user.id] = user
        return user

    def add_robot(self, name: str, app_id: str = "") -> User:
        user = self.add_user(name)
        user.bot_id, user.app_id = self.new_id("B"), app_id or self.new_id("A")
        return user

    def add_channel(self, name: str, kind: ChannelKind, members: list[str]) -> Channel:
        id_ = self.new_id("D" if kind == "im" else "C")
        creator = members[0] if members else ""
        channel = self.channels[id_] = Channel(id_, name, kind, int(self.clock.time()), creator, list(members))
        return channel

    def direct(self, user: str) -> Channel:
        """The conversation of a person with the app; opened if there is none."""
        for channel in self.channels.values():
            if channel.kind == "im" and channel.user == user:
                return channel
        channel = self.add_channel("", "im", [user, self.bot.id])
        channel.user = user
        return channel

    def check_token(self, token: str) -> None:
        """Raises SlackError unless this is a valid bot token."""
        if token not in self.tokens:
            raise SlackError("invalid_auth" if token else "not_authed")
        if self.clock.time() >= self.tokens[token]:
            raise SlackError("token_expired")
        if self.revoked:
            raise SlackError(self.revoked)

    def user(self, user: str) -> User:
        if user not in self.users:
            raise SlackError("user_not_found")
        return self.users[user]

    def visible_channel(self, channel: str) -> Channel:
        """A channel that the app can see: a public one, or one of which it is a member."""
        found = self.channels.get(channel)
        if found is None or (found.kind != "public" and self.bot.id not in found.members):
            raise SlackError("channel_not_found")
        return found

    def joined_channel(self, channel: str) -> Channel:
        """A channel of which the app is a member."""
        found = self.visible_channel(channel)
        if self.bot.id not in found.members:
            raise SlackError("not_in_channel")
        return found

    def message(self, channel: Channel, ts: str, error: str = "message_not_found") -> Message:
        if ts not in channel.messages:
            raise SlackError(error)
        return channel.messages[ts]

    def can_read_file(self, file: StoredFile) -> bool:
        """Whether the app uploaded a file or is in a channel that shows it."""
        shown_to_app = any(self.bot.id in self.channels[channel].members for channel, _ in file.places)
        return file.user == self.bot.id or shown_to_app

    def record_pings(self, channel: str, ts: str, text: str) -> None:
        """Record the notifications that a text causes, each once."""
        for group, person in PING.findall(text):
            ping = Ping(channel, ts, group or person)
            if ping not in self.pings:
                self.pings.append(ping)
