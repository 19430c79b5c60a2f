"""Nobody learns on Slack what they may not read: each row of who reads a reply, with secrets planted around it.

The language tells all that it is shown, so what is not told was never in its reach. People look at their screens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.platform.models import Location
from tests.support.slack_server import File
from tests.support.town import slack_bot as slack_house
from tests.support.verbatim_language import find_secrets

if TYPE_CHECKING:
    from pathlib import Path

    from bot.bootstrap import EngineModels
    from tests.support.town.slack_bot import SlackBotFixture

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_public_channel_answers_from_public_sources_only(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob, eve = slack.user("Ada"), slack.user("Bob"), slack.stranger("Eve")
    square, market = slack.channel("square", members=[ada, bob]), slack.channel("market", members=[ada])
    cellar = slack.channel("cellar", members=[ada], kind="private")
    trio = slack.channel("trio", members=[ada, bob], kind="mpim")
    bridge = slack.channel("bridge", members=[ada, eve], shared=True)
    await house.post_passwords({square: "agate", market: "beryl", cellar: "coral", trio: "diamond", bridge: "emerald"})
    assert find_secrets(await house.ask_by_mention(bob, square)) == "agate beryl"
    assert find_secrets(await house.ask_by_mention(ada, market)) == "agate beryl"
    assert find_secrets(await house.ask_in_dm(ada)) == "agate beryl coral diamond emerald"
    assert find_secrets(house.all_bot_text(bob)) == "agate beryl"


async def test_private_channel_answers_from_itself_and_public(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    attic = slack.channel("attic", members=[ada, bob], kind="private")
    await house.post_passwords({square: "agate", cellar: "beryl", attic: "coral"})
    assert find_secrets(await house.ask_by_mention(ada, cellar)) == "agate beryl"
    assert find_secrets(await house.ask_by_mention(bob, attic)) == "agate coral"
    assert find_secrets(house.all_bot_text(slack.user("Cleo"))) == ""


async def test_private_channel_with_a_guest_answers_from_itself(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square = slack.channel("square", members=[ada, gil])
    cellar = slack.channel("cellar", members=[ada, gil], kind="private")
    attic = slack.channel("attic", members=[ada], kind="private")
    await house.post_passwords({square: "agate", cellar: "beryl", attic: "coral"})
    assert find_secrets(await house.ask_by_mention(ada, cellar)) == "beryl"
    assert find_secrets(await house.ask_by_mention(gil, cellar)) == "beryl"
    assert find_secrets(await house.ask_by_mention(ada, attic)) == "agate coral"


async def test_group_dm_behaves_like_a_private_channel(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob, gil = slack.user("Ada"), slack.user("Bob"), slack.user("Gil", kind="single_channel_guest")
    square = slack.channel("square", members=[ada, bob])
    pair = slack.channel("", members=[ada, bob], kind="mpim")
    mixed = slack.channel("", members=[ada, gil], kind="mpim")
    await house.post_passwords({square: "agate", pair: "beryl", mixed: "coral"})
    assert find_secrets(await house.ask_by_mention(ada, pair)) == "agate beryl"
    assert find_secrets(await house.ask_by_mention(gil, mixed)) == "coral"
    assert find_secrets(await house.ask_by_mention(bob, square)) == "agate"


async def test_shared_channel_answers_from_itself(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, eve = slack.user("Ada"), slack.stranger("Eve")
    square = slack.channel("square", members=[ada])
    bridge = slack.channel("bridge", members=[ada, eve], shared=True)
    cellar = slack.channel("cellar", members=[ada], kind="private")
    invited = slack.channel("invited", members=[ada], shared=True)  # nobody of the other workspace came in yet
    await house.post_passwords({square: "agate", bridge: "beryl", cellar: "coral", invited: "diamond"})
    assert find_secrets(await house.ask_by_mention(ada, bridge)) == "beryl"
    assert find_secrets(await house.ask_by_mention(ada, invited)) == "diamond"
    assert find_secrets(await house.ask_by_mention(eve, bridge)) == "beryl"
    assert find_secrets(await house.ask_privately(eve, bridge)) == "beryl"
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"
    assert find_secrets(house.all_bot_text(eve)) == "beryl"


async def test_member_dm_answers_from_public_and_their_channels(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    attic = slack.channel("attic", members=[ada], kind="private")
    await house.post_passwords({square: "agate", cellar: "beryl", attic: "coral"})
    for person, word in ((ada, "diamond"), (bob, "emerald")):
        note = File("note.txt", f"The password of the safe is {word}.".encode())
        await person.says(person.direct, "for later", files=[note])
    await house.wait_until_idle()
    assert find_secrets(await house.ask_in_dm(ada)) == "agate beryl coral diamond"
    assert find_secrets(await house.ask_in_dm(bob)) == "agate beryl emerald"
    assert find_secrets(await house.ask_privately(ada, square)) == "agate beryl coral diamond"
    assert find_secrets(await house.ask_privately(bob, square)) == "agate beryl emerald"
    assert find_secrets(await house.ask_by_mention(bob, square)) == "agate"


async def test_guest_dm_answers_from_their_channels(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square, market = slack.channel("square", members=[ada, gil]), slack.channel("market", members=[ada])
    cellar = slack.channel("cellar", members=[ada, gil], kind="private")
    attic = slack.channel("attic", members=[ada], kind="private")
    await house.post_passwords({square: "agate", market: "beryl", cellar: "coral", attic: "diamond"})
    assert find_secrets(await house.ask_in_dm(gil)) == "agate coral"
    assert find_secrets(await house.ask_privately(gil, square)) == "agate coral"
    assert find_secrets(await house.ask_privately(gil, cellar)) == "agate coral"


async def test_public_channel_with_guests_uses_their_common_channels(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    hal = slack.user("Hal", kind="single_channel_guest")
    square = slack.channel("square", members=[ada, gil, hal])
    fair = slack.channel("fair", members=[ada, gil, hal])
    market, lane = slack.channel("market", members=[ada, gil]), slack.channel("lane", members=[ada])
    cellar = slack.channel("cellar", members=[ada, gil, hal], kind="private")
    await house.post_passwords({square: "agate", fair: "beryl", market: "coral", lane: "diamond", cellar: "emerald"})
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"
    assert find_secrets(await house.ask_by_mention(gil, market)) == "agate beryl coral"
    assert find_secrets(await house.ask_by_mention(ada, lane)) == "agate beryl coral diamond"


async def test_private_answer_is_shared_only_with_source_readers(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada], kind="private")
    await house.post_passwords({square: "agate", cellar: "beryl"})
    assert find_secrets(await house.ask_privately(ada, square)) == "agate beryl"
    answer = [each for each in house.private_entries(ada, square) if each.buttons][-1]
    assert texts.ANSWER_NOT_SHARED in await house.click_button(ada, answer, "Share to channel")
    assert find_secrets(house.all_bot_text(bob)) == ""
    assert find_secrets(await house.ask_privately(ada, cellar)) == "agate beryl"
    answer = [each for each in house.private_entries(ada, cellar) if each.buttons][-1]
    assert texts.ANSWER_SHARED in await house.click_button(ada, answer, "Share to channel")
    shared = [each for each in slack.sees(ada, cellar).entries if "Shared by Ada" in each.text]
    assert [find_secrets(each.text) for each in shared] == ["agate beryl"]


async def test_sharing_where_the_bot_cannot_post_fails_at_once(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada], bot=False)
    await house.post_passwords({square: "agate"})
    assert find_secrets(await house.ask_privately(ada, market)) == "agate"
    answer = [each for each in house.private_entries(ada, market) if each.buttons][-1]
    assert "I was invited" in await house.click_button(ada, answer, "Share to channel")
    assert "still being written" not in await house.run_command(ada, market, "sources")
    await ada.invites(market, slack.bot)
    assert texts.ANSWER_SHARED in await house.click_button(ada, answer, "Share to channel")
    assert [find_secrets(each.text) for each in slack.sees(ada, market).entries if "Shared by Ada" in each.text] == [
        "agate"
    ]


async def test_only_who_joined_a_channel_can_state_something_there(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada])
    await house.post_passwords({square: "agate"})
    statement = 'correct add Safe "The password of the safe is beryl."'
    assert texts.CANNOT_WRITE in await house.run_command(bob, square, statement)
    assert "Added: " in await house.run_command(ada, square, statement)


async def test_images_stats_home_tab_and_sources_obey_visibility(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob, gil = slack.user("Ada"), slack.user("Bob"), slack.user("Gil", kind="guest")
    square = slack.channel("square", members=[ada, bob, gil])
    cellar = slack.channel("cellar", members=[ada], kind="private")
    await ada.says(square, "Quentin Marlow mends the clock of Harbour House.")
    await ada.says(cellar, "Quentin Marlow hides Project Nightingale from Harbour House.")
    await house.close_conversations()
    here = Location("slack", slack.space.team, square.id)
    assert "Nightingale" in await house.run_command(ada, square, "graph Quentin Marlow")
    assert "Nightingale" in " ".join(await house.bot.suggest_names(ada.id, here, "Project"))
    assert "cellar" in await house.home_text(ada)
    for person in (bob, gil):
        assert "Nightingale" not in await house.run_command(person, square, "graph Quentin Marlow")
        assert "Nightingale" not in await house.run_command(person, square, "ask What does Quentin Marlow do?")
        assert "clock" not in await house.run_command(person, square, "graph Project Nightingale")
        assert await house.bot.suggest_names(person.id, here, "Project") == []
        assert "cellar" not in await house.home_text(person)
        assert "1 document," in await house.run_command(person, square, "status")
    assert "2 documents," in await house.run_command(ada, square, "status")
    assert "Nightingale" in await house.ask_by_mention(ada, cellar, "What does Quentin Marlow do?")
    assert "Nightingale" in await house.run_command(ada, cellar, "sources")
    await house.ask_by_mention(ada, square, "What does Quentin Marlow do?")
    assert "clock" in await house.run_command(bob, square, "sources")


async def test_channel_with_unknown_audience_answers_from_itself(tmp_path: Path, able: EngineModels) -> None:
    async with slack_house.open_slack_bot(tmp_path / "forgetful", able, membership_cache_seconds=0.0) as house:
        slack = house.slack
        ada = slack.user("Ada")
        square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
        cellar = slack.channel("cellar", members=[ada], kind="private")
        await house.post_passwords({square: "agate", market: "beryl", cellar: "coral"})
        assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"
        assert find_secrets(await house.ask_privately(ada, square)) == "agate beryl coral"
        slack.fail_next("conversations.members", "internal_error", times=100)
        slack.fail_next("users.conversations", "internal_error", times=100)
        assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"
        private = await house.ask_privately(ada, square)
        assert find_secrets(private) == "agate beryl"
        assert texts.GAP_NOTICES["partial"] in private
        slack.faults.clear()
        assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"
