"""Who may ask in a channel: managers, others as its settings say, and nobody whose groups are unknown."""

from __future__ import annotations

import pytest

from bot import texts
from bot.answers.question import request_from_command
from bot.errors import PlatformError
from bot.permissions.askers import AskerPolicy, list_groups, list_people, parse_mentions
from bot.platform.events import QuestionAsked
from bot.platform.models import Person
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF
from tests.support.fake_platform import START

ASKED = "When do the Tiles come?"
pytestmark = pytest.mark.usefixtures("tiles")


@pytest.fixture(autouse=True)
def _people(bot: BotFixture) -> None:
    people = (Person("ada", "Ada", is_manager=True), Person("gus", "Gus", is_guest=True), Person("eve", "Eve"))
    bot.platform.people |= {person.id: person for person in people}
    bot.platform.groups["G1"] = {"eve"}


@pytest.mark.parametrize(
    ("askers", "allowed", "refusal"),
    [
        ("", {"ada", "bob", "eve", "gus"}, ""),
        ("members", {"ada", "bob", "eve"}, texts.GUESTS_MAY_NOT_ASK),
        ("managers", {"ada"}, texts.ONLY_MANAGERS_ASK),
        ("<@bob>", {"ada", "bob"}, texts.ONLY_SOME_ASK),
        ("<@gus> <!subteam^G1>", {"ada", "gus", "eve"}, texts.ONLY_SOME_ASK),
        ("<@&G1>", {"ada", "eve"}, texts.ONLY_SOME_ASK),
        ("<@&GONE>", {"ada"}, texts.ONLY_SOME_ASK),
        ("friends", {"ada"}, texts.ONLY_SOME_ASK),  # a value of another version
    ],
)
async def test_a_channel_says_who_may_ask(bot: BotFixture, askers: str, allowed: set[str], refusal: str) -> None:
    await bot.save_settings(ROOF, askers=askers)
    policy = AskerPolicy(bot.store, bot.context.audience)
    refusals = {person: await policy.find_refusal(ROOF, person) for person in ("ada", "bob", "eve", "gus")}
    assert refusals == {person: "" if person in allowed else refusal for person in refusals}


async def test_everyone_may_ask_in_a_channel_without_settings(bot: BotFixture) -> None:
    assert await AskerPolicy(bot.store, bot.context.audience).find_refusal(ROOF, "gus") == ""


def test_so_many_are_remembered_as_told_and_then_none(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.permissions.askers.MAX_NOTIFIED", 2)
    policy = AskerPolicy(bot.store, bot.context.audience)
    assert [policy.was_told(ROOF, person) for person in ("ada", "bob", "ada", "eve", "ada")] == [
        *(False, False, True),
        *(False, False),
    ]


async def test_a_failed_lookup_lets_nobody_ask(bot: BotFixture) -> None:
    await bot.save_settings(ROOF, askers="<@&G1>")
    bot.platform.failing["group"] = PlatformError("busy")
    with pytest.raises(PlatformError):
        await bot.ask(ROOF, "eve", ASKED)
    assert bot.platform.replies == []


async def test_a_refused_asker_is_told_once_and_each_time_by_a_command(bot: BotFixture) -> None:
    await bot.save_settings(ROOF, askers="managers")
    for _ in range(2):
        await bot.answer(bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}"))
    for id_ in ("c1", "c2"):
        asked = QuestionAsked(id_, ROOF, "bob", ASKED, START, handle="h")
        await bot.answer_service.answer(request_from_command(asked))
    told = [(target.person, card.text) for target, card in bot.platform.private_messages]
    assert told == [("bob", texts.ONLY_MANAGERS_ASK)] * 3
    assert bot.platform.replies == []
    assert bot.language.prompts == []
    assert (await bot.ask(ROOF, "ada", ASKED)).closing is not None


def test_mentions_are_kept_without_labels_and_nothing_else_is() -> None:
    kept = parse_mentions("<@U1|ada>, <@!22> <!subteam^S1|@crew> <@&5> <@U1>")
    assert kept == "<@U1> <@!22> <!subteam^S1> <@&5>"
    assert (list_people(kept), list_groups(kept)) == (("U1", "22"), ("S1", "5"))
    assert parse_mentions("<@U1> and Bob") == ""
    assert parse_mentions("<#C1>") == ""
