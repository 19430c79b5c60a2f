"""An answer uses only what every reader of it may read: a town full of channels, with another password in each.

The language repeats all that it is shown, so an answer names every channel that was in its reach.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from bot import texts
from bot.model_setup.opened import EngineModels
from bot.platform.models import Location
from tests.acceptance.conftest import TOWNS
from tests.support.discord_server import Permission
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot, open_live_bot, password
from tests.support.town.protocol import TownFile
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import SECRETS, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")

SLACK_CHANNELS = {  # who is in them; gil and hal are guests, eve is of another workspace
    "square": ("ada bob", "public"),
    "market": ("ada", "public"),
    "fair": ("ada gil hal", "public"),
    "yard": ("ada gil hal", "public"),
    "lane": ("ada gil", "public"),
    "cellar": ("ada bob", "private"),
    "attic": ("ada", "private"),
    "den": ("ada gil", "private"),
    "trio": ("ada bob", "group"),
    "mixed": ("ada hal", "group"),
    "bridge": ("ada eve", "shared"),
    "invited": ("ada", "shared"),  # nobody of the other workspace came in yet
}
SLACK_OPEN = "square market fair yard lane"
SLACK_ANSWERS = [  # who asks, where ("" is a direct message), how, and the channels that the answer uses
    ("bob", "square", "mention", SLACK_OPEN),
    ("ada", "market", "mention", SLACK_OPEN),
    ("ada", "cellar", "mention", f"{SLACK_OPEN} cellar"),
    ("bob", "cellar", "mention", f"{SLACK_OPEN} cellar"),
    ("ada", "attic", "mention", f"{SLACK_OPEN} attic"),
    ("ada", "trio", "mention", f"{SLACK_OPEN} trio"),
    ("ada", "den", "mention", "den"),
    ("gil", "den", "mention", "den"),
    ("hal", "mixed", "mention", "mixed"),
    ("ada", "bridge", "mention", "bridge"),
    ("eve", "bridge", "mention", "bridge"),
    ("eve", "bridge", "private", "bridge"),
    ("ada", "invited", "mention", "invited"),
    ("ada", "fair", "mention", "fair yard"),
    ("gil", "lane", "mention", "fair yard lane"),
    ("ada", "", "mention", f"{' '.join(SLACK_CHANNELS)} ada's-file"),
    ("bob", "", "mention", f"{SLACK_OPEN} cellar trio bob's-file"),
    ("ada", "square", "private", f"{' '.join(SLACK_CHANNELS)} ada's-file"),
    ("bob", "square", "private", f"{SLACK_OPEN} cellar trio bob's-file"),
    ("gil", "", "mention", "fair yard lane den"),
    ("gil", "fair", "private", "fair yard lane den"),
    ("gil", "den", "private", "fair yard lane den"),
    ("hal", "", "mention", "fair yard mixed"),
]

DISCORD_CHANNELS = {  # who has access, or is denied it; ada is in the second guild, too
    "square": ("", "public"),
    "market": ("", "public"),
    "cellar": ("ada bob", "private"),
    "attic": ("ada", "private"),
    "kitchen": ("cooks", "for a role"),
    "forge": ("smiths", "for a role"),
    "lounge": ("newcomers", "hidden"),
    "parlour": ("newcomers", "without history"),
    "porch": ("cleo", "hidden"),
    "gallery": ("cleo", "without history"),
    "tavern": ("", "age-restricted"),
    "casino": ("", "age-restricted"),
    "backroom": ("ada", "age-restricted"),
    "corner": ("ada bob", "private thread"),
    "harbour": ("", "second guild"),
    "vault": ("ada there", "second guild"),
    "office": ("", "second guild, for nobody"),
}
DISCORD_OPEN = "square market"
DISCORD_ADA = f"{DISCORD_OPEN} cellar attic kitchen forge lounge parlour porch gallery corner"
DISCORD_BOB = f"{DISCORD_OPEN} cellar kitchen lounge parlour porch gallery corner"
DISCORD_ANSWERS = [
    ("bob", "square", "command", DISCORD_OPEN),
    ("bob", "square", "mention", DISCORD_OPEN),
    ("ada", "market", "command", DISCORD_OPEN),
    ("ada", "cellar", "command", f"{DISCORD_OPEN} cellar"),
    ("ada", "attic", "mention", f"{DISCORD_OPEN} attic"),
    ("ada", "kitchen", "command", f"{DISCORD_OPEN} kitchen"),
    ("ada", "forge", "mention", f"{DISCORD_OPEN} forge"),
    ("ada", "lounge", "command", f"{DISCORD_OPEN} lounge"),
    ("bob", "parlour", "command", f"{DISCORD_OPEN} parlour"),
    ("bob", "corner", "command", f"{DISCORD_OPEN} corner"),
    ("ada", "square", "private", DISCORD_ADA),
    ("bob", "square", "private", DISCORD_BOB),
    ("dora", "square", "private", f"{DISCORD_OPEN} porch gallery"),
    ("cleo", "square", "private", f"{DISCORD_OPEN} lounge parlour"),
    ("ada", "tavern", "command", "tavern casino"),
    ("ada", "backroom", "command", "tavern casino backroom"),
    ("ada", "tavern", "private", f"{DISCORD_ADA} tavern casino backroom"),
    ("bob", "tavern", "private", f"{DISCORD_BOB} tavern casino"),
    ("ada", "", "mention", f"{DISCORD_ADA} harbour vault"),
    ("bob", "", "mention", DISCORD_BOB),
    ("ada there", "harbour", "command", "harbour"),
    ("ada there", "harbour", "private", "harbour vault"),
]
ANSWERS = {"slack": SLACK_ANSWERS, "discord": DISCORD_ANSWERS}
CHANNELS = {"slack": SLACK_CHANNELS, "discord": DISCORD_CHANNELS}
FILES = ("ada's-file", "bob's-file")


def word_of(platform: str, place: str) -> str:
    """The password that is said in a channel or stands in a file."""
    return SECRETS[[*CHANNELS[platform], *FILES].index(place)]


def places_in(platform: str, text: str) -> set[str]:
    """The channels and files whose passwords occur in a text."""
    return {place for place in (*CHANNELS[platform], *FILES) if word_of(platform, place) in text}


async def build_slack_world(town: SlackTown) -> None:
    for name, kind in (("gil", "guest"), ("hal", "single_channel_guest")):
        town.add_person(name, kind=kind)
    town.add_person("eve", stranger=True)
    for name, (members, kind) in SLACK_CHANNELS.items():
        town.add_channel(name, members, kind)
    for file in FILES:
        shared = TownFile("note.txt", password(word_of("slack", file)), "text/plain")
        await town.say(file.partition("'")[0], "", "for later", files=[shared])


async def build_discord_world(town: DiscordTown) -> None:
    discord, second = town.discord, town.discord.guild("Second")
    roles = {name: discord.role(town.guild, name) for name in ("cooks", "smiths", "newcomers")}
    for name, own in (("ada", "cooks smiths"), ("bob", "cooks"), ("cleo", ""), ("dora", "newcomers")):
        town.add_person(name, roles=[roles[part] for part in own.split()])
    town.add_person("ada there", user=town.people["ada"].user, guild=second)
    for name, (who, kind) in DISCORD_CHANNELS.items():
        match kind:
            case "for a role":
                town.add_channel(name, only=[roles[who]])
            case "hidden" | "without history":
                denied = Permission.VIEW_CHANNEL if kind == "hidden" else Permission.READ_MESSAGE_HISTORY
                discord.overwrites(town.add_channel(name), roles.get(who) or town.people[who], deny=denied)
            case "age-restricted":
                town.add_channel(name, nsfw=True, only=[town.people[who]] if who else None)
            case "private thread":
                corner = await town.people["ada"].opens_thread(town.channels["square"], name, private=True)
                await town.people["ada"].adds(corner, town.people["bob"], town.bot_member)
                town.channels[name] = corner
            case "second guild" | "second guild, for nobody":
                only = [town.people[who]] if who else [] if "nobody" in kind else None
                town.add_channel(name, guild=second, only=only)
            case _:
                town.add_channel(name, who, kind)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(
    platform: str, tmp_path_factory: pytest.TempPathFactory, models: EngineModels
) -> AsyncIterator[LiveBot[Any]]:
    """A bot in the town above, which has read everything."""
    async with open_live_bot(TOWNS[platform](), tmp_path_factory.mktemp("world"), models) as opened:
        await (build_slack_world if platform == "slack" else build_discord_world)(opened.town)
        await opened.post_passwords(**{name: word_of(platform, name) for name in CHANNELS[platform]})
        yield opened


async def check_answer(world: LiveBot[Any], person: str, channel: str, way: Any, expected: str) -> None:
    answer = await world.ask(person, channel, way=way)
    assert places_in(world.town.platform, answer) == set(expected.split())


@pytest.mark.share(2)
@SLACK
@pytest.mark.parametrize(("person", "channel", "way", "expected"), SLACK_ANSWERS)
async def test_a_slack_answer_uses_what_all_its_readers_may_read(
    world: LiveBot[SlackTown], person: str, channel: str, way: str, expected: str
) -> None:
    await check_answer(world, person, channel, way, expected)


@pytest.mark.share(2)
@DISCORD
@pytest.mark.parametrize(("person", "channel", "way", "expected"), DISCORD_ANSWERS)
async def test_a_discord_answer_uses_what_all_its_readers_may_read(
    world: LiveBot[DiscordTown], person: str, channel: str, way: str, expected: str
) -> None:
    await check_answer(world, person, channel, way, expected)


async def test_nobody_saw_what_they_may_not_read(world: LiveBot[Any]) -> None:
    platform = world.town.platform
    rows = ANSWERS[platform]
    for person in {person for person, *_ in rows} - {"ada there"}:
        alone = [uses for who, channel, way, uses in rows if who == person and (way == "private" or not channel)]
        on_screen = "" if person in {"gil", "hal", "eve"} else "bridge invited tavern casino"  # public, but apart
        readable = {*on_screen.split(), *" ".join(alone).split()}
        assert places_in(platform, world.town.bot_text(person)) <= readable, person


async def test_private_answer_is_shared_only_with_source_readers(live: LiveBot[Any]) -> None:
    town = live.town
    town.add_channel("square", "ada bob")
    town.add_channel("cellar", "ada", "private")
    await live.post_passwords(square="agate", cellar="beryl")
    [secret] = await live.posts(await town.ask("ada", "square", way="private"))
    assert find_secrets(secret.text) == "agate beryl"
    assert texts.ANSWER_NOT_SHARED in await live.click("ada", secret, "Share to channel")
    assert find_secrets(town.bot_text("bob")) == ""
    [harmless] = await live.posts(await town.ask("ada", "cellar", way="private"))
    assert texts.ANSWER_SHARED in await live.click("ada", harmless, "Share to channel")
    shared = [post.text for post in town.bot_posts("ada", "cellar") if "Shared by Ada" in post.text]
    assert [find_secrets(text) for text in shared] == ["agate beryl"]


async def test_images_stats_suggestions_and_sources_obey_visibility(live: LiveBot[Any]) -> None:
    town = live.town
    town.add_channel("square", "ada bob")
    town.add_channel("cellar", "ada", "private")
    await live.read("square", "cellar")
    await town.say("ada", "square", "Quentin Marlow mends the clock of Harbour House.")
    await town.say("ada", "cellar", "Quentin Marlow hides Project Nightingale from Harbour House.")
    await live.close_conversations()
    here: Location = town.location("square")

    async def seen(person: str) -> dict[str, Any]:
        picture = await live.run_command(person, "square", "graph", name="Quentin Marlow")
        return {
            "graph": "Nightingale" in picture,
            "answer": "Nightingale" in await live.ask(person, "square", "What does Quentin Marlow do?", "private"),
            "graph of it": "hides" in await live.run_command(person, "square", "graph", name="Project Nightingale"),
            "names": await live.bot.suggest_names(town.person(person).id, here, "Project"),
            "channels": [
                option.label for option in await live.bot.suggest_filter(town.person(person).id, here, "in", "cell")
            ],
            "catch-up": "Nightingale" in await live.run_command(person, "square", "catch-up", since="2h"),
            "documents": (await live.run_command(person, "square", "status")).partition(" document")[0][-1],
        }

    nothing = {"graph": False, "answer": False, "graph of it": False, "names": [], "channels": []}
    nothing |= {"catch-up": False, "documents": "1"}
    assert await seen("bob") == nothing
    known = await seen("ada")
    assert (known["names"], known["channels"]) == (["Project Nightingale"], ["#cellar"])
    assert "Nightingale" in await live.ask("ada", "cellar", "What does Quentin Marlow do?")
    assert "Nightingale" in await live.run_command("ada", "cellar", "sources")
    await live.ask("ada", "square", "What does Quentin Marlow do?")
    assert "clock" in await live.run_command("bob", "square", "sources")
    assert "hides" not in town.bot_text("bob")


@SLACK
async def test_guests_see_no_picture_and_the_home_tab_obeys_visibility(live: LiveBot[SlackTown]) -> None:
    town = live.town
    town.add_person("gil", kind="guest")
    town.add_channel("square", "ada bob gil")
    town.add_channel("cellar", "ada", "private")
    await town.say("ada", "square", "Quentin Marlow mends the clock of Harbour House.")
    await town.say("ada", "cellar", "Quentin Marlow is hiding.")
    await live.close_conversations()
    assert "clock" not in await live.run_command("gil", "square", "graph", name="Quentin Marlow")
    assert [("cellar" in await town.home_text(name)) for name in ("ada", "bob", "gil")] == [True, False, False]


@pytest.mark.long
@SLACK
async def test_sharing_where_the_bot_cannot_post_fails_at_once(live: LiveBot[SlackTown]) -> None:
    town = live.town
    town.add_channel("square", "ada")
    town.add_channel("market", "ada", bot=False)
    await live.post_passwords(square="agate")
    [answer] = await live.posts(await town.ask("ada", "market", way="private"))
    assert "not allowed to do that in this channel" in await live.click("ada", answer, "Share to channel")
    assert "still being written" not in await live.run_command("ada", "market", "sources")
    await town.person("ada").invites(town.channels["market"], town.slack.bot)
    assert texts.ANSWER_SHARED in await live.click("ada", answer, "Share to channel")
    shared = [post.text for post in town.bot_posts("ada", "market") if "Shared by Ada" in post.text]
    assert [find_secrets(text) for text in shared] == ["agate"]


@SLACK
async def test_only_who_joined_a_channel_can_state_something_there(live: LiveBot[SlackTown]) -> None:
    live.town.add_channel("square", "ada")
    await live.post_passwords(square="agate")
    statement = 'correct add Safe "The password of the safe is beryl."'
    assert texts.CANNOT_WRITE in await live.run_command("bob", "square", statement)
    assert "Added: " in await live.run_command("ada", "square", statement)


@SLACK
async def test_channel_with_unknown_audience_answers_from_itself(live: LiveBot[SlackTown]) -> None:
    town = live.town
    for name, kind in (("square", "public"), ("market", "public"), ("cellar", "private")):
        town.add_channel(name, "ada", kind)
    await live.post_passwords(square="agate", market="beryl", cellar="coral")
    for method in ("conversations.members", "users.conversations"):
        town.slack.fail_next(method, "internal_error", times=100)
    live.bot.context.audience.invalidate(Location("slack", town.slack.space.team, ""))
    assert find_secrets(await live.ask("ada", "square")) == "agate"
    private = await live.ask("ada", "square", way="private")
    assert find_secrets(private) == "agate beryl"
    assert texts.GAP_NOTICES["partial"] in private
    town.clear_faults()
    assert find_secrets(await live.ask("ada", "square")) == "agate beryl"


async def test_earlier_answers_are_history_only_for_their_readers(live: LiveBot[Any]) -> None:
    live.town.add_channel("square", "ada bob")
    live.town.add_channel("cellar", "ada", "private")
    await live.post_passwords(square="agate", cellar="beryl")
    asked = await live.town.ask("bob", "square")
    await live.wait_until_idle()
    assert find_secrets(await live.ask("ada", "square", way="private")) == "agate beryl"
    assert find_secrets(await live.answer(await live.town.follow_up("bob", asked))) == "agate"
