"""Claims of stale keys for this process."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.storage.ledger.records import KeyKind, SpaceTurn

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.runtime import Runtime
    from engine.storage.ledger.records import StaleKey


@dataclass(slots=True)
class KeyClaims:
    """Claims chunks, or else names and pairs, of all spaces in turn."""

    runtime: Runtime
    kind: KeyKind
    _last_space: int = 0

    async def claim(self, limit: int, skip: Collection[StaleKey] = ()) -> tuple[StaleKey, ...]:
        """Claim keys that are due, except `skip`."""
        ledger, process, now = self.runtime.ledger, self.runtime.processes.id, self.runtime.clock.time()
        if not await ledger.claims.has_due_keys(self.kind, now, process):
            return ()
        turn = SpaceTurn(process, self._last_space)
        claim = ledger.claims.claim_chunks if self.kind == KeyKind.CHUNK else ledger.claims.claim_profiles
        keys, self._last_space = await claim(limit, now, turn, skip)
        return keys

    async def release(self) -> None:
        """Free all that is claimed, after a failure; if that fails too, only this process can claim it again."""
        with suppress(EngineError):
            await self.runtime.ledger.claims.release_keys(self.kind, self.runtime.processes.id)
