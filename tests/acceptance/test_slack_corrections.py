"""What people on Slack see of an answer once its source was edited or deleted, and once the answer was deleted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot import texts
from tests.support.slack_server import Person
from tests.support.town.slack_bot import PATIENCE
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from tests.support.slack_server import Entry, SentMessage
    from tests.support.town.slack_bot import SlackBotFixture

pytestmark = pytest.mark.asyncio(loop_scope="module")


def answer_entries(house: SlackBotFixture, asked: SentMessage) -> list[Entry]:
    """What the bot says below a question now."""
    author = Person(house.slack, house.slack.space.users[asked.message.user])
    return [each for each in house.slack.replies(author, asked.room, asked.root) if each.ts > asked.ts]


async def wait_for_corrections(house: SlackBotFixture) -> None:
    """Until no correction is pending."""
    await house.wait_until_idle()
    async with asyncio.timeout(PATIENCE):
        while await house.bot.store.answer_corrections.get_next_due(("slack",)) is not None:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("change", ["edit", "delete"])
async def test_a_long_answer_becomes_one_line(house: SlackBotFixture, *, streamed: bool, change: str) -> None:
    slack = house.slack
    ada = slack.user(f"Ada {change} {streamed}")
    square = slack.channel(f"square-{change}-{streamed}".lower(), members=[ada])
    said = await ada.says(square, "The password of the safe is agate.")
    await house.wait_until_idle()
    question = f"{QUESTION} ({change} {streamed})"
    go = house.script_answer(question, "It is agate [1]. ", "So it is said. " * 1_200)
    go.set()
    if not streamed:
        slack.fail_next("chat.startStream", "team_not_allowed", times=99)
    asked = await ada.mentions(square, question)
    await house.wait_until_idle()
    assert len(answer_entries(house, asked)) > 1
    if change == "edit":
        await ada.edits(said, "The password of the safe is not told here.")
    else:
        await ada.deletes(said)
    await wait_for_corrections(house)
    [left] = answer_entries(house, asked)
    assert left.text.strip() == texts.SOURCE_REMOVED
    assert not left.buttons
    assert find_secrets(house.all_bot_text(ada)) == ""


async def test_a_deleted_answer_is_gone_with_all_its_parts(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.post_passwords({square: "agate"})
    house.script_answer("Tell me all", "It is agate [1]. ", "So it is said. " * 1_200).set()
    asked = await ada.mentions(square, "Tell me all of the password")
    await house.wait_until_idle()
    *_, last = answer_entries(house, asked)
    await house.click_button(ada, last, "Delete")
    assert answer_entries(house, asked) == []
