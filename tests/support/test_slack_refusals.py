"""What the fake Slack refuses: a fake that accepts everything proves nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.support.slack_scene import (
    CITATION,
    FEEDBACK,
    MARKDOWN,
    TRASH,
    Scene,
    button,
    open_scene,
    row,
    section,
    text_chunk,
)
from tests.support.slack_server import FakeSlack, Fault, PayloadLimits
from tests.support.slack_server.methods.blocks import check_blocks
from tests.support.slack_server.state import SlackError


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
    times = [1000.0]
    async with FakeSlack() as slack:
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
        times.append(1003.0)
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
        statuses = [(await session.post(urls[0], json={"text": f"number {each}"})).status for each in range(6)]
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
