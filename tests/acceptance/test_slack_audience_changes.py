"""Who reads a reply on Slack changes: people come and go, channels turn private or are shared; it holds at once.

The language tells all that it is shown, so what is not told was never in its reach. People look at their screens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot import texts
from tests.support.gossip import QUESTION, told
from tests.support.slack_server import File

if TYPE_CHECKING:
    from tests.support.town.slack import House

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_guest_who_comes_in_is_heeded_at_once(house: House) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    assert told(await house.asks(ada, square)) == "agate beryl"
    await gil.joins(square)
    assert told(await house.asks(ada, square)) == "agate"
    await gil.leaves(square)
    assert told(await house.asks(ada, square)) == "agate beryl"


async def test_a_member_who_becomes_a_guest_is_told_less_at_once(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square, market = slack.channel("square", members=[ada, bob]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    assert told(await house.in_private(bob)) == "agate beryl"
    await bob.becomes("guest")
    assert told(await house.in_private(bob)) == "agate"
    assert told(await house.asks(ada, square)) == "agate"


async def test_a_channel_that_turns_private_takes_along_what_was_said_in_it(house: House) -> None:
    slack = house.slack
    ada, bob, cleo = slack.user("Ada"), slack.user("Bob"), slack.user("Cleo")
    square, market = slack.channel("square", members=[ada, bob, cleo]), slack.channel("market", members=[ada, bob])
    await house.safe({square: "agate", market: "beryl"})
    await ada.says(market, "", files=[File("plan.txt", b"The password of the safe is coral.")])
    await house.settled()
    assert told(await house.asks(cleo, square)) == "agate beryl coral"
    await slack.converts(market, ada)
    assert told(await house.asks(cleo, square)) == "agate"
    assert told(await house.in_private(cleo)) == "agate"
    assert told(await house.in_private(bob)) == "agate beryl coral"
    assert told(await house.asks(ada, market)) == "agate beryl coral"
    await slack.converts(market, ada, private=False)
    assert told(await house.in_private(cleo)) == "agate beryl coral"


async def test_the_name_of_a_channel_is_put_for_its_mention_only_while_all_may_see_it(house: House) -> None:
    """What was written with the name before the channel turned private keeps it: it was said to all."""
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square, market = slack.channel("square", members=[ada, bob]), slack.channel("agate", members=[ada])
    slack.channel("beryl", members=[ada], kind="private")
    slack.channel("coral", members=[ada], kind="private", bot=False)
    open_then = await ada.says(square, "Ask in #agate or #beryl or #coral for the password of the safe.")
    await house.settled()
    assert told(await house.asks(bob, square)) == "agate"
    await slack.converts(market, ada)
    assert told(await house.asks(bob, square)) == "agate"
    await ada.deletes(open_then)  # so that nothing but the next message can tell it
    await house.settled()
    await ada.says(square, "Once more: ask in #agate for the password of the safe.")
    await house.settled()
    again = await house.asks(bob, square, f"Again: {QUESTION}")
    assert "Once more" in again
    assert told(again) == ""


async def test_a_channel_that_is_shared_with_another_workspace_takes_along_what_was_said_in_it(house: House) -> None:
    slack = house.slack
    ada, bob, eve = slack.user("Ada"), slack.user("Bob"), slack.stranger("Eve")
    square, market = slack.channel("square", members=[ada, bob]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    await slack.shares(market, eve)
    assert told(await house.asks(eve, market)) == "beryl"
    assert told(await house.asks(bob, square)) == "agate"
    await slack.unshares(market)
    assert told(await house.asks(ada, market)) == "agate beryl"
    assert told(house.all_read_by(eve)) == ""


async def test_whoever_is_removed_is_told_nothing_of_it_right_after_that(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    await house.safe({square: "agate", cellar: "beryl"})
    assert told(await house.in_private(bob)) == "agate beryl"
    assert told(await house.whispers(bob, square)) == "agate beryl"
    await ada.removes(cellar, bob)
    assert told(await house.in_private(bob)) == "agate"
    assert told(await house.whispers(bob, square)) == "agate"
    assert "cellar" not in await house.home(bob)


async def test_an_answer_is_no_history_for_whoever_may_not_read_its_sources_any_more(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    await house.safe({square: "agate", cellar: "beryl"})
    asked = await bob.says(bob.direct, QUESTION)
    await house.settled()
    assert told(house.answer(bob, asked)) == "agate beryl"
    await ada.removes(cellar, bob)
    again = await bob.says(bob.direct, "Say that again, please: the password of the safe?", thread=asked)
    await house.settled()
    assert told(house.answer(bob, again)) == "agate"


async def test_sharing_is_refused_once_a_guest_came_in(house: House) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    await house.whispers(ada, square)
    answer = [each for each in house.private(ada, square) if each.buttons][-1]
    await gil.joins(square)
    assert texts.NOT_SHARED in await house.clicks(ada, answer, "Share to channel")
    assert told(house.all_read_by(gil)) == ""


async def test_somebody_is_removed_while_his_answer_streams(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    await house.safe({square: "agate", cellar: "beryl"})
    go = house.script("safe", "The password of the safe is beryl [1],", " and so on,", " and more.")
    asked = await bob.says(bob.direct, QUESTION)
    await slack.until(lambda: "beryl" in house.answer(bob, asked), 10, "for the first words")
    await ada.removes(cellar, bob)
    await slack.delivered()
    go.set()
    await house.settled()
    [answer] = slack.replies(bob, bob.direct, asked.ts)
    assert texts.WITHDRAWN in answer.text
    assert told(house.all_read_by(bob)) == ""
    assert not answer.writing
    assert not answer.broken
    house.language.scripts.clear()
    assert told(await house.asks(ada, cellar, f"Once more: {QUESTION}")) == "agate beryl"


async def test_a_guest_comes_in_while_an_answer_streams(house: House) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    go = house.script("safe", "The password of the safe is beryl [1],", " and so on,", " and more.")
    asked = await ada.mentions(square, QUESTION)
    await slack.until(lambda: "beryl" in house.answer(ada, asked), 10, "for the first words")
    await gil.joins(square)
    await slack.delivered()
    go.set()
    await house.settled()
    assert texts.WITHDRAWN in house.answer(gil, asked)
    assert told(house.all_read_by(gil)) == ""
