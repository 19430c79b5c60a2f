"""Who may read two statements that disagree is told once, privately, at most weekly, and settles it with one press."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.answers.contradictions.notifier import INTERVAL, ContradictionNotifier
from bot.answers.renewal.superseded import SupersessionFinder
from bot.capabilities.contradictions.requests import DismissContradiction, SettleContradiction
from bot.capabilities.results import Completed
from bot.commands.management.table import perform_management
from bot.commands.table import run_command
from bot.errors import NotAllowed, PermissionDenied, PlatformError
from bot.platform.events import CommandInvoked
from bot.platform.models import Card, Location, Person
from bot.store import Subject
from bot.store.review.experts import Expert
from bot.store.schedules.contradictions import INTERVAL as PERSONAL_INTERVAL
from engine.errors import InvalidQuestion, NotFound
from tests.bot.answers.renewal.test_renewer import renew
from tests.bot.commands.conftest import RecordingAnswers, Workspace
from tests.support.bot_fixture import BotFixture, run_before
from tests.support.clock import ManualClock
from tests.support.fake_platform import RecordedReply

TOWN = Location("slack", "T1", "")
FIRST, SECOND = "The staging database listens on port 5433.", "The staging database listens on port 5434."


def notifier(bot: BotFixture, days: float = 0.0) -> ContradictionNotifier:
    clock = ManualClock(bot.platform.current_time() + timedelta(days=days, minutes=1))
    return ContradictionNotifier(replace(bot.context, clock=clock))


def told(bot: BotFixture, person: str) -> list[RecordedReply]:
    return [reply for reply in bot.platform.replies if reply.target.location.channel == f"D{person}"]


async def disagree(bot: BotFixture, *readers: str) -> tuple[Location, Location]:
    """Ada and Bob say different things, in an open channel and in a closed one of Bob and these readers."""
    yard = await bot.join("YARD", "ada", "bob")
    vault = await bot.join("VAULT", "bob", *readers, kind="closed")
    await bot.post_indexed(yard, "ada", FIRST)
    await bot.post_indexed(vault, "bob", SECOND)
    return yard, vault


async def test_both_authors_who_may_read_both_are_told_once_with_both_cited(bot: BotFixture) -> None:
    await disagree(bot, "ada")
    for _ in range(2):
        assert await notifier(bot).search(TOWN)
    for person in ("ada", "bob"):
        [reply] = told(bot, person)
        assert FIRST in reply.text
        assert SECOND in reply.text
        assert reply.closing is not None
        assert [button.label for button in reply.closing.buttons] == [
            *("✓ 5433", "✓ 5434", "Both are right", "Stop asking me")
        ]
        assert len(reply.closing.sources) == 2


async def test_if_an_author_may_not_read_both_only_experts_and_managers_who_may_are_told(bot: BotFixture) -> None:
    _, vault = await disagree(bot, "cleo", "dan")
    assert await notifier(bot).search(TOWN)
    assert [told(bot, person) for person in ("ada", "bob", "cleo", "dan")] == [[], [], [], []]
    await bot.store.experts.add(Expert(vault, "cleo", "databases"))
    await bot.store.experts.add(Expert(vault, "ada", "databases"))
    attic = await bot.join("ATTIC", "dan", kind="closed")
    await bot.store.experts.add(Expert(attic, "dan", "gardens"))  # who reads both, but may not decide
    assert await notifier(bot).search(TOWN)
    assert [len(told(bot, person)) for person in ("ada", "bob", "cleo", "dan")] == [0, 0, 1, 0]


async def test_who_lost_access_right_before_it_is_posted_is_told_nothing(bot: BotFixture) -> None:
    _, vault = await disagree(bot, "ada")

    async def leave() -> None:
        bot.change_channel(vault, members=frozenset({"bob"}))

    run_before(bot.platform, "open_direct", leave)
    await notifier(bot).search(TOWN)
    assert [SECOND in each.text for each in told(bot, "ada")] in ([], [False])


async def test_a_person_is_told_of_one_a_week(bot: BotFixture) -> None:
    yard, vault = await disagree(bot, "ada")
    await bot.post_indexed(yard, "ada", "The mail relay has 16 GB of memory.")
    await bot.post_indexed(vault, "bob", "The mail relay has 32 GB of memory.")
    days = PERSONAL_INTERVAL.days
    counts = []
    for later in (0, 1, days - 1, days + 1, 2 * days + 2):
        await notifier(bot, later).search(TOWN)
        counts.append(len(told(bot, "ada")))
    assert counts == [1, 1, 1, 2, 2]


async def test_a_message_that_could_not_be_posted_is_posted_once_later(bot: BotFixture) -> None:
    await disagree(bot, "ada")
    bot.platform.fail_after("finish", 0, PlatformError("busy"))
    assert not await notifier(bot).search(TOWN)
    bot.platform.failing.clear()
    for _ in range(2):
        assert await notifier(bot).search(TOWN)
    assert [len([each for each in told(bot, person) if each.closing]) for person in ("ada", "bob")] == [1, 1]


async def test_a_process_that_ended_after_it_posted_does_not_post_again(bot: BotFixture) -> None:
    await disagree(bot, "ada")

    async def end() -> None:
        raise KeyboardInterrupt

    ended = notifier(bot)
    run_before(bot.store.contradictions, "finish_telling", end)
    with pytest.raises(KeyboardInterrupt):
        await ended.search(TOWN)
    await notifier(bot).search(TOWN)
    assert [len(told(bot, person)) for person in ("ada", "bob")] == [1, 1]


async def test_a_person_who_accepts_no_direct_messages_is_tried_once(bot: BotFixture) -> None:
    await disagree(bot, "ada")
    bot.platform.fail_after("open_direct", 0, PermissionDenied("no direct messages"))
    assert await notifier(bot).search(TOWN)
    known = await bot.store.contradictions.find_person(TOWN, "ada")
    assert len(known.told) == 1


async def test_it_is_searched_once_a_day_and_never_where_it_is_off(bot: BotFixture) -> None:
    await disagree(bot, "ada")
    for days, count in ((0, 0), (INTERVAL.days + 0.1, 1)):
        await notifier(bot, days).run_due()
        assert len(told(bot, "ada")) == count
    off = replace(bot.with_settings(contradictions="off"), clock=ManualClock(bot.platform.current_time()))
    run_before(bot.engine, "retrieve", lambda: pytest.fail("it searched"))
    await ContradictionNotifier(off).run_due()


async def test_with_a_source_goes_what_was_said_of_it(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    barn = await bot.join("BARN", "ada", "bob")
    await bot.post_indexed(yard, "ada", FIRST)
    message = await bot.post_indexed(barn, "bob", SECOND)
    await notifier(bot).search(TOWN)
    await bot.delete(message)
    await renew(bot)
    [reply] = told(bot, "ada")
    assert "5434" not in reply.text
    assert "contradictions` shows what is current" in reply.text
    assert (await bot.store.contradictions.find_person(TOWN, "ada")).told == frozenset()


async def test_a_message_that_agrees_with_one_of_both_leaves_the_question(bot: BotFixture) -> None:
    yard, barn = [await bot.join(channel, "ada", "bob") for channel in ("YARD", "BARN")]
    await bot.post_indexed(yard, "ada", FIRST)
    await bot.post_indexed(barn, "bob", SECOND)
    await notifier(bot).search(TOWN)
    newer = await bot.post_indexed(yard, "ada", "Correction: the staging database listens on port 5434, not on 5433.")
    await SupersessionFinder(bot.context).check(newer)
    await renew(bot)
    assert "Which one is right?" in told(bot, "ada")[0].text.splitlines()[0]


async def test_what_a_kill_left_in_a_message_goes_once_its_reader_may_not_read_it(bot: BotFixture) -> None:
    async def end() -> None:
        raise KeyboardInterrupt

    _, vault = await disagree(bot, "ada")
    run_before(bot.store.answers, "finish", end)
    with pytest.raises(KeyboardInterrupt):
        await notifier(bot).search(TOWN)
    assert SECOND in told(bot, "ada")[0].text
    bot.change_channel(vault, members=frozenset({"bob"}))
    await notifier(bot).search(TOWN)
    assert SECOND not in told(bot, "ada")[0].text


async def test_who_uses_forget_me_is_known_no_more(bot: BotFixture) -> None:
    await disagree(bot, "ada")
    await notifier(bot).search(TOWN)
    await bot.forget_person("ada")
    assert (await bot.store.contradictions.find_person(TOWN, "ada")).last is None


async def press(bot: BotFixture, person: str, number: int) -> str:
    """Press a button of what a person was told; what the bot says to that."""
    [reply] = told(bot, person)
    assert reply.closing is not None
    _, id_, *side = reply.closing.buttons[number].value.split()
    request = SettleContradiction(id_, side[0]) if side else DismissContradiction(id_)  # type: ignore[arg-type]
    workspace = Workspace(bot, bot.context, RecordingAnswers())
    results = perform_management(workspace, Subject("slack", "T1", person), request)  # type: ignore[arg-type]
    [done] = [each async for each in results]
    assert isinstance(done, Completed)
    return done.text


async def test_one_press_makes_a_verified_answer_that_only_its_own_readers_get(bot: BotFixture) -> None:
    yard, vault = await disagree(bot, "ada")
    await notifier(bot).search(TOWN)
    assert "from now on" in await press(bot, "bob", 1)
    [verified] = await bot.store.verified_answers.list_in_room(vault.room)
    assert verified.question == "The staging database listens on port …?"
    assert verified.text.replace("\\", "") == f"{SECOND} [1]"
    assert await bot.store.verified_answers.list_in_room(yard.room) == []
    keys = {f"{yard.room}:message:{message.id}" for message in bot.platform.messages}
    [(_, room)] = await bot.store.contradictions.list_wrong(keys)
    assert room == vault.room
    with pytest.raises(NotFound):
        await press(bot, "ada", 0)
    await notifier(bot, 30).search(TOWN)
    assert len(told(bot, "ada")) == 1


async def notice_below(bot: BotFixture, place: Location, person: str) -> str:
    reply = await bot.ask(place, person, "On which port does the staging database listen?")
    assert reply.closing is not None
    return reply.closing.notice


async def test_a_wrong_statement_is_marked_where_the_right_one_may_be_read_and_while_it_is_verified(
    bot: BotFixture,
) -> None:
    yard, vault = await disagree(bot, "ada")
    barn = await bot.join("BARN", "ada", "bob")
    await notifier(bot).search(TOWN)
    await press(bot, "ada", 0)  # what was said in the open
    assert "marked" in await notice_below(bot, vault, "ada")
    assert "marked" not in await notice_below(bot, barn, "ada")  # there the wrong one is not cited
    [verified] = await bot.store.verified_answers.list_in_room(yard.room)
    assert await bot.store.verified_answers.delete(verified.id, yard.room)
    assert "marked" not in await notice_below(bot, vault, "ada")
    await press(bot, "bob", 1)  # what was said behind closed doors
    assert "marked" not in await notice_below(bot, yard, "ada")


async def test_of_two_who_decide_at_once_one_does(bot: BotFixture) -> None:
    yard, vault = await disagree(bot, "ada")
    await notifier(bot).search(TOWN)
    done = await asyncio.gather(press(bot, "ada", 0), press(bot, "bob", 1), return_exceptions=True)
    assert {type(each) for each in done} == {str, NotFound}
    kept = [each for room in (yard, vault) for each in await bot.store.verified_answers.list_in_room(room.room)]
    assert len(kept) == 1


async def test_what_could_not_be_verified_is_open_again(bot: BotFixture) -> None:
    await disagree(bot, "ada")
    await notifier(bot).search(TOWN)

    async def fail() -> None:
        raise InvalidQuestion("Unclear.")

    run_before(bot.store.verified_answers, "save", fail)
    with pytest.raises(InvalidQuestion):
        await press(bot, "ada", 0)
    assert "from now on" in await press(bot, "bob", 1)


async def test_a_message_that_was_cut_short_goes_with_its_source(bot: BotFixture) -> None:
    await disagree(bot, "ada")

    async def end() -> None:
        raise KeyboardInterrupt

    ended = notifier(bot)
    run_before(bot.store.answers, "finish", end)
    with pytest.raises(KeyboardInterrupt):
        await ended.search(TOWN)
    assert SECOND in told(bot, "ada")[0].text
    await bot.delete(next(each for each in bot.platform.messages if each.text == SECOND))
    await notifier(bot).search(TOWN)
    assert SECOND not in told(bot, "ada")[0].text
    assert told(bot, "bob") == []


async def test_after_an_edit_a_person_is_told_anew_a_week_later(bot: BotFixture) -> None:
    await disagree(bot, "ada")
    await notifier(bot).search(TOWN)
    await bot.edit(next(each for each in bot.platform.messages if each.text == SECOND), SECOND + " Cheers.")
    await bot.engine.wait_until_indexed()
    await bot.correct_answers()
    counts = []
    for days in (1, PERSONAL_INTERVAL.days + 1):
        await notifier(bot, days).search(TOWN)
        counts.append([len(told(bot, person)) for person in ("ada", "bob")])
    assert counts == [[1, 1], [2, 2]]
    assert "5434" in told(bot, "ada")[1].text


async def test_a_bot_is_told_nothing(bot: BotFixture) -> None:
    bot.platform.people["bob"] = Person("bob", "Bob", is_bot=True)
    await disagree(bot, "ada")
    assert await notifier(bot).search(TOWN)
    assert told(bot, "bob") == []


async def test_who_wants_none_is_told_none_until_they_do(bot: BotFixture) -> None:
    yard, _ = await disagree(bot, "ada")
    workspace = Workspace(bot, bot.context, RecordingAnswers())
    for words, count in (("off", 0), ("on", 1)):
        invoked = CommandInvoked("c", yard, "ada", "contradictions", words, time=bot.platform.current_time())
        assert isinstance(await run_command(workspace, invoked), Card)  # type: ignore[arg-type]
        kinds = [record["kind"] for record in await bot.store.personal.list("slack", "T1", "ada")]
        assert kinds.count("contradictions_off") == 1 - count
        await notifier(bot).search(TOWN)
        assert [len(told(bot, person)) for person in ("ada", "bob")] == [count, 1]


async def test_what_is_dismissed_is_mentioned_no_more(bot: BotFixture) -> None:
    yard, _ = await disagree(bot, "ada")
    await notifier(bot).search(TOWN)
    await press(bot, "ada", 2)
    workspace = Workspace(bot, bot.context, RecordingAnswers())
    invoked = CommandInvoked("c", yard, "ada", "contradictions", "", time=bot.platform.current_time())
    card = await run_command(workspace, invoked)  # type: ignore[arg-type]
    assert isinstance(card, Card)
    assert "no statements" in card.text


async def test_who_wrote_none_of_them_and_reviews_nothing_decides_nothing(bot: BotFixture) -> None:
    yard, _ = await disagree(bot, "ada", "cleo")
    await notifier(bot).search(TOWN)
    workspace = Workspace(bot, bot.context, RecordingAnswers())

    async def call(person: str, words: str = "") -> Card:
        invoked = CommandInvoked("c", yard, person, "contradictions", words, time=bot.platform.current_time())
        card = await run_command(workspace, invoked)  # type: ignore[arg-type]
        assert isinstance(card, Card)
        return card

    listed = await call("cleo")
    assert SECOND in listed.text.replace("\\", "")
    assert "no statements" in (await call("dan")).text
    id_ = listed.buttons[-1].value.split()[-1]
    results = perform_management(workspace, Subject("slack", "T1", "cleo"), DismissContradiction(id_))  # type: ignore[arg-type]
    with pytest.raises(NotAllowed):
        await anext(results)
