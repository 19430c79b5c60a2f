"""One call of a Web API method: its arguments, and what a method may ask of them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.slack_server import limits
from tests.support.slack_server.refusals import SlackError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiohttp import web

    from tests.support.slack_server.server import Server
    from tests.support.slack_server.state import JSON, Channel
    from tests.support.slack_server.workspace import Workspace


@dataclass(slots=True)
class RecordedCall:
    """A call as it came, and what became of it: "ok", an error, or the fault that struck it."""

    method: str
    args: JSON
    at: float
    outcome: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call under way."""

    slack: Server
    method: str
    args: JSON

    @property
    def space(self) -> Workspace:
        return self.slack.space

    def text(self, name: str) -> str:
        """An argument as text; empty if it is missing."""
        value = self.args.get(name)
        if isinstance(value, (dict, list)):
            raise SlackError("invalid_arguments", f"must be a string [json-pointer:/{name}]")
        return "" if value is None else str(value)

    def require(self, name: str) -> str:
        if not (value := self.text(name)):
            raise SlackError("invalid_arguments", f"missing required field: {name}")
        return value

    def flag(self, name: str) -> bool | None:
        """A truth value; None if it is missing."""
        value = self.args.get(name)
        return None if value is None else str(value).lower() in {"1", "true"}

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        if value and not value.lstrip("-").isdigit():
            raise SlackError("invalid_arguments", f"must be an integer [json-pointer:/{name}]")
        return int(value) if value else default

    def items(self, name: str, error: str = "invalid_blocks_format") -> list[JSON] | None:
        """A list, given as such or as JSON."""
        return limits.parse_list(self.args.get(name), error)

    def object(self, name: str) -> JSON | None:
        """An object, given as such or as JSON."""
        value = self.args.get(name)
        if isinstance(value, str) and value:
            try:
                value = json.loads(value)
            except ValueError:
                raise SlackError("invalid_arguments", f"invalid JSON [json-pointer:/{name}]") from None
        if value is not None and not isinstance(value, dict):
            raise SlackError("invalid_arguments", f"must be an object [json-pointer:/{name}]")
        return value

    def seen(self, name: str = "channel") -> Channel:
        """The channel of the call, if the app can see it."""
        return self.space.visible_channel(self.text(name))

    def inside(self, name: str = "channel") -> Channel:
        """The channel of the call, if the app is in it."""
        return self.space.joined_channel(self.text(name))

    def writable(self, name: str = "channel") -> Channel:
        """The channel of the call, if the app may write there."""
        channel = self.inside(name)
        if channel.archived:
            raise SlackError("is_archived")
        return channel

    def granted(self, *scopes: str) -> None:
        """Raise unless one of the scopes was granted."""
        if scopes and not self.space.app.scopes.intersection(scopes):
            raise missing_scope_error(self.space, scopes)


def missing_scope_error(space: Workspace, scopes: Sequence[str]) -> SlackError:
    return SlackError("missing_scope", needed=scopes[0], provided=",".join(sorted(space.app.scopes)))


@dataclass(frozen=True, slots=True)
class Method:
    """How a method is run. `minute`: calls a minute; `scopes`: one of them is needed; `token`: which kind it takes."""

    run: Callable[[Call], JSON]
    minute: int
    scopes: tuple[str, ...]
    token: str


METHODS: dict[str, Method] = {}


def method(
    name: str, *scopes: str, minute: int, token: str = "xoxb"
) -> Callable[[Callable[[Call], JSON]], Callable[[Call], JSON]]:
    """Make a function a method of the Web API."""

    def named(run: Callable[[Call], JSON]) -> Callable[[Call], JSON]:
        METHODS[name] = Method(run, minute, scopes, token)
        return run

    return named


async def arguments(request: web.Request) -> tuple[JSON, str]:
    """What was sent, wherever it stands (query, form or JSON), and the token."""
    args: JSON = dict(request.query)
    if request.content_type == "application/json":
        try:
            body = json.loads(await request.read() or b"{}")
        except ValueError:
            raise SlackError("invalid_json") from None
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        args |= body
    elif request.content_type in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        args |= {key: value for key, value in (await request.post()).items() if isinstance(value, str)}
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    given = args.pop("token", "")
    return args, token if scheme == "Bearer" and token else str(given)


def paginate(rows: Sequence[Any], cursor: str, limit: int) -> tuple[list[Any], str]:
    """A page of rows, and the cursor of the next one."""
    start = 0
    if cursor:
        try:
            start = int(base64.b64decode(cursor, validate=True).decode().removeprefix("offset:"))
        except ValueError:
            raise SlackError("invalid_cursor") from None
    page = list(rows[start : start + limit])
    after = start + limit
    return page, base64.b64encode(f"offset:{after}".encode()).decode() if after < len(rows) else ""
