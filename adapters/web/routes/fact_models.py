"""Bodies about facts that are added by hand, and names that may mean the same entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, StringConstraints

from adapters.common.shown_text import Line, Prose  # noqa: TC001  - read at run time
from adapters.web.models import MAX_NAME_LENGTH, Body, Name
from adapters.web.routes.graph_models import MAX_DESCRIPTION_LENGTH, OptionalName
from bot.capabilities.requests import AddFact

if TYPE_CHECKING:
    from engine import DuplicateReport
    from engine.knowledge.duplicates.report import Duplicate, Homonym


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


class DuplicateItem(BaseModel):
    """Two names that may mean the same entity, and what speaks for it.

    `score`: the estimated probability. `reason`: why they were joined automatically. `shared`: names to which both are
    related. `excerpts`: a text that mentions each.
    """

    name: Line
    other: Line
    score: float
    reason: str
    shared: list[Line]
    excerpts: list[Prose]

    @classmethod
    def of(cls, pair: Duplicate) -> DuplicateItem:
        """The item of a pair."""
        return cls(
            name=pair.name,
            other=pair.other,
            score=pair.score,
            reason=pair.reason,
            shared=list(pair.shared),
            excerpts=list(filter(None, pair.excerpts)),
        )


class SenseItem(BaseModel):
    """One of the things that a name may mean: its type, the number of documents that give it, and a text."""

    type: Line
    sources: int
    excerpt: Prose


class HomonymItem(BaseModel):
    """A name that may mean two things, which "split" tells apart."""

    name: Line
    senses: list[SenseItem]

    @classmethod
    def of(cls, homonym: Homonym) -> HomonymItem:
        """The item of a name."""
        senses = [SenseItem(type=sense.type, sources=sense.sources, excerpt=sense.excerpt) for sense in homonym.senses]
        return cls(name=homonym.name, senses=senses)


class DuplicatesBody(BaseModel):
    """Suggested pairs, the most likely first, automatic joins, and how many entities are not compared yet.

    `homonyms`: names that may mean two things.
    """

    suggested: list[DuplicateItem]
    joined: list[DuplicateItem]
    homonyms: list[HomonymItem]
    uncompared: int

    @classmethod
    def of(cls, report: DuplicateReport) -> DuplicatesBody:
        """The body of a report."""
        suggested, joined = (list(map(DuplicateItem.of, pairs)) for pairs in (report.suggested, report.joined))
        homonyms = list(map(HomonymItem.of, report.homonyms))
        return cls(suggested=suggested, joined=joined, homonyms=homonyms, uncompared=report.uncompared)
