"""Map errors of the Slack SDK to bot.errors."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.errors import ChannelGone, PermissionDenied, PlatformError, PlatformUnavailable, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slack_sdk.web.async_slack_response import AsyncSlackResponse

SLACK_ERRORS = (SlackClientError, aiohttp.ClientError, TimeoutError)
ACCESS_ERRORS = frozenset(
    [
        "account_inactive",
        "ekm_access_denied",
        "invalid_auth",
        "is_archived",
        "missing_scope",
        "no_permission",
        "no_such_subteam",
        "not_authed",
        "not_in_channel",
        "restricted_action",
        "token_expired",
        "token_revoked",
        "user_not_in_channel",
    ]
)
# Errors while connecting that only the operator can fix.
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
REASONS = {
    "account_inactive": "the app was removed, or its workspace is gone (account_inactive)",
    "invalid_auth": "it is no valid token (invalid_auth)",
    "missing_scope": "it lacks a scope (missing_scope)",
    "not_allowed_token_type": "it is of another kind (not_allowed_token_type)",
    "not_authed": "it is missing (not_authed)",
    "token_expired": "it has expired (token_expired)",
    "token_revoked": "it was revoked (token_revoked)",
}
BOT_TOKEN, APP_TOKEN = "THREADLORE_SLACK_BOT_TOKEN", "THREADLORE_SLACK_APP_TOKEN"
CHANNEL_NOT_FOUND = "channel_not_found"  # also for a private channel from which the bot was removed
NOT_FOUND_ERRORS = frozenset(["message_not_found", "thread_not_found"])
# Temporary failures of Slack, or of a proxy.
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
DEFAULT_RETRY_AFTER = 30.0  # seconds, when Slack sends no Retry-After


class MessageNotFound(PlatformError):
    """The message or thread does not exist."""

    hint = "It was deleted."


def error_code(error: BaseException) -> str:
    """Slack's error code, or the class name of any other error. Contains no message text."""
    if not isinstance(error, SlackApiError):
        return type(error).__name__
    if retry_after_seconds(error) is not None:
        return "ratelimited"
    data = getattr(error.response, "data", None)
    return str(data.get("error") or "unknown") if isinstance(data, dict) else "unreadable_answer"


def retry_after_seconds(error: BaseException) -> float | None:
    """Seconds that Slack asks to wait; None for other errors."""
    if not isinstance(error, SlackApiError):
        return None
    data = getattr(error.response, "data", None)
    named = isinstance(data, dict) and data.get("error") in ("ratelimited", "rate_limited")
    if not named and getattr(error.response, "status_code", 0) != 429:
        return None
    retry_after = str(error.response.headers.get("Retry-After", ""))
    return float(retry_after) if retry_after.isdigit() else DEFAULT_RETRY_AFTER


def missing_scopes(error: BaseException) -> frozenset[str]:
    """Scopes that the app lacks for a call; empty for other errors."""
    data = getattr(error.response, "data", None) if isinstance(error, SlackApiError) else None
    if not isinstance(data, dict) or data.get("error") != "missing_scope":
        return frozenset()
    return frozenset(str(data.get("needed") or "").split(","))


def to_platform_error(error: BaseException) -> PlatformError:
    """Convert an error of the SDK to a PlatformError."""
    code = error_code(error)
    if not isinstance(error, SlackApiError):
        return PlatformUnavailable(f"Slack could not be reached: {code}.")
    if is_unavailable(error):
        return PlatformUnavailable(f"Slack is unavailable: {code}.")
    if scopes := sorted(missing_scopes(error) - {""}):
        return PermissionDenied(f"Slack refused: {code}.", permissions=scopes)
    return _error_class(code)(f"Slack refused: {code}.")


def is_unavailable(error: SlackApiError) -> bool:
    """Whether Slack is temporarily unable to answer any call."""
    return is_server_error(error) or error_code(error) in UNAVAILABLE_ERRORS


def is_server_error(error: SlackApiError) -> bool:
    """Whether the status of the response says that the server failed."""
    status = getattr(error.response, "status_code", 0) or getattr(error.response, "status", 0)
    return bool(status >= SERVER_ERROR)


def next_cursor(page: AsyncSlackResponse) -> str:
    """The cursor of the next page; empty on the last one."""
    return str((page.get("response_metadata") or {}).get("next_cursor") or "")


def _error_class(code: str) -> type[PlatformError]:
    if code == CHANNEL_NOT_FOUND:
        return ChannelGone
    if code in NOT_FOUND_ERRORS:
        return MessageNotFound
    return PermissionDenied if code in ACCESS_ERRORS else PlatformError


@contextmanager
def map_connect_errors(token: str) -> Iterator[None]:
    """Map errors while connecting; `token` names the setting. Raises SetupError if the operator must act."""
    try:
        yield
    except SLACK_ERRORS as error:
        code, scopes = error_code(error), ", ".join(sorted(missing_scopes(error)))
        if code not in SETUP_ERRORS:
            raise to_platform_error(error) from error
        reason = REASONS.get(code, code)
        hint = f"{_describe_way(token, scopes)} (api.slack.com/apps), and copy it into {token}."
        raise SetupError(f"Slack does not accept {token}: {reason}.", hint=hint) from error


def _describe_way(token: str, scopes: str) -> str:
    """How to get a token that works; that of the app itself does not change when the app is installed again."""
    if token == APP_TOKEN:
        return "Generate one with the scope connections:write under Basic Information, App-Level Tokens"
    action = f"Give the app the scope {scopes} and install it again" if scopes else "Install the app again"
    return f"{action}, take the Bot User OAuth Token"


@contextmanager
def map_errors() -> Iterator[None]:
    """Convert errors of Slack calls to PlatformError."""
    try:
        yield
    except SLACK_ERRORS as error:
        raise to_platform_error(error) from error
