"""A call of a Web API method: its arguments, the table of methods, rate limits, and faults on demand."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tests.support.slack_server.methods import blocks
from tests.support.slack_server.state import SlackError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiohttp import web

    from tests.support.clock import ShiftedClock
    from tests.support.slack_server.server import Server
    from tests.support.slack_server.state import JSON, Channel
    from tests.support.slack_server.workspace import Workspace


CHANNEL_BURST = 5  # posts


@dataclass(slots=True)
class RecordedCall:
    """A call as it came. `outcome`: "ok", an error, or the fault that broke it."""

    method: str
    args: JSON
    at: float
    outcome: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call in progress."""

    slack: Server
    args: JSON

    @property
    def space(self) -> Workspace:
        return self.slack.space

    def text(self, name: str) -> str:
        """An argument as text; empty if it is missing."""
        value = self.args.get(name)
        return "" if value is None else str(value)

    def flag(self, name: str) -> bool:
        return str(self.args.get(name)).lower() in {"1", "true"}

    def number(self, name: str, default: int) -> int:
        return int(self.text(name) or default)

    def items(self, name: str, error: str = "invalid_blocks_format") -> list[JSON]:
        """A list, given as such or as JSON; empty if it is missing."""
        return blocks.parse_list(self.args.get(name), error) or []

    def object(self, name: str) -> JSON | None:
        """An object, given as such or as JSON."""
        value = self.args.get(name)
        return json.loads(value) if isinstance(value, str) else value

    def joined_channel(self, name: str = "channel") -> Channel:
        """The channel of the call, of which the app must be a member."""
        return self.space.joined_channel(self.text(name))

    def writable_channel(self, name: str = "channel") -> Channel:
        """The same, and it must not be archived."""
        channel = self.joined_channel(name)
        if channel.archived:
            raise SlackError("is_archived")
        return channel

    def readable_channel(self, what: Literal["read", "history"]) -> Channel:
        """The channel of the call, which the app must see and have the scope for."""
        channel = self.space.visible_channel(self.text("channel"))
        check_scopes(self.space, (f"{channel.scope_prefix}:{what}",))
        return channel


def check_scopes(space: Workspace, scopes: Sequence[str]) -> None:
    """Raises SlackError unless the app has one of the scopes."""
    if scopes and space.app.scopes.isdisjoint(scopes):
        raise SlackError("missing_scope", needed=scopes[0], provided=",".join(sorted(space.app.scopes)))


@dataclass(frozen=True, slots=True)
class Method:
    """A method. `minute`: calls a minute; one of the `scopes` is needed; `token`: the prefix of its token."""

    run: Callable[[Call], JSON]
    minute: int
    scopes: tuple[str, ...]
    token: str


METHODS: dict[str, Method] = {}


def method(
    name: str, *scopes: str, minute: int, token: str = "xoxb"
) -> Callable[[Callable[[Call], JSON]], Callable[[Call], JSON]]:
    """Add a function to the table of methods."""

    def add(run: Callable[[Call], JSON]) -> Callable[[Call], JSON]:
        METHODS[name] = Method(run, minute, scopes, token)
        return run

    return add


async def read_arguments(request: web.Request) -> tuple[JSON, str]:
    """The arguments of a request, from its query, form or JSON, and its token."""
    args: JSON = dict(request.query)
    if request.content_type == "application/json":
        args |= json.loads(await request.read() or b"{}")
    else:
        args |= {key: value for key, value in (await request.post()).items() if isinstance(value, str)}
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return args, token or str(args.pop("token", ""))


def paginate(rows: Sequence[Any], cursor: str, limit: int) -> tuple[list[Any], str]:
    """A page of rows, and the cursor of the next one."""
    start = int(base64.b64decode(cursor).decode().removeprefix("offset:")) if cursor else 0
    end = start + limit
    return list(rows[start:end]), base64.b64encode(f"offset:{end}".encode()).decode() if end < len(rows) else ""


@dataclass(frozen=True, slots=True)
class RateSettings:
    """Whether calls are limited: a channel takes a post a second, and five at once."""

    on: bool = True


class RateBuckets:
    """A bucket for each method, filled by a minute's calls, and for the posts of each channel."""

    def __init__(self, rates: RateSettings, clock: ShiftedClock) -> None:
        self.rates = rates
        self.clock = clock
        self.limited: list[str] = []
        self._left: dict[str, tuple[float, float]] = {}

    def count_call(self, name: str, minute: int) -> None:
        """Count a call of a method. Raises SlackError with status 429."""
        self._count(name, minute / 60, minute)

    def count_post(self, channel: str) -> None:
        """Count a post into a channel. Raises SlackError with status 429."""
        self._count(f"post {channel}", 1.0, CHANNEL_BURST)

    def _count(self, name: str, per_second: float, most: float) -> None:
        if not self.rates.on:
            return
        now = self.clock.time()
        left, then = self._left.get(name, (most, now))
        left = min(most, left + (now - then) * per_second)
        self._left[name] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            self.limited.append(name)
            raise SlackError("ratelimited", status=429, retry_after=max(1, math.ceil((1 - left) / per_second)))


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure on demand.

    `error` answers with that error; `ratelimited` with 429 and `seconds`; `server` with `status`; `hang` not until
    the server is closed; `reset` cuts the connection before the call is carried out, and `lost` after it; `slow`
    answers after `seconds`; `garbage` with broken JSON, and `strange` with JSON that lacks everything but `ok`.
    """

    kind: Literal["error", "ratelimited", "server", "hang", "reset", "lost", "slow", "garbage", "strange"]
    error: str = "internal_error"
    seconds: float = 1
    status: int = 500


@dataclass(slots=True)
class Faults:
    """Faults in order for each method; "*" is any method, "download" that of files."""

    waiting: defaultdict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, name: str, fault: Fault, times: int = 1) -> None:
        self.waiting[name].extend([fault] * times)

    def pop(self, name: str) -> Fault | None:
        return next((self.waiting[each].popleft() for each in (name, "*") if self.waiting[each]), None)

    def clear(self) -> None:
        self.waiting.clear()
