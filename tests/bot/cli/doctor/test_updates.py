from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from typer.testing import CliRunner

from bot.__main__ import app
from bot.cli.doctor.updates import compare_versions, describe_update
from bot.settings import Settings


@pytest.mark.parametrize(
    ("installed", "newest", "words"),
    [
        ("0.1.0", "0.2", "Version 0.2 is newer"),
        ("0.9.0", "0.10.0", "Version 0.10.0 is newer"),
        ("0.2.0.dev1", "0.2.0", "There is no newer version."),
        ("1.0.0", "0.9.9", "There is no newer version."),
        ("1.0.0", "<script>", "is not known"),
    ],
)
def test_numbers_are_compared_and_not_texts(installed: str, newest: str, words: str) -> None:
    assert words in compare_versions(installed, newest)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, json.dumps({"info": {"version": "999.1"}}), "Version 999.1 is newer"),
        (404, "{}", "could not be read (404)"),
        (200, "<html>", "could not be read (JSONDecodeError)"),
        (200, "[]", "could not be read (TypeError)"),
    ],
)
async def test_any_reply_of_the_index_ends_in_a_sentence(status: int, body: str, words: str) -> None:
    async def reply(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body)

    served = web.Application()
    served.router.add_get("/json", reply)
    async with TestServer(served) as server:
        assert words in await describe_update(Settings(update_url=str(server.make_url("/json"))))


def test_the_index_is_asked_on_request_only_and_an_unreachable_one_is_no_failure(tmp_path: Path) -> None:
    environment = {"THREADLORE_UPDATE_URL": "http://127.0.0.1:9/json", "THREADLORE_DATA_DIR": str(tmp_path)}
    shown = CliRunner().invoke(app, ["--version", "--check"], env=environment)
    assert (shown.exit_code, shown.stdout.count("\n")) == (0, 2)
    assert "is not known" in shown.stdout
    assert CliRunner().invoke(app, ["--version"], env=environment).stdout.count("\n") == 1
    assert CliRunner().invoke(app, ["--debug"], env=environment).exit_code == 2


async def test_without_an_address_nobody_is_asked() -> None:
    assert "names nobody to ask" in await describe_update(Settings())
