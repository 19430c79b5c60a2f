from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from adapters.slack.workspace import history
from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import Card
from tests.adapters.slack.scene import Scene, locate
from tests.support.slack_server import Fault, SentMessage

YESTERDAY = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture(autouse=True)
def slow_pages_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any rate limit means small pages."""
    monkeypatch.setattr(history, "SLOW_RETRY_AFTER", 0.0)


async def write_thread(scene: Scene, replies: int) -> list[SentMessage]:
    """A thread: its root, then its replies r0, r1 and so on, a minute apart."""
    written = [root := await scene.ada.says(scene.roof, "root")]
    for number in range(replies):
        scene.slack.clock.advance(60)
        written.append(await scene.ada.says(scene.roof, f"r{number}", thread=root))
    return written


async def read(scene: Scene, since: datetime = YESTERDAY, before: str = "") -> list[str]:
    """The texts of the channel's history, in the order of its pages."""
    pages = scene.platform.history(locate(scene.roof), since, before)
    return [message.text async for page in pages for message in page]


# Channels.


async def test_a_history_has_the_replies_of_a_thread_before_its_root_newest_first(scene: Scene) -> None:
    root, _ = await write_thread(scene, 1)
    await scene.ada.says(scene.roof, "last")
    await scene.slack.bot.joins(scene.roof)
    assert await read(scene) == ["last", "r0", "root"]
    page = await anext(aiter(scene.platform.history(locate(scene.roof), YESTERDAY)))
    assert [message.location.thread for message in page] == ["", root.ts, ""]


async def test_a_history_has_both_ends(scene: Scene) -> None:
    scene.slack.page = 4
    sent = [await scene.ada.says(scene.roof, f"m{number}") for number in range(10)]
    start = datetime.fromtimestamp(float(sent[2].ts), UTC)
    assert await read(scene, start, before=sent[8].ts) == ["m7", "m6", "m5", "m4", "m3", "m2"]
    assert len(scene.slack.calls_to("conversations.history")) > 1


async def test_an_older_thread_yields_its_new_replies(scene: Scene) -> None:
    root, _ = await write_thread(scene, 1)
    await scene.ada.says(scene.roof, "old message")
    scene.slack.clock.advance(60)
    since = datetime.fromtimestamp(scene.slack.clock.time() - 1, UTC)
    await scene.ada.says(scene.roof, "new reply", thread=root)
    assert await read(scene, since) == ["new reply"]


async def test_a_long_thread_is_read_whole(scene: Scene) -> None:
    scene.slack.page = 1
    await write_thread(scene, 30)
    assert await read(scene) == [*(f"r{number}" for number in reversed(range(30))), "root"]


@pytest.mark.parametrize(("slow_after", "limits"), [(0.0, [15, 30, 60, 120, 200]), (1.0, [200] * 5)])
async def test_after_a_long_rate_limit_pages_are_small_and_grow_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, slow_after: float, limits: list[int]
) -> None:
    monkeypatch.setattr(history, "SLOW_RETRY_AFTER", slow_after)
    await scene.ada.says(scene.roof, "one")
    scene.slack.fail_next("conversations.history", Fault("ratelimited", seconds=0))
    for _ in range(5):
        assert await read(scene) == ["one"]
    asked = [int(call.args["limit"]) for call in scene.slack.calls_to("conversations.history")]
    assert asked == [200, *limits]


# Threads.


@pytest.mark.parametrize("is_slow", [False, True])
@pytest.mark.parametrize(
    ("page", "replies", "limit", "expected"),
    [
        pytest.param(3, 7, 3, ["r4", "r5", "r6"], id="several pages"),
        pytest.param(2, 60, 3, ["r57", "r58", "r59"], id="many pages"),
        pytest.param(0, 2, 2, ["r0", "r1"], id="one message too many"),
        pytest.param(0, 2, 3, ["root", "r0", "r1"], id="the whole thread"),
    ],
)
async def test_the_newest_messages_of_a_thread_come_oldest_first(
    scene: Scene, page: int, replies: int, limit: int, expected: list[str], *, is_slow: bool
) -> None:
    scene.slack.page = page
    root, *_ = await write_thread(scene, replies)
    if is_slow:
        scene.slack.fail_next("conversations.replies", Fault("ratelimited", seconds=0))
    listing = await scene.platform.fetch_thread(locate(scene.roof, root.ts), limit)
    assert [message.text for message in listing.messages] == expected
    assert (listing.is_complete, listing.thread_exists) == (expected[0] == "root", True)
    assert len(scene.slack.calls_to("conversations.replies")) < 20  # the longest thread has 31 pages


