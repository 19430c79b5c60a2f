"""What was said on Slack: channels with their threads, the end of a thread, and single messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from adapters.slack.workspace import history
from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import Card, Location
from tests.support.slack_server import FakeSlack, Fault

if TYPE_CHECKING:
    from bot.platform.models import Message
    from tests.adapters.slack.conftest import Desk
    from tests.support.slack_server import Person, Room, SentMessage


def place(slack: FakeSlack, room: Room, thread: str = "") -> Location:
    return Location("slack", slack.space.team, room.id, thread)


async def talked(ada: Person, room: Room, replies: int) -> list[SentMessage]:
    """A thread with so many replies; its root comes first."""
    root = await ada.says(room, "root")
    return [root, *[await ada.says(room, f"r{number}", thread=root) for number in range(replies)]]


async def read(desk: Desk, where: Location, since: datetime, before: str = "") -> list[list[Message]]:
    return [list(page) async for page in desk.platform.history(where, since, before)]


async def test_history_gives_messages_and_threads_newest_first(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    one = await ada.says(room, "one")
    await ada.says(room, "two", thread=one)
    await ada.says(room, "three")
    await slack.bot.joins(room)
    pages = await read(desk, place(slack, room), datetime.now(UTC) - timedelta(days=1))
    assert [said.text for page in pages for said in page] == ["three", "two", "one"]
    assert pages[0][1].location.thread == one.ts


async def test_history_goes_on_where_it_stopped_and_ends_where_it_should(desk: Desk, slack: FakeSlack) -> None:
    slack.page = 4
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    said = [await ada.says(room, f"m{number}") for number in range(10)]
    start = datetime.fromtimestamp(float(said[2].ts), UTC)
    pages = await read(desk, place(slack, room), start, before=said[8].ts)
    assert [message.text for page in pages for message in page] == ["m7", "m6", "m5", "m4", "m3", "m2"]
    assert len(pages) > 1


async def test_a_thread_that_began_earlier_gives_its_new_replies(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root = await ada.says(room, "old root")
    await ada.says(room, "old reply", thread=root)
    await ada.says(room, "old message")
    slack.clock.advance(60)
    since = datetime.fromtimestamp(slack.clock.now() - 1, UTC)
    await ada.says(room, "new reply", thread=root)
    pages = await read(desk, place(slack, room), since)
    assert [said.text for page in pages for said in page] == ["new reply"]


async def test_told_to_slow_down_history_waits_and_asks_for_less(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    await ada.says(room, "one")
    slack.fail_next("conversations.history", Fault("ratelimited", seconds=0.0))
    pages = await read(desk, place(slack, room), datetime.now(UTC) - timedelta(days=1))
    assert [said.text for page in pages for said in page] == ["one"]
    assert len(slack.calls_to("conversations.history")) == 2


async def test_the_newest_of_a_thread_come_oldest_first_and_without_our_own(desk: Desk, slack: FakeSlack) -> None:
    slack.page = 3
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root = await ada.says(room, "m0")
    for number in range(1, 8):
        await ada.says(room, f"m{number}", thread=root)
    await desk.platform.post(place(slack, room, root.ts), Card("ours"))
    found = (await desk.platform.fetch_thread(place(slack, room, root.ts), 3)).messages
    assert [said.text for said in found] == ["m5", "m6", "m7"]


@pytest.mark.parametrize("slow", [False, True])
async def test_the_newest_of_a_thread_of_many_pages_are_its_newest(
    desk: Desk, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch, *, slow: bool
) -> None:
    monkeypatch.setattr(history, "SLOW_RETRY_AFTER", 0.0)
    slack.page = 2
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root, *_ = await talked(ada, room, 60)
    if slow:
        slack.fail_next("conversations.replies", Fault("ratelimited", seconds=0))
    listing = await desk.platform.fetch_thread(place(slack, room, root.ts), 3)
    assert [said.text for said in listing.messages] == ["r57", "r58", "r59"]
    assert (listing.is_complete, listing.thread_exists) == (False, True)
    assert len(slack.calls_to("conversations.replies")) < 20  # of the thread's 31 pages


async def test_the_newest_are_found_too_where_nearly_all_was_said_long_before(desk: Desk, slack: FakeSlack) -> None:
    slack.page = 4
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root, *_ = await talked(ada, room, 30)
    slack.clock.advance(100_000)
    await ada.says(room, "last", thread=root)
    listing = await desk.platform.fetch_thread(place(slack, room, root.ts), 3)
    assert [said.text for said in listing.messages] == ["r28", "r29", "last"]


async def test_a_thread_says_whether_all_of_it_is_listed(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root, *_ = await talked(ada, room, 4)
    for limit, whole in ((4, False), (5, True)):
        assert (await desk.platform.fetch_thread(place(slack, room, root.ts), limit)).is_complete is whole


async def test_a_thread_that_ends_with_our_own_words_is_listed_up_to_what_others_said(
    desk: Desk, slack: FakeSlack
) -> None:
    slack.page = 2
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root, *_ = await talked(ada, room, 20)
    for number in range(3):
        slack.clock.advance(60)
        await desk.platform.post(place(slack, room, root.ts), Card(f"ours {number}"))
    listing = await desk.platform.fetch_thread(place(slack, room, root.ts), 2)
    assert ([said.text for said in listing.messages], listing.is_complete) == (["r18", "r19"], False)


async def test_a_thread_with_more_pages_than_any_limit_is_in_the_history_whole(desk: Desk, slack: FakeSlack) -> None:
    slack.page = 1
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    await talked(ada, room, 30)
    pages = await read(desk, place(slack, room), datetime.now(UTC) - timedelta(days=1))
    assert [said.text for page in pages for said in page] == [*(f"r{number}" for number in reversed(range(30))), "root"]


async def test_a_message_is_there_or_gone_wherever_it_stands(desk: Desk, slack: FakeSlack) -> None:
    slack.page = 2
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root, *replies = await talked(ada, room, 9)
    alone = await ada.says(room, "alone")
    inside, main = place(slack, room, root.ts), place(slack, room)
    await ada.deletes(replies[7])
    for said, where in ((root, main), (replies[0], inside), (replies[8], inside), (alone, main)):
        found = await desk.platform.fetch_message(where, said.ts)
        assert found is not None
        assert found.id == said.ts
    assert await desk.platform.fetch_message(inside, replies[7].ts) is None
    await ada.deletes(alone)
    assert await desk.platform.fetch_message(main, alone.ts) is None
    await ada.deletes(root)
    assert await desk.platform.fetch_message(main, root.ts) is None


async def test_a_thread_that_was_deleted_is_surely_not_there(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root, reply = await talked(ada, room, 1)
    await ada.deletes(reply)
    await ada.deletes(root)
    listing = await desk.platform.fetch_thread(place(slack, room, root.ts), 9)
    assert (listing.messages, listing.thread_exists) == ((), False)
    assert await desk.platform.fetch_message(place(slack, room, root.ts), reply.ts) is None


async def test_what_a_plan_without_fee_hides_was_not_deleted(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    root, reply = await talked(ada, room, 1)
    gone, newer = await ada.says(room, "gone"), await ada.says(room, "newer")
    slack.space.hidden = gone.ts
    for where, ts in ((place(slack, room), root.ts), (place(slack, room, root.ts), reply.ts)):
        with pytest.raises(PermissionDenied):
            await desk.platform.fetch_message(where, ts)
    with pytest.raises(PermissionDenied):
        await desk.platform.fetch_thread(place(slack, room, root.ts), 9)
    await ada.deletes(newer)
    assert await desk.platform.fetch_message(place(slack, room), newer.ts) is None


async def test_a_message_that_slack_knows_only_at_times_is_not_gone(desk: Desk, slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    said = await ada.says(room, "one")
    slack.fail_next("conversations.replies", "thread_not_found")
    with pytest.raises(PlatformError):
        await desk.platform.fetch_message(place(slack, room), said.ts)


async def test_where_little_was_allowed_more_is_asked_for_again(
    desk: Desk, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "SLOW_RETRY_AFTER", 0.0)
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    await ada.says(room, "one")
    slack.fail_next("conversations.history", Fault("ratelimited", seconds=0))
    for _ in range(5):
        await read(desk, place(slack, room), datetime.now(UTC) - timedelta(days=1))
    asked = [int(call.args["limit"]) for call in slack.calls_to("conversations.history")]
    assert asked == [200, 15, 30, 60, 120, 200]
