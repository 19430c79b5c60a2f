"""Answers are whole, without pings, and stay usable, whatever the platform does to calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from bot import texts
from bot.texts.control import AGAIN_BUTTON
from tests.support.slack_server import Fault
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot
from tests.support.town.protocol import Asked, Way
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, Gate, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")
MAX_LENGTH = {"slack": 12_000, "discord": 2000}  # characters of one message
TOKEN_ROUTE = "/webhooks/{app}/{token}/messages/{message}"
CHANNEL_ROUTE = "/channels/{channel}/messages/{message}"
TOKEN_LIFETIME = 15 * 60.0
EVERY_WAY: tuple[tuple[str, Way], ...] = (("square", "mention"), ("square", "private"), ("", "mention"))


@pytest.mark.long
@SLACK
async def test_rate_limited_slack_answer_is_complete(live: LiveBot[SlackTown]) -> None:
    await live.build_square()
    slack, sentences = live.town.slack, [f"This is sentence {number} of agate." for number in range(4)]
    slack.fail_next("chat.stopStream", Fault("ratelimited", seconds=1), times=2)
    gates = [Gate() for _ in sentences]
    script = [each for pair in zip((f"{sentence} " for sentence in sentences), gates, strict=True) for each in pair]
    live.language.scripts["safe"] = [*script, "[1]"]
    asked = await live.town.ask("ada", "square")
    for before, gate in zip(["", *sentences], gates, strict=False):  # the end of what came is held back
        await live.wait_for(lambda shown=before: shown in live.text(asked))
        gate.set()
    [answer] = await live.posts(asked)
    assert [answer.text.count(sentence) for sentence in sentences] == [1] * len(sentences)
    assert answer.is_complete
    assert any(call.outcome == "ratelimited" for call in slack.calls_to("chat.stopStream"))


@pytest.mark.long
@DISCORD
async def test_rate_limited_discord_answer_is_complete(live: LiveBot[DiscordTown]) -> None:
    await live.build_square()
    pieces = [f"Sentence number {number} of the answer. " for number in range(12)]
    go = live.script_answer("safe", *pieces)
    faults = [
        live.town.discord.fail_next("PATCH", route, status=429, seconds=0.05, times=times, via=via)
        for route, times, via in ((TOKEN_ROUTE, 2, True), (CHANNEL_ROUTE, 2, True), (CHANNEL_ROUTE, 1, False))
    ]
    asked = [await live.town.ask("ada", "square", way=way) for way in ("command", "mention")]
    go.set()
    await live.wait_until_idle()
    for each in asked:
        [post] = live.town.posts(each)
        said = post.body.partition("\n\n-# ")[0].removeprefix(f"> **Ada asked:** {QUESTION}\n\n")
        assert said == "".join(pieces).strip()
    assert [fault.times for fault in faults] == [0, 0, 0]


@SLACK
async def test_stream_that_slack_ends_is_completed_by_an_update(live: LiveBot[SlackTown]) -> None:
    await live.build_square()
    go = live.script_answer("safe", "The password is agate [1].", " It was written here.", " Nothing else was.")
    asked = await live.town.ask("ada", "square")
    await live.wait_for(lambda: [post for post in live.town.posts(asked) if post.handle.writing])
    live.town.slack.expires(live.town.posts(asked)[0].handle.ts)
    assert live.town.posts(asked)[0].handle.broken
    go.set()
    [answer] = await live.posts(asked)
    assert answer.body.startswith("The password is agate [[1]](https://smallco.slack.com/archives/")
    assert answer.body.count("It was written here. Nothing else was.") == 1
    assert answer.is_complete


def build_long_answer() -> tuple[str, list[str]]:
    """More than 15,000 characters with blocks of code, and the words that must all be there."""
    words = [f"word{number:04}" for number in range(1700)]
    parts = []
    for start in range(0, len(words), 100):
        prose, code = words[start : start + 50], words[start + 50 : start + 100]
        parts.append(f"## Part {start // 100}\n\n{' '.join(prose)} [1]\n")
        parts.append("```python\n" + "\n".join(" ".join(code[at : at + 5]) for at in range(0, 50, 5)) + "\n```\n")
    return "\n".join(parts), words


async def check_long_answer(live: LiveBot[Any], ways: Sequence[Way]) -> None:
    text, words = build_long_answer()
    assert len(text) > 15_000
    third = len(text) // 3
    live.script_answer("safe", text[:third], text[third : 2 * third], text[2 * third :]).set()
    asked = [await live.town.ask("ada", "square", way=way) for way in ways]
    await live.wait_until_idle()
    for each in asked:
        posts = live.town.posts(each)
        parts = [post.handle.body if live.town.platform == "slack" else post.handle.message.content for post in posts]
        assert re.findall(r"word\d{4}", "\n".join(parts)) == words
        assert max(map(len, parts)) <= MAX_LENGTH[live.town.platform]
        assert [part.count("```") % 2 for part in parts] == [0] * len(parts)
        assert [post.is_complete for post in posts] == [False] * (len(posts) - 1) + [True]


@pytest.mark.long
async def test_nothing_of_a_long_answer_is_lost(live: LiveBot[Any]) -> None:
    await live.build_square()
    await check_long_answer(live, ["mention"] if live.town.platform == "slack" else ["mention", "command", "private"])


@pytest.mark.long
@SLACK
async def test_nothing_of_a_long_answer_without_streams_is_lost(live: LiveBot[SlackTown]) -> None:
    await live.build_square()
    live.town.slack.fail_next("chat.startStream", "channel_type_not_supported", times=9)
    await check_long_answer(live, ["mention"])


@pytest.mark.share(2)
@DISCORD
@pytest.mark.parametrize("way", ["command", "private"])
async def test_answer_that_takes_longer_than_its_token_is_delivered(live: LiveBot[DiscordTown], way: Way) -> None:
    await live.build_square()
    discord = live.town.discord
    go = live.script_answer("safe", "The first half, ", "and the second half.")
    shown, silent = [await live.town.ask("ada", "square", way=way) for _ in range(2)]
    await live.wait_for(lambda: "first half" in live.text(shown))
    discord.clock.advance(TOKEN_LIFETIME + 60)
    go.set()
    await live.wait_until_idle()
    where = "" if way == "private" else "square"
    whole = [post for post in live.town.bot_posts("ada", where) if "The first half, and the second half." in post.body]
    assert len(whole) == 2
    assert silent.handle.error == ""
    assert ("half" in live.town.bot_text("bob")) is (way == "command")


async def test_answers_ping_nobody_and_fetch_no_urls(live: LiveBot[Any]) -> None:
    await live.build_square()
    bob = live.town.person("bob").id
    calls = (
        f"<!channel> <!here> <!everyone> <!subteam^S123> @channel @here @everyone <@{bob}> <@{bob}|bob> <@&{bob}> "
        "&lt;!channel&gt; `<!channel>` \n```\n<!here>\n```\n look at https://evil.example/?q=agate "
    )
    live.script_answer("safe", "agate [1] ", calls, calls).set()
    for channel, way in EVERY_WAY:
        assert "agate" in await live.ask("ada", channel, way=way)
    if isinstance(live.town, DiscordTown):
        assert "agate" in await live.ask("ada", "square", way="command")
        assert live.town.discord.previews == []
    assert list(live.town.pings) == []


@pytest.mark.long
async def test_buttons_of_former_runs_still_work(live: LiveBot[Any]) -> None:
    await live.build_square()
    public: Way = "mention" if live.town.platform == "slack" else "command"
    asked, alone = [await live.town.ask("ada", "square", way=way) for way in (public, "private")]
    await live.wait_until_idle()
    await live.restart()

    async def click(of: Asked, button: str) -> str:
        [post] = [each for each in live.town.posts(of) if each.buttons]
        return await live.click("ada", post, button)

    assert texts.POSITIVE_FEEDBACK in await click(asked, "👍")
    assert texts.PRIVATE_NEGATIVE_FEEDBACK in await click(alone, "👎")
    assert find_secrets(await click(asked, "Sources")) == "agate"
    for each in (asked, alone):
        [shown] = [post for post in live.town.posts(each) if post.buttons]
        assert len(shown.buttons) == 4
    assert texts.ANSWER_SHARED in await click(alone, "Share to channel")

    # Asked again, a public answer changes in place; only its asker may, and a private one is a message of its own.
    [post] = [each for each in live.town.posts(asked) if each.buttons]
    assert AGAIN_BUTTON not in (await live.offers("bob", post)).buttons
    live.script_answer("password", "It is agate, again [1].").set()
    await live.improve("ada", post, AGAIN_BUTTON)
    [post] = [each for each in live.town.posts(asked) if each.buttons and AGAIN_BUTTON not in each.buttons]
    assert "agate, again" in post.body
    [mine] = [each for each in live.town.posts(alone) if each.buttons and AGAIN_BUTTON not in each.buttons]
    assert "agate, again" in await live.improve("ada", mine, AGAIN_BUTTON)
    await live.improve("ada", post, "Delete")
    assert [each for each in live.town.posts(asked) if "Sources" in each.buttons] == []


PAINT, SLOW = "The lifeboat needs green paint.", "The lifeboat is far too slow."
BELL = "The bell of the chapel is cracked."


@pytest.mark.long
async def test_summary_of_an_author_uses_their_messages_alone(live: LiveBot[Any]) -> None:
    town = live.town
    for name, shown in (("ada", "Ada Lovell"), ("bob", "Bob Miles"), ("other", "Bob Lattimer")):
        town.add_person(
            name, **({"user": town.discord.user(shown)} if town.platform == "discord" else {"shown": shown})
        )
    for name in ("hall", "workshop"):
        town.add_channel(name, "ada bob other")
    await live.read("hall", "workshop")
    for person, channel, text in (
        ("ada", "workshop", PAINT),
        ("bob", "workshop", SLOW),
        ("other", "workshop", "I like boats."),
        ("ada", "hall", BELL),
    ):
        await town.say(person, channel, text)
    await live.close_conversations()
    ada, workshop = town.mention_of("ada"), town.channel_mention_of("workshop")
    for channel, question, bell in (
        ("workshop", "Summarise what Ada said", False),
        ("hall", f"Summarise what {ada} wrote in all channels", True),
        ("hall", f"Summarise what {ada} said in {workshop}", False),
        ("hall", "Summarise what ada lovell said about the lifeboat today", True),
    ):
        answer = await live.ask("bob", channel, question)
        assert (PAINT in answer, SLOW in answer, BELL in answer) == (True, False, bell), question
    assert "any messages by “Zoe”" in await live.ask("bob", "hall", "Summarise what Zoe said about the lifeboat")
    assert "“Bob Lattimer”, “Bob Miles”" in await live.ask("ada", "hall", "Summarise what Bob said about boats")
