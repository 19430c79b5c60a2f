"""Streams, statuses and prompts, with the real client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.slack_server import FakeSlack, PayloadLimits, RateSettings
from tests.support.slack_server.event_recorder import build_client, error_code_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from slack_sdk.web.async_client import AsyncWebClient


class StreamScene:
    """Ada has asked in #roof."""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.ada = slack.user("Ada")
        self.roof = slack.channel("roof", members=[self.ada])
        self.client: AsyncWebClient = build_client(slack)

    async def ask(self) -> None:
        self.question = await self.ada.mentions(self.roof, "Why?")
        self.here: dict[str, Any] = {"channel": self.roof.id}
        self.to: dict[str, Any] = {"recipient_user_id": self.ada.id, "recipient_team_id": self.slack.space.team}

    async def start(self, **more: Any) -> str:
        answer = await self.client.chat_startStream(**self.here, thread_ts=self.question.ts, **self.to, **more)
        return str(answer["ts"])

    @property
    def reply(self) -> Any:
        return self.slack.replies(self.ada, self.roof, self.question.ts)[0]


@pytest.fixture
async def scene() -> AsyncIterator[StreamScene]:
    async with FakeSlack(rates=RateSettings(on=False)) as slack:
        scene = StreamScene(slack)
        await scene.ask()
        yield scene


async def test_a_stream_grows_until_it_is_stopped(scene: StreamScene) -> None:
    ts = await scene.start(markdown_text="Because ")
    await scene.client.chat_appendStream(**scene.here, ts=ts, markdown_text="of **that**")
    assert scene.reply.writing
    below = [{"type": "context", "elements": [{"type": "mrkdwn", "text": "below"}]}]
    await scene.client.chat_stopStream(**scene.here, ts=ts, markdown_text=".", blocks=below)
    assert (scene.reply.text, scene.reply.writing) == ("Because of that.\nbelow", False)
    assert scene.reply.body == "Because of **that**."


async def test_channel_stream_needs_a_recipient(scene: StreamScene) -> None:
    start: dict[str, Any] = {**scene.here, "thread_ts": scene.question.ts}
    nobody = scene.client.chat_startStream(**start, recipient_team_id=scene.slack.space.team)
    assert await error_code_of(nobody) == "missing_recipient_user_id"
    nowhere = scene.client.chat_startStream(**start, recipient_user_id=scene.ada.id)
    assert await error_code_of(nowhere) == "missing_recipient_team_id"
    direct = await scene.ada.says(scene.ada.direct, "Why?")
    private = scene.client.chat_startStream(channel=scene.ada.direct.id, thread_ts=direct.ts)
    assert await error_code_of(private) == ""


async def test_a_stream_needs_an_existing_thread(scene: StreamScene) -> None:
    start = scene.client.chat_startStream(**scene.here, thread_ts="1.000001", **scene.to)
    assert await error_code_of(start) == "thread_not_found"


async def test_a_stopped_stream_takes_nothing_more(scene: StreamScene) -> None:
    ts = await scene.start(markdown_text="Done")
    await scene.client.chat_stopStream(**scene.here, ts=ts)
    append = scene.client.chat_appendStream(**scene.here, ts=ts, markdown_text="more")
    assert await error_code_of(append) == "message_not_in_streaming_state"
    stop = scene.client.chat_stopStream(**scene.here, ts=ts)
    assert await error_code_of(stop) == "message_not_in_streaming_state"
    posted = await scene.client.chat_postMessage(**scene.here, text="no stream")
    other = scene.client.chat_appendStream(**scene.here, ts=posted["ts"], markdown_text="x")
    assert await error_code_of(other) == "message_not_in_streaming_state"
    unknown = scene.client.chat_appendStream(**scene.here, ts="1.1", markdown_text="x")
    assert await error_code_of(unknown) == "message_not_found"


async def test_while_a_stream_runs_it_can_neither_be_updated_nor_deleted(scene: StreamScene) -> None:
    ts = await scene.start(markdown_text="x")
    update = scene.client.chat_update(**scene.here, ts=ts, text="y")
    assert await error_code_of(update) == "streaming_state_conflict"
    assert await error_code_of(scene.client.chat_delete(**scene.here, ts=ts)) == "cant_delete_message"


async def test_stream_expires_even_when_appended_to(scene: StreamScene) -> None:
    ts = await scene.start(markdown_text="x")
    scene.slack.clock.advance(299)
    assert await error_code_of(scene.client.chat_appendStream(**scene.here, ts=ts, markdown_text="y")) == ""
    scene.slack.clock.advance(1)
    late = scene.client.chat_appendStream(**scene.here, ts=ts, markdown_text="z")
    assert await error_code_of(late) == "message_not_in_streaming_state"
    assert scene.reply.broken
    await scene.client.chat_update(**scene.here, ts=ts, markdown_text="xyz")
    assert (scene.reply.text, scene.reply.broken) == ("xyz", False)


async def test_a_text_update_does_not_cover_what_was_streamed(scene: StreamScene) -> None:
    ts = await scene.start(markdown_text="streamed")
    await scene.client.chat_stopStream(**scene.here, ts=ts)
    await scene.client.chat_update(**scene.here, ts=ts, text="taken back")
    assert scene.reply.text == "streamed"


