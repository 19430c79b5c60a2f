"""Bodies of requests and responses of the API."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from adapters.common.shown_text import Line, Prose, Record
from bot.capabilities.documents.requests import Summarize
from bot.capabilities.requests import Ask
from engine import ChatTurn, RetrievalMode
from engine.boundary import MAX_QUESTION_CHARACTERS

MAX_ZONE_LENGTH = 64
MAX_TURN_LENGTH = 20_000
MAX_NAME_LENGTH = 500
MAX_KEY_LENGTH = 2000
MAX_TURNS = 40
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]
Names = Annotated[list[Name], Field(max_length=50)]
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)", re.IGNORECASE)


def _check_time(value: object) -> object:
    """A date and time as text, with its zone (RFC 3339); a number is none. Raises ValueError."""
    if isinstance(value, str) and _DATE_TIME.fullmatch(value):
        return value
    raise ValueError("write a date and time with a zone, such as 2026-05-12T08:00:00Z")


def _to_utc(value: datetime) -> datetime:
    """The time in UTC. Raises ValueError at the ends of the calendar."""
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the year must be between 1 and 9999") from error


RoomName = Annotated[Line, Field(validation_alias=AliasChoices("channel", "room"))]  # the engine calls it a room
Instant = Annotated[AwareDatetime, BeforeValidator(_check_time), AfterValidator(_to_utc)]


class Body(BaseModel):
    """A body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Turn(Body):
    """An earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=MAX_TURN_LENGTH)]


class QueryBody(Body):
    """A question, and what it may draw on; empty lists do not filter.

    Days in it ("today", `after:2026-05-12`) begin in the time zone of the profile, else in `time_zone`, else in UTC.
    `keep`: the answer, which then has an id for what can be done with it later. If it found nothing, or is voted down,
    managers see its question, without who asked it. `earlier`: the ids of kept answers that the history consists of.
    `as_of`: a day ("2026-05-03", "3 May"); the answer is from what was known then.
    """

    question: Annotated[
        str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS, examples=["Who repairs the roof?"])
    ]
    mode: RetrievalMode | None = None
    history: Annotated[list[Turn], Field(max_length=MAX_TURNS)] = []
    documents: Names = []
    channels: Names = []
    authors: Names = []
    since: Instant | None = None
    until: Instant | None = None
    as_of: Annotated[str, Field(max_length=40, examples=["2026-05-03"])] = ""
    time_zone: Annotated[str, Field(max_length=MAX_ZONE_LENGTH, examples=["Europe/Berlin"])] = ""
    keep: bool = False
    earlier: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=MAX_TURNS)] = []

    def to_request(self, output: Literal["answer", "context"]) -> Ask:
        """The request of the question, whose scope is that of the token."""
        return Ask(
            self.question,
            mode=self.mode,
            history=tuple(ChatTurn(turn.role, turn.content) for turn in self.history),
            output=output,
            documents=tuple(self.documents),
            rooms=tuple(self.channels),
            authors=tuple(self.authors),
            since=self.since,
            until=self.until,
            zone=self.time_zone,
            keep=self.keep,
            earlier=tuple(self.earlier),
            as_of=self.as_of,
        )


class SummaryBody(Body):
    """What to summarize: a channel, a document by its key (a thread is one, too), or everything that can be read.

    A digest has sections for decisions, open questions and files; a summary goes by topic.
    """

    channel: Annotated[str, Field(max_length=MAX_NAME_LENGTH, examples=["roof"])] = ""
    document: Annotated[str, Field(max_length=MAX_KEY_LENGTH)] = ""
    since: Instant | None = None
    until: Instant | None = None
    kind: Literal["summary", "digest"] = "summary"

    def to_request(self) -> Summarize:
        """The request of the summary, whose scope is that of the token."""
        return Summarize(self.channel, self.document, self.since, self.until, self.kind)


class SourceItem(Record):
    """A passage that is cited as [number]."""

    number: int
    document: str
    title: Line
    label: Line
    link: str
    author: Line
    time: datetime | None
    text: Prose
    channel: RoomName


class UsageItem(Record):
    """Tokens and cost (US dollars) of the model calls of one purpose."""

    purpose: str
    model: str
    input_tokens: int
    output_tokens: int
    cost: float
    calls: int


class AnswerBody(BaseModel):
    """An answer with its sources. `incomplete`: the model stopped before its end. `notices`: what it leaves out.

    `id`: of an answer that is kept.
    """

    answer: Prose
    sources: list[SourceItem]
    usage: list[UsageItem]
    incomplete: bool
    notices: list[Prose] = []
    id: str = ""


class EntityItem(Record):
    """An entity; `sources` are the numbers of the passages that support it."""

    name: Line
    type: Line
    description: Prose
    sources: list[int]


class RelationItem(Record):
    """A relation of two entities. `weight`: the number of chunks that state it."""

    source: Line
    target: Line
    keywords: Line
    description: Prose
    weight: float
    sources: list[int]


class ContextBody(BaseModel):
    """What was retrieved for a question, without an answer. `notices`: what it leaves out."""

    entities: list[EntityItem]
    relations: list[RelationItem]
    sources: list[SourceItem]
    high_keywords: list[str]
    low_keywords: list[str]
    notices: list[Prose] = []


class EntityBody(Record):
    """An entity and its strongest relations."""

    entity: EntityItem
    relations: list[RelationItem]


class OmissionItem(Record):
    """A part of a file that was not read, and why not."""

    part: Line
    reason: Line


class DocumentItem(Record):
    """A document with its state: pending, searchable, indexed or failed.

    `omissions`: what of its file was not read; `coverage`: how many of its parts were, if not all: "14 of 15 slides".
    """

    key: str
    title: Line
    kind: Line
    channel: RoomName
    link: str
    time: datetime | None
    status: str
    error: Prose
    hint: Prose
    passages: int
    omissions: list[OmissionItem] = Field(default=[])
    coverage: Line = ""


class UnreadFileItem(Record):
    """A file that was shared and not read, or only its beginning, and why.

    `family`: picture, sound, film, font, program or other; empty for a document that is broken, locked or too large.
    """

    name: Line
    channel: Line
    author: Line
    time: datetime
    family: str
    reason: Prose


class DocumentsBody(Record):
    """A page of documents, of `total`; the first page has the newest `unread_files`, too."""

    documents: list[DocumentItem]
    total: int
    unread_files: list[UnreadFileItem] = Field(default=[])


class PassageItem(Record):
    """A piece of a document with its locator: `label` says where it is (a page, a heading), `link` opens it."""

    key: str
    label: Line
    link: str
    author: Line
    time: datetime | None
    text: Prose


class DocumentBody(BaseModel):
    """A document with a page of its passages, of `total`. `why`: by which rule the person of the token may read it."""

    document: DocumentItem
    passages: list[PassageItem]
    total: int
    why: Line = ""


class UploadBody(Record):
    """An added file: the first document is the file itself. `changed`: it was new, or differs from the last upload."""

    documents: list[DocumentItem]
    changed: bool


class ErasureBody(BaseModel):
    """How much of each kind goes or went; the questions of answers that would go, or the signed receipt."""

    counts: dict[str, int]
    questions: list[str] = []
    receipt: dict[str, Any] = {}


class StatusBody(BaseModel):
    """Counts of what the token can read.

    `documents`: by status. `spent_budget`: why texts wait, "" if none does. `unread_files`: shared there, and not read.
    """

    documents: dict[str, int]
    passages: int
    entities: int
    relations: int
    waiting: int
    trouble: Prose
    spent_budget: Prose = ""
    unread_files: int = 0
