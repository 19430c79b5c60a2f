"""Repository of entities that may be the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.ledger.records.query_results import CandidatePair, ComparedEntity, JoinedName, ScopeIds


class Duplicates(Protocol):
    """Pairs of entities of one space that may be the same, and names that are joined automatically."""

    async def list_uncompared(self, limit: int) -> list[ComparedEntity]:
        """The oldest entities that are not compared yet and not stale."""

    async def count_uncompared(self, scope_ids: ScopeIds) -> int:
        """The number of entities in the scope's spaces that are not compared yet."""

    async def find_similar_names(self, entities: Sequence[ComparedEntity]) -> dict[int, list[ComparedEntity]]:
        """For each entity a few of its space with similar names, by id."""

    async def load_names(self, ids: Sequence[int]) -> list[ComparedEntity]:
        """The canonical names of these entities; missing ones are left out."""

    async def save_candidates(
        self, compared: Sequence[ComparedEntity], pairs: Sequence[tuple[int, int, float, float]]
    ) -> None:
        """Save pairs (a, b, similarity, score), and record that entities were compared."""

    async def list_candidates(self, scope_ids: ScopeIds, limit: int) -> list[CandidatePair]:
        """The most likely pairs in the scope's spaces that no person has separated."""

    async def list_joined_names(self, scope_ids: ScopeIds, limit: int) -> list[JoinedName]:
        """The names in the scope's spaces that are joined automatically."""
