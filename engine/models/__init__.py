"""Records of the engine's interface: documents, questions, contexts. Frozen and compared by value."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Literal

from engine.models.filters import FilterLookup as FilterLookup
from engine.models.filters import Filters as Filters
from engine.models.filters import InferredFilters as InferredFilters
from engine.models.filters import ProposedFilters as ProposedFilters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date, datetime, tzinfo

RetrievalMode = Literal["local", "global", "hybrid", "naive", "mix", "bypass"]
HelperCall = Literal["rewriting", "reranking"]
DocumentKind = Literal["file", "conversation", "manual"]
Role = Literal["system", "user", "assistant"]
OverviewKind = Literal["summary", "decisions", "questions", "digest"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a question may use: all of some `spaces` (graph and chunks) and of single `rooms` (chunks only)."""

    spaces: frozenset[str]
    rooms: frozenset[str]

    @classmethod
    def of(cls, *spaces: str) -> Scope:
        """A scope of whole spaces."""
        return cls(frozenset(spaces), frozenset())


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that can be cited on its own. Passages are ordered by position, time, key.

    `key` identifies it within the document, `label` is shown to people ("p. 3", "Opening hours"), `link` opens it.
    """

    key: str
    text: str
    label: str = ""
    link: str = ""
    author: str = ""
    time: datetime | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class Omission:
    """A part of a file that was not read: its name ("slide 9", "attachment plan.dwg") and why not, as a clause."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class ConvertedDocument:
    """What a parser service made of a file: Markdown, or none. `problem`: what it could not read or why it failed.

    `pages`: the Markdown of each page, from the first; none if the service does not say what is on which page.
    """

    markdown: str = ""
    problem: str = ""
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """The unit of ingestion and deletion: a file, a conversation, or a statement by a person.

    `space` decides who can see it; `room` is where it was posted. `time` is when the source was written, never when it
    was ingested. A conversation that `is_open` is searchable, but its entities and relations are not extracted yet.
    `omissions`: what of a file was not read; `coverage`: how many of its parts were, "14 of 15 slides", if any was not.
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
    omissions: tuple[Omission, ...] = ()
    coverage: str = ""


@dataclass(frozen=True, slots=True)
class ChunkPiece:
    """The characters `start:stop` of a passage that are part of a chunk."""

    passage: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Passages packed up to a token budget: the unit of embedding and extraction.

    `stems`: terms for full text beside its words, between blanks; None: not made yet.
    """

    text: str
    tokens: int
    pieces: tuple[ChunkPiece, ...]
    stems: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text of a chunk for extraction; `section` is its place in the document (title, headings).

    `is_conversation`: whether people wrote it to each other.
    """

    text: str
    section: str = ""
    is_conversation: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """A statement of one chunk about one entity. `name` is written as in the text, cleaned; `type` is lower case."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Link:
    """A statement of one chunk about two entities; `keywords` are comma-separated."""

    source: str
    target: str
    keywords: str
    description: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """The entities and relations extracted from one excerpt; `missing`: why others may be missing, "" if none are."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()
    missing: str = ""

    @classmethod
    def of(cls, mentions: Iterable[Mention | None], links: Iterable[Link | None]) -> Extraction:
        """An extraction without the rows that were invalid."""
        return cls(tuple(filter(None, mentions)), tuple(filter(None, links)))


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """The descriptions of one entity (or pair, "A ~ B") to summarize, oldest first."""

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source of an earlier answer, which cites it as [number]."""

    number: int
    document: str
    passage: str
    title: str


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One earlier message of the conversation; `sources` are those that an answer cites by number."""

    role: Literal["user", "assistant"]
    text: str
    sources: tuple[CitedSource, ...] = ()


@dataclass(frozen=True, slots=True)
class LLMMessage:
    """One message sent to a chat model; `pictures` are JPEGs.

    `shared`: characters at its beginning that are the same in other calls, and that a provider may cache.
    """

    role: Role
    content: str
    pictures: tuple[bytes, ...] = ()
    shared: int = 0


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question that makes sense without its history, with keywords: `high` for themes, `low` for names.

    `ignored`: the message was not meant for the program. `proposed`: the filters that a model sees in it.
    `unrewritten`: the question as it was asked, because the call that rewrites it failed. `corrections`: misspelled
    words with what was searched instead.
    """

    question: str
    high: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    ignored: bool = False
    proposed: ProposedFilters | None = None
    unrewritten: bool = False
    corrections: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """A request to summarize everything in the scope; `recent` restricts it to the two weeks before the newest message.

    `widens`: where these weeks have few passages, older ones are taken, too.

    A digest has sections: topics, decisions, open questions, tasks and new files. In a retrieved context, `truncated`
    means that only the newest part fitted, `days` is the range of dates that a summary covers, and `since` the first
    day of the two weeks, as 2026-03-02, if older passages were left out.
    """

    kind: OverviewKind
    recent: bool = False
    widens: bool = False
    truncated: bool = False
    days: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and how to answer it. `scope` has no default; token budgets are in o200k_base tokens.

    `mode`: "naive" searches chunks, "local" entities and their relations, "global" relations and their entities,
    "hybrid" both of these, "mix" all three; "bypass" searches nothing. `high` and `low`: keywords for themes and for
    names, else the model finds them. `top_k`, `chunk_top_k`: entities and relations, and chunks, at most. `threshold`:
    lowest similarity of a vector search hit, 0 for unrelated texts and 1 for equal ones; None: as the embedder needs
    it. `style`, `instructions`: how to answer. `asker`: name of the person asking. `is_unaddressed`: the model first
    decides whether the message is meant for the program. `overview`: summarize everything that the filters leave.
    `writers`: names of the people whose messages alone are used. `filter_lookup`: set if the model may propose further
    filters. `zone`: of the person asking, whose days it means. `for_prompt`: False if no model reads what is found, so
    that the size of a prompt does not limit it.
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
    threshold: float | None = None
    rerank: bool = True
    instructions: str = ""
    style: str = ""
    model: str = ""
    asker: str = ""
    is_unaddressed: bool = False
    overview: Overview | None = None
    writers: tuple[str, ...] = ()
    filter_lookup: FilterLookup | None = None
    zone: tzinfo = UTC
    for_prompt: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """A passage of the context, cited as [number]. Numbers order by relevance; `position` as it is best read."""

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
    position: int = 0


