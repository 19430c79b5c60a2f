"""Errors of the bot: what a platform refuses, and what a person may not do.

EngineError
├── PlatformError        the platform refused or did not answer
│   ├── PlatformUnavailable  it was not reached, or has trouble of its own: this passes
│   │   └── NotConnected     it was not reached yet in this run
│   └── Withheld         it says that we may not see or do this
│       ├── ChannelGone     it is sure that the channel is gone, or that we are not in it
│       ├── WorkspaceGone       it is sure that we are not in the workspace any more
│       └── SetupError   it does not accept the bot as it is set up: trying again is of no use
├── NotAllowed           the person may not do this
└── BadSetting           a setting has a value that it cannot have, or cannot be read
"""

from __future__ import annotations

from engine.errors import DiskError, EngineError


class PlatformError(EngineError):
    """The platform refused or did not answer."""

    hint = "It is tried again when there is a reason to hope; the log says what was refused."


class PlatformUnavailable(PlatformError):
    """The platform was not reached, fails by itself, or asks to slow down. Tried again for as long as it takes."""

    hint = "Check the network and the platform's status page; it is tried again until it succeeds."


class NotConnected(PlatformUnavailable):
    """The platform was not reached yet in this run."""


class PermissionDenied(PlatformError):
    """The platform says that the bot may not see or do this."""

    hint = "Check the bot's scopes or permissions, and that it was invited to the channel."


class ChannelGone(PermissionDenied):
    """The platform is sure that a channel was deleted, or that the bot was put out of it."""

    hint = "Invite the bot again, if the channel is still there."


class WorkspaceGone(PermissionDenied):
    """The platform is sure that the bot is not in a workspace any more."""

    hint = "Install or invite it again."


class SetupError(PermissionDenied):
    """The platform does not accept the bot as it is set up, which only a person can change: a token, a permission."""

    hint = "Correct the setting, then start again."


class NotAllowed(EngineError):
    """The person may not do this."""

    hint = "The author, the uploader or an admin can."


class BadSetting(EngineError):
    """A setting has a value that it cannot have, or the file of settings cannot be read."""

    hint = "See .env.example: it explains every setting in a sentence."


TRANSIENT_ERRORS = (PlatformUnavailable, DiskError, ConnectionError, TimeoutError)


def is_transient(error: BaseException) -> bool:
    """Whether the same work can succeed later without any change to it: it is retried without a limit."""
    return isinstance(error, TRANSIENT_ERRORS)
