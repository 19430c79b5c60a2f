"""Questions are answered once, whole and without pings, whatever the platform does to events, calls and answers."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest

from bot import texts
from tests.demos.slack_day import load_manifest
from tests.support.discord_server import Permission
from tests.support.discord_server.actions import emit_message_update
from tests.support.slack_server import FakeSlack, Fault, Timing
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import open_live_bot, password
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bot.bootstrap import EngineModels
    from tests.support.town.live_bot import LiveBot
    from tests.support.town.protocol import Asked, Way

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLACK, DISCORD = pytest.mark.platforms("slack"), pytest.mark.platforms("discord")
MAX_LENGTH = {"slack": 12_000, "discord": 2000}  # characters of one message
TOKEN_ROUTE = "/webhooks/{app}/{token}/messages/{message}"
CHANNEL_ROUTE = "/channels/{channel}/messages/{message}"
TOKEN_LIFETIME = 15 * 60.0
EVERY_WAY: tuple[tuple[str, Way], ...] = (("square", "mention"), ("square", "private"), ("", "mention"))


async def build_square(live: LiveBot[Any]) -> None:
    """A channel in which the password was said."""
    live.town.add_channel("square", "ada bob")
    await live.post_passwords(square="agate")


def answers(live: LiveBot[Any], asked: Asked) -> list[str]:
    return [find_secrets(each.text) for each in live.town.posts(asked)]


# One answer to one question.


async def test_retried_slack_event_is_answered_once(tmp_path: Path, models: EngineModels) -> None:
    hasty = FakeSlack(load_manifest(), timing=Timing(ack=0.001, retries=(0, 0.1)))
    async with open_live_bot(SlackTown(hasty), tmp_path, models) as live:
        await build_square(live)
        asked = await live.town.ask("ada", "square")
        await live.wait_until_idle()
        deliveries = [each for each in hasty.socket.deliveries if asked.handle.ts in str(each.payload["event"])]
        for kind in ("app_mention", "message"):
            hasty.redelivers(kind)
        await live.wait_for(lambda: max(each.attempts for each in deliveries) > 1)
        await live.wait_until_idle()
        assert {each.payload["event"]["type"] for each in deliveries} >= {"message", "app_mention"}
        assert answers(live, asked) == ["agate"]
        assert live.language.questions == [QUESTION]


@DISCORD
async def test_repeated_discord_event_is_answered_once(live: LiveBot[DiscordTown]) -> None:
    await build_square(live)
    gateway = live.town.discord.gateway
    asked = [await live.town.ask("ada", "square", f"By {way}: {QUESTION}", way) for way in ("mention", "command")]
    await live.wait_until_idle()
    for name, each in zip(("MESSAGE_CREATE", "INTERACTION_CREATE"), asked, strict=True):
        redeliver(live.town, name, each.handle.id)
    await live.wait_until_idle()
    gateway.reconnect()
    await live.wait_for(lambda: gateway.resumes)
    gateway.invalidate()
    await live.wait_for(lambda: gateway.identifies > 1)
    await live.wait_until_idle()
    assert [answers(live, each) for each in asked] == [["agate"]] * 2
    assert len(live.language.questions) == 2


def redeliver(town: DiscordTown, name: str, ident: str) -> None:
    """Deliver an event once more."""
    for session in town.discord.gateway.sessions.all.values():
        for data in [frame["d"] for _, frame in session.sent if frame["t"] == name and frame["d"]["id"] == ident]:
            session.dispatch(name, data)


@DISCORD
async def test_question_asked_while_the_connection_was_lost_is_answered_once(live: LiveBot[DiscordTown]) -> None:
    await build_square(live)
    live.town.discord.gateway.disconnect()
    await live.wait_for(lambda: not live.town.is_connected)
    asked = await live.town.ask("ada", "square")
    await live.wait_for(lambda: live.town.is_connected)
    await live.wait_until_idle()
    assert answers(live, asked) == ["agate"]


@DISCORD
async def test_reply_that_mentions_the_bot_and_its_role_is_answered_once(live: LiveBot[DiscordTown]) -> None:
    await build_square(live)
    asked = await live.town.ask("ada", "square")
    [first] = await live.posts(asked)
    [role] = [role for role in live.town.guild.roles.values() if role.managed]
    text = f"{live.town.bot_member.mention} <@&{role.id}> {QUESTION}"
    await live.town.person("ada").says(asked.handle.thread, text, reply_to=first.handle.message)
    await live.wait_until_idle()
    assert answers(live, asked) == ["agate", "agate"]


async def post_as_bots(live: LiveBot[Any], asked: Asked) -> list[Asked]:
    """Other bots, a webhook and the bot itself ask, also in the thread of an answer."""
    town = live.town
    if isinstance(town, SlackTown):
        square, robot = town.channels["square"], town.slack.robot("Robot")
        await robot.joins(square)
        hooked = await town.slack.webhook_says(square, "Hook", f"<@{town.slack.space.bot.id}> {password('coral')}?")
        await robot.says(square, f"{password('beryl')} Is it not?", thread=asked.handle)
        said = [await robot.mentions(square, QUESTION), hooked]
    else:
        square, robot = town.channels["square"], town.discord.member(town.guild, "Robot", bot=True)
        text = f"{town.bot_member.mention} {QUESTION}"
        said = [await each.says(square, text) for each in (robot, town.bot_member)]
        said.append(town.discord.webhook_says(square, "Ticker", f"{text} {password('coral')}"))
        await robot.says(asked.handle.thread, f"{text} {password('beryl')}")
    return [type(asked)("ada", "square", each) for each in said]


async def test_bots_are_neither_answered_nor_indexed(live: LiveBot[Any]) -> None:
    await build_square(live)
    asked = await live.town.ask("ada", "square")
    await live.wait_until_idle()
    begged = await post_as_bots(live, asked)
    await live.wait_until_idle()
    threads = [each.handle.thread for each in begged if live.town.platform == "discord"]
    assert [each for each in threads if each is not None] == []
    assert live.language.questions == [QUESTION]
    assert find_secrets(await live.ask("ada", "square")) == "agate"


async def test_preview_triggers_no_answer_or_ingest(live: LiveBot[Any]) -> None:
    town = live.town
    town.add_channel("square", "ada")
    await live.read("square")
    said = await town.say("ada", "square", "The tide table is at https://tides.example/table for everybody.")
    asked = await town.ask("ada", "square", "What is at https://tides.example/table?")
    await live.close_conversations()
    before = live.language.extraction_count, len(live.language.questions)
    if isinstance(town, DiscordTown):
        for message in (said, asked.handle):
            message.embeds = [{"type": "article", "title": "Tides", "url": "https://tides.example/table"}]
            emit_message_update(town.discord.world, message)
    else:
        events = [each.payload["event"].get("subtype") for each in town.slack.socket.deliveries]
        assert events.count("message_changed") >= 2
        town.slack.redelivers("message")
    await live.close_conversations()
    assert (live.language.extraction_count, len(live.language.questions)) == before == (1, 1)
    assert len(town.posts(asked)) == 1
    await town.edit(said, "The tide table hangs at the pier.")
    await live.close_conversations()
    assert "pier" in await live.ask("ada", "square", "Where is the tide table?")


# The whole answer.


@SLACK
@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
async def test_rate_limited_slack_answer_is_complete(live: LiveBot[SlackTown], method: str) -> None:
    await build_square(live)
    slack, sentences = live.town.slack, [f"This is sentence {number} of agate." for number in range(4)]
    slack.fail_next(method, Fault("ratelimited", seconds=1), times=2)
    gates = [asyncio.Event() for _ in sentences]
    script = [each for pair in zip((f"{each} " for each in sentences), gates, strict=True) for each in pair]
    live.language.scripts["safe"] = [*script, "[1]"]
    asked = await live.town.ask("ada", "square")
    for gate in gates:
        await slack.wait_until_quiet(0.15, 10)
        gate.set()
    [answer] = await live.posts(asked)
    assert [answer.text.count(sentence) for sentence in sentences] == [1] * len(sentences)
    assert answer.is_complete
    assert any(call.outcome == "ratelimited" for call in slack.calls_to(method))


@DISCORD
async def test_rate_limited_discord_answer_is_complete(live: LiveBot[DiscordTown]) -> None:
    await build_square(live)
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
    await build_square(live)
    go = live.script_answer("safe", "The password is agate [1].", " It was written here.", " Nothing else was.")
    asked = await live.town.ask("ada", "square")
    await live.wait_for(lambda: [each for each in live.town.posts(asked) if each.handle.writing])
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


async def test_nothing_of_a_long_answer_is_lost(live: LiveBot[Any]) -> None:
    await build_square(live)
    await check_long_answer(live, ["mention"] if live.town.platform == "slack" else ["mention", "command", "private"])


@SLACK
async def test_nothing_of_a_long_answer_without_streams_is_lost(live: LiveBot[SlackTown]) -> None:
    await build_square(live)
    live.town.slack.fail_next("chat.startStream", "channel_type_not_supported", times=9)
    await check_long_answer(live, ["mention"])


@DISCORD
@pytest.mark.parametrize("way", ["command", "private"])
async def test_answer_that_takes_longer_than_its_token_is_delivered(live: LiveBot[DiscordTown], way: Way) -> None:
    await build_square(live)
    discord = live.town.discord
    go = live.script_answer("safe", "The first half, ", "and the second half.")
    shown, silent = [await live.town.ask("ada", "square", way=way) for _ in range(2)]
    await live.wait_for(lambda: "first half" in live.text(shown))
    discord.clock.advance(TOKEN_LIFETIME + 60)
    go.set()
    await live.wait_until_idle()
    where = "" if way == "private" else "square"
    whole = [each for each in live.town.bot_posts("ada", where) if "The first half, and the second half." in each.body]
    assert len(whole) == 2
    assert silent.handle.error == ""
    assert ("half" in live.town.bot_text("bob")) is (way == "command")


async def test_answers_ping_nobody_and_fetch_no_urls(live: LiveBot[Any]) -> None:
    await build_square(live)
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


async def test_buttons_of_former_runs_still_work(live: LiveBot[Any]) -> None:
    await build_square(live)
    asked, alone = [await live.town.ask("ada", "square", way=way) for way in ("mention", "private")]
    await live.wait_until_idle()
    await live.restart()

    async def click(of: Asked, button: str) -> str:
        [post] = [each for each in live.town.posts(of) if each.buttons]
        return await live.click("ada", post, button)

    assert texts.POSITIVE_FEEDBACK in await click(asked, "👍")
    assert texts.NEGATIVE_FEEDBACK in await click(alone, "👎")
    assert find_secrets(await click(asked, "Sources")) == "agate"
    assert texts.ANSWER_SHARED in await click(alone, "Share to channel")
    await click(asked, "Delete")
    assert [each for each in live.town.posts(asked) if each.buttons] == []


# What somebody wrote.

PAINT, SLOW = "The lifeboat needs green paint.", "The lifeboat is far too slow."
BELL = "The bell of the chapel is cracked."


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


# What only one of them has.


async def test_everything_works_on_a_free_plan(tmp_path: Path, models: EngineModels) -> None:
    """Slack's agent features are missing: no streams, no status, no prompts."""
    town = SlackTown(FakeSlack(load_manifest("manifest-free.json")))
    async with open_live_bot(town, tmp_path, models) as live:
        slack = town.slack
        await build_square(live)
        go = live.script_answer("Slowly", "From", " what is said here, it is agate [1]. ", "And so on. " * 50)
        asked = await town.ask("ada", "square", "Slowly: what is the password?")
        await live.wait_for(lambda: town.reactions(asked.handle))
        await asyncio.sleep(0.3)
        assert town.posts(asked) == []
        go.set()
        [answer] = await live.posts(asked)
        posted = [
            each for each in slack.calls_to("chat.postMessage") if each.args.get("thread_ts") == asked.handle.root
        ]
        assert len(str(posted[0].args["text"]).split()) > 3, "a notification shows it"
        assert "it is agate" in answer.text
        assert {"Sources", "Delete"} <= set(answer.buttons)
        assert town.reactions(asked.handle) == []
        for channel, way in EVERY_WAY:
            assert find_secrets(await live.ask("ada", channel, way=way)) == "agate"
        assert "/threadlore ask" in await live.run_command("ada", "square", "help")
        assert "#square" in await town.home_text("ada")
        assert not slack.calls_to("chat.appendStream")


