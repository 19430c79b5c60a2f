"""Requests of the command line, also sent over the local socket."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time
from typing import Literal

from bot.capabilities.access.requests import TokenRequest
from bot.capabilities.answers.requests import AnswerRequest
from bot.capabilities.asking.requests import Search
from bot.capabilities.contradictions.requests import ContradictionRequests
from bot.capabilities.decisions.requests import ListDecisions
from bot.capabilities.documents.requests import DocumentRequest
from bot.capabilities.erasure.requests import ErasureRequest
from bot.capabilities.erasure.requests import Forget as Forget  # noqa: PLC0414  - others import it from here
from bot.capabilities.erasure.requests import ForgetMe as ForgetMe  # noqa: PLC0414  - others import it from here
from bot.capabilities.erasure.requests import ForgetWorkspace as ForgetWorkspace  # noqa: PLC0414  - others import it from here
from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.graph.requests import GraphRequest
from bot.capabilities.maintenance.requests import ListAudit
from bot.capabilities.management.requests import ManagementRequest
from bot.capabilities.readers.requests import FindReaders
from bot.capabilities.sources.requests import SourceRequest
from bot.capabilities.watches.requests import WatchRequests
from engine import ChatTurn, CorrectionChange, RetrievalMode

MAX_RELATIONS = 30  # of an entity, unless somebody asks for another number
AskOutput = Literal["answer", "context", "prompt"]


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """Budgets and keywords of retrieval; None keeps the engine's default.

    Token budgets are in o200k_base tokens. `high` (themes) and `low` (names) replace the keywords of the model.
    """

    top_k: int | None = None
    chunk_top_k: int | None = None
    max_entity_tokens: int | None = None
    max_relation_tokens: int | None = None
    max_total_tokens: int | None = None
    threshold: float | None = None
    rerank: bool | None = None
    high: tuple[str, ...] = ()
    low: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a question about what the caller may read; empty tuples do not filter.

    `output`: the streamed answer, only the retrieved context, or the prompt. `documents` are keys, titles or paths
    (relative to `working_dir`). Without a `mode`, that of the settings. `zone`: IANA name of the time zone of a caller
    whose profile names none. `keep`: the answer, for what can be done later; if it found nothing, or is voted down,
    managers see its question alone. `earlier`: ids of kept answers that are the history. `as_of`: a day, as typed.
    """

    text: str
    mode: RetrievalMode | None = None
    history: tuple[ChatTurn, ...] = ()
    output: AskOutput = "answer"
    documents: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    model: str = ""
    working_dir: str = "/"
    retrieval: RetrievalOptions = RetrievalOptions()
    zone: str = ""
    keep: bool = False
    earlier: tuple[str, ...] = ()
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class Ingest:
    """Ingest files and folders (absolute paths). `room` is the channel of files; chats define their own.

    `wait`: without a limit, for a model that cannot be reached. `estimate`: only say what it takes.
    """

    paths: tuple[str, ...]
    space: str
    room: str = "files"
    wait: bool = False
    estimate: bool = False


@dataclass(frozen=True, slots=True)
class GetStatus:
    """Get the index status of a scope.

    On request with the state of the sandbox in which files are parsed, and with what was not read and why.
    """

    with_sandbox: bool = False
    with_problems: bool = False


@dataclass(frozen=True, slots=True)
class CheckHealth:
    """Get the state of the process that holds the data, within a bounded time."""


ListedStatus = Literal["", "pending", "searchable", "indexed", "failed", "partial"]


@dataclass(frozen=True, slots=True)
class ListDocuments:
    """List the documents in scope with their status: those whose title or key has the words of `search`, of a `status`.

    "partial" are those of which something was not read. `place`: as in DocumentPlace. `limit` of them from number
    `offset` on; 0: all.
    """

    search: str = ""
    status: ListedStatus = ""
    offset: int = 0
    limit: int = 0
    place: str = ""
    sort: Literal["", "newest", "oldest", "title", "length"] = ""


@dataclass(frozen=True, slots=True)
class ListFilterNames:
    """List the names of channels and people by which questions in this scope can be filtered."""


@dataclass(frozen=True, slots=True)
class GetEntity:
    """Get an entity with its strongest relations."""

    name: str
    limit: int = MAX_RELATIONS


@dataclass(frozen=True, slots=True)
class RememberMe:
    """Read what the person writes from now on; what was forgotten stays forgotten."""


@dataclass(frozen=True, slots=True)
class GetMyData:
    """Count what is stored about the person: messages by channel, files, questions, verified answers and more."""


@dataclass(frozen=True, slots=True)
class ExportMyData:
    """Export what is stored about the person as JSON Lines: what they wrote and asked, and where they are named."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Make a name another name of an entity; without `into`, undo a merge.

    `space`: where, if the caller may correct several; it can be left out if the name occurs in one of them only.
    """

    name: str
    into: str = ""
    space: str = ""


