"""Histories, members, people and files, rate limits and faults."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from tests.support.slack_server import App, FakeSlack, Fault, File, RateSettings
from tests.support.slack_server.app import SCOPES
from tests.support.slack_server.event_recorder import build_client, error_code_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(rates=RateSettings(on=False)) as opened:
        yield opened


async def test_a_history_comes_newest_first_page_by_page_without_replies(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    said = [await ada.says(roof, str(number)) for number in range(5)]
    await ada.says(roof, "reply", thread=said[0])
    pages = [
        [message["text"] for message in page["messages"]]
        async for page in await build_client(slack).conversations_history(channel=roof.id, limit=2)
    ]
    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    since = await build_client(slack).conversations_history(channel=roof.id, oldest=said[2].ts)
    assert [message["text"] for message in since["messages"]] == ["4", "3"]
    until = await build_client(slack).conversations_history(channel=roof.id, latest=said[1].ts, inclusive=True)
    assert [message["text"] for message in until["messages"]] == ["1", "0"]
    assert until["messages"][1]["reply_count"] == 1


async def test_replies_come_oldest_first_with_their_root(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    root = await ada.says(roof, "root")
    for number in range(3):
        await ada.says(roof, str(number), thread=root)
    pages = [
        [message["text"] for message in page["messages"]]
        async for page in await build_client(slack).conversations_replies(channel=roof.id, ts=root.ts, limit=3)
    ]
    assert pages == [["root", "0", "1"], ["2"]]
    lost = build_client(slack).conversations_replies(channel=roof.id, ts="1.000001")
    assert await error_code_of(lost) == "thread_not_found"


async def test_only_members_read_histories(slack: FakeSlack) -> None:
    client = build_client(slack)
    outside, hidden = slack.channel("outside", bot=False), slack.channel("hidden", kind="private", bot=False)
    assert await error_code_of(client.conversations_history(channel=outside.id)) == "not_in_channel"
    assert await error_code_of(client.conversations_history(channel=hidden.id)) == "channel_not_found"
    assert await error_code_of(client.conversations_info(channel=hidden.id)) == "channel_not_found"
    assert (await client.conversations_info(channel=outside.id))["channel"]["is_member"] is False
    assert [each["id"] for each in (await client.conversations_list())["channels"]] == [outside.id]
    await client.conversations_join(channel=outside.id)
    assert await error_code_of(client.conversations_history(channel=outside.id)) == ""


async def test_the_facts_about_a_channel(slack: FakeSlack) -> None:
    ada, zoe = slack.user("Ada"), slack.stranger("Zoe")
    both = slack.channel("both", members=[ada, zoe], kind="private", shared=True)
    client = build_client(slack)
    told = (await client.conversations_info(channel=both.id))["channel"]
    assert (told["is_private"], told["is_ext_shared"], told["is_im"], told["is_mpim"]) == (True, True, False, False)
    page = await client.conversations_members(channel=both.id, limit=2)
    assert page["members"] == [ada.id, zoe.id]
    rest = await client.conversations_members(channel=both.id, cursor=page["response_metadata"]["next_cursor"])
    assert rest["members"] == [slack.bot.id]
    direct = (await client.conversations_open(users=ada.id, return_im=True))["channel"]
    assert (direct["is_im"], direct["user"]) == (True, ada.id)


async def test_the_facts_about_people(slack: FakeSlack) -> None:
    client = build_client(slack)
    guest, stranger = slack.user("Gus", kind="single_channel_guest"), slack.stranger("Zoe")
    told = (await client.users_info(user=guest.id))["user"]
    assert (told["is_restricted"], told["is_ultra_restricted"]) == (True, True)
    assert (await client.users_info(user=stranger.id))["user"]["team_id"] != slack.space.team
    assert (await client.users_info(user=slack.bot.id))["user"]["is_bot"]
    assert await error_code_of(client.users_info(user="U404")) == "user_not_found"
    await guest.becomes("deactivated")
    assert (await client.users_info(user=guest.id))["user"]["deleted"]


async def test_a_guest_sees_only_the_channels_he_is_in(slack: FakeSlack) -> None:
    ada, gus = slack.user("Ada"), slack.user("Gus", kind="guest")
    roof, closed = slack.channel("roof", members=[ada]), slack.channel("closed", members=[gus], kind="private")
    assert not slack.sees(gus, roof).is_open
    assert slack.sees(gus, closed).is_open
    assert not slack.sees(ada, closed).is_open
    assert slack.sees(slack.user("Bob"), roof).is_open


async def fetch_url(url: str, token: str = "") -> tuple[int, str, bytes]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status, answer.content_type, await answer.read()


async def test_a_file_without_the_right_token_is_a_login_page(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    said = await ada.says(slack.channel("roof", members=[ada]), "", files=[File("a.txt", b"hello")])
    told = (await build_client(slack).files_info(file=said.files[0]))["file"]
    token = slack.space.app.bot_token
    assert await fetch_url(told["url_private_download"], token) == (200, "text/plain", b"hello")
    status, kind, body = await fetch_url(told["url_private_download"])
    assert (status, kind, b"Sign in" in body) == (200, "text/html", True)
    async with FakeSlack(App(scopes=SCOPES - {"files:read"})) as blind:
        bob = blind.user("Bob")
        said = await bob.says(blind.channel("lawn", members=[bob]), "", files=[File("a.txt", b"hello")])
        url = f"{blind.url}/files-pri/{blind.space.team}-{said.files[0]}/download/a.txt"
        assert (await fetch_url(url, blind.space.app.bot_token))[1] == "text/html"


async def test_a_file_that_is_shown_elsewhere_does_not_exist(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    hidden = slack.channel("hidden", members=[ada], kind="private", bot=False)
    said = await ada.says(hidden, "", files=[File("a.txt", b"hello")])
    assert await error_code_of(build_client(slack).files_info(file=said.files[0])) == "file_not_found"


async def test_an_upload_takes_three_steps_in_order(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    root = await ada.says(roof, "a picture, please")
    await client.files_upload_v2(
        filename="graph.png", content=b"\x89PNG", channel=roof.id, thread_ts=root.ts, initial_comment="Here:"
    )
    entry = slack.sees(ada, roof).thread(root.ts)[0]
    assert (entry.text, entry.files) == ("Here:", ("graph.png",))
    step = await client.files_getUploadURLExternal(filename="b.txt", length=3)
    early = client.files_completeUploadExternal(files=[{"id": step["file_id"], "title": "b"}])
    assert await error_code_of(early) == "file_not_found"
    async with aiohttp.ClientSession() as session, session.post(step["upload_url"], data=b"four") as answer:
        assert answer.status == 400


async def test_rate_limited_calls_get_retry_after() -> None:
    async with FakeSlack() as slack:
        client, roof = build_client(slack), slack.channel("roof")
        ts = (await client.chat_postMessage(channel=roof.id, text="x"))["ts"]
        for _ in range(50):
            await client.chat_update(channel=roof.id, ts=ts, text="y")
        with pytest.raises(SlackApiError) as refused:
            await client.chat_update(channel=roof.id, ts=ts, text="z")
        assert (refused.value.response.status_code, refused.value.response["error"]) == (429, "ratelimited")
        assert 1 <= int(refused.value.response.headers["Retry-After"]) <= 2
        slack.clock.advance(2)
        assert await error_code_of(client.chat_update(channel=roof.id, ts=ts, text="z")) == ""


async def test_a_channel_takes_one_post_a_second_with_small_bursts() -> None:
    async with FakeSlack(rates=RateSettings(channel_burst=2)) as slack:
        client, roof, lawn = build_client(slack), slack.channel("roof"), slack.channel("lawn")
        posts = [await error_code_of(client.chat_postMessage(channel=roof.id, text="x")) for _ in range(3)]
        assert posts == ["", "", "ratelimited"]
        assert await error_code_of(client.chat_postMessage(channel=lawn.id, text="x")) == ""
        slack.clock.advance(1)
        assert await error_code_of(client.chat_postMessage(channel=roof.id, text="x")) == ""


async def test_the_limits_of_a_method_are_settings() -> None:
    async with FakeSlack(rates=RateSettings(minute={"auth.test": 2}, burst=1.5)) as slack:
        answers = [await error_code_of(build_client(slack).auth_test()) for _ in range(4)]
        assert answers == ["", "", "", "ratelimited"]


async def test_calls_fail_on_demand(slack: FakeSlack) -> None:
    client, roof = build_client(slack), slack.channel("roof")
    slack.fail_next("chat.postMessage", "fatal_error")
    assert await error_code_of(client.chat_postMessage(channel=roof.id, text="x")) == "fatal_error"
    slack.fail_next("chat.postMessage", Fault("server", status=503))
    with pytest.raises(SlackApiError) as broken:
        await client.chat_postMessage(channel=roof.id, text="x")
    assert broken.value.response.status_code == 503
    slack.fail_next("chat.postMessage", Fault("reset"))
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=roof.id, text="never said")
    slack.fail_next("chat.postMessage", Fault("lost"))
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=roof.id, text="said all the same")
    assert [message.text for message in roof.channel.messages.values()] == ["said all the same"]


async def test_a_call_may_hang_for_ever(slack: FakeSlack) -> None:
    slack.fail_next("auth.test", Fault("hang"))
    asking = asyncio.ensure_future(build_client(slack).auth_test())
    await slack.wait_for(lambda: slack.calls_to("auth.test"))
    done, _ = await asyncio.wait([asking], timeout=0.05)
    assert not done
    asking.cancel()


async def test_message_lookup_needs_the_right_channel(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    said = await ada.says(roof, "x")
    link = (await client.chat_getPermalink(channel=roof.id, message_ts=said.ts))["permalink"]
    assert link == f"https://smallco.slack.com/archives/{roof.id}/p{said.ts.replace('.', '')}"
    assert await error_code_of(client.chat_getPermalink(channel=roof.id, message_ts="1.1")) == "message_not_found"
