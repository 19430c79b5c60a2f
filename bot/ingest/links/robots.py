"""Decide by a robots.txt whether a page may be read (RFC 9309). Pure; the time is linear in what the server sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from bot.errors import PageNotRead

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_RULES = 5000  # for one program
_ANY = "*"
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_AGENT = re.compile(r"[a-z_-]+|\*")


class Rule(NamedTuple):
    """Whether paths that begin with a pattern may be read. In it `*` is any text, and a last `$` is the end."""

    pattern: str
    is_allowed: bool

    def matches(self, path: str) -> bool:
        """Whether the pattern matches a path."""
        is_whole = self.pattern.endswith("$")
        first, *others = self.pattern.removesuffix("$").split(_ANY)
        if not path.startswith(first):
            return False
        if not others:
            return not is_whole or path == first
        *middle, last = others
        at = len(first)
        for part in middle:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return path.endswith(last, at) if is_whole else last in path[at:]


def parse_robots(text: str, program: str) -> tuple[Rule, ...]:
    """The rules for a program, else those for all. Raises PageNotRead if there are too many."""
    names = {program.lower(), _ANY}
    groups: dict[str, dict[Rule, None]] = {}
    current: set[str] = set()  # of the names to which the rules apply that follow
    previous = ""
    for key, value in _parse_lines(text):
        if key == "user-agent":
            found = _AGENT.match(value.lower())
            named = names.intersection([found[0]] if found else ())
            current = current | named if previous == key else named
            groups.update({name: {} for name in named - groups.keys()})
        elif value:
            rule = Rule(_normalize(value), key == "allow")
            for name in current:
                groups[name][rule] = None
        previous = key
    rules = groups.get(program.lower(), groups.get(_ANY, {}))
    if len(rules) > MAX_RULES:
        raise PageNotRead("The server has too many rules for programs (robots.txt).")
    return tuple(rules)


def may_read(rules: tuple[Rule, ...], url: str) -> bool:
    """Whether the longest rule that matches an address allows it. Without such a rule it is allowed."""
    parts = urlsplit(url)
    path = _normalize((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
    matching = [(len(rule.pattern), rule.is_allowed) for rule in rules if rule.matches(path)]
    return max(matching, default=(0, True))[1]


def _parse_lines(text: str) -> Iterator[tuple[str, str]]:
    """The user agents and rules of a file, without comments and other lines."""
    for line in text.removeprefix("\ufeff").splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        key = key.strip().lower()
        if colon and key in {"user-agent", "allow", "disallow"}:
            yield key, value.strip()


def _normalize(path: str) -> str:
    """A path or pattern in which each character is escaped if it must be, and only then."""
    escaped = quote(path, safe="%/?:@!$&'()*+,;=[]~", errors="replace")
    return _ESCAPE.sub(_unescape, escaped)


def _unescape(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if character in _UNRESERVED else found[0].upper()
