"""Requests to explore the graph within a scope, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time

from bot.capabilities.history.requests import GetHistory, HistoryResult
from engine import (  # noqa: TC001  - the socket reads the fields' types at run time
    EntitySummary,
    FactProvenance,
    ManualCorrection,
    Subgraph,
)

MAX_NEIGHBORS = 60  # around an entity, unless somebody asks for another number


@dataclass(frozen=True, slots=True)
class SearchEntities:
    """Search entities by the beginning, the words or a similar spelling of a name; no text: the most mentioned."""

    text: str
    limit: int = 20


@dataclass(frozen=True, slots=True)
class GetSubgraph:
    """Get what is around an entity (see SubgraphQuery)."""

    name: str
    depth: int = 1
    limit: int = MAX_NEIGHBORS
    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class GetProvenance:
    """Get the facts of an entity, or of its relation to `other`, each with the passages that state it."""

    name: str
    other: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ListCorrections:
    """List some of the corrections that people made in the scope's spaces, by kind and name."""

    limit: int = 100
    offset: int = 0


GraphRequest = SearchEntities | GetSubgraph | GetProvenance | ListCorrections | GetHistory


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
