"""Requests of the command line, also sent over the local socket."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time
from typing import Literal

from bot.capabilities.access.requests import CheckToken, CreateToken, ListTokens, LogIn, LogOut, RevokeToken
from bot.capabilities.documents.requests import DocumentRequest
from bot.capabilities.graph.requests import GraphRequest
from bot.capabilities.management.requests import ManagementRequest
from engine import ChatTurn, CorrectionChange, RetrievalMode, Scope  # noqa: TC001  - the socket reads these at run time

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
    """Ask a question about the documents in scope; empty tuples do not filter.

    `output`: the streamed answer, only the retrieved context, or the prompt. `documents` are keys, titles or paths
    (relative to `working_dir`).
    """

    text: str
    scope: Scope
    mode: RetrievalMode = "mix"
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


@dataclass(frozen=True, slots=True)
class Ingest:
    """Ingest files and folders (absolute paths). `room` is the channel of files; chats define their own.

    `wait`: without a limit, for a model that cannot be reached.
    """

    paths: tuple[str, ...]
    space: str
    room: str = "files"
    wait: bool = False


@dataclass(frozen=True, slots=True)
class GetStatus:
    """Get the index status of a scope, on request with the state of the sandbox in which files are parsed."""

    scope: Scope
    with_sandbox: bool = False


@dataclass(frozen=True, slots=True)
class CheckHealth:
    """Get the state of the process that holds the data, within a bounded time."""


@dataclass(frozen=True, slots=True)
class ListDocuments:
    """List the documents in scope with their status."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class ListFilterNames:
    """List the names of channels and people by which questions in this scope can be filtered."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class GetEntity:
    """Get an entity with its strongest relations."""

    name: str
    scope: Scope
    limit: int = 30


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget one document by key, title or path (relative to `working_dir`); its bytes leave the files too.

    The path of a chat export means all its conversations.
    """

    document: str
    scope: Scope
    working_dir: str = "/"


@dataclass(frozen=True, slots=True)
class ForgetWorkspace:
    """Forget everything of a workspace that the bot left; its bytes leave the files too."""

    platform: str
    workspace: str


@dataclass(frozen=True, slots=True)
class Merge:
    """Merge an entity into another one; without `into`, undo the merge.

    `room`: the channel with which a correction moves. `allow_unknown`: also a name that does not occur in the space,
    as the owner of the data may.
    """

    space: str
    name: str
    into: str = ""
    room: str = ""
    allow_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Separate:
    """Record that two entities are different. `room` and `allow_unknown` as in Merge."""

    space: str
    name: str
    other: str
    room: str = ""
    allow_unknown: bool = False


@dataclass(frozen=True, slots=True)
class FindDuplicates:
    """Find names in scope that may mean the same entity."""

    scope: Scope
    limit: int = 50


@dataclass(frozen=True, slots=True)
class SetDescription:
    """Override the description of an entity or a relation; an empty one restores the original."""

    space: str
    name: str
    description: str
    other: str = ""
    room: str = ""


@dataclass(frozen=True, slots=True)
class Hide:
    """Hide an entity or a relation, or show it again."""

    space: str
    name: str
    other: str = ""
    hidden: bool = True
    room: str = ""


@dataclass(frozen=True, slots=True)
class UndoCorrection:
    """Undo what a correction changed. `room` and `allow_unknown` as in Merge."""

    space: str
    change: CorrectionChange
    room: str = ""
    allow_unknown: bool = False

    @property
    def name(self) -> str:
        """A name that it was about."""
        return next((each.name for each in (*self.change.made, *self.change.removed)), "")


@dataclass(frozen=True, slots=True)
class AddFact:
    """Add a fact about an entity or, with `other`, about a relation (`type` is then unused)."""

    space: str
    name: str
    description: str
    other: str = ""
    type: str = "other"
    keywords: str = ""
    room: str = "stated"


@dataclass(frozen=True, slots=True)
class Reindex:
    """Rebuild the graph and vector indexes."""


@dataclass(frozen=True, slots=True)
class Verify:
    """Compare the graph and vector indexes with the ledger; `repair` fixes the differences."""

    repair: bool = False


@dataclass(frozen=True, slots=True)
class Export:
    """Export a scope as lines."""

    scope: Scope
    export_format: Literal["jsonl", "graphml"] = "jsonl"


@dataclass(frozen=True, slots=True)
class Backup:
    """Write a backup to this file (an absolute path)."""

    path: str


@dataclass(frozen=True, slots=True)
class ImportHistory:
    """Import an export of a workspace: a file or folder (an absolute path).

    `workspace` and `url`: its id and address, where the export does not say them. `direct_messages`: also of people.
    `into` and `channel_map`: as in `parse_destination`.
    """

    platform: str
    path: str
    workspace: str = ""
    url: str = ""
    direct_messages: bool = False
    into: str = ""
    channel_map: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfirmRetention:
    """Allow the deletion by age that waits for a confirmation."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry failed documents of all spaces; progress is shown for `scope`."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class Authorized:
    """Perform a request as the subject of an access token, whose scope replaces that of the request."""

    token: str = field(repr=False)
    request: OperationRequest


OperationRequest = (
    (
        Ask
        | Ingest
        | GetStatus
        | ListDocuments
        | ListFilterNames
        | GetEntity
        | Forget
        | ForgetWorkspace
        | Merge
        | Separate
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
    | Authorized
    | CheckToken
    | CreateToken
    | ListTokens
    | RevokeToken
    | LogIn
    | LogOut
    | DocumentRequest
    | GraphRequest
    | ManagementRequest
)
