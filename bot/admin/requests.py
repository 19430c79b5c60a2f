"""What a program can be asked to do, as records which also travel over the local socket."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time
from typing import Literal

from engine import ChatTurn, RetrievalMode  # noqa: TC001  - the socket reads the fields' types at run time

AskOutput = Literal["answer", "context", "prompt"]


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How much is retrieved for a question, and by which keywords; None keeps the engine's default.

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
    """A question to the documents of some spaces, in engine words; empty tuples narrow nothing.

    `outcome`: the streamed answer, only what was recalled for it, or what the model would be sent.
    `documents` are keys, paths (from the folder `here`) or titles.
    """

    text: str
    spaces: tuple[str, ...]
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
    """Take in files and whole folders (absolute paths). `room` names the room of files; chats bring their own.

    `wait`: for a model out of reach, as long as it takes.
    """

    paths: tuple[str, ...]
    space: str
    room: str = "files"
    wait: bool = False


@dataclass(frozen=True, slots=True)
class GetStatus:
    """Numbers about what lies in some spaces."""

    spaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListDocuments:
    """The documents in some spaces, with their state."""

    spaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GetEntity:
    """An entity with its weightiest relations."""

    name: str
    spaces: tuple[str, ...]
    limit: int = 30


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget one document, named by key, path (from the folder `here`) or title; its bytes leave the files too.

    The path of an exported room means all its conversations.
    """

    document: str
    spaces: tuple[str, ...]
    working_dir: str = "/"


@dataclass(frozen=True, slots=True)
class Merge:
    """Let a name lead to another one; without `into`, let it stand for itself again."""

    space: str
    name: str
    into: str = ""


@dataclass(frozen=True, slots=True)
class SetDescription:
    """A description that overrides what was read, for a name or a pair; an empty one takes it back."""

    space: str
    name: str
    description: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class Hide:
    """Take a name or a pair out of sight, or show it again."""

    space: str
    name: str
    other: str = ""
    hidden: bool = True


@dataclass(frozen=True, slots=True)
class AddFact:
    """A fact told by a person: what a name is, or, with `other`, what links two names (then `type` is unused)."""

    space: str
    name: str
    description: str
    other: str = ""
    type: str = "other"
    keywords: str = ""
    room: str = "stated"


@dataclass(frozen=True, slots=True)
class Reindex:
    """Make graph and vectors anew."""


@dataclass(frozen=True, slots=True)
class Verify:
    """Hold graph and vectors against the ledger; `repair` mends what differs."""

    repair: bool = False


@dataclass(frozen=True, slots=True)
class Export:
    """Everything of some spaces as lines."""

    spaces: tuple[str, ...]
    export_format: Literal["jsonl", "graphml"] = "jsonl"


@dataclass(frozen=True, slots=True)
class Backup:
    """Write all that is known into one file (an absolute path)."""

    path: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again what failed, everywhere; `spaces` are those whose progress is told."""

    spaces: tuple[str, ...]


OperationRequest = (
    Ask
    | Ingest
    | GetStatus
    | ListDocuments
    | GetEntity
    | Forget
    | Merge
    | SetDescription
    | Hide
    | AddFact
    | Reindex
    | Verify
    | Export
    | Backup
) | Retry
