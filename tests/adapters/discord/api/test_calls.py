from __future__ import annotations

import aiohttp
import discord
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs

from adapters.discord.api.calls import (
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


class Response:
    """As much of a response as the library's errors look at."""

    def __init__(self, status: int, retry_after: str = "0.01") -> None:
        self.status = status
        self.reason = ""
        self.headers = {"Retry-After": retry_after}


def error(status: int, code: int = 0, kind: type[discord.HTTPException] = discord.HTTPException) -> Exception:
    return kind(Response(status), {"code": code, "message": "no"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (error(403, 50013, discord.Forbidden), PermissionDenied),
        (error(403, 50007, discord.Forbidden), PermissionDenied),
        (error(400, 50278), PermissionDenied),
        (error(404, 10008, discord.NotFound), UnknownResource),
        (error(404, 10015, discord.NotFound), TokenExpired),
        (error(401, 50027), TokenExpired),
        (error(400, 50035), PlatformError),
        (aiohttp.ClientConnectionError("https://discord.com/webhooks/1/secret"), DiscordUnreachable),
        (TimeoutError(), DiscordUnreachable),
        (RuntimeError("Session is closed"), ClientClosed),
    ],
)
def test_errors_are_told_in_our_words_and_without_addresses(raised: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught, map_errors("to write there"):
        raise raised
    assert type(caught.value) is expected
    assert "secret" not in str(caught.value)


async def test_a_call_that_came_too_early_is_made_again() -> None:
    answers = [error(429), error(429), None]

    async def call() -> str:
        if (raised := answers.pop(0)) is not None:
            raise raised
        return "done"

    assert await call_with_retries("to write", call) == "done"


async def test_what_is_not_the_same_when_repeated_is_not_repeated() -> None:
    calls = 0

    async def call() -> None:
        nonlocal calls
        calls += 1
        raise aiohttp.ClientConnectionError

    with pytest.raises(DiscordUnreachable):
        await call_with_retries("to write", call, idempotent=False)
    assert calls == 1


async def test_refusals_that_the_library_waits_out_are_counted() -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=429)

    app = web.Application()
    app.router.add_get("/", refuse)
    async with TestServer(app) as server, aiohttp.ClientSession(trace_configs=[build_rate_limit_trace()]) as session:
        with count_rate_limits() as strikes:
            for _ in range(2):
                async with session.get(server.make_url("/")):
                    pass
        async with session.get(server.make_url("/")):
            pass
    assert len(strikes) == 2


def test_what_discord_says_is_logged_and_nothing_that_was_sent() -> None:
    body = {
        "code": 50035,
        "message": "Invalid Form Body",
        "errors": {
            "content": {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": "Must be 2000 or fewer in length."}]},
            "embeds": {
                "0": {"url": {"_errors": [{"code": "URL", "message": 'Not "https://a.example/SECRET" at all'}]}}
            },
        },
    }
    raised = discord.HTTPException(Response(400), body)  # type: ignore[arg-type]
    with capture_logs() as logs, pytest.raises(PlatformError), map_errors("to write there"):
        raise raised
    [line] = logs
    assert (line["event"], line["log_level"]) == ("discord.request_refused", "warning")
    assert (line["action"], line["status"], line["code"]) == ("to write there", 400, 50035)
    assert "Invalid Form Body" in line["reason"]
    assert "In content: Must be 2000 or fewer in length." in line["reason"]
    assert "SECRET" not in str(line)


@pytest.mark.parametrize(
    "said", ["aW50ZXJhY3Rpb246MTIzNDU2Nzg5MDEyMzQ1Njc4OTA:token", "see https://x.example/a", "'words'"]
)
def test_tokens_addresses_and_quotations_are_no_explanation(said: str) -> None:
    raised = discord.HTTPException(Response(400), {"code": 1, "message": f"No: {said}"})  # type: ignore[arg-type]
    assert said not in error_detail(raised)


def test_what_is_not_discord_s_own_answer_explains_nothing() -> None:
    assert error_detail(discord.HTTPException(Response(502), "<html>SECRET</html>")) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(("status", "passes"), [(500, True), (503, True), (429, True), (400, False), (403, False)])
async def test_trouble_of_discord_itself_is_told_apart_from_what_it_refuses(status: int, passes: bool) -> None:  # noqa: FBT001
    with pytest.raises(PlatformError) as refused, map_errors("to say something"):
        raise error(status)
    assert is_transient(refused.value) is passes
