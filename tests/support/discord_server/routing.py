"""Which function answers which call, and a call as it came and was answered."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tests.support.discord_server.errors import ApiError, invalid_form

if TYPE_CHECKING:
    from tests.support.discord_server.model import File, Json
    from tests.support.discord_server.world import World


@dataclass(slots=True)
class ApiCall:
    """One request; `status` and `code` are how it was answered (0: not yet; code 0: no refusal)."""

    method: str
    path: str
    template: str = ""
    params: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: Json = field(default_factory=dict)
    files: dict[int, File] = field(default_factory=dict)
    status: int = 0
    code: int = 0
    time: float = 0.0
    answer: Any = None

    def __getitem__(self, name: str) -> str:
        return self.params[name]

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """A number of the query within its bounds."""
        raw = self.query.get(name)
        if raw is None:
            return default
        if not raw.isdigit() or not least <= int(raw) <= most:
            raise invalid_form(name, "NUMBER_TYPE_MAX", f"int value should be between {least} and {most}.")
        return int(raw)

    @property
    def major(self) -> str:
        """What divides the buckets of a route."""
        names = ("channel", "guild", "app", "token")
        return "/".join(self.params[name] for name in names if name in self.params)


@dataclass(frozen=True, slots=True)
class ApiReply:
    """An answer that is not simply 200 with JSON."""

    status: int
    body: Any = None


NOTHING = ApiReply(204)
Handler = Callable[["World", ApiCall], Any]
H = TypeVar("H", bound=Callable[..., Any])


class Routes:
    """The table of routes; the first that fits answers."""

    def __init__(self) -> None:
        self._table: list[tuple[str, str, re.Pattern[str], Handler]] = []

    def route(self, method: str, template: str) -> Callable[[H], H]:
        """Let a function answer a route."""
        pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template))

        def put(handler: H) -> H:
            self._table.append((method, template, pattern, handler))
            return handler

        return put

    def find(self, call: ApiCall) -> Handler:
        """The function for a call, whose template and parameters are filled in."""
        known = False
        for method, template, pattern, handler in self._table:
            match = pattern.fullmatch(call.path)
            if match is not None:
                known = True
                if method == call.method:
                    call.template, call.params = template, match.groupdict()
                    return handler
        if known:
            raise ApiError(0, status=405, message="405: Method Not Allowed")
        raise ApiError(0, status=404, message="404: Not Found")


ROUTES = Routes()
on = ROUTES.route
