"""The nouns of the engine: frozen, slotted, compared by value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime

RetrievalMode = Literal["local", "global", "hybrid", "naive", "mix", "bypass"]
DocumentKind = Literal["file", "conversation", "manual"]
Role = Literal["system", "user", "assistant"]
OverviewKind = Literal["summary", "decisions", "questions"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a question may draw on: whole `spaces` (graph and chunks) and single `rooms` (chunks only)."""

    spaces: frozenset[str]
    rooms: frozenset[str]

    @classmethod
    def of(cls, *spaces: str) -> Scope:
        """These whole spaces."""
        return cls(frozenset(spaces), frozenset())


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document with its own locator: the unit of citation. Passages are ordered by position, time, key.

    `key` names it within its document, `label` is what a person reads ("p. 3", "Opening hours"), `link` leads there.
    """

    key: str
    text: str
    label: str = ""
    link: str = ""
    author: str = ""
    time: datetime | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """What is ingested and forgotten as a whole: a file, a conversation, or what a person stated by hand.

    `time` is the time of the source, never of the ingest. An `open` conversation is searchable but not yet extracted.
    """

    key: str
    space: str
    room: str
    title: str
    passages: tuple[Passage, ...]
    time: datetime | None = None
    link: str = ""
    kind: DocumentKind = "file"
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class ChunkPiece:
    """The characters `start:stop` of one passage, as they stand in a chunk."""

    passage: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Passages packed up to the token budget: the unit of embedding and extraction."""

    text: str
    tokens: int
    pieces: tuple[ChunkPiece, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A chunk's text as it is given to extraction; `section` is where it stands (title, headings)."""

    text: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """One chunk says something about one name. `name` is the surface form, cleaned; `type` is lower case."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Link:
    """One chunk says something about two names; `keywords` are comma-separated."""

    source: str
    target: str
    keywords: str
    description: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What extraction found in one excerpt."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """What is said of one name (or pair, "A ~ B"), oldest first: to become one text."""

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One message of the conversation so far."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class LLMMessage:
    """One message as a model is sent it."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question that stands alone, with keywords: `high` for themes, `low` for names. `ignored`: it is not for us."""

    question: str
    high: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    ignored: bool = False


@dataclass(frozen=True, slots=True)
class Filters:
    """Narrows the chunks of a question; empty means no narrowing. Times are inclusive."""

    documents: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_active(self) -> bool:
        """Whether anything is asked for at all."""
        return bool(self.documents or self.rooms or self.authors or self.since or self.until)


@dataclass(frozen=True, slots=True)
class Overview:
    """What is wanted of all that was said; `recent`: of the last two weeks before the newest of it.

    `truncated` is set on what was recalled: there was more than could be taken in, and only the newest is there.
    `days` tells of a recalled summary which days it is of.
    """

    wanted: OverviewKind
    recent: bool = False
    truncated: bool = False
    days: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and of what: `scope` has no default. Token budgets are in o200k_base tokens.

    `asker`: the name of who asks. `overheard`: the language decides whether it is a question to the program at all.
    `overview`: it is about all of the scope that `within` leaves. `writers`: people, as they
    are called, whose messages alone it is about.
    """

    text: str
    scope: Scope
    history: tuple[ChatTurn, ...] = ()
    mode: RetrievalMode = "mix"
    filters: Filters = field(default_factory=Filters)
    high: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    top_k: int = 40
    chunk_top_k: int = 20
    max_entity_tokens: int = 6000
    max_relation_tokens: int = 8000
    max_total_tokens: int = 30000
    threshold: float = 0.2
    rerank: bool = True
    instructions: str = ""
    style: str = ""
    model: str = ""
    asker: str = ""
    is_unaddressed: bool = False
    overview: Overview | None = None
    writers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered passage of the context, as it may be cited: [number]."""

    number: int
    document: str
    passage: str
    title: str
    label: str
    link: str
    author: str
    time: datetime | None
    text: str
    space: str
    room: str
    chunk: str


@dataclass(frozen=True, slots=True)
class ContextEntity:
    """An entity of the context; `sources` are the numbers of the passages that support it."""

    name: str
    type: str
    description: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextRelation:
    """A relation of the context; `sources` are the numbers of the passages that support it."""

    source: str
    target: str
    keywords: str
    description: str
    weight: float
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What was recalled, numbered and ordered as the model is shown it; `spaces`: whose facts the graph rows tell.

    `timings`: milliseconds by stage. `undated`: a span of time left out documents without a date.
    """

    question: SearchQuery
    mode: RetrievalMode
    entities: tuple[ContextEntity, ...] = ()
    relations: tuple[ContextRelation, ...] = ()
    sources: tuple[Source, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    spaces: tuple[str, ...] = ()
    undated: bool = False
    overview: Overview | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to answer from."""
        return not (self.entities or self.relations or self.sources)


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that an answer is made of. `today`: in UTC. `notes` stand for too many sources; `budget` is in tokens."""

    question: str
    context: Context
    history: tuple[ChatTurn, ...] = ()
    instructions: str = ""
    style: str = ""
    model: str = ""
    asker: str = ""
    today: date | None = None
    partial_answers: tuple[str, ...] = ()
    token_budget: int = 30000
