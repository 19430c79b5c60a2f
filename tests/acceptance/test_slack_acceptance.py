"""The acceptance checks of a bot on Slack, by their numbers; (5) and (13) of Discord have stories of their own."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.demos.slack_day import load_manifest
from tests.support.slack_server import FakeSlack, Fault, File, Person, Timing
from tests.support.town import slack_bot as slack_house
from tests.support.verbatim_language import QUESTION, find_secrets

if TYPE_CHECKING:
    from pathlib import Path

    from bot.bootstrap import EngineModels
    from tests.support.slack_server import Entry, SentMessage
    from tests.support.town.slack_bot import SlackBotFixture

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAX_MESSAGE_LENGTH = 12_000  # characters that Slack takes in one message


def answer_entries(house: SlackBotFixture, asked: SentMessage) -> list[Entry]:
    """What the bot said below a question, as its asker sees it."""
    author = house.slack.space.users[asked.message.user]
    return house.slack.replies(Person(house.slack, author), asked.room, asked.root)


def joined_text(entries: list[Entry]) -> str:
    """A text that was cut into several messages, without the fences that the cuts made necessary."""
    return "\n".join(each.body for each in entries)


async def test_1_a_retried_envelope_has_one_answer(tmp_path: Path, able: EngineModels) -> None:
    hasty = FakeSlack(load_manifest(), timing=Timing(ack=0.001, retries=(0, 0.1)))
    async with slack_house.open_slack_bot(tmp_path / "hasty", able, hasty) as house:
        slack = house.slack
        ada = slack.user("Ada")
        square = slack.channel("square", members=[ada])
        await house.post_passwords({square: "agate"})
        asked = await ada.mentions(square, QUESTION)
        await house.wait_until_idle()
        slack.redelivers("app_mention")
        slack.redelivers("message")
        await house.wait_until_idle()
        told_of = [each for each in slack.socket.deliveries if asked.ts in str(each.payload["event"])]
        assert max(each.attempts for each in told_of) > 1
        assert [find_secrets(each.text) for each in answer_entries(house, asked)] == ["agate"]
        assert house.language.questions == [QUESTION]


async def test_2_message_and_app_mention_get_one_answer(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.post_passwords({square: "agate"})
    asked = await ada.mentions(square, QUESTION)
    await house.wait_until_idle()
    told_of = {each.payload["event"]["type"] for each in slack.socket.deliveries if asked.ts in str(each.payload)}
    assert {"message", "app_mention"} <= told_of
    assert [find_secrets(each.text) for each in answer_entries(house, asked)] == ["agate"]
    assert house.language.questions == [QUESTION]


async def test_3_bot_messages_are_neither_answered_nor_indexed(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, robot = slack.user("Ada"), slack.robot("Robot")
    square = slack.channel("square", members=[ada, robot])
    await house.post_passwords({square: "agate"})
    asked = await ada.mentions(square, QUESTION)
    await house.wait_until_idle()
    begged = await robot.mentions(square, QUESTION)
    followed = await robot.says(square, "The password of the safe is beryl, is it not?", thread=asked)
    hooked = await slack.webhook_says(square, "Hook", f"<@{slack.space.bot.id}> The password of the safe is coral?")
    await house.wait_until_idle()
    assert [answer_entries(house, each) for each in (begged, hooked)] == [[], []]
    assert [each.ts > followed.ts for each in answer_entries(house, asked)] == [False]
    assert house.language.questions == [QUESTION]
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"


async def test_4_a_preview_neither_repeats_an_answer_nor_an_indexing(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await ada.says(square, "The password of the safe is agate, see https://safes.example/manual for more.")
    asked = await ada.mentions(square, f"{QUESTION} I read https://safes.example/manual already.")
    await house.wait_until_idle()
    told_of = [each.payload["event"].get("subtype") for each in slack.socket.deliveries if "event" in each.payload]
    assert told_of.count("message_changed") >= 2
    slack.redelivers("message")
    await house.close_conversations()
    assert len(answer_entries(house, asked)) == 1
    assert len(house.language.questions) == 1
    assert house.language.extraction_count == 1
    assert all(each.previews == () for each in answer_entries(house, asked))


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
async def test_5_slowed_down_while_it_writes_the_whole_text_is_there_once(house: SlackBotFixture, method: str) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.post_passwords({square: "agate"})
    sentences = [f"This is sentence {number} of agate." for number in range(6)]
    slack.fail_next(method, Fault("ratelimited", seconds=1), times=2)
    gates = [asyncio.Event() for _ in sentences]
    pieces: list[str | asyncio.Event] = []
    for sentence, gate in zip(sentences, gates, strict=True):
        pieces += [f"{sentence} ", gate]
    house.language.scripts["safe"] = [*pieces, "[1]"]
    asked = await ada.mentions(square, QUESTION)
    for gate in gates:
        await slack.wait_until_quiet(0.25, 10)
        gate.set()
    await house.wait_until_idle()
    [answer] = answer_entries(house, asked)
    assert [answer.text.count(sentence) for sentence in sentences] == [1] * len(sentences)
    assert not answer.writing
    assert not answer.broken
    assert any(call.outcome == "ratelimited" for call in slack.calls_to(method))


async def test_6_a_stream_that_slack_ends_is_completed_by_an_update(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.post_passwords({square: "agate"})
    go = house.script_answer("safe", "The password is agate [1].", " It was told here.", " Nothing else was.")
    asked = await ada.mentions(square, QUESTION)
    await slack.wait_for(lambda: [each for each in answer_entries(house, asked) if each.writing], 10, "for a stream")
    slack.expires(answer_entries(house, asked)[0].ts)
    assert answer_entries(house, asked)[0].broken
    go.set()
    await house.wait_until_idle()
    [answer] = answer_entries(house, asked)
    assert answer.body.startswith("The password is agate [[1]](https://smallco.slack.com/archives/")
    assert answer.body.count("It was told here. Nothing else was.") == 1
    assert not answer.broken
    assert "👍" in answer.buttons


def build_long_answer() -> tuple[str, list[str]]:
    """More than 15,000 characters with blocks of code, and the words that must all be there."""
    words = [f"word{number:04}" for number in range(1700)]
    blocks = []
    for start in range(0, len(words), 100):
        some = words[start : start + 100]
        blocks.append(f"## Part {start // 100}\n\n{' '.join(some[:50])} [1]\n")
        blocks.append("```python\n" + "\n".join(" ".join(some[at : at + 5]) for at in range(50, 100, 5)) + "\n```\n")
    return "\n".join(blocks), words


@pytest.mark.parametrize("streamed", [True, False])
async def test_7_of_15000_characters_nothing_is_lost_and_fences_are_balanced(
    house: SlackBotFixture, *, streamed: bool
) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.post_passwords({square: "agate"})
    text, words = build_long_answer()
    assert len(text) > 15_000
    if not streamed:
        slack.fail_next("chat.startStream", "channel_type_not_supported", times=9)
    gates = [asyncio.Event() for _ in range(3)]
    third = len(text) // 3
    pieces: list[str | asyncio.Event] = []
    for number, gate in enumerate(gates):
        pieces += [text[number * third : (number + 1) * third + (3 if number == 2 else 0)], gate]
    house.language.scripts["safe"] = pieces
    asked = await ada.mentions(square, QUESTION)
    for gate in gates:
        await slack.wait_until_quiet(0.25, 10)
        gate.set()
    await house.wait_until_idle()
    said = answer_entries(house, asked)
    assert re.findall(r"word\d{4}", joined_text(said)) == words
    for each in said:
        assert each.body.count("```") % 2 == 0
        assert len(each.body) <= MAX_MESSAGE_LENGTH
        assert not each.writing
        assert not each.broken
    assert [bool(each.buttons) for each in said] == [False] * (len(said) - 1) + [True]


async def test_8_a_secret_of_a_private_channel_appears_nowhere_else(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    cellar = slack.channel("cellar", members=[ada, bob], kind="private")
    await house.post_passwords({square: "agate", cellar: "beryl"})
    await house.close_conversations()
    assert find_secrets(await house.ask_by_mention(ada, cellar)) == "agate beryl"
    asked = await bob.mentions(square, QUESTION)
    await house.wait_until_idle()
    await bob.says(square, "And what else is the password of the safe?", thread=asked)
    await house.wait_until_idle()
    await house.run_command(bob, square, "sources")
    await house.run_command(bob, square, "graph safe")
    assert [find_secrets(each.text) for each in answer_entries(house, asked)] == ["agate", "agate"]
    await ada.removes(cellar, bob)
    assert find_secrets(await house.ask_by_mention(bob, square)) == "agate"
    assert find_secrets(await house.ask_in_dm(bob)) == "agate"
    assert find_secrets(house.all_bot_text(bob)) == "agate"


async def test_9_what_was_deleted_is_unanswerable_afterwards(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    said = await ada.says(square, "The password of the safe is agate.")
    filed = await ada.says(
        square, "All of it:", files=[File("safe.txt", b"The password of the safe is beryl.", "text/plain")]
    )
    root = await ada.says(square, "Let us talk of the safe.")
    reply = await ada.says(square, "The password of the safe is coral.", thread=root)
    await house.wait_until_idle()
    asked = await ada.mentions(square, QUESTION)
    await house.wait_until_idle()
    assert find_secrets(joined_text(answer_entries(house, asked))) == "agate beryl coral"
    for each in (said, filed, reply):
        await ada.deletes(each)
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_mention(ada, square)) == ""
    assert (
        find_secrets(await house.ask_by_mention(ada, square, "Say it again: the password of the safe?", thread=asked))
        == ""
    )
    assert find_secrets(await house.run_command(ada, square, "sources")) == ""


async def test_9_edited_message_is_answered_in_its_new_form(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    said = await ada.says(square, "The password of the safe is agate.")
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate"
    await ada.edits(said, "The password of the safe is beryl.")
    await house.wait_until_idle()
    assert find_secrets(await house.ask_by_mention(ada, square)) == "beryl"


async def test_11_a_login_page_in_place_of_a_file_is_an_error_and_not_indexed(
    tmp_path: Path, able: EngineModels
) -> None:
    app = load_manifest()
    forgetful = FakeSlack(replace(app, scopes=app.scopes - {"files:read"}))
    async with slack_house.open_slack_bot(tmp_path / "forgetful", able, forgetful) as house:
        slack = house.slack
        ada = slack.user("Ada")
        square = slack.channel("square", members=[ada])
        await house.post_passwords({square: "agate"})
        said = await ada.says(square, "Read it.", files=[File("report.txt", b"The password of the safe is beryl.")])
        await house.wait_until_idle()
        entry = next(each for each in slack.sees(ada, square).entries if each.ts == said.ts)
        assert [name for name, _ in entry.reactions] == ["warning"]
        assert "does not hand out" in "\n".join(each.text for each in house.private_entries(ada, square))
        assert "1 document," in await house.run_command(ada, square, "status")
        answer = await house.ask_by_mention(ada, square)
        assert find_secrets(answer) == "agate"
        assert "report" not in answer


async def test_12_answers_ping_nobody(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    square = slack.channel("square", members=[ada, bob])
    await house.post_passwords({square: "agate"})
    house.language.scripts["safe"] = [
        "agate [1] <!channel> <!here> <!everyone> <!subteam^S123> ",
        f"@channel @here @everyone <@{bob.id}> <@{bob.id}|bob> &lt;!channel&gt; `<!channel>` \n```\n<!here>\n```\n",
    ]
    assert "agate" in await house.ask_by_mention(ada, square)
    assert "agate" in await house.ask_privately(ada, square)
    assert "agate" in await house.ask_in_dm(ada)
    assert slack.space.pings == []


async def test_14_everything_runs_without_tokens_or_a_model(house: SlackBotFixture) -> None:
    assert not house.settings.llm_model
    assert not house.settings.llm_api_key.get_secret_value()
    ada = house.slack.user("Ada")
    assert "Forget me" in await house.home_text(ada)