@dataclass(frozen=True, slots=True)
class Replacement:
    """The numbers of a source and of an earlier one that it replaces in part, with the sentences that differ."""

    newer: int
    older: int
    older_text: str
    newer_text: str


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
class GraphRows:
    """Entities and relations that a prompt shows; their descriptions say only what none of its sources says."""

    entities: tuple[ContextEntity, ...] = ()
    relations: tuple[ContextRelation, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """The retrieved entities, relations and sources, in the order in which the model sees them.

    `prompt_rows`: the entities and relations that the prompt shows; None for all of them.
    `spaces`: of the entities and relations. `timings`: milliseconds by stage. `undated`: dateless documents left out.
    `rebuilding`: graph and vectors are incomplete now, so that something may be missing. `inferred`: the filters that
    the model proposed, if any passed the checks. `unranked`: the call that reranks the sources failed. `replacements`:
    which sources replace what earlier ones say. `as_of`: as in Filters.
    """

    question: SearchQuery
    mode: RetrievalMode
    entities: tuple[ContextEntity, ...] = ()
    relations: tuple[ContextRelation, ...] = ()
    sources: tuple[Source, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    spaces: tuple[str, ...] = ()
    undated: bool = False
    rebuilding: bool = False
    overview: Overview | None = None
    inferred: InferredFilters | None = None
    prompt_rows: GraphRows | None = None
    unranked: bool = False
    replacements: tuple[Replacement, ...] = ()
    as_of: date | None = None

    @property
    def failed_helpers(self) -> tuple[HelperCall, ...]:
        """The calls that help to search and failed, so that the search did without them."""
        rewriting: tuple[HelperCall, ...] = ("rewriting",) if self.question.unrewritten else ()
        return (*rewriting, "reranking") if self.unranked else rewriting

    @property
    def is_empty(self) -> bool:
        """Whether nothing was retrieved."""
        return not (self.entities or self.relations or self.sources)


@dataclass(frozen=True, slots=True)
class Prompt:
    """The content of an answer's prompt. `partial_answers` replace sources too long for it.

    `today`: where the person asking is, in `zone`, `utc_offset` ahead of UTC now.
    """

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
    utc_offset: str = "+00:00"
    zone: tzinfo = UTC
