"""What the fake Slack refuses, hides and loses: a fake that accepts everything proves nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.support.slack_server import (
    App,
    Entry,
    FakeSlack,
    Fault,
    File,
    NotOnScreen,
    PayloadLimits,
    RateSettings,
    Timing,
)
from tests.support.slack_server.methods.blocks import check_blocks
from tests.support.slack_server.state import SlackError


def text_chunk(text: str) -> dict[str, Any]:
    return {"type": "markdown_text", "text": text}


def section(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def row(kind: str, *elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "elements": list(elements)}


def button(text: str, value: str = "v", **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": {"type": "plain_text", "text": text}, "value": value, **more}


CITATION = {"type": "citation", "url": "https://a.example", "text": "1", "index": 1}
TRASH = button("Delete", type="icon_button", icon="trash")
VOTE = {"text": {"type": "plain_text", "text": "Good"}, "value": "up"}
FEEDBACK = {"type": "feedback_buttons", "positive_button": VOTE, "negative_button": VOTE}
MARKDOWN = {"type": "markdown", "text": "x" * 6000}


class Scene:
    """Ada and Bob in #roof with a thread and the app's messages. Tables use the capital `names` instead of ids."""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.client = AsyncWebClient(slack.space.app.bot_token, slack.base_url, retry_handlers=[])
        self.ada, self.bob, self.eve = slack.user("Ada"), slack.user("Bob"), slack.stranger("Eve")
        self.roof = slack.channel("roof", members=[self.ada, self.bob])
        self.outside = slack.channel("outside", members=[self.ada], bot=False)
        self.hidden = slack.channel("hidden", members=[self.ada], kind="private", bot=False)
        self.attic = slack.channel("attic", members=[self.ada])

    async def set_up(self) -> None:
        slack, ada = self.slack, self.ada
        self.single = await ada.says(self.roof, "single", files=[File("a.txt", b"hello")])
        self.root = await ada.says(self.roof, "root")
        self.reply = await ada.says(self.roof, "reply", thread=self.root)
        self.names = {
            "ROOF": self.roof.id, "OUTSIDE": self.outside.id, "HIDDEN": self.hidden.id, "ATTIC": self.attic.id,
            "DIRECT": ada.direct.id, "ADA": ada.id, "EVE": self.eve.id, "TEAM": slack.space.team,
            "HERS": self.single.ts, "ROOT": self.root.ts, "REPLY": self.reply.ts,
        }  # fmt: skip
        self.names["OWN"] = (await self.call("chat.postMessage", channel="ROOF", text="own"))["ts"]
        start = {"channel": "ROOF", "thread_ts": "ROOT", "recipient_user_id": "ADA", "recipient_team_id": "TEAM"}
        for name in ("STOPPED", "STREAM"):
            self.names[name] = (await self.call("chat.startStream", **start, chunks=[text_chunk("x")]))["ts"]
        await self.call("chat.stopStream", channel="ROOF", ts="STOPPED")
        await self.call("reactions.add", channel="ROOF", timestamp="OWN", name="eyes")
        self.attic.channel.archived = True

    async def call(self, method: str, **args: Any) -> Any:
        filled = {key: self.names.get(value, value) if isinstance(value, str) else value for key, value in args.items()}
        return await self.client.api_call(method, json=filled)

    async def find_error(self, method: str, **args: Any) -> str:
        """The error of a call; empty if it succeeds."""
        try:
            await self.call(method, **args)
        except SlackApiError as error:
            return str(error.response["error"])
        return ""

    def entry(self, name: str) -> Entry:
        """A message as Ada sees it."""
        return next(
            entry for entry in self.slack.sees(self.ada, self.roof).all_entries() if entry.ts == self.names[name]
        )


@asynccontextmanager
async def open_scene(limits: PayloadLimits | None = None) -> AsyncIterator[Scene]:
    async with FakeSlack(rates=RateSettings(on=False), limits=limits) as slack:
        scene = Scene(slack)
        await scene.set_up()
        yield scene


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with open_scene() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def unchanged() -> AsyncIterator[Scene]:
    """One scene for all calls that are refused and change nothing."""
    async with open_scene() as opened:
        yield opened


