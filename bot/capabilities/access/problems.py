"""What every door of programs says of an error: one table of statuses and sentences. Pure.

The chat has sentences of its own (`describe_error`), translated and without details of the models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import AudienceChanged, InvalidToken, NotAllowed, PlatformError, TooManyRequests
from engine.errors import (
    AmbiguousDocument,
    CorrectionChanged,
    DatabaseReadOnly,
    DiskError,
    DocumentTooLarge,
    EngineError,
    InvalidDocument,
    InvalidQuestion,
    ModelError,
    NotFound,
    RateLimited,
    SandboxIncomplete,
    StoreError,
    UnstorableText,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERNAL = "InternalError"  # its text stays in the log
# The status of HTTP of an error is that of the first class it belongs to.
STATUSES: Sequence[tuple[type[EngineError], int]] = (
    (InvalidToken, 401),
    (NotAllowed, 403),
    (NotFound, 404),
    (AudienceChanged, 409),
    (AmbiguousDocument, 409),
    (CorrectionChanged, 409),
    (DocumentTooLarge, 413),
    (SandboxIncomplete, 503),
    (InvalidDocument, 422),
    (InvalidQuestion, 422),
    (TooManyRequests, 429),
    (RateLimited, 503),
    (ModelError, 502),
    (PlatformError, 503),
)


@dataclass(frozen=True, slots=True)
class ErrorNotice:
    """What is told of an error: its name, which does not change, its status of HTTP, and sentences."""

    name: str
    status: int
    detail: str
    hint: str = ""

    @property
    def is_internal(self) -> bool:
        """Whether only the log says what happened."""
        return self.name == INTERNAL


DISK = ErrorNotice(INTERNAL, 507, "The disk of the server is full or failing. The log says more.")
READ_ONLY = ErrorNotice(
    "DatabaseReadOnly",
    503,
    "Nothing can be changed at the moment: the database only answers questions.",
    "Try again later. Whoever runs the server finds the reason in its health and its log.",
)
UNSTORABLE = ErrorNotice(
    "UnstorableText", 422, "The database cannot store a part of this: it is too long.", "Shorten it."
)
STORE = ErrorNotice(INTERNAL, 503, "The data cannot be used at the moment. The log says more.")
UNEXPECTED = ErrorNotice(INTERNAL, 500, "Something went wrong. The log says more.")
# Of these, and of what nobody foresaw, the words are not shown: they may be those of a database, or of texts in it.
WITHOUT_WORDS: Sequence[tuple[type[EngineError], ErrorNotice]] = (
    (DiskError, DISK),
    (DatabaseReadOnly, READ_ONLY),
    (UnstorableText, UNSTORABLE),
    (StoreError, STORE),
)


def describe_problem(error: Exception) -> ErrorNotice:
    """What is told of an error; the text of an unexpected one, or of one of the store, is not shown."""
    if found := next((notice for kind, notice in WITHOUT_WORDS if isinstance(error, kind)), None):
        return found
    if isinstance(error, EngineError) and type(error) is not EngineError:
        status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
        return ErrorNotice(type(error).__name__, status, str(error), error.hint)
    return UNEXPECTED
