"""What Slack cannot do now is told apart from what it refuses."""

from __future__ import annotations

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.api.errors import to_platform_error
from bot.errors import ChannelGone, PermissionDenied, is_transient


def answered(status: int, error: str) -> SlackApiError:
    body = {"ok": False, "error": error}
    told = AsyncSlackResponse(
        client=None, http_verb="POST", api_url="", req_args={}, data=body, headers={}, status_code=status
    )
    return SlackApiError("refused", told)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    "error",
    [
        aiohttp.ServerDisconnectedError(),
        TimeoutError(),
        answered(429, "ratelimited"),
        answered(200, "internal_error"),
        answered(200, "service_unavailable"),
        answered(503, "is_archived"),
    ],
    ids=str,
)
def test_what_passes_by_itself(error: Exception) -> None:
    assert is_transient(to_platform_error(error))


@pytest.mark.parametrize(
    "word", ["is_archived", "msg_too_long", "channel_not_found", "missing_scope", "message_not_found"]
)
def test_what_does_not(word: str) -> None:
    assert not is_transient(to_platform_error(answered(200, word)))


def test_what_is_withheld_is_still_known_as_such() -> None:
    assert isinstance(to_platform_error(answered(200, "is_archived")), PermissionDenied)
    assert isinstance(to_platform_error(answered(200, "channel_not_found")), ChannelGone)
