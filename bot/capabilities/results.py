"""Results of requests, also sent over the local socket."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date  # noqa: TC003  - read at run time
from typing import TYPE_CHECKING

from bot.capabilities.answers.requests import AnswerResults
from bot.capabilities.asking.requests import SearchResult
from bot.capabilities.decisions.requests import DecisionList
from bot.capabilities.documents.requests import DocumentPlace, DocumentResults, UnreadFileInfo
from bot.capabilities.erasure.requests import Completed as Completed  # noqa: PLC0414  - others import it from here
from bot.capabilities.erasure.requests import Erased as Erased  # noqa: PLC0414  - others import it from here
from bot.capabilities.erasure.requests import ErasureRehearsal as ErasureRehearsal  # noqa: PLC0414  - others import it from here
from bot.capabilities.erasure.requests import Forgotten as Forgotten  # noqa: PLC0414  - others import it from here
from bot.capabilities.erasure.requests import ReceiptChecked as ReceiptChecked  # noqa: PLC0414  - others import it from here
from bot.capabilities.erasure.requests import ReceiptFound as ReceiptFound  # noqa: PLC0414  - others import it from here
from bot.capabilities.graph.requests import GraphResults
from bot.capabilities.maintenance.requests import AuditList, MyData
from bot.capabilities.management.results import ManagementResult
from bot.capabilities.readers.requests import ReadersFound
from bot.monitoring.report import HealthState
from bot.platform.history_source import Omission  # noqa: TC001  - read at run time
from bot.store import AccessToken  # noqa: TC001  - read at run time
from engine import (
    Context,
    ContextEntity,
    ContextRelation,
    CorrectionChange,
    DocumentInfo,
    DuplicateReport,
    IndexProblem,
    IndexStatus,
    LLMMessage,
    Source,
    Usage,
)
from engine.models import HelperCall  # noqa: TC001  - read at run time
from engine.parsers.sandbox.state import SandboxState  # noqa: TC001  - read at run time

if TYPE_CHECKING:
    from bot.permissions.provenance import Provenance
    from bot.store import VerifiedAnswer
    from engine import Answer


@dataclass(frozen=True, slots=True)
class AnswerBegun:
    """The answer that will be streamed, for whoever checks and counts it; it does not leave the process."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class DrawsOn:
    """The verified answer that is repeated, and what it rests on; as AnswerBegun, it does not leave the process."""

    provenance: Provenance
    verified: VerifiedAnswer


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """The next piece of an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The answer has ended: its sources by number, what it took, and whether the model stopped before its end.

    `undated`: documents without a date were left out of the span of time that was asked about. `truncated`: of that
    span only the newest part was taken in. `filtered`: a content filter of the provider stopped the model. `gap`: why
    the answer leaves out something that its reader may read (as in ResolvedScope). `rebuilding`: graph and vectors were
    incomplete. `failed_helpers`: calls that help to search and failed. `verified`: who verified this answer and when,
    if it was not written for this question. `answer`: its id, if it is kept. `since`: the first day of an overview, if
    older passages were left out. `unsearched`: the language model was asked alone, or nothing was asked for, so that
    there can be no source. `as_of`: the day after which nothing is known to the answer, if the question named one.
    """

    sources: tuple[Source, ...]
    usage: tuple[Usage, ...]
    cut_off: bool = False
    undated: bool = False
    truncated: bool = False
    filtered: bool = False
    gap: str = ""
    rebuilding: bool = False
    failed_helpers: tuple[HelperCall, ...] = ()
    verified: str = ""
    answer: str = ""
    since: str = ""
    unsearched: bool = False
    as_of: date | None = None


@dataclass(frozen=True, slots=True)
class ContextResult:
    """The context of a question, without an answer; `gap` as in AnswerEnd."""

    context: Context
    gap: str = ""


@dataclass(frozen=True, slots=True)
class PromptResult:
    """The prompt of a question."""

    messages: tuple[LLMMessage, ...]


@dataclass(frozen=True, slots=True)
class ProgressUpdate:
    """Progress of a stage: `done` of `total`; 0 of 0 while the total is unknown.

    `trouble`: what it waits for, if anything. `remaining`: what is left within the counted things, in words; `left`:
    how many steps that are.
    """

    stage: str
    done: int = 0
    total: int = 0
    trouble: str = ""
    remaining: str = ""
    left: int = 0


