"""What went on Slack while the bot was away is known no more when it is back; what only failed stays.

The language tells all that it is shown, so what is not told is not known. People look at their screens.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.ingest.sync import deletions, reconcile
from engine.models import Scope
from tests.support.gossip import QUESTION, told
from tests.support.slack_server import File

if TYPE_CHECKING:
    from tests.support.slack_server import Room
    from tests.support.slack_server.state import ChannelKind
    from tests.support.town.slack import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = File("manual.md", b"# The safe\n\nThe password of the safe is emerald.\n", "text/markdown")


@pytest.fixture(autouse=True)
def _an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is away for long enough that what was said before counts as old."""
    monkeypatch.setattr(deletions, "YOUNG", timedelta(hours=-1))


async def back(house: House) -> None:
    """The bot is here again, heard nothing of what happened meanwhile, and has looked at everything."""
    house.slack.socket.gives_up()
    await house.start()
    await house.slack.connected()
    await looked(house)


async def looked(house: House) -> None:
    """The bot has compared all that it knows with what is there."""
    await house.bot.listening.catch_up("slack")
    await house.bot.listening.past()
    await house.settled()


async def owes_nothing(house: House) -> None:
    """No channel waits to be looked at again; one that failed would do so for a minute."""
    async with asyncio.timeout(10):
        while house.bot.listening.owed:  # noqa: ASYNC110 - nobody is told of its end
            await asyncio.sleep(0.02)


async def documents(house: House, room: Room) -> list[str]:
    """What is known of a channel."""
    scope = Scope(frozenset(), frozenset({f"slack:{house.slack.space.team}:{room.id}"}))
    return [each.title for each in await house.engine.documents(scope)]


async def rooms(house: House) -> set[str]:
    """The channels that the bot knows itself to be in."""
    return {each.channel for each in await house.bot.store.rooms.known("slack")}


@pytest.mark.parametrize("kind", ["public", "private", "mpim"])
async def test_a_channel_that_the_bot_was_put_out_of_is_forgotten(house: House, kind: ChannelKind) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada], kind=kind)
    await house.safe({square: "agate", market: "beryl"})
    assert await documents(house, market)
    await house.end()
    await ada.removes(market, slack.bot)
    await back(house)
    assert await documents(house, market) == []
    assert await rooms(house) == {square.id}
    assert told(await house.asks(ada, square)) == "agate"
    assert told(await house.in_private(ada)) == "agate"


async def test_a_channel_that_was_deleted_is_forgotten(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    await house.end()
    await slack.deletes_channel(market)
    await back(house)
    assert await documents(house, market) == []
    assert await rooms(house) == {square.id}
    assert told(await house.asks(ada, square)) == "agate"


@pytest.mark.parametrize("kind", ["public", "private"])
async def test_of_an_app_that_is_made_anew_only_what_it_was_invited_to_before_its_first_start_stays_known(
    house: House, kind: ChannelKind
) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada], kind=kind)
    market = slack.channel("market", members=[ada], kind=kind)
    await house.safe({square: "agate", market: "beryl"})
    known = await documents(house, square)
    await house.end()
    await slack.makes_app_anew()
    await ada.invites(square, slack.bot)
    await back(house)
    assert await documents(house, square) == known
    assert await documents(house, market) == []
    assert told(await house.asks(ada, square)) == "agate"


async def test_a_channel_that_was_archived_stays_known(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    await house.end()
    await slack.archives(market, ada)
    await back(house)
    assert told(await house.asks(ada, square)) == "agate beryl"


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("history", "token_expired"),
        ("replies", "internal_error"),
        ("replies", "missing_scope"),
    ],
)
async def test_an_error_that_may_pass_forgets_nothing(house: House, what: str, error: str) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    root = await ada.says(square, "The password of the safe is agate.")
    await ada.says(square, "The password of the safe is beryl.", thread=root)
    await house.settled()
    await house.end()
    slack.calls.clear()
    slack.fails(f"conversations.{what}", error, times=20)
    await back(house)
    slack.faults.clear()
    assert [each.outcome for each in slack.called(f"conversations.{what}")][:1] == [error]
    assert await documents(house, square)
    assert await rooms(house) == {square.id}
    await looked(house)
    assert told(await house.asks(ada, square)) == "agate beryl"


async def test_what_a_plan_without_fee_hides_stays_known(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    root = await ada.says(square, "Let us talk about the safe.")
    await ada.says(square, "The password of the safe is agate.", thread=root)
    edge = await ada.says(square, "What a day.")
    gone = await ada.says(square, "The password of the safe is beryl.")
    await house.safe({square: "coral"})
    await house.end()
    await ada.deletes(gone)
    slack.space.hidden = edge.ts
    await back(house)
    assert told(await house.asks(ada, square)) == "agate coral"
    await owes_nothing(house)


async def test_what_a_long_thread_says_last_is_not_forgotten(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "REPLIES", 5)
    slack = house.slack
    slack.page = 4
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    root = await ada.says(square, "Let us talk about the safe.")
    for number in range(12):
        await ada.says(square, f"Reply {number}.", thread=root)
    gone = await ada.says(square, "The password of the safe is beryl.", thread=root)
    await ada.says(square, "The password of the safe is agate.", thread=root)
    await house.settled()
    await house.end()
    await ada.deletes(gone)
    await back(house)
    assert told(await house.asks(ada, square)) == "agate"


async def test_a_thread_that_was_deleted_is_forgotten_and_holds_up_nothing(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    root = await ada.says(square, "Let us talk about the safe.")
    reply = await ada.says(square, "The password of the safe is agate.", thread=root)
    await ada.says(square, "The password of the safe is beryl.")
    await house.settled()
    assert told(await house.asks(ada, square)) == "agate beryl"
    await house.end()
    await ada.deletes(reply)
    await ada.deletes(root)
    await back(house)
    await owes_nothing(house)
    assert told(await house.asks(ada, square, f"Again: {QUESTION}")) == "beryl"


async def test_a_file_whose_message_to_the_bot_was_deleted_is_forgotten(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    kept = await ada.says(ada.direct, "", files=[File("plan.md", b"The password of the safe is coral.")])
    dropped = await ada.says(ada.direct, "Read this.", files=[PAGES])
    followed = await ada.says(ada.direct, "And this.", thread=kept, files=[File("b.md", b"The safe: diamond.")])
    await house.settled()
    assert told(await house.in_private(ada)) == "coral diamond emerald"
    await house.end()
    await ada.deletes(dropped)
    await ada.deletes(followed)
    await back(house)
    assert told(await house.in_private(ada, f"Again: {QUESTION}")) == "coral"


async def test_a_file_that_was_deleted_out_of_a_message_to_the_bot_is_forgotten(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    dropped = await ada.says(ada.direct, "Read this.", files=[PAGES])
    await house.settled()
    assert told(await house.in_private(ada)) == "emerald"
    await house.end()
    await ada.deletes_file(dropped.files[0])
    await back(house)
    assert told(await house.in_private(ada, f"Again: {QUESTION}")) == ""


async def test_a_file_is_kept_while_nobody_can_say_whether_its_message_is_there(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    await ada.says(ada.direct, "Read this.", files=[PAGES])
    await house.settled()
    await house.end()
    slack.fails("conversations.replies", "internal_error", times=20)
    await back(house)
    slack.faults.clear()
    assert told(await house.in_private(ada)) == "emerald"
