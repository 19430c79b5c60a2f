"""What Slack refuses in messages, said by the real client to the fake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.slack_server import App, FakeSlack, RateSettings
from tests.support.slack_server.event_recorder import build_client, error_code_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(rates=RateSettings(on=False)) as opened:
        yield opened


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(text: str, value: str = "v") -> dict[str, Any]:
    return {"type": "button", "action_id": text[:9], "text": {"type": "plain_text", "text": text}, "value": value}


def feedback() -> dict[str, Any]:
    good = {"text": {"type": "plain_text", "text": "Good"}, "value": "up"}
    bad = {"text": {"type": "plain_text", "text": "Bad"}, "value": "down"}
    return {"type": "feedback_buttons", "action_id": "feedback", "positive_button": good, "negative_button": bad}


def citation_block(kind: str = "rich_text_section") -> dict[str, Any]:
    citation = {"type": "citation", "url": "https://a.example", "text": "1", "index": 1}
    return {"type": "rich_text", "elements": [{"type": kind, "elements": [citation]}]}


REFUSED: dict[str, list[dict[str, Any]]] = {
    "a section of 3,001 characters": [section("x" * 3001)],
    "a header of 151 characters": [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}],
    "a header in mrkdwn": [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
    "eleven elements of context": [{"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 11}],
    "51 blocks": [{"type": "divider"}] * 51,
    "a button of 76 characters": [{"type": "actions", "elements": [button("x" * 76)]}],
    "a value of 2,001 characters": [{"type": "actions", "elements": [button("x", "v" * 2001)]}],
    "26 buttons in a row": [{"type": "actions", "elements": [button("x")] * 26}],
    "six context actions": [{"type": "context_actions", "elements": [feedback()] * 6}],
    "a plain button among context actions": [{"type": "context_actions", "elements": [button("x")]}],
    "feedback buttons among plain actions": [{"type": "actions", "elements": [feedback()]}],
    "a citation outside of rich text": [{"type": "context", "elements": [{"type": "citation", "url": "u"}]}],
    "a citation in preformatted text": [citation_block("rich_text_preformatted")],
    "12,001 characters of Markdown": [
        {"type": "markdown", "text": "x" * 6001}, {"type": "markdown", "text": "x" * 6000}
    ],
    "a block nobody knows": [{"type": "citation", "url": "https://a.example"}],
    "two blocks of one id": [{"type": "divider", "block_id": "a"}, {"type": "divider", "block_id": "a"}],
    "an icon that is no trash can": [
        {"type": "context_actions", "elements": [
            {"type": "icon_button", "icon": "star", "text": {"type": "plain_text", "text": "Star"}}]}
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
async def test_blocks_beyond_the_limits_are_invalid(slack: FakeSlack, what: str) -> None:
    roof = slack.channel("roof")
    post = build_client(slack).chat_postMessage(channel=roof.id, text="fallback", blocks=REFUSED[what])
    assert await error_code_of(post) == "invalid_blocks"


ACCEPTED: dict[str, list[dict[str, Any]]] = {
    "a section of 3,000 characters": [section("x" * 3000)],
    "Markdown of 12,000 characters": [{"type": "markdown", "text": "x" * 12_000}],
    "a citation in rich text": [citation_block()],
    "feedback and trash": [
        {"type": "context_actions", "elements": [
            feedback(), {"type": "icon_button", "icon": "trash", "text": {"type": "plain_text", "text": "Delete"}}]}
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", ACCEPTED)
async def test_blocks_within_the_limits_are_accepted(slack: FakeSlack, what: str) -> None:
    roof = slack.channel("roof")
    assert (
        await error_code_of(build_client(slack).chat_postMessage(channel=roof.id, text="x", blocks=ACCEPTED[what]))
        == ""
    )


async def test_all_blocks_together_have_a_limit_that_no_page_mentions(slack: FakeSlack) -> None:
    roof = slack.channel("roof")
    post = build_client(slack).chat_postMessage(channel=roof.id, text="x", blocks=[section("x" * 2700)] * 5)
    assert await error_code_of(post) == "msg_blocks_too_long"


async def test_markdown_text_goes_alone_and_has_12000_characters(slack: FakeSlack) -> None:
    client, roof = build_client(slack), slack.channel("roof")
    assert await error_code_of(client.chat_postMessage(channel=roof.id, markdown_text="x" * 12_001)) == "msg_too_long"
    both = client.chat_postMessage(channel=roof.id, text="x", markdown_text="y")
    assert await error_code_of(both) == "markdown_text_conflict"
    assert await error_code_of(client.chat_postMessage(channel=roof.id, markdown_text="x" * 12_000)) == ""


async def test_a_text_of_more_than_40000_characters_is_cut_short(slack: FakeSlack) -> None:
    roof = slack.channel("roof")
    answer = await build_client(slack).chat_postMessage(channel=roof.id, text="x" * 40_001)
    assert answer["response_metadata"]["warnings"] == ["message_truncated"]
    assert len(answer["message"]["text"]) == 40_000


async def test_an_update_takes_4000_characters_of_text(slack: FakeSlack) -> None:
    client, roof = build_client(slack), slack.channel("roof")
    ts = (await client.chat_postMessage(channel=roof.id, text="x"))["ts"]
    assert await error_code_of(client.chat_update(channel=roof.id, ts=ts, text="x" * 4001)) == "msg_too_long"
    assert await error_code_of(client.chat_update(channel=roof.id, ts=ts, markdown_text="x" * 12_000)) == ""


async def test_an_update_of_the_text_alone_leaves_the_blocks_as_they_are(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    ts = (await client.chat_postMessage(channel=roof.id, text="x", blocks=[section("shown")]))["ts"]
    await client.chat_update(channel=roof.id, ts=ts, text="hidden")
    assert slack.sees(ada, roof).entries[0].text == "shown"
    await client.chat_update(channel=roof.id, ts=ts, text="visible", blocks=[])
    assert slack.sees(ada, roof).entries[0].text == "visible"


DATES = [
    ("{date_num} {time_secs}", "2026-05-18 9:20:07 AM"),
    ("{date} at {time}", "May 18th, 2026 at 9:20 AM"),
    ("{date_short_pretty} {time}", "May 18, 2026 9:20 AM"),
    ("{date_long}", "Monday, May 18th, 2026"),
    ("{no_such_token}", "some day"),
]


@pytest.mark.parametrize(("form", "shown"), DATES)
async def test_a_date_is_shown_as_its_format_says_in_rich_text_and_in_mrkdwn(
    slack: FakeSlack, form: str, shown: str
) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    leaf = {"type": "date", "timestamp": 1779096007, "format": form, "fallback": "some day"}
    rich = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [leaf]}]}
    marked = section(f"On <!date^1779096007^{form}^https://a.example/?b=1&amp;c|some day>.")
    await client.chat_postMessage(channel=roof.id, text="x", blocks=[rich, marked])
    [entry] = slack.sees(ada, roof).entries
    assert entry.text == f"{shown}\nOn {shown}."
    assert (shown, "https://a.example/?b=1&c") in entry.links


async def test_a_date_of_yesterday_is_called_so(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    yesterday = int(slack.clock.now()) - 86_400
    await client.chat_postMessage(channel=roof.id, text=f"<!date^{yesterday}^{{date_short_pretty}}|x>")
    assert slack.sees(ada, roof).entries[0].text == "yesterday"


async def test_posting_needs_channel_membership(slack: FakeSlack) -> None:
    client = build_client(slack)
    outside, hidden = slack.channel("outside", bot=False), slack.channel("hidden", kind="private", bot=False)
    assert await error_code_of(client.chat_postMessage(channel=outside.id, text="x")) == "not_in_channel"
    assert await error_code_of(client.chat_postMessage(channel=hidden.id, text="x")) == "channel_not_found"
    assert await error_code_of(client.chat_postMessage(channel="C404", text="x")) == "channel_not_found"
    empty = client.api_call("chat.postMessage", json={"channel": slack.channel("roof").id})
    assert await error_code_of(empty) == "no_text"


async def test_a_reply_needs_a_root(slack: FakeSlack) -> None:
    client, roof = build_client(slack), slack.channel("roof")
    first = (await client.chat_postMessage(channel=roof.id, text="first"))["ts"]
    reply = (await client.chat_postMessage(channel=roof.id, text="reply", thread_ts=first))["ts"]
    unknown = client.chat_postMessage(channel=roof.id, text="x", thread_ts="1.000001")
    assert await error_code_of(unknown) == "thread_not_found"
    below_a_reply = client.chat_postMessage(channel=roof.id, text="x", thread_ts=reply)
    assert await error_code_of(below_a_reply) == "cannot_reply_to_message"


async def test_only_own_messages_can_be_changed_or_deleted(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    hers = await ada.says(roof, "mine")
    assert await error_code_of(client.chat_update(channel=roof.id, ts=hers.ts, text="x")) == "cant_update_message"
    assert await error_code_of(client.chat_delete(channel=roof.id, ts=hers.ts)) == "cant_delete_message"
    assert await error_code_of(client.chat_update(channel=roof.id, ts="1.1", text="x")) == "message_not_found"
    assert await error_code_of(client.chat_delete(channel=roof.id, ts="1.1")) == "message_not_found"


async def test_ephemeral_message_has_one_reader_and_no_updates(slack: FakeSlack) -> None:
    ada, bob = slack.user("Ada"), slack.user("Bob")
    client, roof = build_client(slack), slack.channel("roof", members=[ada, bob])
    said = await client.chat_postEphemeral(channel=roof.id, user=ada.id, text="psst")
    assert "psst" in slack.sees(ada, roof)
    assert "psst" not in slack.sees(bob, roof)
    update = client.chat_update(channel=roof.id, ts=said["message_ts"], text="x")
    assert await error_code_of(update) == "message_not_found"
    stranger = client.chat_postEphemeral(channel=roof.id, user=slack.user("Eve").id, text="x")
    assert await error_code_of(stranger) == "user_not_in_channel"
    ada.reloads()
    assert "psst" not in slack.sees(ada, roof)


async def test_reactions_are_added_and_removed_once(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    here: dict[str, Any] = {"channel": roof.id, "timestamp": (await ada.says(roof, "x")).ts}
    assert await error_code_of(client.reactions_add(name="eyes", **here)) == ""
    assert await error_code_of(client.reactions_add(name="eyes", **here)) == "already_reacted"
    assert slack.sees(ada, roof).entries[0].reactions == (("eyes", 1),)
    assert await error_code_of(client.reactions_remove(name="eyes", **here)) == ""
    assert await error_code_of(client.reactions_remove(name="eyes", **here)) == "no_reaction"
    assert await error_code_of(client.reactions_add(name="no such thing", **here)) == "invalid_name"


async def test_tokens_scopes_and_methods_are_checked(slack: FakeSlack) -> None:
    roof = slack.channel("roof")
    assert await error_code_of(build_client(slack, "xoxb-wrong").auth_test()) == "invalid_auth"
    assert await error_code_of(build_client(slack).api_call("chat.shout")) == "unknown_method"
    app_token = slack.space.app.app_token
    assert await error_code_of(build_client(slack, app_token).auth_test()) == "not_allowed_token_type"
    bot_token = slack.space.app.bot_token
    connect = build_client(slack).apps_connections_open(app_token=bot_token)
    assert await error_code_of(connect) == "not_allowed_token_type"
    async with FakeSlack(App(scopes=frozenset({"chat:write"}))) as small:
        lawn = small.channel("lawn")
        client = build_client(small)
        assert await error_code_of(client.conversations_history(channel=lawn.id)) == "missing_scope"
        assert await error_code_of(client.users_info(user=small.bot.id)) == "missing_scope"
    await slack.revokes()
    assert await error_code_of(build_client(slack).chat_postMessage(channel=roof.id, text="x")) == "token_revoked"


async def test_whoever_is_named_in_a_message_is_notified(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    await client.chat_postMessage(channel=roof.id, text="&lt;!channel&gt; @channel <https://a.example>")
    assert slack.space.pings == []
    await client.chat_postMessage(channel=roof.id, text="x", blocks=[section(f"<!here> <@{ada.id}>")])
    assert [ping.target for ping in slack.space.pings] == ["here", ada.id]


async def test_markdown_is_drawn_only_where_slack_draws_it(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    written = "# Roof\nIt is **red**, see [1](https://a.example). `**code**`"
    await client.chat_postMessage(channel=roof.id, markdown_text=written)
    await client.chat_postMessage(channel=roof.id, text=written)
    drawn, literal = slack.sees(ada, roof).entries
    assert drawn.text == "Roof\nIt is red, see 1 (https://a.example). `**code**`"
    assert (drawn.body, drawn.literal, drawn.links) == (written, (), (("1", "https://a.example"),))
    assert (literal.text, literal.literal) == (written, ("# ", "**red**", "](https:"))


async def test_a_preview_comes_only_where_it_is_wanted(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    client, roof = build_client(slack), slack.channel("roof", members=[ada])
    await client.chat_postMessage(channel=roof.id, text="<https://a.example|here>")
    await client.chat_postMessage(channel=roof.id, text="<https://a.example|here>", unfurl_links=True)
    assert [entry.previews for entry in slack.sees(ada, roof).entries] == [(), ("https://a.example",)]
