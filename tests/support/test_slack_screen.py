"""What people see of the fake Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.slack_scene import TRASH, Scene, open_scene, row, text_chunk
from tests.support.slack_server import NotOnScreen, PayloadLimits
from tests.support.slack_server.rendering import draw_date

TASK = {"type": "task_update", "id": "1", "title": "Searched", "status": "complete"}


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with open_scene() as opened:
        yield opened


async def test_a_stream_grows_until_it_is_stopped_or_expires(scene: Scene) -> None:
    append = {"channel": "ROOF", "ts": "STREAM"}
    await scene.call("chat.appendStream", **append, chunks=[text_chunk(" of **that**"), TASK])
    assert (scene.entry("STREAM").text, scene.entry("STREAM").writing) == ("x of that\n✓ Searched", True)
    scene.slack.clock.advance(300)
    late = await scene.find_error("chat.appendStream", **append, chunks=[text_chunk("y")])
    assert (late, scene.entry("STREAM").broken) == ("message_not_in_streaming_state", True)
    await scene.call("chat.update", **append, text="hidden by blocks")
    assert scene.entry("STREAM").text == "x of that\n✓ Searched"
    await scene.call("chat.update", **append, text="visible", blocks=[])
    assert (scene.entry("STREAM").text, scene.entry("STREAM").broken) == ("visible", False)


async def test_a_stream_has_a_limit_as_a_whole() -> None:
    async with open_scene(PayloadLimits(streamed=10)) as scene:
        append = {"channel": "ROOF", "ts": "STREAM"}
        assert await scene.find_error("chat.appendStream", **append, chunks=[text_chunk("y" * 10)]) == "msg_too_long"
        assert not await scene.find_error("chat.appendStream", **append, chunks=[text_chunk("y" * 9)])


async def test_mentions_notify_once_and_links_get_a_preview_where_wanted(scene: Scene) -> None:
    post = {"channel": "ROOF", "text": "&lt;!channel&gt; @channel <https://a.example|here>"}
    await scene.call("chat.postMessage", **post)
    assert scene.slack.space.pings == []
    await scene.call("chat.postMessage", **post, unfurl_links=True, link_names=True)
    for half in ("<!he", "re>"):
        await scene.call("chat.appendStream", channel="ROOF", ts="STREAM", chunks=[text_chunk(half)])
    assert [ping.target for ping in scene.slack.space.pings] == ["channel", "here"]
    assert [entry.previews for entry in scene.slack.sees(scene.ada, scene.roof).entries][-2:] == [
        (), ("https://a.example",),
    ]  # fmt: skip


async def test_markdown_is_drawn_only_where_slack_draws_it(scene: Scene) -> None:
    written = "# Roof\nIt is **red**, see [1](https://a.example) and b.example. `**code**`"
    await scene.call("chat.postMessage", channel="ROOF", text="x", blocks=[{"type": "markdown", "text": written}])
    await scene.call("chat.postMessage", channel="ROOF", text=written)
    drawn, literal = scene.slack.sees(scene.ada, scene.roof).entries[-2:]
    assert drawn.text == "Roof\nIt is red, see 1 (https://a.example) and b.example. `**code**`"
    assert (drawn.body, literal.text) == (written, written)
    assert drawn.links == (("1", "https://a.example"), ("b.example", "http://b.example"))


async def test_only_those_who_may_see_a_channel_or_a_button_see_it(scene: Scene) -> None:
    slack, gus = scene.slack, scene.slack.user("Gus", kind="guest")
    sees = {person.name: slack.sees(person, scene.roof).is_open for person in (scene.bob, gus, scene.eve)}
    assert sees == {"Bob": True, "Gus": False, "Eve": False}
    assert not slack.sees(scene.bob, scene.hidden).is_open
    trash = row("context_actions", {**TRASH, "visible_to_user_ids": [scene.bob.id]})
    await scene.call("chat.update", channel="ROOF", ts="OWN", text="x", blocks=[trash])
    assert scene.entry("OWN").buttons == ()
    with pytest.raises(NotOnScreen):
        await scene.ada.clicks(scene.entry("OWN"), "Delete")


async def test_a_status_ends_with_the_reply_or_after_two_minutes(scene: Scene) -> None:
    status = {"channel_id": "ROOF", "thread_ts": "ROOT", "status": "is thinking…"}
    await scene.call("assistant.threads.setStatus", **status)
    assert scene.entry("ROOT").status == "Threadlore is thinking…"
    scene.slack.clock.advance(120)
    assert scene.entry("ROOT").status == ""
    await scene.call("assistant.threads.setStatus", **status)
    await scene.call("chat.postMessage", channel="ROOF", thread_ts="ROOT", text="done")
    assert scene.entry("ROOT").status == ""


def test_a_date_is_shown_in_words() -> None:
    assert draw_date(1779096007, 1779096007) == "today 9:20 AM"
    assert draw_date(1779096007, 1779096007 + 86_400) == "yesterday 9:20 AM"
    assert draw_date(1779096007, 1779096007 + 172_800) == "May 18, 2026 9:20 AM"