@dataclass(frozen=True, slots=True)
class IngestFailure:
    """A file or document that could not be ingested, with the error and a hint."""

    what: str
    error: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The end of an ingest; documents are files and conversations.

    `trouble`: why some of them are not indexed yet, if a model was out of reach too long. `gaps`: the documents of
    whose files something was not read. `spent_budget`: that texts wait for a budget of indexing, "" if none does.
    """

    files: int
    documents: int
    changed: int
    seconds: float
    failures: tuple[IngestFailure, ...] = ()
    trouble: str = ""
    gaps: tuple[IngestFailure, ...] = ()
    spent_budget: str = ""


@dataclass(frozen=True, slots=True)
class EstimateResult:
    """About what indexing takes: of so many new `files` or `messages`, or `chunks` to read again, with tokens of texts.

    `model`: for extraction, "" if rules extract; `tokens` of both directions, `seconds` and US dollars are its own.
    `dollars`: None if its price is not known. `is_whole`: whether all texts were counted.
    """

    files: int
    messages: int
    text_tokens: int
    is_whole: bool = True
    model: str = ""
    tokens: int = 0
    seconds: float = 0.0
    dollars: float | None = 0.0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class ImportedPlace:
    """A workspace, such as chat:T0123, with the names of the channels that were imported into it."""

    workspace: str
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HistoryImportResult:
    """The end of an import: `messages` that were read, those that were `new` or `edited`, and the `files` added.

    `omissions`: what was left out, and how often, by kind. `left_out`: the same by channel and name. `places`: the
    workspaces in which it lies now, each with names of its channels. `readers`: who can find it, in a sentence.
    """

    channels: int
    messages: int
    new: int
    edited: int
    files: int
    seconds: float
    omissions: tuple[tuple[str, int], ...] = ()
    left_out: tuple[Omission, ...] = ()
    places: tuple[ImportedPlace, ...] = ()
    readers: str = ""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The end of the synchronization of a source: what it has (`documents`, "3 files"), what changed and went.

    `unread`: documents that were not read. `trouble`: why it is not complete, "" if it is.
    """

    name: str
    documents: str
    changed: int
    removed: int
    seconds: float
    unread: tuple[IngestFailure, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class StatusResult:
    """The index status of spaces; what bounds parsers in that process, and what was not read, if that was asked for.

    `unread_files`: how many shared files of each family were not read at all. `renewals`: how many posted answers whose
    sources changed had which outcome (RenewalOutcome), for the operator alone.
    """

    status: IndexStatus
    sandbox: SandboxState | None = None
    problems: tuple[IndexProblem, ...] | None = None
    unread_files: tuple[tuple[str, int], ...] = ()
    renewals: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentList:
    """Documents of spaces. `total`: how many were found, `known`: how many there are.

    `unread_files`: the newest files that were shared there and not read; only with the first documents of a list.
    `located`: the place of each document. `places`: all places, with how many documents lie there.
    """

    documents: tuple[DocumentInfo, ...]
    total: int = 0
    known: int = 0
    unread_files: tuple[UnreadFileInfo, ...] = ()
    located: tuple[DocumentPlace, ...] = ()
    places: tuple[tuple[DocumentPlace, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FilterNames:
    """The names of channels and of people who wrote something."""

    channels: tuple[str, ...]
    authors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityResult:
    """An entity and its relations."""

    entity: ContextEntity
    relations: tuple[ContextRelation, ...]


@dataclass(frozen=True, slots=True)
class DuplicatesResult:
    """Names that may mean the same entity, and those that were joined automatically."""

    report: DuplicateReport


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The differences found by a verification, and whether they were repaired."""

    differences: tuple[str, ...]
    repaired: bool = False
    audit_entries: int = 0
    audit_problem: str = ""


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A line of an export, without the line break."""

    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of text below their headings, for capabilities without a result of their own."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Corrected(Completed):
    """A correction was made in a space. `change`: what its undo reverses. `undo`: the id of that, "" without one."""

    space: str = ""
    change: CorrectionChange = field(default_factory=CorrectionChange)
    undo: str = ""


@dataclass(frozen=True, slots=True)
class CorrectionMade:
    """A correction is stored; graph and vectors follow. `change` and `undo` as in Corrected."""

    space: str
    change: CorrectionChange
    undo: str = ""


@dataclass(frozen=True, slots=True)
class FactAdded(Completed):
    """A fact was added. `key`: of its document."""

    key: str = ""


@dataclass(frozen=True, slots=True)
class TokenCreated:
    """A new access token, and its text, which is shown once."""

    token: AccessToken
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class TokenChecked:
    """A valid access token, without its secret."""

    token: AccessToken


@dataclass(frozen=True, slots=True)
class TokenList:
    """All access tokens."""

    tokens: tuple[AccessToken, ...]


OperationResult = (
    AnswerResults
    | AnswerDelta
    | AnswerEnd
    | ContextResult
    | SearchResult
    | PromptResult
    | ProgressUpdate
    | IngestResult
    | HistoryImportResult
    | SourceReport
    | EstimateResult
    | StatusResult
    | DocumentList
    | FilterNames
    | EntityResult
    | DuplicatesResult
    | VerifyResult
    | ExportLine
    | Completed
    | Forgotten
    | Erased
    | ErasureRehearsal
    | ReceiptFound
    | ReceiptChecked
    | Listing
    | ReadersFound
    | DecisionList
    | Corrected
    | CorrectionMade
    | FactAdded
    | TokenCreated
    | TokenChecked
    | TokenList
    | AuditList
    | MyData
    | HealthState
    | DocumentResults
    | GraphResults
    | ManagementResult
)

Internal = AnswerBegun | DrawsOn
HandlerResult = OperationResult | Internal
