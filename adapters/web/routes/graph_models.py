"""Bodies of requests and responses about the graph and the facts behind it."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  - pydantic reads the fields' types at run time
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Query
from pydantic import AfterValidator, AliasChoices, BaseModel, Field, StringConstraints, model_validator

from adapters.common.shown_text import Line, Prose, Record
from adapters.web.models import MAX_NAME_LENGTH, Body, EntityItem, Instant, Name, Names, RelationItem, SourceItem
from bot.capabilities.graph.requests import MAX_NEIGHBORS, GetSubgraph
from bot.capabilities.requests import AddFact, Hide, Merge, Separate, SetDescription, Split, UndoCorrection
from engine import CorrectionChange, ManualCorrection

if TYPE_CHECKING:
    from bot.capabilities.results import Corrected


MAX_DESCRIPTION_LENGTH = 5000
MAX_RECORD_LENGTH = 200_000  # of a text of a correction, which may have been made elsewhere
MAX_ENTITIES = 200
OptionalName = Annotated[str, Field(max_length=MAX_NAME_LENGTH)]
NameQuery = Annotated[str, Query(min_length=1, max_length=MAX_NAME_LENGTH)]
Excerpts = Annotated[list[Prose], AfterValidator(lambda excerpts: list(filter(None, excerpts)))]


class SubgraphParameters(Body):
    """What is around an entity: of these types, and stated by passages from `since` until `until`."""

    entity: Name
    depth: Annotated[int, Field(ge=1, le=2)] = 1
    limit: Annotated[int, Field(ge=1, le=MAX_ENTITIES)] = MAX_NEIGHBORS
    type: Names = Field(default=[])
    since: Instant | None = None
    until: Instant | None = None

    def to_request(self) -> GetSubgraph:
        """The request of the subgraph, whose scope is that of the token."""
        return GetSubgraph(self.entity, self.depth, self.limit, tuple(self.type), self.since, self.until)


class EntitySummaryItem(Record):
    """An entity in a list: the passages that mention it, and its relations. `key` identifies it, as its name does."""

    key: str
    name: Line
    type: Line
    mentions: int
    relations: Annotated[int, Field(validation_alias=AliasChoices("relations", "degree"))]


class EntitiesBody(Record):
    """Entities that were found, the best match first."""

    entities: list[EntitySummaryItem]


class NodeItem(EntitySummaryItem):
    """An entity of a subgraph; `ring` is its distance from the center, `relations` counts those not shown, too."""

    description: Prose
    ring: int


class EdgeItem(Record):
    """A relation of two entities, by their keys. `weight`: the chunks that state it."""

    source: str
    target: str
    keywords: Line
    description: Prose
    weight: int


class SubgraphBody(Record):
    """Entities, the center first, and the relations between them. `has_more`: the limit left out entities."""

    nodes: list[NodeItem]
    edges: list[EdgeItem]
    has_more: bool


class FactItem(Record):
    """A statement of sources: `label` is the name as written there, or the keywords of a relation."""

    label: Line
    type: Line
    description: Prose
    time: datetime | None
    sources: list[int]


class ProvenanceBody(Record):
    """An entity or a relation with the facts that it is merged from, and the passages that state them.

    `names`: those of the entity as its sources write them. `spaces`: where something is stated about it, for
    corrections. `is_pinned`: a person wrote the description. `has_more`: there are older facts.
    """

    entity: EntityItem | None
    relation: RelationItem | None
    names: list[str]
    facts: list[FactItem]
    sources: list[SourceItem]
    spaces: list[str]
    is_pinned: bool
    has_more: bool


RecordKind = Literal["merge", "separate", "describe", "hide", "split"]


class RecordBody(Body, Record):
    """A correction that is in force: merge (`name` into `other`), separate, hide, describe with these words, or split.

    A split has its rule as description: "type person" or "document KEY".
    """

    kind: RecordKind
    name: Annotated[str, Field(min_length=1, max_length=MAX_RECORD_LENGTH)]
    other: Annotated[str, Field(max_length=MAX_RECORD_LENGTH)] = ""
    description: Annotated[str, Field(max_length=MAX_RECORD_LENGTH)] = ""


Records = Annotated[list[RecordBody], Field(max_length=100)]


class CorrectionBody(Body):
    """A correction of an entity, or of a relation to `other`; with "merge", of `name` into `other`.

    `space`: where it is made, one of those of the provenance; it may be left out if there is only one. An empty
    description restores the original. "split" lets what is said of `name` with this `type`, or in this `document` (key,
    title or link), be about `other`; "unsplit" gives what was split off as `name` back. "undo" removes the corrections
    in `made`, and restores those in `removed`; it is refused unless all of that is as it was.
    """

    action: Literal["merge", "unmerge", "separate", "split", "unsplit", "hide", "show", "describe", "undo"]
    name: Name
    other: OptionalName = ""
    description: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION_LENGTH, strip_whitespace=True)] = ""
    type: OptionalName = ""
    document: OptionalName = ""
    space: OptionalName = ""
    made: Records = Field(default=[])
    removed: Records = Field(default=[])

    @model_validator(mode="after")
    def check_names(self) -> CorrectionBody:
        """Raise ValueError if a second name is missing."""
        if self.action in {"merge", "separate", "split"} and not self.other:
            raise ValueError(f"{self.action} needs a second name")
        if self.action == "undo" and not (self.made or self.removed):
            raise ValueError("undo needs what was made or removed")
        if self.action == "split" and not (self.type or self.document):
            raise ValueError("split needs a type or a document")
        return self

    def to_request(self) -> Merge | Separate | Split | Hide | SetDescription | UndoCorrection:
        """The request of the correction."""
        if self.action in {"merge", "unmerge"}:
            return Merge(self.name, self.other if self.action == "merge" else "", self.space)
        if self.action == "separate":
            return Separate(self.name, self.other, self.space)
        if self.action in {"split", "unsplit"}:
            return Split(self.name, self.other if self.action == "split" else "", self.type, self.document, self.space)
        if self.action == "describe":
            return SetDescription(self.name, self.description, self.other, self.space)
        if self.action == "undo":
            change = CorrectionChange(self._list_corrections(self.made), self._list_corrections(self.removed))
            return UndoCorrection(change, self.space)
        return Hide(self.name, self.other, hidden=self.action == "hide", space=self.space)

    def _list_corrections(self, records: list[RecordBody]) -> tuple[ManualCorrection, ...]:
        return tuple(
            ManualCorrection(record.kind, self.space, record.name, record.other, record.description)
            for record in records
        )

    def to_undo(self, done: Corrected) -> CorrectionBody | None:
        """The correction that leads back to exactly what was before this one; None if nothing changed."""
        made, removed = ([RecordBody.of(record) for record in some] for some in (done.change.made, done.change.removed))
        if not (made or removed):
            return None
        return CorrectionBody(
            action="undo", name=self.name, other=self.other, space=done.space, made=made, removed=removed
        )


class CorrectedBody(BaseModel):
    """The correction is made and visible. `undo`: the body of the correction that leads back, if there is one."""

    message: str
    undo: CorrectionBody | None


class CorrectionItem(Record):
    """A correction that a person made: merge (`name` into `other`), separate, hide, describe or split."""

    kind: RecordKind
    space: str
    name: Line
    other: Line
    description: Prose

    def to_undo(self) -> CorrectionBody:
        """The correction that removes this one."""
        made = [RecordBody.of(self)]
        return CorrectionBody(action="undo", name=self.name, other=self.other, space=self.space, made=made)


class CorrectionsBody(Record):
    """Corrections in the `spaces` in which the token may make them. `has_more`: there are some after these."""

    spaces: list[str]
    corrections: list[CorrectionItem]
    has_more: bool = False


class FactBody(Body):
    """A fact about an entity, or about its relation to `other`.

    `channel`: the id of the channel to which a person adds it; the token of a space adds it there.
    """

    name: Name
    description: Annotated[
        str, StringConstraints(min_length=1, max_length=MAX_DESCRIPTION_LENGTH, strip_whitespace=True)
    ]
    other: OptionalName = ""
    type: OptionalName = "other"
    keywords: OptionalName = ""
    channel: Annotated[str, Field(max_length=MAX_NAME_LENGTH)] = ""

    def to_request(self) -> AddFact:
        """The request of the fact."""
        return AddFact(self.name, self.description, self.other, self.type, self.keywords, self.channel)


class FactAddedBody(BaseModel):
    """The fact is added. `document`: the key that forgets it."""

    message: str
    document: str


class DuplicateItem(Record):
    """Two names that may mean the same entity, with the evidence.

    `score`: the estimated probability. `reason`: why they were joined automatically. `shared`: names to which both are
    related. `excerpts`: a text that mentions each.
    """

    name: Line
    other: Line
    score: float
    reason: str
    shared: list[Line]
    excerpts: Excerpts


class SenseItem(Record):
    """One of the things that a name may mean: its type, the number of documents that give it, and a text."""

    type: Line
    sources: int
    excerpt: Prose


class HomonymItem(Record):
    """A name that may mean two things, which "split" tells apart."""

    name: Line
    senses: list[SenseItem]


class DuplicatesBody(Record):
    """Suggested pairs, the most likely first, automatic joins, and how many entities are not compared yet.

    `homonyms`: names that may mean two things.
    """

    suggested: list[DuplicateItem]
    joined: list[DuplicateItem]
    homonyms: list[HomonymItem]
    uncompared: int
