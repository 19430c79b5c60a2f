"""The error family: each says what happened, and `hint` says what to do.

EngineError
├── InvalidDocument                 the document cannot be read as it is
│   ├── Unsupported          no reader for this kind of file
│   ├── Empty                there is no text in it
│   ├── Encrypted            a password is needed
│   ├── Broken               the bytes are not what the name says
│   └── DocumentTooLarge             beyond the limits on size, time or memory
├── InvalidQuestion              the question cannot be asked as it stands
│   └── OutOfRange           a number is not within its bounds; InvalidDocument too
├── NotFound                 no such document, entity or relation in scope
├── StoreError               the data folder
│   ├── Closed               the engine was closed
│   ├── DataDirInUse          another process holds it
│   ├── NewerSchema          written by a later version
│   ├── EmbedderMismatch        its vectors were made by another embedder
│   ├── CorruptLedger        the ledger, or the bot's tables, cannot be read; a backup helps
│   ├── CorruptProjection     graph or vectors cannot be read; the ledger can make them anew
│   └── DiskError          the disk is full or fails
└── ModelError            a model call
    ├── Unavailable          timed out, broke off or has trouble of its own; worth another try
    │   └── Unreachable      nothing listens at the address, or there is no way to it
    ├── RateLimited          told to slow down; worth another try later
    ├── PromptTooLong              the prompt does not fit the model
    ├── Refused              the model or its provider declined
    ├── ModelNotFound          no provider, or the provider of the model does not know it
    └── InvalidApiKey               the key is missing or wrong
"""

from __future__ import annotations


class EngineError(Exception):
    """Root of all that the engine raises on purpose; `hint` says what to do about it."""

    hint = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        if hint:
            self.hint = hint


class InvalidDocument(EngineError):
    """A document that cannot be taken in."""


class UnsupportedFormat(InvalidDocument):
    """No parser reads this kind of file. Parsers add a hint that lists the formats."""

    hint = "Convert it to a format that can be read, for example PDF or plain text."


class EmptyDocument(InvalidDocument):
    """There is no text in it."""

    hint = "If its pages are pictures, run text recognition (OCR) first."


class EncryptedFile(InvalidDocument):
    """A password is needed."""

    hint = "Save a copy without a password and add that."


class CorruptFile(InvalidDocument):
    """The bytes are not what the name says."""

    hint = "Open the file in its own program and save it again."


class DocumentTooLarge(InvalidDocument):
    """Beyond the limits on size, time or memory."""

    hint = "Split it; whoever runs Threadlore can raise the limits on files in the settings."


class InvalidQuestion(EngineError):
    """The question cannot be asked as it stands."""


class OutOfRange(InvalidDocument, InvalidQuestion):
    """A number that was given is too small, too large, or none at all."""


class NotFound(EngineError):
    """No such document, entity or relation in scope."""


class StoreError(EngineError):
    """Something about the data folder."""


class EngineClosed(StoreError):
    """The engine was closed."""

    hint = "Open it again."


class DataDirInUse(StoreError):
    """Another process holds the data folder."""

    hint = "Run the command again in a moment; if the other program hangs, stop it."


class NewerSchema(StoreError):
    """The ledger was written by a later version."""

    hint = "Upgrade Threadlore, or restore a backup made with this version."


class EmbedderMismatch(StoreError):
    """The vectors of the folder were made by another embedder."""

    hint = "Set the former embedder again, or make all vectors anew with `threadlore reindex`."


class CorruptLedger(StoreError):
    """The ledger, or the file of the bot's tables, cannot be read any more."""

    hint = "Restore a backup with `threadlore restore FILE --force`."


class CorruptProjection(StoreError):
    """The files of the graph or of the vectors cannot be read, or do not belong to this version."""

    hint = "Make graph and vectors anew from the ledger with `threadlore reindex`; nothing is lost."


class DiskError(StoreError):
    """The disk is full or fails."""

    hint = "See that there is space and that you may write there; work goes on where it stopped."


class ModelError(EngineError):
    """A model call failed. `wait`: seconds that the provider asks to wait, if it does."""

    retry_after: float | None = None


class ModelUnavailable(ModelError):
    """Timed out, broke off in the middle, or has trouble of its own."""

    hint = "Try again in a moment; if it stays so, the model's provider knows more."


class ModelTimeout(ModelUnavailable):
    """Did not answer within the time limit."""

    hint = "If it is slow and not stuck, raise THREADLORE_LLM_TIMEOUT_SECONDS."


class ModelUnreachable(ModelUnavailable):
    """Nothing listens at the address of the model, or there is no way to it."""

    hint = "See that it runs, that its address in the settings is right (…_API_BASE), and that the network is there."


class RateLimited(ModelError):
    """The provider asks to slow down."""

    hint = "Wait a minute. If it comes again, lower THREADLORE_LLM_MAX_CONCURRENCY, or raise the quota at the provider."


class PromptTooLong(ModelError):
    """The prompt does not fit into the model's window."""

    hint = "Choose a model with a larger window, or ask about less at once."


class ModelRefused(ModelError):
    """The model or its provider declined the request."""

    hint = "Another model, or other settings of this one, may be accepted."


class ModelNotFound(ModelError):
    """No provider stands in the model's name, or that provider does not know it."""

    hint = "Check the model's name in the settings: provider/model, as in openai/gpt-4o-mini or ollama_chat/qwen3."


class InvalidApiKey(ModelError):
    """The key is missing or wrong."""

    hint = (
        "Set a valid THREADLORE_LLM_API_KEY, or the provider's own variable; embedders and rerankers have settings too."
    )
