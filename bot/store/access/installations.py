"""Tables of an app's installations in workspaces, and of the states that led to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.store.database import Database


@dataclass(frozen=True, slots=True)
class InstallationRecord:
    """An installation in a workspace or an organization. `payload`: its tokens, encrypted."""

    workspace: str
    payload: str


class Installations:
    """Installations by platform and workspace; the adapter encrypts and reads the payloads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_all(self, platform: str) -> list[InstallationRecord]:
        """All installations of a platform."""
        rows = await self._database.fetch_all(
            "SELECT workspace, payload FROM installation WHERE platform = ? ORDER BY workspace", (platform,)
        )
        return [InstallationRecord(*row) for row in rows]

    async def save(self, platform: str, record: InstallationRecord) -> None:
        """Add an installation, or replace it."""
        await self._database.execute(
            "INSERT INTO installation VALUES (?, ?, ?)"
            " ON CONFLICT (platform, workspace) DO UPDATE SET payload = excluded.payload",
            (platform, record.workspace, record.payload),
        )

    async def replace(self, platform: str, record: InstallationRecord, payload: str) -> bool:
        """Replace the payload of an installation; false if it changed since it was read."""
        rows = await self._database.execute(
            "UPDATE installation SET payload = ? WHERE platform = ? AND workspace = ? AND payload = ?"
            " RETURNING workspace",
            (payload, platform, record.workspace, record.payload),
        )
        return bool(rows)

    async def delete(self, platform: str, workspace: str) -> None:
        """Delete an installation."""
        await self._database.execute(
            "DELETE FROM installation WHERE platform = ? AND workspace = ?", (platform, workspace)
        )


class InstallationStates:
    """States by which the app was installed, so that none is accepted twice. Times are seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, state: str, expires_at: float, now: float) -> None:
        """Store a state, and delete expired ones."""
        await self._database.execute_all(
            ("DELETE FROM installation_state WHERE expires_at <= ?", (now,)),
            ("INSERT INTO installation_state VALUES (?, ?) ON CONFLICT DO NOTHING", (state, expires_at)),
        )

    async def contains(self, state: str, now: float) -> bool:
        """Whether a state is stored and has not expired."""
        rows = await self._database.fetch_all(
            "SELECT 1 FROM installation_state WHERE state = ? AND expires_at > ?", (state, now)
        )
        return bool(rows)