async def test_the_newest_messages_are_found_if_the_others_are_much_older(scene: Scene) -> None:
    scene.slack.page = 4
    root, *_ = await write_thread(scene, 30)
    scene.slack.clock.advance(100_000)
    await scene.ada.says(scene.roof, "last", thread=root)
    listing = await scene.platform.fetch_thread(locate(scene.roof, root.ts), 3)
    assert [message.text for message in listing.messages] == ["r28", "r29", "last"]


async def test_own_messages_do_not_count(scene: Scene) -> None:
    scene.slack.page = 2
    root, *_ = await write_thread(scene, 20)
    for number in range(3):
        scene.slack.clock.advance(60)
        await scene.platform.post(locate(scene.roof, root.ts), Card(f"own {number}"))
    listing = await scene.platform.fetch_thread(locate(scene.roof, root.ts), 2)
    assert ([message.text for message in listing.messages], listing.is_complete) == (["r18", "r19"], False)


# Single messages.


async def test_a_message_is_found_as_it_is_now_until_it_is_deleted(scene: Scene) -> None:
    scene.slack.page = 2
    root, *replies = await write_thread(scene, 9)
    alone = await scene.ada.says(scene.roof, "alone")
    inside, outside = locate(scene.roof, root.ts), locate(scene.roof)
    await scene.ada.edits(replies[0], "edited")
    found = [await scene.platform.fetch_message(inside, reply.ts) for reply in replies]
    found += [await scene.platform.fetch_message(outside, each.ts) for each in (root, alone)]
    texts = ["edited", *(f"r{number}" for number in range(1, 9)), "root", "alone"]
    assert [message and message.text for message in found] == texts
    for sent, place in ((replies[7], inside), (alone, outside), (root, outside)):
        await scene.ada.deletes(sent)
        assert await scene.platform.fetch_message(place, sent.ts) is None


async def test_a_deleted_thread_does_not_exist(scene: Scene) -> None:
    root, reply = await write_thread(scene, 1)
    await scene.ada.deletes(reply)
    await scene.ada.deletes(root)
    listing = await scene.platform.fetch_thread(locate(scene.roof, root.ts), 9)
    assert (listing.messages, listing.thread_exists) == ((), False)
    assert await scene.platform.fetch_message(locate(scene.roof, root.ts), reply.ts) is None


async def test_what_a_free_plan_hides_was_not_deleted(scene: Scene) -> None:
    root, reply = await write_thread(scene, 1)
    edge, newer = await scene.ada.says(scene.roof, "edge"), await scene.ada.says(scene.roof, "newer")
    scene.slack.space.hidden = edge.ts
    for place, ts in ((locate(scene.roof), root.ts), (locate(scene.roof, root.ts), reply.ts)):
        with pytest.raises(PermissionDenied):
            await scene.platform.fetch_message(place, ts)
    with pytest.raises(PermissionDenied):
        await scene.platform.fetch_thread(locate(scene.roof, root.ts), 9)
    await scene.ada.deletes(newer)
    assert await scene.platform.fetch_message(locate(scene.roof), newer.ts) is None


@pytest.mark.parametrize("error", ["thread_not_found", "internal_error"])
async def test_a_message_about_which_slack_contradicts_itself_or_fails_is_not_gone(scene: Scene, error: str) -> None:
    sent = await scene.ada.says(scene.roof, "one")
    scene.slack.fail_next("conversations.replies", error)
    with pytest.raises(PlatformError):
        await scene.platform.fetch_message(locate(scene.roof), sent.ts)
