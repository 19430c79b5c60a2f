"""Records of an explorer of the graph. Entities are identified by their canonical names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.models import Filters, Question

if TYPE_CHECKING:
    from datetime import datetime

    from engine.models import ContextEntity, ContextRelation, Scope, Source


@dataclass(frozen=True, slots=True)
class EntitySummary:
    """An entity in a list. `mentions`, `degree`: its chunks and its relations in the scope's spaces, added up."""

    key: str
    name: str
    type: str
    mentions: int
    degree: int


@dataclass(frozen=True, slots=True)
class SubgraphQuery:
    """What is around an entity: at most `limit` others up to `depth` relations away, the strongest first.

    `types`: of the other entities, empty for all. `since`, `until`: only what passages of that time state.
    """

    name: str
    scope: Scope
    depth: int = 1
    limit: int = 60
    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def to_question(self) -> Question:
        """The question with these filters."""
        return Question(self.name, self.scope, mode="local", filters=Filters(since=self.since, until=self.until))


@dataclass(frozen=True, slots=True)
class SubgraphNode:
    """An entity of a subgraph; `ring` is its distance from the center, `degree` counts all its relations."""

    key: str
    name: str
    type: str
    description: str
    ring: int
    mentions: int
    degree: int


@dataclass(frozen=True, slots=True)
class SubgraphEdge:
    """A relation of two entities, by their keys in alphabetical order. `weight`: the chunks that state it."""

    source: str
    target: str
    keywords: str
    description: str
    weight: int


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Entities, the center first, and the relations between them; both are empty for an unknown name.

    `has_more`: the limit left out further entities. `spaces`: of the entities and relations.
    """

    nodes: tuple[SubgraphNode, ...] = ()
    edges: tuple[SubgraphEdge, ...] = ()
    has_more: bool = False
    spaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatedFact:
    """What chunks state about an entity or a relation; `label` is the name as written there, or the keywords.

    `time`: of the newest of these chunks. `sources`: the numbers of the passages that support it.
    """

    label: str
    type: str
    description: str
    time: datetime | None
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FactProvenance:
    """An entity, or a relation of two, with the facts that it is merged from and their passages.

    `names`: those of the entity as its sources write them. `is_pinned`: a person wrote the description. `spaces`: those
    that state something about it. `has_more`: there are older facts.
    """

    entity: ContextEntity | None
    relation: ContextRelation | None
    names: tuple[str, ...]
    facts: tuple[StatedFact, ...]
    sources: tuple[Source, ...]
    spaces: tuple[str, ...]
    is_pinned: bool = False
    has_more: bool = False
