"""Rate limits: a bucket per route and major parameter, and 50 requests a second over all; the headers that say so."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RateRule:
    """So many calls in so many seconds, counted from the first."""

    limit: int
    per: float


@dataclass(slots=True)
class RateWindow:
    """A bucket: when its window began, and what was used of it."""

    start: float
    used: int = 0


RULES: dict[tuple[str, str], RateRule] = {
    ("POST", "/channels/{channel}/messages"): RateRule(5, 5.0),
    ("PATCH", "/channels/{channel}/messages/{message}"): RateRule(5, 5.0),
    ("DELETE", "/channels/{channel}/messages/{message}"): RateRule(5, 1.0),
    ("GET", "/channels/{channel}/messages"): RateRule(5, 1.0),
    ("PUT", "/channels/{channel}/messages/{message}/reactions/{emoji}/@me"): RateRule(1, 0.25),
    ("DELETE", "/channels/{channel}/messages/{message}/reactions/{emoji}/@me"): RateRule(1, 0.25),
    ("POST", "/channels/{channel}/typing"): RateRule(5, 5.0),
    ("POST", "/channels/{channel}/threads"): RateRule(50, 300.0),
    ("POST", "/channels/{channel}/messages/{message}/threads"): RateRule(50, 300.0),
    ("POST", "/webhooks/{app}/{token}"): RateRule(5, 2.0),
    ("PATCH", "/webhooks/{app}/{token}/messages/{message}"): RateRule(5, 2.0),
}


@dataclass(frozen=True, slots=True)
class RateVerdict:
    """What the client is told. `wait` > 0: refused, for so many seconds."""

    headers: dict[str, str]
    wait: float = 0.0
    everywhere: bool = False


class RateLimiter:
    """Counts calls; `rules` and `overall` may be changed by a test, `rules.clear()` lifts the limits of routes."""

    def __init__(self) -> None:
        self.rules = dict(RULES)
        self.overall = RateRule(50, 1.0)
        self._windows: dict[str, RateWindow] = {}

    def count_call(self, method: str, template: str, major: str, *, counted: bool = True) -> RateVerdict:
        """Count one call. `counted`: against the limit over all (interaction endpoints are not)."""
        if counted and (wait := self._use("*", self.overall)[1]) > 0:
            return RateVerdict(refusal({}, wait, "global") | {"X-RateLimit-Global": "true"}, wait, everywhere=True)
        rule = self.rules.get((method, template))
        if rule is None:
            return RateVerdict({})
        left, wait, reset = self._use(f"{method} {template} {major}", rule)
        headers = {
            "X-RateLimit-Limit": str(rule.limit),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset": f"{time.time() + reset:.3f}",
            "X-RateLimit-Reset-After": f"{reset:.3f}",
            "X-RateLimit-Bucket": hashlib.md5(f"{method} {template}".encode()).hexdigest(),
        }
        return RateVerdict(refusal(headers, wait, "user") if wait > 0 else headers, wait)

    def _use(self, key: str, rule: RateRule) -> tuple[int, float, float]:
        """Calls left, seconds to wait (0: allowed), seconds until the window begins anew."""
        now = time.monotonic()
        window = self._windows.get(key)
        if window is None or now - window.start >= rule.per:
            window = self._windows[key] = RateWindow(now)
        reset = window.start + rule.per - now
        if window.used >= rule.limit:
            return 0, reset, reset
        window.used += 1
        return rule.limit - window.used, 0.0, reset


def refusal(headers: dict[str, str], wait: float, scope: str) -> dict[str, str]:
    """The headers of a 429."""
    return headers | {
        "Via": "1.1 google",
        "Retry-After": str(max(1, round(wait))),
        "X-RateLimit-Scope": scope,
    }
