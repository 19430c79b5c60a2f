"""Rate limits, and faults that a test asks for: calls that fail, hang, are cut, or are done but never answered."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tests.support.discord_server.errors import ApiError

if TYPE_CHECKING:
    from engine import Clock
    from tests.support.discord_server.routing import ApiCall

Trouble = Literal["status", "hang", "reset", "lost"]


@dataclass(slots=True)
class Fault:
    """What happens to the next `times` calls of a route.

    `status`: refused with that status and code; `hang`: never answered; `reset`: cut before it is done; `lost`: done,
    then cut. For a 429, `seconds` is retry_after; `via` False omits the header that Discord's own refusals have.
    """

    method: str
    template: str
    kind: Trouble = "status"
    status: int = 500
    code: int = 0
    seconds: float = 0.05
    times: int = 1
    via: bool = True

    def matches(self, call: ApiCall) -> bool:
        """Whether this call fails; counts it."""
        if self.times <= 0 or self.method not in {"*", call.method} or self.template not in {"*", call.template}:
            return False
        self.times -= 1
        return True

    def refusal(self) -> ApiError:
        """The response of a `status` fault."""
        if self.status == 429:
            return RateLimited(self.seconds, rate_headers({}, self.seconds, "shared") if self.via else {})
        return ApiError(self.code, status=self.status, message="" if self.code else f"{self.status}: scripted")


class RateLimited(ApiError):
    """A refusal for too many calls."""

    def __init__(self, wait: float, headers: dict[str, str], *, everywhere: bool = False) -> None:
        super().__init__(0, status=429, message="You are being rate limited.")
        self.headers = headers
        self._limit = {"retry_after": round(wait, 3), "global": everywhere}

    def body(self) -> dict[str, Any]:
        return super().body() | self._limit


def rate_headers(headers: dict[str, str], wait: float, scope: str) -> dict[str, str]:
    """The headers of a 429."""
    return headers | {"Via": "1.1 google", "Retry-After": str(max(1, round(wait))), "X-RateLimit-Scope": scope}


@dataclass(frozen=True, slots=True)
class RateRule:
    """At most `limit` calls in `per` seconds from the first."""

    limit: int
    per: float


class RateLimiter:
    """Counts calls; a test may add `rules` (per route and major parameter) and change `overall`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.rules: dict[tuple[str, str], RateRule] = {}
        self.overall = RateRule(50, 1.0)
        self._windows: dict[str, tuple[float, int]] = {}

    def count_call(self, call: ApiCall, *, overall: bool = True) -> dict[str, str]:
        """Count a call and return its headers. Raises RateLimited. `overall`: interaction endpoints have no limit."""
        if overall and (used := self._use("*", self.overall))[0] < 0:
            headers = rate_headers({"X-RateLimit-Global": "true"}, used[1], "global")
            raise RateLimited(used[1], headers, everywhere=True)
        rule = self.rules.get((call.method, call.template))
        if rule is None:
            return {}
        left, reset = self._use(f"{call.method} {call.template} {call.major}", rule)
        headers = {
            "X-RateLimit-Limit": str(rule.limit),
            "X-RateLimit-Remaining": str(max(0, left)),
            "X-RateLimit-Reset": f"{self._clock.time() + reset:.3f}",
            "X-RateLimit-Reset-After": f"{reset:.3f}",
            "X-RateLimit-Bucket": hashlib.md5(f"{call.method} {call.template}".encode()).hexdigest(),
        }
        if left < 0:
            raise RateLimited(reset, rate_headers(headers, reset, "user"))
        return headers

    def _use(self, key: str, rule: RateRule) -> tuple[int, float]:
        """The calls left (negative: refused) and the seconds until the window ends."""
        now = self._clock.monotonic()
        start, used = self._windows.get(key, (now, 0))
        if now - start >= rule.per:
            start, used = now, 0
        self._windows[key] = start, min(used + 1, rule.limit)
        return rule.limit - used - 1, start + rule.per - now
