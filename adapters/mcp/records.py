"""What the tools return."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, BeforeValidator

from adapters.common.shown_text import Line, Prose, Record
from bot.capabilities.access.hints import list_context_notices, list_end_notices

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.capabilities.graph.requests import SubgraphResult
    from bot.capabilities.results import AnswerEnd, ContextResult, EntityResult
    from engine import ContextRelation, DocumentInfo


def _write_time(time: object) -> object:
    return time.isoformat() if isinstance(time, datetime) else time or ""


class CitedSource(Record):
    """A passage that is cited as [number]."""

    number: int
    title: Line
    label: Line
    link: str
    author: Line
    time: Annotated[str, BeforeValidator(_write_time)]
    text: Prose


class CitedAnswer(BaseModel):
    """An answer with the sources that it cites. `notices`: what it leaves out."""

    answer: Prose
    sources: list[CitedSource]
    incomplete: bool = False
    notices: list[Prose] = []

    @classmethod
    def of(cls, text: str, end: AnswerEnd) -> CitedAnswer:
        """The record of an answer."""
        sources = list(map(CitedSource.of, end.sources))
        return cls(answer=text, sources=sources, incomplete=end.cut_off, notices=list_end_notices(end))


class RetrievedContext(BaseModel):
    """What was retrieved for a question, without an answer. `notices`: what it leaves out."""

    entities: list[dict[str, Prose]]
    relations: list[dict[str, Prose]]
    sources: list[CitedSource]
    notices: list[Prose] = []

    @classmethod
    def of(cls, found: ContextResult) -> RetrievedContext:
        """The record of a context."""
        context = found.context
        return cls(
            entities=[
                {"name": entity.name, "type": entity.type, "text": entity.description} for entity in context.entities
            ],
            relations=_list_relations(context.relations),
            sources=list(map(CitedSource.of, context.sources)),
            notices=list_context_notices(found),
        )


class EntityRecord(BaseModel):
    """An entity with its strongest relations."""

    name: Line
    type: Line
    description: Prose
    relations: list[dict[str, Prose]]

    @classmethod
    def of(cls, found: EntityResult) -> EntityRecord:
        """The record of an entity."""
        entity, relations = found.entity, _list_relations(found.relations)
        return cls(name=entity.name, type=entity.type, description=entity.description, relations=relations)


def _list_relations(relations: Iterable[ContextRelation]) -> list[dict[str, Prose]]:
    return [
        {"source": relation.source, "target": relation.target, "text": relation.description} for relation in relations
    ]


class Neighborhood(BaseModel):
    """Entities around one, with their distance from it, and the relations among them. `has_more`: weaker ones exist."""

    entities: list[dict[str, Prose | int]]
    relations: list[dict[str, Prose]]
    has_more: bool

    @classmethod
    def of(cls, found: SubgraphResult) -> Neighborhood:
        """The record of a subgraph."""
        graph = found.subgraph
        names = {node.key: node.name for node in graph.nodes}
        return cls(
            entities=[
                {"name": node.name, "type": node.type, "distance": node.ring, "text": node.description}
                for node in graph.nodes
            ],
            relations=[
                {"source": names[edge.source], "target": names[edge.target], "text": edge.description}
                for edge in graph.edges
            ],
            has_more=graph.has_more,
        )


class ListedDocument(BaseModel):
    """A document with its state. `uri`: of the resource with its text. `gaps`: what of its file was not read."""

    key: str
    title: Line
    channel: Line
    link: str
    status: str
    uri: str
    gaps: list[Line] = []

    @classmethod
    def of(cls, document: DocumentInfo, uri: str) -> ListedDocument:
        """The record of a document."""
        return cls(
            key=document.key,
            title=document.title,
            channel=document.room,
            link=document.link,
            status=document.status,
            uri=uri,
            gaps=[f"{omission.part}: {omission.reason}" for omission in document.omissions],
        )
