"""Nobody learns on Slack what they may not read: each row of who reads a reply, with secrets planted around it.

The language tells all that it is shown, so what is not told was never in its reach. People look at their screens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.platform.models import Place
from tests.support.gossip import told
from tests.support.slack_server import File
from tests.support.town import slack as slack_house

if TYPE_CHECKING:
    from pathlib import Path

    from bot.bootstrap import Skills
    from tests.support.town.slack import House

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_in_a_public_channel_without_guests_only_what_is_public_is_told(house: House) -> None:
    slack = house.slack
    ada, bob, eve = slack.user("Ada"), slack.user("Bob"), slack.stranger("Eve")
    square, market = slack.channel("square", members=[ada, bob]), slack.channel("market", members=[ada])
    cellar = slack.channel("cellar", members=[ada], kind="private")
    trio = slack.channel("trio", members=[ada, bob], kind="mpim")
    bridge = slack.channel("bridge", members=[ada, eve], shared=True)
    await house.safe({square: "agate", market: "beryl", cellar: "coral", trio: "diamond", bridge: "emerald"})
    assert told(await house.asks(bob, square)) == "agate beryl"
    assert told(await house.asks(ada, market)) == "agate beryl"
    assert told(await house.in_private(ada)) == "agate beryl coral diamond emerald"
    assert told(house.all_read_by(bob)) == "agate beryl"


async def test_a_private_channel_is_told_its_own_and_what_is_public(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    attic = slack.channel("attic", members=[ada, bob], kind="private")
    await house.safe({square: "agate", cellar: "beryl", attic: "coral"})
    assert told(await house.asks(ada, cellar)) == "agate beryl"
    assert told(await house.asks(bob, attic)) == "agate coral"
    assert told(house.all_read_by(slack.user("Cleo"))) == ""


async def test_a_private_channel_with_a_guest_is_told_its_own_alone(house: House) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square = slack.channel("square", members=[ada, gil])
    cellar = slack.channel("cellar", members=[ada, gil], kind="private")
    attic = slack.channel("attic", members=[ada], kind="private")
    await house.safe({square: "agate", cellar: "beryl", attic: "coral"})
    assert told(await house.asks(ada, cellar)) == "beryl"
    assert told(await house.asks(gil, cellar)) == "beryl"
    assert told(await house.asks(ada, attic)) == "agate coral"


async def test_a_group_dm_is_as_a_private_channel(house: House) -> None:
    slack = house.slack
    ada, bob, gil = slack.user("Ada"), slack.user("Bob"), slack.user("Gil", kind="single_channel_guest")
    square = slack.channel("square", members=[ada, bob])
    pair = slack.channel("", members=[ada, bob], kind="mpim")
    mixed = slack.channel("", members=[ada, gil], kind="mpim")
    await house.safe({square: "agate", pair: "beryl", mixed: "coral"})
    assert told(await house.asks(ada, pair)) == "agate beryl"
    assert told(await house.asks(gil, mixed)) == "coral"
    assert told(await house.asks(bob, square)) == "agate"


async def test_a_channel_shared_with_another_workspace_is_told_its_own_alone(house: House) -> None:
    slack = house.slack
    ada, eve = slack.user("Ada"), slack.stranger("Eve")
    square = slack.channel("square", members=[ada])
    bridge = slack.channel("bridge", members=[ada, eve], shared=True)
    cellar = slack.channel("cellar", members=[ada], kind="private")
    invited = slack.channel("invited", members=[ada], shared=True)  # nobody of the other workspace came in yet
    await house.safe({square: "agate", bridge: "beryl", cellar: "coral", invited: "diamond"})
    assert told(await house.asks(ada, bridge)) == "beryl"
    assert told(await house.asks(ada, invited)) == "diamond"
    assert told(await house.asks(eve, bridge)) == "beryl"
    assert told(await house.whispers(eve, bridge)) == "beryl"
    assert told(await house.asks(ada, square)) == "agate"
    assert told(house.all_read_by(eve)) == "beryl"


async def test_a_member_alone_is_told_what_is_public_his_own_and_what_he_is_in(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    attic = slack.channel("attic", members=[ada], kind="private")
    await house.safe({square: "agate", cellar: "beryl", attic: "coral"})
    for person, word in ((ada, "diamond"), (bob, "emerald")):
        note = File("note.txt", f"The password of the safe is {word}.".encode())
        await person.says(person.direct, "for later", files=[note])
    await house.settled()
    assert told(await house.in_private(ada)) == "agate beryl coral diamond"
    assert told(await house.in_private(bob)) == "agate beryl emerald"
    assert told(await house.whispers(ada, square)) == "agate beryl coral diamond"
    assert told(await house.whispers(bob, square)) == "agate beryl emerald"
    assert told(await house.asks(bob, square)) == "agate"


async def test_a_guest_alone_is_told_the_channels_that_he_is_in(house: House) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    square, market = slack.channel("square", members=[ada, gil]), slack.channel("market", members=[ada])
    cellar = slack.channel("cellar", members=[ada, gil], kind="private")
    attic = slack.channel("attic", members=[ada], kind="private")
    await house.safe({square: "agate", market: "beryl", cellar: "coral", attic: "diamond"})
    assert told(await house.in_private(gil)) == "agate coral"
    assert told(await house.whispers(gil, square)) == "agate coral"
    assert told(await house.whispers(gil, cellar)) == "agate coral"


async def test_a_public_channel_with_guests_is_told_the_public_ones_that_every_guest_is_in(house: House) -> None:
    slack = house.slack
    ada, gil = slack.user("Ada"), slack.user("Gil", kind="guest")
    hal = slack.user("Hal", kind="single_channel_guest")
    square = slack.channel("square", members=[ada, gil, hal])
    fair = slack.channel("fair", members=[ada, gil, hal])
    market, lane = slack.channel("market", members=[ada, gil]), slack.channel("lane", members=[ada])
    cellar = slack.channel("cellar", members=[ada, gil, hal], kind="private")
    await house.safe({square: "agate", fair: "beryl", market: "coral", lane: "diamond", cellar: "emerald"})
    assert told(await house.asks(ada, square)) == "agate beryl"
    assert told(await house.asks(gil, market)) == "agate beryl coral"
    assert told(await house.asks(ada, lane)) == "agate beryl coral diamond"


async def test_a_private_answer_is_shared_only_where_everybody_may_read_its_sources(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada], kind="private")
    await house.safe({square: "agate", cellar: "beryl"})
    assert told(await house.whispers(ada, square)) == "agate beryl"
    answer = [each for each in house.private(ada, square) if each.buttons][-1]
    assert texts.NOT_SHARED in await house.clicks(ada, answer, "Share to channel")
    assert told(house.all_read_by(bob)) == ""
    assert told(await house.whispers(ada, cellar)) == "agate beryl"
    answer = [each for each in house.private(ada, cellar) if each.buttons][-1]
    assert texts.SHARED in await house.clicks(ada, answer, "Share to channel")
    shared = [each for each in slack.sees(ada, cellar).entries if "Shared by Ada" in each.text]
    assert [told(each.text) for each in shared] == ["agate beryl"]


async def test_whoever_shares_where_the_bot_may_not_speak_is_told_at_once(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada], bot=False)
    await house.safe({square: "agate"})
    assert told(await house.whispers(ada, market)) == "agate"
    answer = [each for each in house.private(ada, market) if each.buttons][-1]
    assert "I was invited" in await house.clicks(ada, answer, "Share to channel")
    assert "still being written" not in await house.calls(ada, market, "sources")
    await ada.invites(market, slack.bot)
    assert texts.SHARED in await house.clicks(ada, answer, "Share to channel")
    assert [told(each.text) for each in slack.sees(ada, market).entries if "Shared by Ada" in each.text] == ["agate"]


async def test_only_who_joined_a_channel_can_state_something_there(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada])
    await house.safe({square: "agate"})
    statement = 'correct state Safe "The password of the safe is beryl."'
    assert texts.NO_WRITER in await house.calls(bob, square, statement)
    assert "I know now" in await house.calls(ada, square, statement)


async def test_pictures_names_numbers_the_home_tab_and_sources_show_what_the_asker_may_read(house: House) -> None:
    slack = house.slack
    ada, bob, gil = slack.user("Ada"), slack.user("Bob"), slack.user("Gil", kind="guest")
    square = slack.channel("square", members=[ada, bob, gil])
    cellar = slack.channel("cellar", members=[ada], kind="private")
    await ada.says(square, "Quentin Marlow mends the clock of Harbour House.")
    await ada.says(cellar, "Quentin Marlow hides Project Nightingale from Harbour House.")
    await house.read_up()
    here = Place("slack", slack.space.team, square.id)
    assert "Nightingale" in await house.calls(ada, square, "graph Quentin Marlow")
    assert "Nightingale" in " ".join(await house.bot.suggest(ada.id, here, "Project"))
    assert "cellar" in await house.home(ada)
    for person in (bob, gil):
        assert "Nightingale" not in await house.calls(person, square, "graph Quentin Marlow")
        assert "Nightingale" not in await house.calls(person, square, "ask What does Quentin Marlow do?")
        assert "clock" not in await house.calls(person, square, "graph Project Nightingale")
        assert await house.bot.suggest(person.id, here, "Project") == []
        assert "cellar" not in await house.home(person)
        assert "1 document," in await house.calls(person, square, "status")
    assert "2 documents," in await house.calls(ada, square, "status")
    assert "Nightingale" in await house.asks(ada, cellar, "What does Quentin Marlow do?")
    assert "Nightingale" in await house.calls(ada, cellar, "sources")
    await house.asks(ada, square, "What does Quentin Marlow do?")
    assert "clock" in await house.calls(bob, square, "sources")


async def test_whose_readers_cannot_be_known_is_told_what_was_said_there_alone(tmp_path: Path, able: Skills) -> None:
    async with slack_house.living(tmp_path / "forgetful", able, member_age=0.0) as house:
        slack = house.slack
        ada = slack.user("Ada")
        square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
        cellar = slack.channel("cellar", members=[ada], kind="private")
        await house.safe({square: "agate", market: "beryl", cellar: "coral"})
        assert told(await house.asks(ada, square)) == "agate beryl"
        assert told(await house.whispers(ada, square)) == "agate beryl coral"
        slack.fails("conversations.members", "internal_error", times=100)
        slack.fails("users.conversations", "internal_error", times=100)
        assert told(await house.asks(ada, square)) == "agate"
        private = await house.whispers(ada, square)
        assert told(private) == "agate beryl"
        assert texts.GAPS["partial"] in private
        slack.faults.clear()
        assert told(await house.asks(ada, square)) == "agate beryl"
