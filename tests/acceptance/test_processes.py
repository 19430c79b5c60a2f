"""Three bots on one database: processes of their own, of which one is killed while people talk and ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot import texts
from bot.model_setup.opened import EngineModels
from tests.support.patience import PATIENCE
from tests.support.slack_server.methods.call import RecordedCall
from tests.support.town.cluster import open_cluster
from tests.support.town.cluster_load import Load, LoadRun
from tests.support.town.live_bot import LiveBot, open_live_bot, password
from tests.support.town.protocol import Asked
from tests.support.town.slack import SlackTown, find_free_port
from tests.support.town.slack_hub import SlackHubTown
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.long
async def test_a_kill_loses_repeats_and_reorders_nothing(tmp_path: Path, postgres_url: str) -> None:
    """Also `make bench-processes`: 100 kills."""
    async with open_cluster(SlackTown(), postgres_url, tmp_path) as cluster:
        report = await LoadRun(cluster, Load(messages=60, questions=6, files=2, kills=1)).run()
        assert report.violations == []
        assert len(report.take_overs) == 1
        assert [await cluster.terminate(place) for place in range(3)] == [0, 0, 0]


Live = LiveBot[SlackHubTown]


@asynccontextmanager
async def open_pair(folder: Path, models: EngineModels, url: str) -> AsyncIterator[tuple[Live, Live]]:
    """Two bots on one database: the first one receives everything, the second one handles it."""
    async with open_live_bot(SlackHubTown(), folder / "first", models, database=SecretStr(url)) as first:
        port = {"slack_http_port": SecretStr(str(find_free_port()))}
        changes = {"data_dir": folder / "second", "adapter_settings": {**first.settings.adapter_settings, **port}}
        other = LiveBot(first.town, first.settings.model_copy(update=changes), first.models, first.language)
        await other.start()
        try:
            yield first, other
        finally:
            await other.stop()


def list_served(live: Live) -> list[str]:
    return sorted(live.bot.context.platforms["slack"].listable_workspaces)


async def populate(first: Live, other: Live) -> None:
    """Ada's and Eve's workspaces with passwords in open and private channels; the second bot handles all events."""
    ours, theirs = first.town, first.town.theirs
    for town in (ours, theirs):
        await ours.install(town, first.bot)
    async with asyncio.timeout(PATIENCE):
        await other.wait_for(lambda: len(list_served(other)) == 2)
    ours.add_channel("square", "ada bob cleo")
    ours.add_channel("vault", "ada bob", "private")
    ours.add_channel("market", "ada")
    theirs.add_channel("square", "eve")
    theirs.add_channel("vault", "eve", "private")
    theirs.add_channel("hall", "tim")
    await settle(first, other)
    for town, channel, word in (
        (ours, "vault", "agate"),
        (ours, "market", "beryl"),
        (theirs, "square", "topaz"),
        (theirs, "vault", "zircon"),
    ):
        await town.say_fact(channel, password(word))
    await settle(first, other)
    first.bot.event_queue.leave_to_others()


async def settle(first: Live, other: Live) -> None:
    """Wait until all events are handled, by either bot, all channels are compared, and everything can be found."""
    await first.town.slack.wait_until_delivered()
    await first.town.theirs.slack.wait_until_delivered()
    while await first.bot.store.event_queue.count_waiting() or any(  # noqa: ASYNC110 - either handles them
        each.bot.ingest_service.pending_syncs for each in (first, other)
    ):
        await asyncio.sleep(0.01)
    await other.engine.wait_until_indexed()


async def ask(town: SlackTown, person: str, channel: str = "") -> str:
    """The secrets that the answer to a question tells."""
    asked = await town.ask(person, channel)
    await town.wait_for(lambda: any(post.is_complete or post.buttons for post in town.posts(asked)))
    return find_secrets(read(town, asked))


def read(town: SlackTown, asked: Asked) -> str:
    """All that is shown of an answer."""
    return "\n".join(post.text for post in town.posts(asked))


async def redeliver_lost(town: SlackTown) -> None:
    """Deliver once more what did not arrive, and wait until it has."""
    town.slack.socket.redeliver(town.lost_deliveries[0])
    await town.slack.wait_until_delivered()


async def reconcile_both(first: Live, other: Live) -> list[RecordedCall]:
    """The calls that both processes need to compare a workspace with Slack at once, when all else is settled."""
    await settle(first, other)
    calls = first.town.slack.calls
    earlier = len(calls)
    await asyncio.gather(*(each.bot.reconcile("slack", "T0URS") for each in (first, other)))
    await settle(first, other)
    return calls[earlier:]


@pytest.mark.long
async def test_a_change_that_one_process_hears_of_binds_the_answers_of_another(
    tmp_path: Path, models: EngineModels, postgres_url: str
) -> None:
    async with open_pair(tmp_path, models, postgres_url) as (first, other):
        ours, theirs = first.town, first.town.theirs
        await populate(first, other)
        assert await ask(ours, "bob") == "agate beryl"
        assert await ask(ours, "cleo", "square") == "beryl"
        assert await ask(theirs, "eve") == "topaz zircon"
        assert await ask(theirs, "tim", "hall") == "topaz"

        # The second process has cached who is in the vault; the first one hears that Bob left.
        await ours.remove_member("bob", "vault")
        await ours.slack.wait_until_delivered()
        assert await ask(ours, "bob") == "beryl"

        # An answer is on its way when its reader loses the channel that it is from.
        await ours.add_member("bob", "vault")
        go = other.script_answer("the way", "The password of the safe is agate [1]. Do not ", "tell it.")
        asked = await ours.ask("bob", "", "Which is the way into the safe and its password?")
        await ours.wait_for(lambda: "agate" in read(ours, asked))
        await ours.remove_member("bob", "vault")
        await ours.slack.wait_until_delivered()
        go.set()
        await ours.wait_for(lambda: texts.ANSWER_WITHDRAWN in read(ours, asked))
        assert find_secrets(read(ours, asked)) == ""

        # What the second process writes is stopped by the first one, for the asker alone.
        other.script_answer("the handle", "The safe has a handle. ", "It is gold.")
        asked = await ours.ask("ada", "market", "Which is the handle of the safe?")
        await ours.wait_for(lambda: "The safe has" in read(ours, asked))
        stops, market = first.bot.answer_service.stops, ours.location("market")
        assert not await stops.stop_in_thread(market, ours.person("bob").id)
        assert await stops.stop_in_thread(market, ours.person("ada").id)
        await ours.wait_for(lambda: "Stopped by" in read(ours, asked))
        assert "gold" not in read(ours, asked)

        # Slack cannot reach the first process while a channel turns private; it notices when it is reached again.
        ours.unplug()
        await theirs.make_private("square", "eve")
        await ours.wait_for(lambda: theirs.lost_deliveries)
        ours.plug()
        await redeliver_lost(theirs)
        assert await ask(theirs, "tim", "hall") == ""
        assert await ask(theirs, "eve") == "topaz zircon"

        # What the first process hears is handled by the second one: nobody else is told of the market any more.
        await ours.make_private("market", "ada")
        await ours.slack.wait_until_delivered()
        assert await ask(ours, "cleo", "square") == ""

        # Both lost their connections: each channel is compared once, for both.
        calls = await reconcile_both(first, other)
        reads = [call.args["channel"] for call in calls if call.method == "conversations.history"]
        assert [reads.count(ours.channels[name].id) for name in ("vault", "market")] == [1, 1]
        assert [call.method for call in calls].count("users.conversations") <= 4  # some changed while they were listed

        # The second process stops to serve a workspace when the first one hears that it removed the app.
        async with asyncio.timeout(PATIENCE):
            await theirs.slack.uninstalls()
            await other.wait_for(lambda: list_served(other) == ["T0URS"])
        left = await other.bot.context.audience.scope_for_person(theirs.location("hall"), theirs.person("tim").id)
        assert not [space for space in left.spaces if space.startswith("slack:T0THEIRS")]
        assert (await other.engine.maintenance.verify()).is_clean
