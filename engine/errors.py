"""Errors of the engine. Each message says what happened; its `hint` says what the user can do.

EngineError
├── InvalidDocument          the document cannot be ingested
├── InvalidQuestion          the question cannot be asked
├── CorrectionChanged        a correction to undo was changed or undone meanwhile
├── NotFound                 no such document, entity or relation in the scope
├── StoreError               the data directory, or its database
│   ├── DataDirInUse         another process uses it
│   ├── Database…            the server of the database, or its settings
│   ├── …Schema…             another version wrote it
│   ├── Corrupt…             it is damaged
│   └── DiskError            the disk is full, failing, or not writable
└── ModelError               a model call failed
    ├── ModelUnavailable     worth retrying; an InvalidReply with other texts only
    ├── RateLimited          worth retrying later
    ├── RequestRejected      its content may be at fault, or a setting
    └── PromptTooLong, ModelRefused, ModelNotFound, ModelNotInstalled, InvalidApiKey
"""

from __future__ import annotations

from typing import Any, Self, TypeGuard


class EngineError(Exception):
    """Base class of every error that the engine raises deliberately; `hint` says what to do about it."""

    hint = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        if hint:
            self.hint = hint


class CorrectionChanged(EngineError):
    """A correction to undo is not there any more."""

    hint = "List the corrections again."


class InvalidDocument(EngineError):
    """The document cannot be ingested."""


class PeopleNotKept(InvalidDocument):
    """A statement is about people, who are no entities in its space."""

    hint = "Whoever runs the bot decides that."


class UnsupportedFormat(InvalidDocument):
    """The file format is one that no parser reads. Parsers add a hint that lists the formats."""

    hint = "Convert it to a supported format, for example PDF or plain text."


class NoTextFormat(UnsupportedFormat):
    """Files of this kind hold nothing to read: film, sound, fonts, programs, and formats that no parser knows."""

    hint = ""


class EmptyDocument(InvalidDocument):
    """The document contains no text."""

    hint = "If its pages are images, run text recognition (OCR) first."


class EmptyPicture(EmptyDocument):
    """The file is a picture in which nothing was found, or which nothing reads."""


class EncryptedFile(InvalidDocument):
    """The file is protected by a password."""

    hint = "Save a copy without a password and add that."


class CorruptFile(InvalidDocument):
    """The content does not match the file format, or is damaged."""

    hint = "Open the file in the program that created it and save it again."


class DocumentTooLarge(InvalidDocument):
    """The document exceeds a limit on size, time or memory."""

    hint = "Split the file, or ask the administrator of Threadlore to raise the file limits in the settings."


class SandboxIncomplete(InvalidDocument):
    """The kernel does not bound parsers as the settings require, so that no file is read."""

    hint = "`threadlore doctor` says what the sandbox lacks; THREADLORE_REQUIRE_SANDBOX=false reads files without it."


class InvalidQuestion(EngineError):
    """The question cannot be asked."""


class AmbiguousDocument(InvalidQuestion):
    """Several documents have the given name."""


class OutOfRange(InvalidDocument, InvalidQuestion):
    """A number is too small, too large, or not a number."""


class NotFound(EngineError):
    """The scope has no such document, entity or relation."""


class StoreError(EngineError):
    """Base class of errors about the data directory."""


class EngineClosed(StoreError):
    """The engine was closed."""

    hint = "Open it again."


class DataDirInUse(StoreError):
    """The data directory is in use by another process."""

    hint = "Run the command again in a moment. If the other process hangs, stop it."


class DatabaseInUse(DataDirInUse):
    """The database is in use by another process, and one of both must be alone."""

    hint = "Try again when that process has ended; `threadlore serve` waits for it."


class DatabaseUnreachable(StoreError):
    """The database server does not answer; retried without a limit."""

    hint = "Check that the database server runs and that the address is right; it will be retried."


LOST = "The connection to the database was lost."


class DatabaseLost(StoreError):
    """The connection that proves that this process lives was lost; others may have taken over its work."""

    hint = "Check that the database server runs and is reachable, and start the program again."


class DatabaseReadOnly(StoreError):
    """The database server takes no changes: it is a standby, or somebody or a full disk made it read-only."""

    hint = (
        "Questions are answered; changes are refused until the server takes them again. Check that the address leads to"
        " the primary server, its disk, and its setting default_transaction_read_only."
    )


class DatabaseBusy(StoreError):
    """The database server ended a statement that waited or ran for too long, or had no memory for it."""

    hint = "Try again in a moment. If it happens again, check the load of the server and its time limits."


class DatabaseMisconfigured(StoreError):
    """Settings, rights or extensions of the database server do not let the program work."""

    hint = "Check the rights of the database user, the extensions of the server, and whether a pooler is in between."


class UnstorableText(StoreError):
    """The database cannot store a text or a number: it is too long or too large for its place."""

    hint = "Shorten the text; the log says which part was refused."


class NewerSchema(StoreError):
    """A later version wrote the data directory."""

    hint = "Upgrade Threadlore, or restore a backup made with this version."


class EarlySchema(StoreError):
    """A version before the first release wrote the data directory."""

    hint = (
        "It cannot be converted. Keep that data directory, and start with a new one (THREADLORE_DATA_DIR):"
        " ingest your files again, and back-fill your channels again."
    )


class SchemaMismatch(StoreError):
    """The tables are not those that this version would have created, for example of a version before a release."""

    hint = (
        "Nothing was changed. Restore a backup that a released version made with `threadlore restore FILE --force`, or"
        " start with a new data directory or database and ingest again."
    )


