"""Socket Mode: deadlines, retries, broken and refreshed connections, commands and clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.support.slack_server import FakeSlack, RateSettings, Timing
from tests.support.slack_server.event_recorder import build_client, error_code_of, open_recorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TRASH = {"type": "icon_button", "icon": "trash", "action_id": "trash", "text": {"type": "plain_text", "text": "Delete"}}


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(rates=RateSettings(on=False), timing=Timing(ack=0.2, retries=(0, 60), ping=0.05)) as opened:
        yield opened


async def test_hello_tells_how_long_the_connection_will_last(slack: FakeSlack) -> None:
    url = (await build_client(slack).apps_connections_open(app_token=slack.space.app.app_token))["url"]
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url) as ws:
            hello = await ws.receive_json()
        assert hello["type"] == "hello"
        assert hello["debug_info"]["approximate_connection_time"] == 18060
        with pytest.raises(aiohttp.WSServerHandshakeError):  # an address is good for one connection
            await session.ws_connect(url)


async def test_an_event_that_is_not_acknowledged_comes_again() -> None:
    async with FakeSlack(timing=Timing(ack=0.1, retries=(0, 0.1))) as slack, open_recorder(slack) as ear:
        ada = slack.user("Ada")
        ear.is_silent = True
        await ada.says(slack.channel("roof", members=[ada]), "hello")
        await slack.wait_for(lambda: len(ear.requests) == 2)
        ear.is_silent = False
        await slack.wait_until_delivered()
    assert len({request.payload["event_id"] for request in ear.requests}) == 1
    assert len({request.envelope_id for request in ear.requests}) == 3
    told = [(request.retry_attempt, request.retry_reason) for request in ear.requests]
    assert told == [(0, ""), (1, "timeout"), (2, "timeout")]


async def test_an_event_waits_a_while_for_a_connection(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    await ada.says(slack.channel("roof", members=[ada]), "hello")
    async with open_recorder(slack) as ear:
        await slack.wait_until_delivered()
    assert ear.kinds == ["message"]


async def test_what_nobody_ever_acknowledges_is_lost() -> None:
    async with FakeSlack(timing=Timing(ack=0.05, retries=(0,))) as slack:
        ada = slack.user("Ada")
        await ada.says(slack.channel("roof", members=[ada]), "hello")
        await slack.wait_until_delivered()
        assert slack.socket.deliveries[0].lost == "connection_failed"


async def test_a_refreshed_connection_is_replaced_before_it_is_shut(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    async with open_recorder(slack) as ear:
        await slack.socket.refresh()
        await slack.wait_for(lambda: len(slack.calls_to("apps.connections.open")) == 2 and slack.socket.ready)
        await ada.says(roof, "hello")
        await slack.wait_until_delivered()
        assert ear.kinds == ["message"]


async def test_a_broken_connection_is_noticed_and_replaced(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    async with open_recorder(slack) as ear:
        slack.socket.drop()
        await slack.wait_for(lambda: len(slack.calls_to("apps.connections.open")) == 2 and slack.socket.ready)
        await ada.says(roof, "hello")
        await slack.wait_until_delivered()
        assert ear.kinds == ["message"]


async def test_a_server_that_answers_no_pings_is_left(slack: FakeSlack) -> None:
    async with open_recorder(slack, every=0.05):
        slack.socket.answers_pings = False
        await slack.wait_for(lambda: len(slack.calls_to("apps.connections.open")) >= 2)


async def test_each_event_goes_to_one_connection(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    async with open_recorder(slack) as one, open_recorder(slack) as two:
        await slack.wait_until_connected(2)
        for number in range(20):
            await ada.says(roof, str(number))
        await slack.wait_until_delivered()
        assert len(one.requests) + len(two.requests) == 20
        assert one.requests
        assert two.requests


async def test_the_eleventh_connection_is_one_too_many(slack: FakeSlack) -> None:
    token = slack.space.app.app_token
    async with aiohttp.ClientSession() as session:
        links = []
        for _ in range(11):
            url = (await build_client(slack).apps_connections_open(app_token=token))["url"]
            links.append(await session.ws_connect(url))
        first = [(await link.receive_json())["type"] for link in links]
        assert first == ["hello"] * 10 + ["disconnect"]
        for link in links:
            await link.close()


async def test_the_reply_in_an_acknowledgement_is_seen_by_one_person(slack: FakeSlack) -> None:
    ada, bob = slack.user("Ada"), slack.user("Bob")
    roof = slack.channel("roof", members=[ada, bob], bot=False)
    async with open_recorder(slack) as ear:
        ear.reply = {"text": "42 documents"}
        await ada.slash(roof, "status")
        payload = ear.requests[0].payload
    assert (payload["command"], payload["text"], payload["channel_id"]) == ("/threadlore", "status", roof.id)
    assert "42 documents" in slack.sees(ada, roof)
    assert "42 documents" not in slack.sees(bob, roof)


async def test_unacknowledged_command_shows_a_failure(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    async with open_recorder(slack) as ear:
        ear.is_silent = True
        await ada.slash(roof, "status")
        assert len(ear.requests) == 1
    assert "operation_timeout" in slack.sees(ada, roof)


async def test_a_response_address_works_five_times_for_half_an_hour(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    async with open_recorder(slack) as ear:
        await ada.slash(roof, "one")
        await ada.slash(roof, "two")
        first, second = (AsyncWebhookClient(request.payload["response_url"]) for request in ear.requests)
    codes = [(await first.send(text=f"reply {number}")).status_code for number in range(6)]
    assert codes == [200] * 5 + [404]
    assert (await second.send(text="")).status_code == 400
    slack.clock.advance(1801)
    assert (await second.send(text="late")).body == '{"ok": false, "error": "expired_url"}'
    assert "reply 4" in slack.sees(ada, roof)


async def test_a_press_comes_with_its_message_and_may_replace_it(slack: FakeSlack) -> None:
    ada, bob = slack.user("Ada"), slack.user("Bob")
    roof = slack.channel("roof", members=[ada, bob])
    trash: dict[str, Any] = {**TRASH, "value": "a1", "visible_to_user_ids": [ada.id]}
    blocks = [{"type": "context_actions", "block_id": "answer", "elements": [trash]}]
    await build_client(slack).chat_postMessage(channel=roof.id, text="x", blocks=blocks)
    assert slack.sees(bob, roof).entries[0].buttons == ()
    async with open_recorder(slack) as ear:
        await ada.clicks(slack.sees(ada, roof).entries[0], "Delete")
        payload = ear.requests[-1].payload
    pressed = payload["actions"][0]
    assert (pressed["action_id"], pressed["value"], pressed["block_id"]) == ("trash", "a1", "answer")
    assert payload["message"]["bot_id"] == slack.space.bot.bot_id
    await AsyncWebhookClient(payload["response_url"]).send(text="gone", replace_original=True)
    assert slack.sees(bob, roof).entries[0].text == "gone"


async def test_a_trigger_opens_one_modal_within_three_seconds(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    roof = slack.channel("roof", members=[ada])
    view: dict[str, Any] = {"type": "modal", "title": {"type": "plain_text", "text": "What was wrong?"}, "blocks": []}
    client = build_client(slack)
    async with open_recorder(slack) as ear:
        await ada.slash(roof, "one")
        await ada.slash(roof, "two")
        first, second = (request.payload["trigger_id"] for request in ear.requests)
        assert await error_code_of(client.views_open(trigger_id=first, view=view)) == ""
        assert await error_code_of(client.views_open(trigger_id=first, view=view)) == "exchanged_trigger_id"
        slack.clock.advance(4)
        assert await error_code_of(client.views_open(trigger_id=second, view=view)) == "expired_trigger_id"
        await ada.submits({"block": {"action": {"type": "plain_text_input", "value": "all of it"}}})
        assert ear.requests[-1].payload["type"] == "view_submission"


async def test_a_home_tab_is_published_for_one_person(slack: FakeSlack) -> None:
    ada, client = slack.user("Ada"), build_client(slack)
    home: dict[str, Any] = {"type": "home", "blocks": [{"type": "divider"}]}
    view = (await client.views_publish(user_id=ada.id, view=home))["view"]
    assert ada.home_tab() == "────────"
    stale = client.views_publish(user_id=ada.id, view=home, hash="old")
    assert await error_code_of(stale) == "hash_conflict"
    assert await error_code_of(client.views_publish(user_id=ada.id, view=home, hash=view["hash"])) == ""
    markdown = {"type": "home", "blocks": [{"type": "markdown", "text": "x"}]}
    assert await error_code_of(client.views_publish(user_id=ada.id, view=markdown)) == "invalid_arguments"
    crowded = {"type": "home", "blocks": [{"type": "divider"}] * 101}
    assert await error_code_of(client.views_publish(user_id=ada.id, view=crowded)) == "invalid_arguments"
