"""Who reads a reply on Slack changes: people come and go, channels turn private or are shared; it holds at once.

The language tells all that it is shown, so what is not told was never in its reach. People look at their screens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot import texts
from tests.support.slack_server import File
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from tests.support.town.slack_bot import SlackBotFixture

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_joining_guest_narrows_answers_at_once(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"
    await gil.joins(square)
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"
    await gil.leaves(square)
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"


async def test_member_turned_guest_gets_narrower_answers_at_once(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square, market = slack.channel("square", members=[ada, bob]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    assert find_secrets(await house.ask_in_dm(bob)) == "agate beryl"
    await bob.becomes("guest")
    assert find_secrets(await house.ask_in_dm(bob)) == "agate"
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"


async def test_channel_turned_private_hides_its_messages(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob, cleo = slack.user("Ada"), slack.user("Bob"), slack.user("Cleo")
    square, market = slack.channel("square", members=[ada, bob, cleo]), slack.channel("market", members=[ada, bob])
    await house.post_passwords({square: "agate", market: "beryl"})
    await ada.says(market, "", files=[File("plan.txt", b"The password of the safe is coral.")])
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_mention(cleo, square)) == "agate beryl coral"
    await slack.converts(market, ada)
    assert find_secrets(await house.ask_by_mention(cleo, square)) == "agate"
    assert find_secrets(await house.ask_in_dm(cleo)) == "agate"
    assert find_secrets(await house.ask_in_dm(bob)) == "agate beryl coral"
    assert find_secrets(await house.ask_by_mention(ada, market)) == "agate beryl coral"
    await slack.converts(market, ada, private=False)
    assert find_secrets(await house.ask_in_dm(cleo)) == "agate beryl coral"


async def test_channel_mentions_show_a_name_only_while_public(house: SlackBotFixture) -> None:
    """What was written with the name before the channel turned private keeps it: it was said to all."""
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square, market = slack.channel("square", members=[ada, bob]), slack.channel("agate", members=[ada])
    slack.channel("beryl", members=[ada], kind="private")
    slack.channel("coral", members=[ada], kind="private", bot=False)
    open_then = await ada.says(square, "Ask in #agate or #beryl or #coral for the password of the safe.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_mention(bob, square)) == "agate"
    await slack.converts(market, ada)
    assert find_secrets(await house.ask_by_mention(bob, square)) == "agate"
    await ada.deletes(open_then)  # so that nothing but the next message can tell it
    await house.wait_until_idle()
    await ada.says(square, "Once more: ask in #agate for the password of the safe.")
    await house.wait_until_idle()
    again = await house.ask_by_mention(bob, square, f"Again: {QUESTION}")
    assert "Once more" in again
    assert find_secrets(again) == ""


async def test_channel_shared_with_another_workspace_hides_its_messages(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob, eve = slack.user("Ada"), slack.user("Bob"), slack.stranger("Eve")
    square, market = slack.channel("square", members=[ada, bob]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    await slack.shares(market, eve)
    assert find_secrets(await house.ask_by_mention(eve, market)) == "beryl"
    assert find_secrets(await house.ask_by_mention(bob, square)) == "agate"
    await slack.unshares(market)
    assert find_secrets(await house.ask_by_mention(ada, market)) == "agate beryl"
    assert find_secrets(house.all_bot_text(eve)) == ""


async def test_removed_member_gets_nothing_at_once(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    await house.post_passwords({square: "agate", cellar: "beryl"})
    assert find_secrets(await house.ask_in_dm(bob)) == "agate beryl"
    assert find_secrets(await house.ask_privately(bob, square)) == "agate beryl"
    await ada.removes(cellar, bob)
    assert find_secrets(await house.ask_in_dm(bob)) == "agate"
    assert find_secrets(await house.ask_privately(bob, square)) == "agate"
    assert "cellar" not in await house.home_text(bob)


async def test_answer_is_no_history_once_its_sources_are_unreadable(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    await house.post_passwords({square: "agate", cellar: "beryl"})
    asked = await bob.says(bob.direct, QUESTION)
    await house.wait_until_idle()
    assert find_secrets(house.answer_text(bob, asked)) == "agate beryl"
    await ada.removes(cellar, bob)
    again = await bob.says(bob.direct, "Say that again, please: the password of the safe?", thread=asked)
    await house.wait_until_idle()
    assert find_secrets(house.answer_text(bob, again)) == "agate"


async def test_sharing_is_refused_once_a_guest_came_in(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    await house.ask_privately(ada, square)
    answer = [each for each in house.private_entries(ada, square) if each.buttons][-1]
    await gil.joins(square)
    assert texts.ANSWER_NOT_SHARED in await house.click_button(ada, answer, "Share to channel")
    assert find_secrets(house.all_bot_text(gil)) == ""


async def test_member_removed_while_their_answer_streams(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    await house.post_passwords({square: "agate", cellar: "beryl"})
    go = house.script_answer("safe", "The password of the safe is beryl [1],", " and so on,", " and more.")
    asked = await bob.says(bob.direct, QUESTION)
    await slack.wait_for(lambda: "beryl" in house.answer_text(bob, asked), 10, "for the first words")
    await ada.removes(cellar, bob)
    await slack.wait_until_delivered()
    go.set()
    await house.wait_until_idle()
    [answer] = slack.replies(bob, bob.direct, asked.ts)
    assert texts.ANSWER_WITHDRAWN in answer.text
    assert find_secrets(house.all_bot_text(bob)) == ""
    assert not answer.writing
    assert not answer.broken
    house.language.scripts.clear()
    assert find_secrets(await house.ask_by_mention(ada, cellar, f"Once more: {QUESTION}")) == "agate beryl"


async def test_a_guest_comes_in_while_an_answer_streams(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    go = house.script_answer("safe", "The password of the safe is beryl [1],", " and so on,", " and more.")
    asked = await ada.mentions(square, QUESTION)
    await slack.wait_for(lambda: "beryl" in house.answer_text(ada, asked), 10, "for the first words")
    await gil.joins(square)
    await slack.wait_until_delivered()
    go.set()
    await house.wait_until_idle()
    assert texts.ANSWER_WITHDRAWN in house.answer_text(gil, asked)
    assert find_secrets(house.all_bot_text(gil)) == ""