class EmbedderMismatch(StoreError):
    """The vectors of the data directory were made by another embedder."""

    hint = "Configure the previous embedder again, or recompute all vectors with `threadlore reindex`."


class CorruptLedger(StoreError):
    """The ledger, or the bot's database, is damaged."""

    hint = "Restore a backup with `threadlore restore FILE --force`."


class CorruptProjection(StoreError):
    """The files of the graph or of the vectors are damaged, or belong to another version."""

    hint = "Rebuild graph and vectors from the ledger with `threadlore reindex`; nothing is lost."


class DiskError(StoreError):
    """The disk is full, read-only or failing, or may not be written; the message names it."""

    hint = "Check free space and write permissions; the work resumes where it stopped."


class DiskFull(DiskError):
    """The disk has no space left."""


class DiskReadOnly(DiskError):
    """The disk takes no writes."""


class ModelError(EngineError):
    """Base class of failed model calls. `retry_after`: seconds that the provider asks to wait, if it does."""

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after

    @property
    def details(self) -> dict[str, Any]:
        """What the error says beside its message: the keyword arguments that make it again."""
        return dict(vars(self))

    def copy(self, **changed: Any) -> Self:
        """The same error once more, with some of its details changed."""
        return type(self)(str(self), **{**self.details, **changed})


class ModelUnavailable(ModelError):
    """The connection was lost, or the model's server reported an error."""

    hint = "Try again in a moment. If it keeps failing, check the status page of the model's provider."


class ModelTimeout(ModelUnavailable):
    """The model did not reply within the time limit."""

    hint = "If the model is slow rather than stuck, raise THREADLORE_LLM_TIMEOUT_SECONDS."


class ModelUnreachable(ModelUnavailable):
    """The model's server does not listen at its address, or the network is down."""

    hint = "Check that the server is running, that …_API_BASE is correct, and that the network is reachable."


class ModelPaused(ModelUnavailable):
    """The call was not sent, because earlier ones failed; `retry_after`: seconds until the provider is tested."""


class IndexingBudgetSpent(ModelPaused):
    """The call was not sent, because the budget for indexing is used up; it is sent in the next period."""

    hint = "Wait for the next period, or raise THREADLORE_INDEXING_TOKENS_PER_DAY or the other limits."


class InvalidReply(ModelUnavailable):
    """The model, or the plug-in that calls it, gave no valid reply to this text; to others it may."""


class NothingGiven(InvalidReply):
    """The replies to a text hold no facts, and do not say that there are none; the message quotes the last one.

    `outcome`: what the reply was instead, a value of `engine.llm.formats.outcomes.Outcome`.
    """

    hint = "Choose a model that keeps to the format (docs/models.md), or read the text again with `threadlore retry`."

    def __init__(self, message: str, *, outcome: str = "", **details: Any) -> None:
        super().__init__(message, **details)
        self.outcome = outcome


class RateLimited(ModelError):
    """The provider limits the rate of requests."""

    hint = "Wait a minute. If it happens again, lower THREADLORE_LLM_MAX_CONCURRENCY, or raise your provider's quota."


class OutOfCredit(RateLimited):
    """The quota or the credit at the provider is used up."""

    hint = "Check your plan and billing at the provider."


class PromptTooLong(ModelError):
    """The prompt does not fit into the model's context window."""

    hint = "Choose a model with a larger context window, or ask about less at once."


class ModelRefused(ModelError):
    """The model or its provider declined the content of the request; a setting is never at fault."""

    hint = "Ask in other words, or try another model."


class RequestRejected(ModelError):
    """The provider rejected the request without saying whether its content or a setting is at fault.

    `parameter`: what the request may leave out to be accepted, "" if nothing is known; `lasting`: whether every request
    with it is rejected.
    """

    hint = "Check the settings of this model; `threadlore check` tests them."

    def __init__(self, message: str, *, parameter: str = "", lasting: bool = True, **details: Any) -> None:
        super().__init__(message, **details)
        self.parameter = parameter
        self.lasting = lasting


class BadModelSettings(RequestRejected):
    """The provider does not accept a setting of the model, a role, a parameter, or the account as it is."""

    hint = "Change the setting that the provider names; `threadlore check` tests the settings of each model."


class ModelNotFound(ModelError):
    """The model's name has no known provider, or the provider does not offer the model."""

    hint = "Check the model name in the settings: provider/model, for example openai/gpt-4o-mini or ollama_chat/qwen3."


class ModelNotInstalled(ModelError):
    """The files of a built-in model are missing, damaged, or of another version."""


class InvalidApiKey(ModelError):
    """The API key is missing or wrong."""

    hint = (
        "Set a valid THREADLORE_LLM_API_KEY or the provider's own variable."
        " Embedders and rerankers have settings of their own."
    )


# Of the database server, whatever is sent to it.
SERVER_ERRORS = (DatabaseUnreachable, DatabaseLost, DatabaseReadOnly, DatabaseBusy, DatabaseMisconfigured)
WRITES_REFUSED = (DatabaseReadOnly, DiskError)  # what is stored can still be read


TEXT_ERRORS = (ModelRefused, PromptTooLong, InvalidReply)
# Never of a text.
PROVIDER_ERRORS = (
    InvalidApiKey,
    ModelNotFound,
    ModelNotInstalled,
    ModelPaused,
    RateLimited,
    ModelUnreachable,
    BadModelSettings,
)


def is_outage(error: BaseException) -> TypeGuard[ModelError]:
    """Whether a model call failed for a reason other than its text: the same call can succeed later."""
    return isinstance(error, ModelError) and not isinstance(error, TEXT_ERRORS)
