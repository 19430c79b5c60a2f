"""Access tokens of programs: their form and what they permit; check, create, list and revoke them; end logins.

A token is `tl_<id>_<secret>`. The secret has 256 random bits, so a plain hash of it is enough; only that is stored.
"""

from __future__ import annotations

import hmac
import re
import secrets
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.capabilities.results import Completed, TokenChecked, TokenCreated, TokenList
from bot.errors import BadSetting, InvalidToken
from bot.store import PERMISSIONS, Subject
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from bot.capabilities.access.requests import CheckToken, CreateToken, ListTokens, LogIn, LogOut, RevokeToken
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.results import OperationResult
    from bot.store import Permission


PREFIX = "tl"
ID_BYTES, SECRET_BYTES = 5, 32
_ID = re.compile(rf"[0-9a-f]{{{2 * ID_BYTES}}}")
LIST_HINT = "`threadlore token list` shows their ids."


def generate_token() -> tuple[str, str, str]:
    """A new token: its id, its full text, and the hash of its secret."""
    id_, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    return id_, f"{PREFIX}_{id_}_{secret}", hash_secret(secret)


def read_bearer(headers: Mapping[str, str]) -> str:
    """The token in the header Authorization. Raises InvalidToken if there is none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.casefold() != "bearer" or not token.strip():
        raise InvalidToken("An access token is missing.")
    return token.strip()


def parse_token(text: str) -> tuple[str, str]:
    """The id and the secret of a token. Raises InvalidToken."""
    prefix, _, rest = text.partition("_")
    id_, _, secret = rest.partition("_")
    if prefix != PREFIX or len(id_) != 2 * ID_BYTES or not secret or not text.isascii():
        raise InvalidToken("This is not an access token.")
    return id_, secret


def find_token_id(text: str) -> str:
    """The id of a token that somebody names by it, or by its full text; empty for another text, which may be secret."""
    with suppress(InvalidToken):
        return parse_token(text.strip())[0]
    return text.strip() if _ID.fullmatch(text.strip()) else ""


def hash_secret(secret: str) -> str:
    """The SHA-256 hash of a secret, in hexadecimal digits."""
    return sha256(secret.encode()).hexdigest()


def matches(secret: str, digest: str) -> bool:
    """Whether a secret has this hash; takes the same time for all secrets."""
    return hmac.compare_digest(hash_secret(secret), digest)


def parse_subject(text: str) -> Subject:
    """The subject of `space:NAME` or `PLATFORM:WORKSPACE:PERSON`. Raises BadSetting."""
    kind, _, rest = text.partition(":")
    if kind == "space" and rest:
        return Subject(space=rest)
    workspace, _, person = rest.partition(":")
    if not (kind and workspace and person) or ":" in person:
        raise BadSetting(f"“{text}” names no person.", hint="Write PLATFORM:WORKSPACE:PERSON, all three as ids.")
    return Subject(kind, workspace, person)


def parse_permissions(words: Iterable[str]) -> tuple[Permission, ...]:
    """The permissions with these names. Raises BadSetting."""
    given = {word.strip().casefold() for word in words}
    if unknown := given - {*PERMISSIONS}:
        raise BadSetting(f"There is no permission “{min(unknown)}”.", hint=f"Permissions: {', '.join(PERMISSIONS)}.")
    return tuple(permission for permission in PERMISSIONS if permission in given)


async def check_token(deps: Deps, _caller: Caller, request: CheckToken) -> AsyncGenerator[OperationResult]:
    """Yield a valid token. Raises InvalidToken."""
    access = (await deps.parts.open()).access
    yield TokenChecked(await access.authenticate(request.token))


async def create_token(deps: Deps, _caller: Caller, request: CreateToken) -> AsyncGenerator[OperationResult]:
    """Create a token, and yield it with its text."""
    lifetime = timedelta(days=request.days) if request.days else None
    access = (await deps.parts.open()).access
    token, text = await access.create_token(
        request.name, request.subject, request.permissions, request.requests_per_minute, lifetime
    )
    yield TokenCreated(token, text)


async def list_tokens(deps: Deps, _caller: Caller, _request: ListTokens) -> AsyncGenerator[OperationResult]:
    """Yield all tokens."""
    access = (await deps.parts.open()).access
    yield TokenList(tuple(await access.list_tokens()))


async def revoke_token(deps: Deps, _caller: Caller, request: RevokeToken) -> AsyncGenerator[OperationResult]:
    """Revoke a token by its id or its full text, which is repeated nowhere. Raises NotFound."""
    access, id_ = (await deps.parts.open()).access, find_token_id(request.id)
    if not id_:
        raise NotFound("This is no id of an access token.", hint=LIST_HINT)
    if not await access.revoke_token(id_):
        raise NotFound(f"There is no access token “{id_}”.", hint=LIST_HINT)
    yield Completed(f"Revoked: {id_}")


async def log_in(deps: Deps, _caller: Caller, request: LogIn) -> AsyncGenerator[OperationResult]:
    """Yield the token of a login. Raises NotPermitted, and PlatformError if the person cannot be looked up."""
    access = (await deps.parts.open()).access
    token, text = await access.log_in(
        request.platform, request.person, request.workspaces, with_guests=request.with_guests
    )
    yield TokenCreated(token, text)


async def log_out(deps: Deps, _caller: Caller, request: LogOut) -> AsyncGenerator[OperationResult]:
    """End a login. Raises InvalidToken."""
    access = (await deps.parts.open()).access
    await access.log_out(request.token)
    yield Completed("Logged out.")
