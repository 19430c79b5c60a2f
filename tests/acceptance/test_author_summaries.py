"""What somebody said is summarized from their messages alone, on both platforms, however they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.town import discord_bot as discord_house

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.town.slack_bot import SlackBotFixture

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADA, BOB = "The lifeboat needs green paint.", "The lifeboat is far too slow."
BELL = "The bell of the chapel is cracked."


def check(answer: str, *, bell: bool) -> None:
    assert ADA in answer
    assert BOB not in answer
    assert (BELL in answer) == bell


async def test_on_slack(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada Lovell"), slack.user("Bob Miles")
    hall, workshop = slack.channel("hall", members=[ada, bob]), slack.channel("workshop", members=[ada, bob])
    await ada.says(workshop, ADA)
    await bob.says(workshop, BOB)
    await ada.says(hall, BELL)
    await house.close_conversations()
    check(await house.ask_by_mention(bob, workshop, "Summarise what Ada said"), bell=False)
    check(
        await house.ask_by_mention(
            bob, hall, f"Summarise what @{slack.space.users[ada.id].name} wrote in all channels"
        ),
        bell=True,
    )
    check(
        await house.ask_by_mention(bob, hall, f"Summarise what @{slack.space.users[ada.id].name} said in #workshop"),
        bell=False,
    )
    check(await house.ask_by_mention(bob, hall, "Summarise what ada lovell said about the lifeboat today"), bell=True)
    assert "any messages by “Zoe”" in await house.ask_by_mention(
        bob, hall, "Summarise what Zoe said about the lifeboat"
    )


async def test_on_discord(tmp_path: Path) -> None:
    async with discord_house.open_discord_bot(tmp_path / "house") as house:
        discord = house.discord
        guild = discord.guild("Saltmarsh")
        ada, bob = discord.member(guild, "Ada"), discord.member(guild, "Bob Miles")
        other = discord.member(guild, "Bob Lattimer")
        hall, workshop = discord.channel(guild, "hall"), discord.channel(guild, "workshop")
        await house.enable_ingest(hall, workshop)
        await ada.says(workshop, ADA)
        await bob.says(workshop, BOB)
        await other.says(workshop, "I like boats.")
        await ada.says(hall, BELL)
        await house.close_conversations()
        check(await house.ask_by_command(bob, workshop, "What did ada say today?"), bell=False)
        check(await house.ask_by_command(bob, hall, f"Summarise what <@!{ada.id}> said in all channels"), bell=True)
        check(await house.ask_by_command(bob, hall, f"Summarise what <@{ada.id}> said in <#{workshop.id}>"), bell=False)
        assert "“Bob Lattimer”, “Bob Miles”" in await house.ask_by_command(
            ada, hall, "Summarise what Bob said about boats"
        )
