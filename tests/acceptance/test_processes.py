"""Three bots on one database: processes of their own, of which some are killed while people talk and ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot import texts
from bot.bootstrap import EngineModels
from tests.support.town.cluster import open_cluster
from tests.support.town.cluster_load import Load, LoadRun
from tests.support.town.live_bot import LiveBot, open_live_bot
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_kills_lose_repeat_and_reorder_nothing(tmp_path: Path, postgres_url: str) -> None:
    async with open_cluster(SlackTown(), postgres_url, tmp_path) as cluster:
        report = await LoadRun(cluster, Load(messages=100, questions=10, files=3, kills=3)).run()
        assert report.violations == []
        assert len(report.take_overs) == 3
        assert [await cluster.terminate(place) for place in range(3)] == [0, 0, 0]


@asynccontextmanager
async def open_pair(
    folder: Path, models: EngineModels, url: str
) -> AsyncIterator[tuple[LiveBot[SlackTown], LiveBot[SlackTown]]]:
    """Two bots on one database: the first one receives everything, the second one handles it."""
    async with open_live_bot(SlackTown(), folder / "first", models, database=SecretStr(url)) as first:
        other = LiveBot(
            first.town,
            first.settings.model_copy(update={"data_dir": folder / "second"}),
            first.models,
            first.language,
        )
        await other.start()
        try:
            first.town.slack.socket.choose = lambda links: links[0]
            yield first, other
        finally:
            await other.stop()


async def ask(live: LiveBot[SlackTown], person: str, channel: str = "") -> str:
    """The secrets that the answer to a question tells."""
    asked = await live.town.ask(person, channel)
    await live.wait_for(lambda: any(each.is_complete or each.buttons for each in live.town.posts(asked)))
    return find_secrets(live.text(asked))


async def test_a_change_that_one_process_hears_of_binds_the_answers_of_another(
    tmp_path: Path, models: EngineModels, postgres_url: str
) -> None:
    async with open_pair(tmp_path, models, postgres_url) as (first, other):
        town = first.town
        town.add_channel("square", "ada bob cleo")
        town.add_channel("vault", "ada bob", kind="private")
        town.add_channel("market", "ada")
        await first.post_passwords(vault="agate", market="beryl")
        while await first.bot.store.event_queue.count_waiting():  # noqa: ASYNC110 - either handles them
            await asyncio.sleep(0.01)
        await other.engine.wait_until_indexed()
        first.bot.event_queue.leave_to_others()
        assert await ask(other, "bob") == "agate beryl"
        assert await ask(other, "cleo", "square") == "beryl"

        # The second process has cached who is in the vault; the first one hears that Bob left.
        await town.remove_member("bob", "vault")
        await town.slack.wait_until_delivered()
        assert await ask(other, "bob") == "beryl"

        # An answer is on its way when its reader loses the channel that it is from.
        await town.add_member("bob", "vault")
        go = other.script_answer("the way", "The password of the safe is agate [1]. Do not ", "tell it.")
        asked = await town.ask("bob", "", "Which is the way into the safe and its password?")
        await other.wait_for(lambda: "agate" in other.text(asked))
        await town.remove_member("bob", "vault")
        await town.slack.wait_until_delivered()
        go.set()
        await other.wait_for(lambda: texts.ANSWER_WITHDRAWN in other.text(asked))
        assert find_secrets(other.text(asked)) == ""

        # What the first process hears is handled by the second one: nobody else is told of the market any more.
        await town.make_private("market", "ada")
        await town.slack.wait_until_delivered()
        assert await ask(other, "cleo", "square") == ""
        assert (await other.engine.verify()).is_clean
