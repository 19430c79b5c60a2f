"""Results of requests to explore the graph."""

from __future__ import annotations

from dataclasses import dataclass

from bot.capabilities.history.requests import HistoryResult
from engine import (  # noqa: TC001  - the socket reads the fields' types at run time
    EntitySummary,
    FactProvenance,
    ManualCorrection,
    Subgraph,
)


@dataclass(frozen=True, slots=True)
class EntityList:
    """Entities that were found, the best match first."""

    entities: tuple[EntitySummary, ...]


@dataclass(frozen=True, slots=True)
class SubgraphResult:
    """What is around an entity."""

    subgraph: Subgraph


@dataclass(frozen=True, slots=True)
class ProvenanceResult:
    """An entity or a relation with its facts and their passages."""

    provenance: FactProvenance


@dataclass(frozen=True, slots=True)
class CorrectionList:
    """Corrections of spaces, and these spaces: whoever asked may correct what is known there."""

    spaces: tuple[str, ...]
    corrections: tuple[ManualCorrection, ...]
    has_more: bool = False


GraphResults = EntityList | SubgraphResult | ProvenanceResult | CorrectionList | HistoryResult