@dataclass(frozen=True, slots=True)
class Separate:
    """Keep two entities apart. `space` as in Merge."""

    name: str
    other: str
    space: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """Tell two things under one name apart: what has a type, or comes from a document, is about `part`.

    `document`: its key, title or link. Without `part`, give what was split off as `name` back. `space` as in Merge.
    """

    name: str
    part: str = ""
    type: str = ""
    document: str = ""
    space: str = ""


@dataclass(frozen=True, slots=True)
class FindDuplicates:
    """Find names that may mean the same entity. `compare_all`: names that were not compared yet, too."""

    limit: int = 50
    compare_all: bool = True


@dataclass(frozen=True, slots=True)
class SetDescription:
    """Override the description of an entity or a relation; an empty one restores the original. `space` as in Merge."""

    name: str
    description: str
    other: str = ""
    space: str = ""


@dataclass(frozen=True, slots=True)
class Hide:
    """Hide an entity or a relation, or show it again. `space` as in Merge."""

    name: str
    other: str = ""
    hidden: bool = True
    space: str = ""


@dataclass(frozen=True, slots=True)
class UndoCorrection:
    """Undo exactly what a correction changed: one with this `id`, or this `change`. `space` as in Merge."""

    change: CorrectionChange = field(default_factory=CorrectionChange)
    space: str = ""
    id: str = ""

    @property
    def name(self) -> str:
        """A name that it was about."""
        return next((correction.name for correction in (*self.change.made, *self.change.removed)), "")


@dataclass(frozen=True, slots=True)
class AddFact:
    """Add a fact about an entity or, with `other`, about a relation (`type` is then unused).

    A person adds it to the channel where they ask, or to `channel` (a room), as if they had posted it there.
    """

    name: str
    description: str
    other: str = ""
    type: str = "other"
    keywords: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Reindex:
    """Rebuild the graph and vector indexes. `restored`: after a backup was restored."""

    restored: bool = False


@dataclass(frozen=True, slots=True)
class Verify:
    """Compare the graph and vector indexes with the ledger; `repair` fixes the differences."""

    repair: bool = False


@dataclass(frozen=True, slots=True)
class Export:
    """Export a scope as lines."""

    export_format: Literal["jsonl", "graphml"] = "jsonl"


@dataclass(frozen=True, slots=True)
class Backup:
    """Write a backup to this file (an absolute path), encrypted with the key of a file if there is one."""

    path: str
    key_file: str = ""


@dataclass(frozen=True, slots=True)
class ImportHistory:
    """Import an export of a workspace: a file or folder (an absolute path).

    `workspace` and `url`: its id and address, where the export does not say them. `direct_messages`: also of people.
    `into` and `channel_map`: as in `parse_destination`. `estimate`: only say what it takes.
    """

    platform: str
    path: str
    workspace: str = ""
    url: str = ""
    direct_messages: bool = False
    into: str = ""
    channel_map: tuple[str, ...] = ()
    estimate: bool = False


@dataclass(frozen=True, slots=True)
class ConfirmRetention:
    """Allow the deletion by age that waits for a confirmation."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry failed documents of all spaces; progress is shown for the space of the caller.

    `changed`: read again what another choice of extraction read than today's. `estimate`: only say what that takes.
    """

    changed: bool = False
    estimate: bool = False


@dataclass(frozen=True, slots=True)
class AtSpace:
    """Perform a request as the owner of the data, at a space of the terminal. `door`: where they ask."""

    space: str
    request: OperationRequest
    door: str = ""


@dataclass(frozen=True, slots=True)
class WithoutLogin:
    """Perform a request for somebody on this machine, as a token of a space of the terminal permits it.

    `door` as in AtSpace.
    """

    space: str
    request: OperationRequest
    door: str = ""


@dataclass(frozen=True, slots=True)
class Authorized:
    """Perform a request as the subject of an access token. `door` as in AtSpace."""

    token: str = field(repr=False)
    request: OperationRequest
    door: str = ""


Envelope = AtSpace | WithoutLogin | Authorized
OperationRequest = (
    (
        Ask
        | Search
        | Ingest
        | GetStatus
        | ListDocuments
        | ListFilterNames
        | GetEntity
        | Merge
        | Separate
        | Split
        | FindDuplicates
        | SetDescription
        | Hide
        | UndoCorrection
        | AddFact
        | Reindex
        | Verify
        | Export
        | Backup
        | ImportHistory
    )
    | ConfirmRetention
    | Retry
    | CheckHealth
    | AtSpace
    | WithoutLogin
    | Authorized
    | TokenRequest
    | DocumentRequest
    | GraphRequest
    | ManagementRequest
    | AnswerRequest
    | SourceRequest
    | ErasureRequest
    | WatchRequests
    | FindReaders
    | ContradictionRequests
    | GetFaq
    | ListDecisions
    | RememberMe
    | ListAudit
    | GetMyData
    | ExportMyData
)
