"""Bodies about facts that are added by hand, and names that may mean the same entity."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from adapters.common.shown_text import Line, Prose, Record
from adapters.web.models import MAX_NAME_LENGTH, Body, Name
from adapters.web.routes.graph_models import MAX_DESCRIPTION_LENGTH, OptionalName
from bot.capabilities.requests import AddFact

Excerpts = Annotated[list[Prose], AfterValidator(lambda excerpts: list(filter(None, excerpts)))]


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
