"""Errors of the bot: what a platform refuses, and what a person may not do.

EngineError
├── PlatformError            the platform refused or did not answer
│   ├── PlatformUnavailable  unreachable or failing: this passes
│   │   └── NotConnected     not connected yet in this run
│   └── PermissionDenied     the platform does not allow this
│       ├── ChannelGone      the channel is gone, or the bot was removed from it
│       ├── WorkspaceGone    the bot is no longer in the workspace
│       └── SetupError       the configuration is rejected: retrying is useless
├── NotAllowed               the person may not do this
│   ├── InvalidToken         the access token is unknown, expired or revoked
│   └── NotPermitted         the access token does not permit this
├── TooManyRequests          an access token was used, or its person asked, too often in the last minute
├── SourceUnavailable        a source of documents cannot be read now
├── ItemNotRead              a document of a source may not or cannot be read
│   ├── ItemGone             it is no longer there
│   └── ItemNotReadNow       this passes
├── AudienceChanged          what a caller may read became less during the answer
├── BadSetting               a setting has an invalid value, or cannot be read
└── PortInUse                another program listens on the port: this passes
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import SERVER_ERRORS, DiskError, EngineError, is_outage
from engine.storage.disk import disk_error

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class PlatformError(EngineError):
    """The platform refused or did not answer."""

    hint = "The log says what the platform refused; temporary failures are retried automatically."


class PlatformUnavailable(PlatformError):
    """The platform is unreachable, failing, or rate limiting. Retried without a limit."""

    hint = "Check the network and the platform's status page; the call is retried until it succeeds."


class NotConnected(PlatformUnavailable):
    """The platform is not connected yet in this run."""


class PermissionDenied(PlatformError):
    """The platform does not allow the bot to see or do this; `permissions`: what it lacks, as the platform names it."""

    hint = "Check the bot's scopes or permissions, and that it was invited to the channel."

    def __init__(self, message: str, *, hint: str = "", permissions: Iterable[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.permissions = tuple(permissions)


class ChannelGone(PermissionDenied):
    """The platform confirms that a channel was deleted, or that the bot was removed from it."""

    hint = "Invite the bot again, if the channel is still there."


class WorkspaceGone(PermissionDenied):
    """The platform confirms that the bot is no longer in a workspace."""

    hint = "Install or invite it again."


class SetupError(PermissionDenied):
    """The platform rejects the configuration (a token, a permission); only a person can fix that."""

    hint = "Correct the setting, then start again."


class PageNotRead(EngineError):
    """A page that somebody linked to may not or cannot be read."""


class PageClosed(PageNotRead):
    """A page is not open to the public, or not to programs."""


class PageUnreachable(PageNotRead):
    """The server of a page does not answer now."""


class SourceUnavailable(EngineError):
    """A source of documents cannot be read now; what was read of it stays."""


class ItemNotRead(EngineError):
    """A document of a source may not or cannot be read."""


class ItemNotReadNow(ItemNotRead):
    """A document of a source cannot be read now, and is tried again."""


class ItemGone(ItemNotRead):
    """A document of a source is no longer there."""


class ItemClosed(ItemGone):
    """A document of a source is not open any more to those who read the source."""


class NotAllowed(EngineError):
    """The person may not do this."""


class InvalidToken(NotAllowed):
    """The access token is unknown, expired or revoked."""

    hint = "Ask whoever runs the bot for one: `threadlore token create` makes it."


class NotPermitted(NotAllowed):
    """The access token does not permit this."""

    hint = "Create a token that permits it, or ask whoever runs the bot."


class TooManyRequests(EngineError):
    """An access token was used, or its person asked, too often in the last minute."""

    hint = "Wait a minute."


class AudienceChanged(EngineError):
    """What a caller may read became less during the answer; its pieces so far are not to be used."""


class BadSetting(EngineError):
    """A setting has an invalid value, or the file of settings cannot be read."""

    hint = "See .env.example: it explains every setting in a sentence."


class PortInUse(EngineError):
    """The port of a setting is in use by another program. What runs for long tries again until it is free."""

    hint = "Stop the program that uses the port, or set another one."


TRANSIENT_ERRORS = (PlatformUnavailable, DiskError, *SERVER_ERRORS, ConnectionError, TimeoutError)


def is_transient(error: BaseException) -> bool:
    """Whether the same work can succeed later without any change to it: it is retried without a limit."""
    return isinstance(error, TRANSIENT_ERRORS) or is_outage(error)


def file_write_error(path: Path, error: OSError) -> DiskError:
    """Describe why a file cannot be written, with a hint."""
    if isinstance(error, IsADirectoryError):
        return DiskError(f"{path} is a folder.", hint="Name a file in this folder.")
    problem = f"{path} cannot be written"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        what = "does not exist" if isinstance(error, FileNotFoundError) else "is not a folder"
        return DiskError(f"{problem}: {path.parent} {what}.", hint="Create the folder first, or choose another one.")
    return disk_error(problem, path, error)
