"""The browser of a person who installs the app: it follows no redirect by itself, and keeps the cookies."""

from __future__ import annotations

from dataclasses import dataclass, field
from http.cookies import SimpleCookie

import aiohttp


@dataclass(frozen=True, slots=True)
class Page:
    """What a server answered."""

    status: int
    location: str
    text: str
    headers: dict[str, str]


@dataclass(slots=True)
class Browser:
    """A browser. Cookies must be for secure connections and hidden from scripts; loopback counts as secure."""

    cookies: dict[str, str] = field(default_factory=dict)

    async def open(self, url: str) -> Page:
        """Open an address."""
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.get(url, headers=sent, allow_redirects=False) as response,
        ):
            for line in response.headers.getall("Set-Cookie", []):
                self._keep(line)
            location = response.headers.get("Location", "")
            return Page(response.status, location, await response.text(), dict(response.headers))

    def _keep(self, line: str) -> None:
        for name, morsel in SimpleCookie(line).items():
            assert morsel["secure"]
            assert morsel["httponly"]
            if morsel["expires"].startswith("Thu, 01 Jan 1970") or morsel["max-age"] == "0":
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.value