async def test_stream_limit_is_12000_characters(scene: StreamScene) -> None:
    whole = scene.client.chat_startStream(
        **scene.here, thread_ts=scene.question.ts, **scene.to, markdown_text="x" * 12_001
    )
    assert await error_code_of(whole) == "msg_too_long"
    ts = await scene.start(markdown_text="x" * 11_999)
    two_more = scene.client.chat_appendStream(**scene.here, ts=ts, markdown_text="yy")
    assert await error_code_of(two_more) == "msg_too_long"
    assert len(scene.reply.text) == 11_999
    assert await error_code_of(scene.client.chat_appendStream(**scene.here, ts=ts, markdown_text="y")) == ""


async def test_tasks_are_shown_with_their_sources_and_count_towards_the_length(scene: StreamScene) -> None:
    source = {"type": "url", "url": "https://a.example", "text": "a"}
    task = {"type": "task_update", "id": "1", "title": "Searched", "status": "in_progress", "sources": [source]}
    ts = await scene.start(chunks=[task])
    assert scene.reply.text == "◐ Searched"
    done = {"type": "task_update", "id": "1", "title": "Searched 3", "status": "complete", "details": "more"}
    await scene.client.chat_appendStream(**scene.here, ts=ts, chunks=[done])
    assert (scene.reply.text, scene.reply.links) == ("✓ Searched 3 — more", (("a", "https://a.example"),))
    wide = scene.client.chat_appendStream(**scene.here, ts=ts, chunks=[{**done, "title": "x" * 257}])
    assert await error_code_of(wide) == "invalid_chunks"
    odd = scene.client.chat_appendStream(**scene.here, ts=ts, chunks=[{"type": "shout"}])
    assert await error_code_of(odd) == "invalid_chunks"


async def test_a_mention_in_two_halves_still_rings(scene: StreamScene) -> None:
    ts = await scene.start(markdown_text="<!chan")
    await scene.client.chat_appendStream(**scene.here, ts=ts, markdown_text="nel>")
    assert [ping.target for ping in scene.slack.space.pings] == ["channel"]


async def test_the_sdks_own_helper_streams(scene: StreamScene) -> None:
    stream = await scene.client.chat_stream(**scene.here, thread_ts=scene.question.ts, **scene.to, buffer_size=4)
    await stream.append(markdown_text="One, ")
    await stream.append(markdown_text="two.")
    await stream.stop()
    assert scene.reply.text == "One, two."
    assert [call.method for call in scene.slack.calls] == [
        "chat.startStream", "chat.appendStream", "chat.stopStream",
    ]  # fmt: skip


async def test_a_status_goes_with_the_reply_or_after_two_minutes(scene: StreamScene) -> None:
    there: dict[str, Any] = {"channel_id": scene.roof.id, "thread_ts": scene.question.ts}
    await scene.client.assistant_threads_setStatus(**there, status="is thinking…", loading_messages=["a"] * 10)
    assert scene.slack.sees(scene.ada, scene.roof).entries[0].status == "Threadlore is thinking…"
    scene.slack.clock.advance(120)
    assert scene.slack.sees(scene.ada, scene.roof).entries[0].status == ""
    await scene.client.assistant_threads_setStatus(**there, status="is thinking…")
    await scene.start(markdown_text="x")
    assert scene.slack.sees(scene.ada, scene.roof).entries[0].status == ""
    too_many = scene.client.assistant_threads_setStatus(**there, status="x", loading_messages=["a"] * 11)
    assert await error_code_of(too_many) == "invalid_arguments"


async def test_prompts_are_four_and_those_of_a_thread_are_never_seen(scene: StreamScene) -> None:
    pane = scene.ada.direct
    prompt = {"title": "What's new?", "message": "What did I miss?"}
    said = await scene.ada.says(pane, "Hi")
    await scene.client.assistant_threads_setSuggestedPrompts(channel_id=pane.id, thread_ts=said.ts, prompts=[prompt])
    assert scene.slack.sees(scene.ada, pane).prompts == ()
    five = scene.client.assistant_threads_setSuggestedPrompts(channel_id=pane.id, prompts=[prompt] * 5)
    assert await error_code_of(five) == "invalid_arguments"
    await scene.client.assistant_threads_setSuggestedPrompts(channel_id=pane.id, prompts=[prompt] * 4)
    assert scene.slack.sees(scene.ada, pane).prompts == ("What's new?",) * 4


async def test_the_life_of_a_stream_and_its_length_are_settings() -> None:
    async with FakeSlack(limits=PayloadLimits(life=5, streamed=10)) as slack:
        scene = StreamScene(slack)
        await scene.ask()
        ts = await scene.start(markdown_text="0123456789")
        more = scene.client.chat_appendStream(**scene.here, ts=ts, markdown_text="x")
        assert await error_code_of(more) == "msg_too_long"
        slack.clock.advance(5)
        stop = scene.client.chat_stopStream(**scene.here, ts=ts)
        assert await error_code_of(stop) == "message_not_in_streaming_state"
