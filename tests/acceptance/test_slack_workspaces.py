"""Two workspaces install one app: what was planted in one is never read in the other, whatever happens to either."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.errors import PermissionDenied
from bot.model_setup.opened import EngineModels
from bot.platform.models import Location
from engine.models import Scope
from tests.support.slack_server import Person
from tests.support.slack_server.state import User
from tests.support.town.live_bot import LiveBot, open_live_bot, password
from tests.support.town.protocol import Asked
from tests.support.town.slack import SlackTown
from tests.support.town.slack_hub import SlackHubTown
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")

Live = LiveBot[SlackHubTown]


@pytest_asyncio.fixture(loop_scope="module")
async def live(tmp_path: Path, models: EngineModels) -> AsyncIterator[Live]:
    async with open_live_bot(SlackHubTown(), tmp_path / "live", models) as opened:
        yield opened


async def populate(live: Live) -> None:
    """Ada's workspace with a password in an open and in a private channel, and Eve's with one of its own."""
    ours, theirs = live.town, live.town.theirs
    for town, person in ((ours, "ada"), (theirs, "eve")):
        await ours.install(town, live.bot)
        town.add_channel("square", person)
        town.add_channel("vault", person, "private")
    await live.wait_until_idle()
    await live.wait_for_sync()
    for town, channel, word in (
        (ours, "square", "agate"),
        (ours, "vault", "beryl"),
        (theirs, "square", "topaz"),
        (theirs, "vault", "zircon"),
    ):
        await town.say_fact(channel, password(word))
    await live.wait_until_idle()


async def ask(live: Live, town: SlackTown, person: str, channel: str = "square", **how: Any) -> str:
    """The secrets in an answer."""
    asked = await town.ask(person, channel, **how)
    await live.wait_for(lambda: (posts := town.posts(asked)) and all(post.is_complete for post in posts))
    return find_secrets(read(town, asked))


def read(town: SlackTown, asked: Asked) -> str:
    """All that is shown of an answer."""
    return "\n".join(post.text for post in town.posts(asked))


async def ask_slowly(live: Live, town: SlackTown, person: str) -> tuple[asyncio.Event, Asked]:
    """A question whose answer is shown in part, until the event."""
    go = live.script_answer("slowly", "The password is here [1].", " That is all.")
    asked = await town.ask(person, "square", "What is the password of the safe, slowly?")
    await live.wait_for(lambda: [post for post in town.posts(asked) if post.handle.writing])
    return go, asked


@pytest.mark.long
async def test_secrets_of_a_workspace_stay_in_it(live: Live) -> None:
    await populate(live)
    ours, theirs = live.town, live.town.theirs
    assert await ask(live, ours, "ada") == "agate"
    assert await ask(live, theirs, "eve") == "topaz"
    assert await ask(live, ours, "ada", way="private") == "agate beryl"
    assert await ask(live, theirs, "eve", way="private") == "topaz zircon"
    assert await ask(live, theirs, "eve", "") == "topaz zircon"
    assert find_secrets(await theirs.home_text("eve")) == ""


async def test_a_user_id_of_both_workspaces_opens_neither_from_the_other(live: Live) -> None:
    await populate(live)
    ours, theirs = live.town, live.town.theirs
    ada = ours.person("ada")
    twin = theirs.people["twin"] = Person(theirs.slack, User(ada.id, "Twin", theirs.slack.space.team))
    theirs.slack.space.users[ada.id] = twin.user
    await twin.joins(theirs.channels["square"])
    await live.wait_until_idle()
    assert await ask(live, theirs, "twin", way="private") == "topaz"
    assert await ask(live, ours, "ada", way="private") == "agate beryl"


async def test_deliveries_missed_by_one_workspace_leak_nothing_and_blind_no_other(live: Live) -> None:
    await populate(live)
    ours, theirs = live.town, live.town.theirs
    theirs.add_channel("hall", "tim")
    await live.wait_for_sync()
    assert await ask(live, theirs, "tim", "hall") == "topaz"
    go, slow = await ask_slowly(live, ours, "ada")
    ours.unplug()
    await theirs.make_private("square", "eve")
    await live.wait_for(lambda: theirs.lost_deliveries)
    ours.plug()
    theirs.slack.socket.redeliver(theirs.lost_deliveries[0])
    assert await ask(live, theirs, "tim", "hall") == ""
    assert await ask(live, ours, "ada") == "agate"
    go.set()
    await live.wait_for(lambda: "That is all." in read(ours, slow))


async def test_a_revoked_workspace_is_closed_while_the_other_answers(live: Live) -> None:
    await populate(live)
    ours, theirs = live.town, live.town.theirs
    square = ours.location("square")
    go, slow = await ask_slowly(live, theirs, "eve")
    await ours.slack.uninstalls()
    await live.wait_for(lambda: list(live.bot.context.platforms["slack"].listable_workspaces) == ["T0THEIRS"])
    assert await ask(live, theirs, "eve") == "topaz"
    go.set()
    await live.wait_for(lambda: "That is all." in read(theirs, slow))
    scope = await live.bot.context.audience.scope_for_person(square, ours.person("ada").id)
    assert [space for space in scope.spaces if space.startswith("slack:T0URS")] == []
    with pytest.raises(PermissionDenied):
        await live.bot.context.platforms["slack"].fetch_channel(square)
    assert len(await stored_documents(live, square)) == 1  # kept until it is deleted, and nobody can ask for it


@pytest.mark.long
async def test_a_workspace_that_installs_again_finds_what_it_had(live: Live) -> None:
    await populate(live)
    await live.town.slack.uninstalls()
    await live.wait_for(lambda: list(live.bot.context.platforms["slack"].listable_workspaces) == ["T0THEIRS"])
    await live.wait_until_idle()
    live.town.slack.space.tokens.clear()
    await live.town.install(live.town, live.bot)
    await live.wait_for_sync()
    assert await ask(live, live.town, "ada", way="private") == "agate beryl"


@pytest.mark.long
async def test_a_revoked_workspace_is_deleted_if_the_setting_says_so(tmp_path: Path, models: EngineModels) -> None:
    async with open_live_bot(SlackHubTown(), tmp_path / "live", models, delete_data_on_uninstall=True) as live:
        await populate(live)
        places = [live.town.location("square"), live.town.theirs.location("square")]
        await live.town.slack.uninstalls()
        await live.wait_until_idle()
        assert [len(await stored_documents(live, place)) for place in places] == [0, 1]


@pytest.mark.long
async def test_both_workspaces_are_served_after_a_restart(live: Live) -> None:
    await populate(live)
    await live.restart()
    served = live.bot.context.platforms["slack"]
    await live.wait_for(lambda: len(served.listable_workspaces) == 2)
    await live.wait_for_sync()
    assert await ask(live, live.town, "ada") == "agate"
    assert await ask(live, live.town.theirs, "eve", way="private") == "topaz zircon"


async def stored_documents(live: Live, location: Location) -> list[str]:
    """The documents of a channel."""
    scope = Scope(frozenset(), frozenset({location.room}))
    return [each.title for each in await live.engine.documents.list(scope)]
