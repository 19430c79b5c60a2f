from __future__ import annotations

from typing import Any

import aiohttp
import discord
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs

from adapters.discord.calls import (
    ClientClosed,
    DiscordUnreachable,
    TokenExpired,
    UnknownResource,
    build_rate_limit_trace,
    call_with_retries,
    count_rate_limits,
    error_detail,
    map_errors,
)
from bot.errors import PermissionDenied, PlatformError, is_transient

FORM_ERRORS = {
    "content": {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": "Must be 2000 or fewer in length."}]},
    "embeds": {"0": {"url": {"_errors": [{"code": "URL", "message": 'Not "https://a.example/SECRET" at all'}]}}},
}


class Response:
    """The attributes of a response that the library's errors read."""

    def __init__(self, status: int) -> None:
        self.status, self.reason, self.headers = status, "", {"Retry-After": "0.01"}


def error(status: int, code: int = 0, message: str = "no", **more: Any) -> discord.HTTPException:
    kind = {403: discord.Forbidden, 404: discord.NotFound}.get(status, discord.HTTPException)
    return kind(Response(status), {"code": code, "message": message} | more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (error(403, 50013), PermissionDenied),
        (error(403, 50007), PermissionDenied),
        (error(400, 50278), PermissionDenied),
        (error(404, 10008), UnknownResource),
        (error(404, 10015), TokenExpired),
        (error(401, 50027), TokenExpired),
        (error(400, 50035), PlatformError),
        (aiohttp.ClientConnectionError("https://discord.com/webhooks/1/secret"), DiscordUnreachable),
        (TimeoutError(), DiscordUnreachable),
        (RuntimeError("Session is closed"), ClientClosed),
    ],
)
def test_errors_become_ours_without_addresses(raised: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught, map_errors("to write there"):
        raise raised
    assert type(caught.value) is expected
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("status", "transient"), [(500, True), (503, True), (429, True), (400, False), (403, False)])
def test_failures_of_discord_are_transient_and_refusals_are_not(status: int, transient: bool) -> None:  # noqa: FBT001
    with pytest.raises(PlatformError) as refused, map_errors("to say something"):
        raise error(status)
    assert is_transient(refused.value) is transient


async def test_a_call_that_came_too_early_is_repeated() -> None:
    answers = [error(429), error(429), None]

    async def call() -> str:
        if (raised := answers.pop(0)) is not None:
            raise raised
        return "done"

    assert await call_with_retries("to write", call) == "done"


async def test_a_call_that_is_not_idempotent_is_not_repeated() -> None:
    calls: list[int] = []

    async def call() -> None:
        calls.append(1)
        raise aiohttp.ClientConnectionError

    with pytest.raises(DiscordUnreachable):
        await call_with_retries("to write", call, idempotent=False)
    assert len(calls) == 1


async def test_rate_limits_that_the_library_waits_out_are_counted() -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=429)

    app = web.Application()
    app.router.add_get("/", refuse)
    async with TestServer(app) as server, aiohttp.ClientSession(trace_configs=[build_rate_limit_trace()]) as session:
        with count_rate_limits() as hits:
            for _ in range(2):
                await session.get(server.make_url("/"))
        await session.get(server.make_url("/"))
    assert len(hits) == 2


def test_the_reason_of_a_refusal_is_logged_and_nothing_that_was_sent() -> None:
    with capture_logs() as logs, pytest.raises(PlatformError), map_errors("to write there"):
        raise error(400, 50035, "Invalid Form Body", errors=FORM_ERRORS)
    [line] = logs
    assert (line["event"], line["log_level"]) == ("discord.request_refused", "warning")
    assert (line["action"], line["status"], line["code"]) == ("to write there", 400, 50035)
    assert "Invalid Form Body" in line["reason"]
    assert "In content: Must be 2000 or fewer in length." in line["reason"]
    assert "SECRET" not in str(line)


@pytest.mark.parametrize(
    "message", ["aW50ZXJhY3Rpb246MTIzNDU2Nzg5MDEyMzQ1Njc4OTA:token", "see https://x.example/a", "'words'"]
)
def test_tokens_addresses_and_quotations_are_left_out_of_a_reason(message: str) -> None:
    assert message not in error_detail(error(400, 1, f"No: {message}"))
    assert error_detail(discord.HTTPException(Response(502), f"<html>{message}</html>")) == ""  # type: ignore[arg-type]
