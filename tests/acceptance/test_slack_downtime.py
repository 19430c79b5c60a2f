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
from tests.support.slack_server import File
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from tests.support.slack_server import Room
    from tests.support.slack_server.state import ChannelKind
    from tests.support.town.slack_bot import SlackBotFixture

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = File("manual.md", b"# The safe\n\nThe password of the safe is emerald.\n", "text/markdown")


@pytest.fixture(autouse=True)
def _pretend_hour_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is away for long enough that what was said before counts as old."""
    monkeypatch.setattr(deletions, "MIN_AGE", timedelta(hours=-1))


async def restart_and_reconcile(house: SlackBotFixture) -> None:
    """The bot is here again, heard nothing of what happened meanwhile, and has looked at everything."""
    house.slack.socket.stop_retries()
    await house.start()
    await house.slack.wait_until_connected()
    await wait_until_reconciled(house)


async def wait_until_reconciled(house: SlackBotFixture) -> None:
    """The bot has compared all that it knows with what is there."""
    await house.bot.ingest_service.start_reconciliation("slack")
    await house.bot.ingest_service.run_sync()
    await house.wait_until_idle()


async def has_no_pending_sync(house: SlackBotFixture) -> None:
    """No channel waits to be looked at again; one that failed would do so for a minute."""
    async with asyncio.timeout(10):
        while house.bot.ingest_service.pending_syncs:  # noqa: ASYNC110 - nobody is told of its end
            await asyncio.sleep(0.02)


async def list_documents(house: SlackBotFixture, room: Room) -> list[str]:
    """What is known of a channel."""
    scope = Scope(frozenset(), frozenset({f"slack:{house.slack.space.team}:{room.id}"}))
    return [each.title for each in await house.engine.list_documents(scope)]


async def list_rooms(house: SlackBotFixture) -> set[str]:
    """The channels that the bot knows itself to be in."""
    return {each.channel for each in await house.bot.store.channels.list_joined("slack")}


@pytest.mark.parametrize("kind", ["public", "private", "mpim"])
async def test_channel_the_bot_was_removed_from_is_forgotten(house: SlackBotFixture, kind: ChannelKind) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada], kind=kind)
    await house.post_passwords({square: "agate", market: "beryl"})
    assert await list_documents(house, market)
    await house.stop()
    await ada.removes(market, slack.bot)
    await restart_and_reconcile(house)
    assert await list_documents(house, market) == []
    assert await list_rooms(house) == {square.id}
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"
    assert find_secrets(await house.ask_in_dm(ada)) == "agate"


async def test_a_channel_that_was_deleted_is_forgotten(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    await house.stop()
    await slack.deletes_channel(market)
    await restart_and_reconcile(house)
    assert await list_documents(house, market) == []
    assert await list_rooms(house) == {square.id}
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"


@pytest.mark.parametrize("kind", ["public", "private"])
async def test_recreated_app_keeps_only_channels_it_was_reinvited_to(house: SlackBotFixture, kind: ChannelKind) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada], kind=kind)
    market = slack.channel("market", members=[ada], kind=kind)
    await house.post_passwords({square: "agate", market: "beryl"})
    known = await list_documents(house, square)
    await house.stop()
    await slack.recreates_app()
    await ada.invites(square, slack.bot)
    await restart_and_reconcile(house)
    assert await list_documents(house, square) == known
    assert await list_documents(house, market) == []
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"


async def test_archived_channel_stays_indexed(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    await house.stop()
    await slack.archives(market, ada)
    await restart_and_reconcile(house)
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("history", "token_expired"),
        ("replies", "internal_error"),
        ("replies", "missing_scope"),
    ],
)
async def test_an_error_that_may_pass_forgets_nothing(house: SlackBotFixture, what: str, error: str) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    root = await ada.says(square, "The password of the safe is agate.")
    await ada.says(square, "The password of the safe is beryl.", thread=root)
    await house.wait_until_idle()
    await house.stop()
    slack.calls.clear()
    slack.fail_next(f"conversations.{what}", error, times=20)
    await restart_and_reconcile(house)
    slack.faults.clear()
    assert [each.outcome for each in slack.calls_to(f"conversations.{what}")][:1] == [error]
    assert await list_documents(house, square)
    assert await list_rooms(house) == {square.id}
    await wait_until_reconciled(house)
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"


async def test_messages_hidden_by_the_free_plan_stay_indexed(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    root = await ada.says(square, "Let us talk about the safe.")
    await ada.says(square, "The password of the safe is agate.", thread=root)
    edge = await ada.says(square, "What a day.")
    gone = await ada.says(square, "The password of the safe is beryl.")
    await house.post_passwords({square: "coral"})
    await house.stop()
    await ada.deletes(gone)
    slack.space.hidden = edge.ts
    await restart_and_reconcile(house)
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate coral"
    await has_no_pending_sync(house)


async def test_end_of_a_long_thread_is_not_forgotten(house: SlackBotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "MAX_REPLIES", 5)
    slack = house.slack
    slack.page = 4
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    root = await ada.says(square, "Let us talk about the safe.")
    for number in range(12):
        await ada.says(square, f"Reply {number}.", thread=root)
    gone = await ada.says(square, "The password of the safe is beryl.", thread=root)
    await ada.says(square, "The password of the safe is agate.", thread=root)
    await house.wait_until_idle()
    await house.stop()
    await ada.deletes(gone)
    await restart_and_reconcile(house)
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"


async def test_deleted_thread_is_forgotten_without_blocking(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    root = await ada.says(square, "Let us talk about the safe.")
    reply = await ada.says(square, "The password of the safe is agate.", thread=root)
    await ada.says(square, "The password of the safe is beryl.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"
    await house.stop()
    await ada.deletes(reply)
    await ada.deletes(root)
    await restart_and_reconcile(house)
    await has_no_pending_sync(house)
    assert find_secrets(await house.ask_by_mention(ada, square, f"Again: {QUESTION}")) == "beryl"


async def test_a_file_whose_message_to_the_bot_was_deleted_is_forgotten(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    kept = await ada.says(ada.direct, "", files=[File("plan.md", b"The password of the safe is coral.")])
    dropped = await ada.says(ada.direct, "Read this.", files=[PAGES])
    followed = await ada.says(ada.direct, "And this.", thread=kept, files=[File("b.md", b"The safe: diamond.")])
    await house.wait_until_idle()
    assert find_secrets(await house.ask_in_dm(ada)) == "coral diamond emerald"
    await house.stop()
    await ada.deletes(dropped)
    await ada.deletes(followed)
    await restart_and_reconcile(house)
    assert find_secrets(await house.ask_in_dm(ada, f"Again: {QUESTION}")) == "coral"


async def test_a_file_that_was_deleted_out_of_a_message_to_the_bot_is_forgotten(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    dropped = await ada.says(ada.direct, "Read this.", files=[PAGES])
    await house.wait_until_idle()
    assert find_secrets(await house.ask_in_dm(ada)) == "emerald"
    await house.stop()
    await ada.deletes_file(dropped.files[0])
    await restart_and_reconcile(house)
    assert find_secrets(await house.ask_in_dm(ada, f"Again: {QUESTION}")) == ""


async def test_file_is_kept_while_its_message_is_unconfirmed(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    await ada.says(ada.direct, "Read this.", files=[PAGES])
    await house.wait_until_idle()
    await house.stop()
    slack.fail_next("conversations.replies", "internal_error", times=20)
    await restart_and_reconcile(house)
    slack.faults.clear()
    assert find_secrets(await house.ask_in_dm(ada)) == "emerald"