@DISCORD
async def test_commands_are_registered_once_and_settings_are_for_managers(live: LiveBot[DiscordTown]) -> None:
    town = live.town
    await build_square(live)
    await live.restart()
    assert len([each for each in town.discord.calls if each.method == "PUT" and "commands" in each.template]) == 1
    with pytest.raises(AssertionError):
        await live.run_command("ada", "square", "settings", setting="ingest", value="off")
    town.add_person("mayor", roles=[town.discord.role(town.guild, "mayor", Permission.MANAGE_GUILD)])
    stopped = await live.run_command("mayor", "square", "settings", setting="ingest", value="off")
    assert "I've stopped reading this channel" in stopped


@DISCORD
async def test_stop_in_a_thread_is_confirmed_there_and_obeyed(live: LiveBot[DiscordTown]) -> None:
    await build_square(live)
    asked = await live.town.ask("ada", "square")
    await live.wait_until_idle()
    stop = await live.town.follow_up("ada", asked, "stop")
    await live.wait_until_idle()
    again = await live.town.follow_up("ada", asked)
    assert await live.posts(again) == []
    [confirmed] = live.town.posts(stop)
    assert texts.THREAD_MUTED in confirmed.text
    assert confirmed.handle.message.replied is stop.handle
    assert live.town.bot_posts("ada", "") == []


@DISCORD
async def test_help_replies_to_the_asking_message(live: LiveBot[DiscordTown]) -> None:
    live.town.add_channel("square")
    asked = await live.town.ask("ada", "square", "help")
    [shown] = [each for each in await live.posts(asked) if each.handle.message.replied is asked.handle]
    assert "`/ask`" in shown.text
    assert live.town.bot_posts("ada", "") == []


@DISCORD
async def test_member_of_no_server_blocks_nothing(live: LiveBot[DiscordTown]) -> None:
    await live.ask("ada")
    live.town.discord.removes(live.town.person("ada"))
    await live.town.wait_until_received(live.bot)
    for text in (QUESTION, "help", "stop"):
        await live.town.ask("ada", text=text)
    await live.wait_until_idle()
    assert await live.bot.event_queue.depth() == 0
    assert len(live.town.bot_posts("ada", "")) == 1
