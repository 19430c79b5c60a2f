"""What comes back while a request is worked on, as records which also travel over the local socket."""

from __future__ import annotations

from dataclasses import dataclass

from engine import (  # noqa: TC001  - as below  # noqa: TC001  - the socket reads the fields' types at run time
    Context,
    ContextEntity,
    ContextRelation,
    DocumentInfo,
    IndexStatus,
    LLMMessage,
    Source,
    Usage,
)


@dataclass(frozen=True, slots=True)
class RetrievalSummary:
    """What was found for a question, before the first word of its answer."""

    entities: int
    relations: int
    passages: int


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next piece of an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The answer has ended: its sources by number, what it took, and whether the model stopped before its end.

    `undated`: documents without a date were left out of the span of time that was asked about. `truncated`: of that
    span only the newest part was taken in. `filtered`: a content filter of the provider stopped the model.
    """

    sources: tuple[Source, ...]
    usage: tuple[Usage, ...]
    cut_off: bool = False
    undated: bool = False
    truncated: bool = False
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class ContextResult:
    """A context without an answer."""

    context: Context


@dataclass(frozen=True, slots=True)
class PromptResult:
    """What the model would be sent."""

    messages: tuple[LLMMessage, ...]


@dataclass(frozen=True, slots=True)
class ProgressUpdate:
    """Some of the work is done: `done` of `total` in this stage; 0 of 0 while nobody knows how much there is.

    `trouble`: what it waits for, if anything keeps it from going on. `inside`: what is left within the things counted.
    """

    stage: str
    done: int = 0
    total: int = 0
    trouble: str = ""
    remaining: str = ""


@dataclass(frozen=True, slots=True)
class IngestFailure:
    """A file or document that could not be taken in, why, and what to do."""

    what: str
    error: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The end of an ingest; documents are files and conversations.

    `trouble`: why some of them are not indexed yet, if a model was out of reach too long.
    """

    files: int
    documents: int
    changed: int
    seconds: float
    failures: tuple[IngestFailure, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class StatusResult:
    """The numbers of some spaces."""

    status: IndexStatus


@dataclass(frozen=True, slots=True)
class DocumentList:
    """The documents of some spaces."""

    documents: tuple[DocumentInfo, ...]


@dataclass(frozen=True, slots=True)
class EntityResult:
    """An entity and its relations."""

    entity: ContextEntity
    relations: tuple[ContextRelation, ...]


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What a verification found, in words; `repaired` if it was mended."""

    differences: tuple[str, ...]
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A line of an export, without its end."""

    text: str


@dataclass(frozen=True, slots=True)
class Completed:
    """It was done; a sentence says what."""

    text: str


OperationResult = (
    RetrievalSummary
    | AnswerDelta
    | AnswerEnd
    | ContextResult
    | PromptResult
    | ProgressUpdate
    | IngestResult
    | StatusResult
    | DocumentList
    | EntityResult
    | VerifyResult
    | ExportLine
    | Completed
)
