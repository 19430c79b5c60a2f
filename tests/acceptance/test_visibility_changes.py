"""Who reads a channel changes: answers obey at once, also those that are being written, shared or remembered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.discord_server import Permission
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot
from tests.support.town.protocol import Way
from tests.support.town.slack import SlackTown

Act = Callable[[Any], Awaitable[object]]

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")
WORDS = {"square": "agate", "market": "beryl", "cellar": "coral"}
BOTH = "square market"


@dataclass(frozen=True, slots=True)
class Row:
    """A question, and the channels that its answer uses: before a change, after it, and once it was undone."""

    person: str
    channel: str
    way: Way
    uses: Sequence[str]


@dataclass(frozen=True, slots=True)
class Change:
    """What happens in a town, and what undoes it."""

    channels: Mapping[str, tuple[str, str]]  # members and kind
    act: Act
    rows: Sequence[Row]
    undo: Act | None = None


async def join_as_guest(town: SlackTown) -> None:
    await town.add_person("gil", kind="guest").joins(town.channels["square"])


async def share_with_eve(town: SlackTown) -> None:
    await town.slack.shares(town.channels["market"], town.add_person("eve", stranger=True))


async def hide_history(town: DiscordTown) -> None:
    """@everyone loses a permission that only `square` allows by itself."""
    readable, everyone = Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY, town.guild.roles[town.guild.id]
    for who in (everyone, town.bot_member):
        town.discord.overwrites(town.channels["square"], who, allow=readable)
    town.discord.overwrites(town.channels["market"], town.person("ada"), allow=readable)
    town.discord.changes_role(town.guild, everyone, everyone.permissions & ~Permission.READ_MESSAGE_HISTORY)


async def restrict_age(town: DiscordTown) -> None:
    town.discord.restricts_age(town.channels["market"])


PUBLIC = {"square": ("ada bob cleo", "public"), "market": ("ada bob", "public")}
CHANGES = {
    "a channel turns private": Change(
        PUBLIC,
        lambda town: town.make_private("market", "ada", "bob"),
        [
            Row("cleo", "square", "mention", (BOTH, "square", BOTH)),
            Row("cleo", "square", "private", (BOTH, "square", BOTH)),
            Row("cleo", "", "mention", (BOTH, "square", BOTH)),
            Row("bob", "", "mention", (BOTH, BOTH, BOTH)),
            Row("ada", "market", "mention", (BOTH, BOTH, BOTH)),
        ],
        lambda town: town.make_public("market"),
    ),
    "a member is put out of a private channel": Change(
        {"square": ("ada bob", "public"), "cellar": ("ada bob", "private")},
        lambda town: town.remove_member("bob", "cellar"),
        [
            Row("bob", "", "mention", ("square cellar", "square", "square cellar")),
            Row("bob", "square", "private", ("square cellar", "square", "square cellar")),
        ],
        lambda town: town.add_member("bob", "cellar"),
    ),
}
SLACK_CHANGES = {
    "a guest joins": Change(
        {"square": ("ada", "public"), "market": ("ada", "public")},
        join_as_guest,
        [Row("ada", "square", "mention", (BOTH, "square", BOTH))],
        lambda town: town.person("gil").leaves(town.channels["square"]),
    ),
    "a member becomes a guest": Change(
        {"square": ("ada bob", "public"), "market": ("ada", "public")},
        lambda town: town.person("bob").becomes("guest"),
        [Row("bob", "", "mention", (BOTH, "square")), Row("ada", "square", "mention", (BOTH, "square"))],
    ),
    "a channel is shared with another workspace": Change(
        {"square": ("ada bob", "public"), "market": ("ada", "public")},
        share_with_eve,
        [
            Row("ada", "market", "mention", (BOTH, "market", BOTH)),
            Row("bob", "square", "mention", (BOTH, "square", BOTH)),
        ],
        lambda town: town.slack.unshares(town.channels["market"]),
    ),
}
DISCORD_CHANGES = {
    "everyone loses a permission": Change(
        PUBLIC,
        hide_history,
        [
            Row("bob", "square", "command", (BOTH, "square")),
            Row("bob", "square", "private", (BOTH, "square")),
            Row("ada", "square", "private", (BOTH, BOTH)),
        ],
    ),
    "a channel becomes age-restricted": Change(
        PUBLIC,
        restrict_age,
        [
            Row("bob", "square", "command", (BOTH, "square")),
            Row("bob", "market", "command", (BOTH, "market")),
            Row("bob", "", "mention", (BOTH, "square")),
        ],
    ),
}


async def check_change(live: LiveBot[Any], change: Change) -> None:
    for name, (members, kind) in change.channels.items():
        live.town.add_channel(name, members, kind)
    await live.post_passwords(**{name: WORDS[name] for name in change.channels})
    for turn, act in enumerate((None, change.act, change.undo)):
        if act is not None:
            await act(live.town)
        elif turn:
            return
        for row in change.rows:
            answer = await live.ask(row.person, row.channel, way=row.way)
            found = {name for name in change.channels if WORDS[name] in answer}
            assert found == set(row.uses[turn].split()), (row, ("before", "after", "undone")[turn])


@pytest.mark.share(2)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_answers_obey_a_change_at_once(live: LiveBot[Any], change: Change) -> None:
    await check_change(live, change)


@pytest.mark.long
@SLACK
@pytest.mark.parametrize("change", SLACK_CHANGES.values(), ids=SLACK_CHANGES)
async def test_answers_obey_a_change_on_slack_at_once(live: LiveBot[SlackTown], change: Change) -> None:
    await check_change(live, change)


@pytest.mark.long
@DISCORD
@pytest.mark.parametrize("change", DISCORD_CHANGES.values(), ids=DISCORD_CHANGES)
async def test_answers_obey_a_change_on_discord_at_once(live: LiveBot[DiscordTown], change: Change) -> None:
    await check_change(live, change)