REFUSED_BLOCKS: dict[str, list[dict[str, Any]]] = {
    "a section of 3,001 characters": [section("x" * 3001)],
    "an empty section": [section("")],
    "a section in plain Markdown": [{"type": "section", "text": "x"}],
    "eleven elements of context": [row("context", *[{"type": "mrkdwn", "text": "x"}] * 11)],
    "51 blocks": [section("x")] * 51,
    "an unknown block": [CITATION],
    "two blocks with the same id": [section("x", block_id="a"), section("y", block_id="a")],
    "a block id of 256 characters": [section("x", block_id="a" * 256)],
    "a button of 76 characters": [row("actions", button("x" * 76))],
    "a button in mrkdwn": [row("actions", {**button("x"), "text": {"type": "mrkdwn", "text": "x"}})],
    "a value of 2,001 characters": [row("actions", button("x", "v" * 2001))],
    "26 buttons in a row": [row("actions", *[button("x")] * 26)],
    "no button in a row": [row("actions")],
    "six context actions": [row("context_actions", *[FEEDBACK] * 6)],
    "a plain button among context actions": [row("context_actions", button("x"))],
    "feedback buttons among plain actions": [row("actions", FEEDBACK)],
    "an icon other than a trash can": [row("context_actions", {**TRASH, "icon": "star"})],
    "a citation in a context": [row("context", CITATION)],
    "a citation outside of a section": [row("rich_text", CITATION)],
    "a list of leaves": [row("rich_text", row("rich_text_list", CITATION))],
    "two tables": [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}] * 2,
    "a table of 101 rows": [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101}],
    "an empty cell": [{"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]}],
    "12,001 characters of Markdown": [MARKDOWN, MARKDOWN, {"type": "markdown", "text": "x"}],
}


@pytest.mark.parametrize("blocks", REFUSED_BLOCKS.values(), ids=REFUSED_BLOCKS)
def test_invalid_blocks_are_refused(blocks: list[dict[str, Any]]) -> None:
    with pytest.raises(SlackError, match="invalid_blocks"):
        check_blocks(blocks, PayloadLimits())


def test_blocks_at_their_limits_are_accepted() -> None:
    cited = row("rich_text", row("rich_text_list", row("rich_text_section", CITATION)))
    for blocks in ([section("x" * 3000)], [MARKDOWN, MARKDOWN], [cited, row("context_actions", FEEDBACK, TRASH)]):
        check_blocks(blocks, PayloadLimits())


TO_ADA = {"channel": "ROOF", "thread_ts": "ROOT", "recipient_user_id": "ADA", "recipient_team_id": "TEAM"}
ROWS = [section("x")]
PROMPT = {"title": "What's new?", "message": "What did I miss?"}
TASK = {"type": "task_update", "id": "1", "title": "Searched", "status": "complete"}
REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("chat.shout", {}, "unknown_method"),
    ("chat.postMessage", {"channel": "OUTSIDE", "text": "x"}, "not_in_channel"),
    ("chat.postMessage", {"channel": "HIDDEN", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "C404", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "ATTIC", "text": "x"}, "is_archived"),
    ("chat.postMessage", {"channel": "ROOF"}, "no_text"),
    ("chat.postMessage", {"channel": "ROOF", "text": "x" * 40_001}, "msg_too_long"),
    ("chat.postMessage", {"channel": "ROOF", "text": "x", "blocks": [section("x" * 2700)] * 5}, "msg_blocks_too_long"),
    ("chat.postMessage", {"channel": "ROOF", "text": "x", "blocks": "no JSON"}, "invalid_blocks_format"),
    ("chat.postMessage", {"channel": "ROOF", "text": "x", "blocks": [CITATION]}, "invalid_blocks"),
    ("chat.postMessage", {"channel": "ROOF", "text": "x", "metadata": {"event_type": ""}}, "invalid_metadata_format"),
    ("chat.postMessage", {"channel": "ROOF", "text": "x", "thread_ts": "1.1"}, "thread_not_found"),
    ("chat.postMessage", {"channel": "ROOF", "text": "x", "thread_ts": "REPLY"}, "cannot_reply_to_message"),
    ("chat.update", {"channel": "ROOF", "ts": "HERS", "text": "x"}, "cant_update_message"),
    ("chat.update", {"channel": "ROOF", "ts": "1.1", "text": "x"}, "message_not_found"),
    ("chat.update", {"channel": "ROOF", "ts": "OWN", "text": "x" * 4001}, "msg_too_long"),
    ("chat.update", {"channel": "ROOF", "ts": "STREAM", "text": "x"}, "streaming_state_conflict"),
    ("chat.delete", {"channel": "ROOF", "ts": "HERS"}, "cant_delete_message"),
    ("chat.delete", {"channel": "ROOF", "ts": "STREAM"}, "cant_delete_message"),
    ("chat.delete", {"channel": "ROOF", "ts": "1.1"}, "message_not_found"),
    ("chat.postEphemeral", {"channel": "ROOF", "user": "EVE", "text": "x"}, "user_not_in_channel"),
    ("chat.startStream", {**TO_ADA, "recipient_team_id": ""}, "missing_recipient_team_id"),
    ("chat.startStream", {**TO_ADA, "recipient_user_id": ""}, "missing_recipient_user_id"),
    ("chat.startStream", {**TO_ADA, "recipient_user_id": "EVE"}, "team_not_found"),
    ("chat.startStream", {**TO_ADA, "thread_ts": "1.1"}, "thread_not_found"),
    ("chat.startStream", {**TO_ADA, "chunks": [text_chunk("x" * 12_001)]}, "msg_too_long"),
    ("chat.startStream", {**TO_ADA, "chunks": [text_chunk("x" * 6001)] * 2}, "msg_too_long"),
    ("chat.startStream", {**TO_ADA, "chunks": [{"type": "shout"}]}, "invalid_chunks"),
    ("chat.startStream", {**TO_ADA, "chunks": [{**TASK, "title": "x" * 257}]}, "invalid_chunks"),
    ("chat.startStream", {**TO_ADA, "chunks": [{**TASK, "sources": [{"type": "url"}]}]}, "invalid_chunks"),
    ("chat.appendStream", {"channel": "ROOF", "ts": "STREAM"}, "no_text"),
    ("chat.appendStream", {"channel": "ROOF", "ts": "STOPPED"}, "message_not_in_streaming_state"),
    ("chat.appendStream", {"channel": "ROOF", "ts": "OWN"}, "message_not_in_streaming_state"),
    ("chat.stopStream", {"channel": "ROOF", "ts": "STOPPED"}, "message_not_in_streaming_state"),
    ("chat.stopStream", {"channel": "ROOF", "ts": "1.1"}, "message_not_found"),
    ("chat.stopStream", {"channel": "ROOF", "ts": "STREAM", "blocks": [CITATION]}, "invalid_blocks"),
    ("chat.getPermalink", {"channel": "ROOF", "message_ts": "1.1"}, "message_not_found"),
    ("conversations.info", {"channel": "HIDDEN"}, "channel_not_found"),
    ("conversations.history", {"channel": "OUTSIDE"}, "not_in_channel"),
    ("conversations.history", {"channel": "HIDDEN"}, "channel_not_found"),
    ("conversations.history", {"channel": "ROOF", "limit": 1000}, "invalid_limit"),
    ("conversations.replies", {"channel": "ROOF", "ts": "1.1"}, "thread_not_found"),
    ("users.info", {"user": "U404"}, "user_not_found"),
    ("files.info", {"file": "F404"}, "file_not_found"),
    ("files.completeUploadExternal", {"channel_id": "ROOF", "files": [{"id": "F404"}]}, "file_not_found"),
    ("reactions.add", {"channel": "ROOF", "timestamp": "HERS", "name": "no such thing"}, "invalid_name"),
    ("reactions.add", {"channel": "ROOF", "timestamp": "OWN", "name": "eyes"}, "already_reacted"),
    ("reactions.remove", {"channel": "ROOF", "timestamp": "HERS", "name": "eyes"}, "no_reaction"),
    ("assistant.threads.setStatus", {"channel_id": "ROOF", "thread_ts": "1.1", "status": "x"}, "thread_not_found"),
    ("assistant.threads.setSuggestedPrompts", {"channel_id": "ROOF"}, "channel_type_not_supported"),
    ("assistant.threads.setSuggestedPrompts", {"channel_id": "DIRECT", "prompts": [PROMPT] * 5}, "invalid_arguments"),
    ("views.publish", {"user_id": "ADA", "view": {"type": "modal", "blocks": []}}, "invalid_arguments"),
    ("views.publish", {"user_id": "ADA", "view": {"type": "home", "blocks": [MARKDOWN]}}, "invalid_arguments"),
    ("views.publish", {"user_id": "ADA", "view": {"type": "home", "blocks": ROWS * 101}}, "invalid_arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "args", "error"), REFUSALS, ids=[f"{name}-{e}" for name, _, e in REFUSALS])
@pytest.mark.asyncio(loop_scope="module")
async def test_calls_that_slack_refuses(unchanged: Scene, method: str, args: dict[str, Any], error: str) -> None:
    assert await unchanged.find_error(method, **args) == error


async def test_tokens_scopes_and_features_are_checked(scene: Scene) -> None:
    slack, app = scene.slack, scene.slack.space.app
    for token, error in ((app.app_token, "not_allowed_token_type"), ("xoxb-wrong", "invalid_auth"), ("", "not_authed")):
        scene.client.token = token
        assert await scene.find_error("auth.test") == error
    scene.client.token = app.bot_token
    assert await scene.find_error("apps.connections.open") == "not_allowed_token_type"
    slack.space.app = replace(app, scopes=frozenset({"chat:write"}), agent=False, has_home_tab=False)
    assert await scene.find_error("conversations.history", channel="ROOF") == "missing_scope"
    assert await scene.find_error("users.conversations", types="private_channel") == "missing_scope"
    assert await scene.find_error("chat.startStream", **TO_ADA) == "feature_not_enabled"
    assert await scene.find_error("assistant.threads.setStatus", status="x") == "feature_not_enabled"
    assert await scene.find_error("views.publish", user_id="ADA", view={"type": "home", "blocks": []}) == "not_enabled"
    await slack.uninstalls()
    assert await scene.find_error("auth.test") == "account_inactive"


async def test_rates_are_limited_by_method_and_by_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeSlack() as slack:
        times = [slack.clock.now()]
        monkeypatch.setattr(slack.clock, "now", lambda: times[-1])
        client = AsyncWebClient(slack.space.app.bot_token, slack.base_url, retry_handlers=[])
        roof, lawn = slack.channel("roof"), slack.channel("lawn")
        for _ in range(5):
            await client.chat_postMessage(channel=roof.id, text="x")
        with pytest.raises(SlackApiError, match="ratelimited") as refused:
            await client.chat_postMessage(channel=roof.id, text="x")
        assert (refused.value.response.status_code, refused.value.response.headers["Retry-After"]) == (429, "1")
        await client.chat_postMessage(channel=lawn.id, text="x")
        for _ in range(20):
            await client.usergroups_list()
        with pytest.raises(SlackApiError, match="ratelimited"):
            await client.usergroups_list()
        times.append(times[0] + timedelta(seconds=3))
        await client.usergroups_list()
        await client.chat_postMessage(channel=roof.id, text="x")
        assert slack.buckets.limited == [f"post {roof.id}", "usergroups.list"]


async def test_a_call_that_is_lost_was_carried_out_and_one_that_is_reset_was_not(scene: Scene) -> None:
    for kind in ("reset", "lost"):
        scene.slack.fail_next("chat.postMessage", Fault(kind))
        with pytest.raises(aiohttp.ClientError):
            await scene.call("chat.postMessage", channel="ROOF", text=kind)
    assert [message.text for message in scene.roof.channel.messages.values()][-1] == "lost"


async def test_a_file_needs_the_token_and_the_scope(scene: Scene) -> None:
    slack, file = scene.slack, scene.single.files[0]
    url = (await scene.call("files.info", file=file))["file"]["url_private_download"]
    token = {"Authorization": f"Bearer {slack.space.app.bot_token}"}
    async with aiohttp.ClientSession() as session:
        assert await (await session.get(url, headers=token)).read() == b"hello"
        assert "Sign in" in await (await session.get(url)).text()
        slack.space.app = replace(slack.space.app, scopes=slack.space.app.scopes - {"files:read"})
        assert "Sign in" in await (await session.get(url, headers=token)).text()
        step = await scene.call("files.getUploadURLExternal", filename="b.txt", length=3)
        assert (await session.post(step["upload_url"], data=b"four")).status == 400
        early = {"channel_id": "ROOF", "files": [{"id": step["file_id"]}]}
        assert await scene.find_error("files.completeUploadExternal", **early) == "file_not_found"


async def test_a_response_url_works_five_times_for_half_an_hour(scene: Scene) -> None:
    urls = [scene.slack.interactions.create_response_url(scene.roof.channel, scene.ada.id) for _ in range(3)]
    async with aiohttp.ClientSession() as session:
        statuses = [(await session.post(urls[0], json={"text": f"number {number}"})).status for number in range(6)]
        assert statuses == [200] * 5 + [404]
        assert (await session.post(urls[1], json={"text": ""})).status == 400
        assert (await session.post(urls[1], json={"blocks": [CITATION]})).status == 400
        scene.slack.clock.advance(1801)
        assert await (await session.post(urls[2], json={"text": "late"})).json() == {
            "ok": False,
            "error": "expired_url",
        }
    assert "number 4" in scene.slack.sees(scene.ada, scene.roof)
    assert "number 4" not in scene.slack.sees(scene.bob, scene.roof)


async def test_an_event_comes_only_where_the_app_is_and_with_its_subscription_and_scope(scene: Scene) -> None:
    before = len(scene.slack.socket.deliveries)
    await scene.ada.mentions(scene.outside, "hi")
    await scene.ada.mentions(scene.ada.direct, "hi")  # no app_mention in private
    assert [delivery.payload["event"]["type"] for delivery in scene.slack.socket.deliveries[before:]] == ["message"]
    shipped = App.from_manifest()
    without_event = replace(shipped, events=shipped.events - {"message.groups"})
    without_scope = replace(shipped, scopes=shipped.scopes - {"groups:history"})
    for app in (without_event, without_scope):
        async with FakeSlack(app) as slack:
            ada = slack.user("Ada")
            await ada.says(slack.channel("closed", members=[ada], kind="private"), "secret")
            assert not slack.socket.deliveries


async def test_an_event_that_is_not_acknowledged_comes_again_until_it_is_lost() -> None:
    async with FakeSlack(timing=Timing(ack=0.1, retries=(0, 0.1))) as slack, aiohttp.ClientSession() as session:
        ada, url = slack.user("Ada"), slack.socket_url(slack.socket.ticket())
        roof = slack.channel("roof", members=[ada])
        await ada.says(roof, "lost")
        await slack.wait_until_delivered()
        assert slack.socket.deliveries[0].lost == "connection_failed"
        async with session.ws_connect(url) as ws:
            assert (await ws.receive_json())["type"] == "hello"
            await ada.says(roof, "kept")
            first, second = await ws.receive_json(), await ws.receive_json()
            await ws.send_json({"envelope_id": second["envelope_id"]})
            await slack.wait_until_delivered()
        assert first["payload"] == second["payload"]
        assert (first["retry_attempt"], second["retry_attempt"], second["retry_reason"]) == (0, 1, "timeout")
        with pytest.raises(aiohttp.WSServerHandshakeError):  # a ticket is good for one connection
            await session.ws_connect(url)


async def test_a_command_that_is_not_acknowledged_shows_a_failure() -> None:
    async with FakeSlack(timing=Timing(ack=0.05)) as slack:
        ada = slack.user("Ada")
        roof = slack.channel("roof", members=[ada])
        await ada.slash(roof, "status")
        assert "dispatch_failed" in slack.sees(ada, roof)


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
