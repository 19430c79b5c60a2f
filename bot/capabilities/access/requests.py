"""Requests about access tokens themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.store import Permission, Subject  # noqa: TC001  - the socket reads the fields' types at run time


@dataclass(frozen=True, slots=True)
class CheckToken:
    """Check that an access token is valid, which counts as no request of it."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CreateToken:
    """Create an access token. `days`: how long it lasts; 0 until it is revoked."""

    name: str
    subject: Subject
    permissions: tuple[Permission, ...]
    requests_per_minute: int
    days: int = 0


@dataclass(frozen=True, slots=True)
class ListTokens:
    """List all access tokens."""


@dataclass(frozen=True, slots=True)
class RevokeToken:
    """Revoke an access token by its id, or by its full text."""

    id: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class LogIn:
    """Create a token for a person whom their platform has identified, in one of these workspaces.

    `with_guests`: guests of them may log in, too.
    """

    platform: str
    person: str
    workspaces: tuple[str, ...]
    with_guests: bool = False


@dataclass(frozen=True, slots=True)
class LogOut:
    """Revoke the token of a login."""

    token: str = field(repr=False)


TokenRequest = CheckToken | CreateToken | ListTokens | RevokeToken | LogIn | LogOut
