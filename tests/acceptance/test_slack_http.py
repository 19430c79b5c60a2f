"""Slack posts to a URL instead of using a socket: the same answers, and lost deliveries are noticed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.model_setup.opened import EngineModels
from tests.demos.slack_day import load_manifest
from tests.support.slack_server import FakeSlack, Timing
from tests.support.town.live_bot import LiveBot, open_live_bot
from tests.support.town.slack import SlackHttpTown
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def live(tmp_path: Path, models: EngineModels) -> AsyncIterator[LiveBot[SlackHttpTown]]:
    slack = FakeSlack(load_manifest(), timing=Timing(retries=()))
    async with open_live_bot(SlackHttpTown(slack), tmp_path / "live", models) as opened:
        yield opened


async def test_questions_commands_and_buttons_arrive_by_http(live: LiveBot[SlackHttpTown]) -> None:
    await live.build_square()
    asked = [await live.town.ask("ada", "square", way=way) for way in ("mention", "private")]
    await live.wait_until_idle()
    posts = [live.town.posts(each) for each in asked]
    assert [[find_secrets(post.text) for post in each] for each in posts] == [["agate"], ["agate"]]
    [answer] = posts[0]
    await live.town.click("ada", answer, "👍")
    await live.wait_until_idle()
    assert live.bot.metrics.registry.get_sample_value(
        "threadlore_feedback_total", {"platform": "slack", "rating": "up"}
    )


async def test_a_repeated_delivery_shows_that_a_channel_turned_private_unnoticed(
    live: LiveBot[SlackHttpTown],
) -> None:
    town = live.town
    town.add_channel("square", "ada cleo")
    town.add_channel("market", "ada")
    await live.post_passwords(square="agate", market="beryl")
    town.unplug()
    await town.make_private("market", "ada")
    await live.wait_until_idle()
    town.plug()
    lost = [delivery for delivery in town.slack.socket.deliveries if delivery.lost]
    assert lost
    town.slack.socket.redeliver(lost[0])
    asked = await town.ask("cleo", "square")
    await live.wait_until_idle()
    assert [find_secrets(post.text) for post in town.posts(asked)] == ["agate"]
