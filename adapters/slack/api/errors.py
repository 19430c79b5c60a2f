"""What Slack refuses, in the words of the bot."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.errors import ChannelGone, PermissionDenied, PlatformError, PlatformUnavailable, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

SLACK_ERRORS = (SlackClientError, aiohttp.ClientError, TimeoutError)
ACCESS_ERRORS = frozenset(
    [
        "account_inactive",
        "ekm_access_denied",
        "invalid_auth",
        "is_archived",
        "missing_scope",
        "no_permission",
        "not_authed",
        "not_in_channel",
        "restricted_action",
        "token_expired",
        "token_revoked",
        "user_not_in_channel",
    ]
)
# What only a person can change, of a token that connects: those of its words that Slack gives while one connects.
SETUP_ERRORS = frozenset(
    [
        "account_inactive",
        "invalid_auth",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "token_expired",
        "token_revoked",
    ]
)
CHANNEL_NOT_FOUND = "channel_not_found"  # also of a private channel that the bot was put out of
NOT_FOUND_ERRORS = frozenset(["message_not_found", "thread_not_found"])
# Slack's own trouble, or that of a proxy between.
UNAVAILABLE_ERRORS = frozenset(
    [
        "fatal_error",
        "internal_error",
        "ratelimited",
        "request_timeout",
        "service_unavailable",
        "team_added_to_org",
        "unreadable_answer",
    ]
)
SERVER_ERROR = 500
DEFAULT_RETRY_AFTER = 30.0  # seconds, when Slack asks to slow down and does not say for how long


class MessageNotFound(PlatformError):
    """Slack does not know a message or a thread."""

    hint = "It was deleted."


def error_code(error: BaseException) -> str:
    """Slack's own word for what went wrong; for other errors their kind. Neither holds what anybody said."""
    if not isinstance(error, SlackApiError):
        return type(error).__name__
    if retry_after_seconds(error) is not None:
        return "ratelimited"
    data = getattr(error.response, "data", None)
    return str(data.get("error") or "unknown") if isinstance(data, dict) else "unreadable_answer"


def retry_after_seconds(error: BaseException) -> float | None:
    """Seconds that Slack asks to wait; None if this is another error."""
    if not isinstance(error, SlackApiError):
        return None
    data = getattr(error.response, "data", None)
    named = isinstance(data, dict) and data.get("error") in ("ratelimited", "rate_limited")
    if not named and getattr(error.response, "status_code", 0) != 429:
        return None
    told = str(error.response.headers.get("Retry-After", ""))
    return float(told) if told.isdigit() else DEFAULT_RETRY_AFTER


def missing_scopes(error: BaseException) -> frozenset[str]:
    """The scopes that the app lacks for a call; none if this is another error."""
    data = getattr(error.response, "data", None) if isinstance(error, SlackApiError) else None
    if not isinstance(data, dict) or data.get("error") != "missing_scope":
        return frozenset()
    return frozenset(str(data.get("needed") or "").split(","))


def to_platform_error(error: BaseException) -> PlatformError:
    """The error as the bot knows it."""
    word = error_code(error)
    if not isinstance(error, SlackApiError):
        return PlatformUnavailable(f"Slack was not reached: {word}.")
    if is_unavailable(error):
        return PlatformUnavailable(f"Slack has trouble of its own: {word}.")
    return _error_class(word)(f"Slack refused: {word}.")


def is_unavailable(error: SlackApiError) -> bool:
    """Whether Slack could not answer now, whatever it was asked."""
    status = getattr(error.response, "status_code", 0) or getattr(error.response, "status", 0)
    return bool(status >= SERVER_ERROR) or error_code(error) in UNAVAILABLE_ERRORS


def _error_class(word: str) -> type[PlatformError]:
    if word == CHANNEL_NOT_FOUND:
        return ChannelGone
    if word in NOT_FOUND_ERRORS:
        return MessageNotFound
    return PermissionDenied if word in ACCESS_ERRORS else PlatformError


@contextmanager
def map_connect_errors(token: str) -> Iterator[None]:
    """What goes wrong while one connects by the token of this setting: SetupError if only a person can change it."""
    try:
        yield
    except SLACK_ERRORS as error:
        word, lacking = error_code(error), ", ".join(sorted(missing_scopes(error)))
        if word not in SETUP_ERRORS:
            raise to_platform_error(error) from error
        way = f"Give the app the scope {lacking} and install it again" if lacking else "Install the app again"
        hint = f"{way} (api.slack.com/apps), and copy its token into {token}."
        raise SetupError(f"Slack does not accept {token}: {word}.", hint=hint) from error


@contextmanager
def map_errors() -> Iterator[None]:
    """Whatever goes wrong with Slack in here becomes a PlatformError."""
    try:
        yield
    except SLACK_ERRORS as error:
        raise to_platform_error(error) from error
