"""Table of access tokens; the secrets themselves are not stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from bot.store.database import parse_rows
from bot.store.models import PERMISSIONS, AccessToken, Subject
from engine.storage.sql.fragments import from_micros, to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store.database import Database, Row

_COLUMNS = (
    "id, name, platform, workspace, person, space, permissions, requests_per_minute, created_at, expires_at, used_at"
)


class AccessTokens:
    """Access tokens by id, with the hashes of their secrets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, token: AccessToken, digest: str) -> None:
        """Store a new token."""
        subject = token.subject
        row = (
            *(token.id, token.name, subject.platform, subject.workspace, subject.person, subject.space),
            *(" ".join(token.permissions), token.requests_per_minute, to_micros(token.created_at)),
            *(to_micros(token.expires_at), None, digest),
        )
        sql = f"INSERT INTO access_token ({_COLUMNS}, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        await self._database.execute(sql, row)

    async def get(self, id_: str) -> tuple[AccessToken, str] | None:
        """A token and the hash of its secret."""
        row = await self._database.fetch_one(f"SELECT {_COLUMNS}, digest FROM access_token WHERE id = ?", (id_,))
        return None if row is None else (_to_token(row), str(row[-1]))

    async def list_all(self) -> list[AccessToken]:
        """All tokens, in the order of their creation."""
        rows = await self._database.fetch_all(f"SELECT {_COLUMNS} FROM access_token ORDER BY created_at, id")
        return parse_rows(rows, _to_token)

    async def record_use(self, id_: str, now: datetime, after: datetime) -> None:
        """Record that a token was used, unless it was also used `after` that time."""
        await self._database.execute(
            "UPDATE access_token SET used_at = ? WHERE id = ? AND coalesce(used_at, 0) < ?",
            (to_micros(now), id_, to_micros(after)),
        )

    async def delete(self, id_: str) -> bool:
        """Delete a token; returns whether it existed."""
        return bool(await self._database.execute("DELETE FROM access_token WHERE id = ? RETURNING id", (id_,)))


def _to_token(row: Row) -> AccessToken:
    id_, name, platform, workspace, person, space, permissions, limit, created, expires, used, *_ = row
    return AccessToken(
        id_,
        name,
        Subject(platform, workspace, person, space),
        tuple(permission for permission in PERMISSIONS if permission in permissions.split()),
        limit,
        cast("datetime", from_micros(created)),
        None if expires is None else from_micros(expires),
        None if used is None else from_micros(used),
    )
