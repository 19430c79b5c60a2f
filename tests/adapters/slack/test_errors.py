from __future__ import annotations

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.errors import APP_TOKEN, BOT_TOKEN, map_connect_errors, to_platform_error
from bot.errors import ChannelGone, PermissionDenied, PlatformError, PlatformUnavailable, SetupError, is_transient


def refusal(status: int, code: str) -> SlackApiError:
    body = {"ok": False, "error": code}
    response = AsyncSlackResponse(
        client=None, http_verb="POST", api_url="", req_args={}, data=body, headers={}, status_code=status
    )
    return SlackApiError("refused", response)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("error", "mapped", "transient"),
    [
        (aiohttp.ServerDisconnectedError(), PlatformUnavailable, True),
        (TimeoutError(), PlatformUnavailable, True),
        (refusal(429, "ratelimited"), PlatformUnavailable, True),
        (refusal(200, "internal_error"), PlatformUnavailable, True),
        (refusal(200, "service_unavailable"), PlatformUnavailable, True),
        (refusal(503, "is_archived"), PlatformUnavailable, True),
        (refusal(200, "is_archived"), PermissionDenied, False),
        (refusal(200, "missing_scope"), PermissionDenied, False),
        (refusal(200, "channel_not_found"), ChannelGone, False),
        (refusal(200, "message_not_found"), PlatformError, False),
        (refusal(200, "msg_too_long"), PlatformError, False),
    ],
    ids=str,
)
def test_errors_are_mapped_to_what_the_bot_does_about_them(
    error: Exception, mapped: type[PlatformError], *, transient: bool
) -> None:
    result = to_platform_error(error)
    assert isinstance(result, mapped)
    assert is_transient(result) is transient


@pytest.mark.parametrize(
    ("token", "code", "reason", "way"),
    [
        (BOT_TOKEN, "token_expired", "it has expired", "Install the app again"),
        (BOT_TOKEN, "account_inactive", "the app was removed", "Install the app again"),
        (APP_TOKEN, "invalid_auth", "it is no valid token", "App-Level Tokens"),
        (APP_TOKEN, "missing_scope", "it lacks a scope", "connections:write"),
    ],
)
def test_a_refused_token_is_told_with_the_place_of_another(token: str, code: str, reason: str, way: str) -> None:
    with pytest.raises(SetupError, match=reason) as error, map_connect_errors(token):
        raise refusal(200, code)
    assert (way in error.value.hint, "Install the app" in error.value.hint) == (True, token == BOT_TOKEN)
    assert error.value.hint.endswith(f"copy it into {token}.")
