"""Look up names while they are typed: of entities, and of the people who wrote messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.boundary import MAX_RESULTS, Closable, check_number, guard_public_methods
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from engine.models import Scope
    from engine.storage.ledger.api import LedgerStore


@guard_public_methods
class NameLookup(Closable):
    """The look-ups of names of an engine, each within a scope."""

    _ledger: LedgerStore

    async def find_names(self, prefix: str, scope: Scope, limit: int = 25) -> list[str]:
        """Names of entities that start with the prefix, the most mentioned first, within the scope's spaces."""
        check_number("limit", limit, 1, MAX_RESULTS)
        start = normalize_name(prefix) or prefix.strip().casefold()  # "1" is not a name, but may start one
        async with self._ledger.snapshot() as view:
            return await view.search.find_names_by_prefix(start, await view.search.resolve_scope(scope), limit)

    async def list_authors(self, scope: Scope) -> list[str]:
        """The names of everybody who wrote something within the scope, in order."""
        async with self._ledger.snapshot() as view:
            return await view.search.list_authors(await view.search.resolve_scope(scope))
