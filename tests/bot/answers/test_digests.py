"""Digests come when they are due, once, in the channel's thread or in direct messages, and only if there is news."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.answers.digests import MAX_WAIT, DigestWriter
from bot.commands.table import run_command
from bot.errors import ChannelGone, NotAllowed, PermissionDenied, PlatformError, PlatformUnavailable
from bot.platform.events import CommandInvoked
from bot.platform.models import Card, Location, Person
from bot.store.schedules.digests import Digest
from engine import Clock
from tests.support.bot_fixture import BotFixture, run_before, with_settings
from tests.support.clock import ManualClock
from tests.support.fake_platform import START


async def schedule(bot: BotFixture, place: Location, **changes: Any) -> Digest:
    digest = Digest(place, "ada", False, "daily 09:00 UTC", START, START + timedelta(hours=23))
    digest = Digest(**{name: changes.get(name, getattr(digest, name)) for name in digest.__slots__})
    await bot.store.digests.save(digest)
    return digest


def writer(bot: BotFixture, hours: float) -> DigestWriter:
    return writer_at(bot, ManualClock(START + timedelta(hours=hours)))


def writer_at(bot: BotFixture, clock: Clock) -> DigestWriter:
    return DigestWriter(replace(bot.context, clock=clock), bot.answer_service)


def headings(bot: BotFixture, place: Location) -> list[str]:
    return [card.text for where, card in bot.platform.posts if where == place and "Digest" in card.text]


async def test_a_due_digest_is_posted_in_a_thread_and_is_due_again(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await schedule(bot, roof)
    await writer(bot, 22).write_due()
    assert bot.platform.replies == []
    await writer(bot, 23).write_due()
    [heading] = headings(bot, roof)
    assert heading == "**Digest.** What is new in this channel, from 2026-11-20 10:00 UTC to 2026-11-21 09:00 UTC:"
    [reply] = bot.platform.replies
    assert "the tiles are red" in reply.text
    assert reply.target.location.thread == reply.target.message != ""
    found = await bot.store.digests.get(roof.room)
    assert found is not None
    assert (found.since, found.due_at, found.posted) == (
        START + timedelta(hours=23),
        START + timedelta(hours=47),
        "",
    )
    await writer(bot, 23.5).write_due()
    assert len(bot.platform.replies) == 1


async def test_without_news_there_is_no_digest(bot: BotFixture) -> None:
    roof, hall = await bot.join("ROOF", "ada"), await bot.join("HALL", "ada")
    await bot.post_indexed(hall, "ada", "The kettle boils.")
    await schedule(bot, roof)
    await writer(bot, 24).write_due()
    assert bot.platform.replies == []
    found = await bot.store.digests.get(roof.room)
    assert found is not None
    assert found.due_at == START + timedelta(hours=47)


async def test_a_personal_digest_has_what_the_person_can_read_and_nothing_else(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada", "bob")
    vault = await bot.join("VAULT", "bob", kind="closed")
    await bot.post_indexed(roof, "bob", "The tiles are red today.")
    await bot.post_indexed(vault, "bob", "The secret key is under the mat.")
    direct = await bot.platform.open_direct("T1", "ada")
    await schedule(bot, direct, personal=True)
    await writer(bot, 24).write_due()
    [reply] = bot.platform.replies
    assert "tiles are red" in reply.text
    assert "secret" not in reply.text
    assert reply.target.location.channel == direct.channel


async def test_a_digest_that_was_interrupted_goes_on_below_the_same_message(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await schedule(bot, roof)
    bot.platform.fail_after("finish", 0, PlatformError("busy"))
    await writer(bot, 24).write_due()
    bot.platform.failing.clear()
    await writer(bot, 24.1).write_due()
    assert [bool(reply.closing) for reply in bot.platform.replies] == [False]
    await writer(bot, 24.5).write_due()
    assert len(headings(bot, roof)) == 1
    assert [bool(reply.closing) for reply in bot.platform.replies] == [True]


async def test_after_a_crash_the_next_digest_begins_where_the_finished_one_ended(bot: BotFixture) -> None:
    """The process ended after the digest was posted, before that was recorded, and started three hours later."""
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await schedule(bot, roof)
    await writer(bot, 23).write_due()
    [reply] = bot.platform.replies
    await schedule(bot, roof, posted=reply.target.message)
    await writer(bot, 26).write_due()
    assert bot.platform.replies == [reply]
    found = await bot.store.digests.get(roof.room)
    assert found is not None
    assert (found.since, found.posted) == (START + timedelta(hours=23), "")


async def test_the_digest_of_a_channel_that_is_gone_ends(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await schedule(bot, roof)
    bot.platform.fail_after("post", 0, ChannelGone("deleted"))
    await writer(bot, 24).write_due()
    assert await bot.store.digests.get(roof.room) is None


async def test_what_is_said_while_a_digest_is_written_comes_with_the_next(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await schedule(bot, roof)
    clock = ManualClock(START + timedelta(hours=23))

    async def take_long() -> None:
        clock.advance(300)

    run_before(bot.answer_service, "answer", take_long)
    await writer_at(bot, clock).write_due()
    found = await bot.store.digests.get(roof.room)
    assert found is not None
    assert (found.since, found.due_at) == (START + timedelta(hours=23), START + timedelta(hours=47))


async def refuse(bot: BotFixture, place: Location, until_ended: int) -> list[float]:
    """Let a digest fail until it is ended, at most this often; the minutes between the attempts."""
    clock, pauses = ManualClock(START + timedelta(hours=23)), list[float]()
    for _ in range(until_ended):
        await writer_at(bot, clock).write_due()
        found = await bot.store.digests.get(place.room)
        if found is None:
            break
        pause = found.due_at - clock.now()
        pauses.append(pause / timedelta(minutes=1))
        clock.advance(pause.total_seconds())
    return pauses


async def test_a_digest_that_is_refused_for_hours_ends_and_who_scheduled_it_learns_why(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await schedule(bot, roof)
    refuse_in(bot, roof)
    assert await refuse(bot, roof, 50) == [10, 20, 40, 80, 160]
    assert await bot.store.digests.get(roof.room) is None
    place, card = bot.platform.posts[-1]
    assert place.channel == "Dada"
    assert card.text == (
        "I ended the digest of #roof, daily 09:00 UTC, because I'm not allowed to do that in #roof."
        " An admin can check my permissions there. Schedule it again once that is solved."
    )


async def test_a_digest_is_not_ended_because_a_platform_is_away(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await schedule(bot, roof)
    bot.platform.fail_after("post", 0, PlatformUnavailable("busy"))
    assert (await refuse(bot, roof, 9))[-3:] == [360, 360, 360]
    bot.platform.failing.clear()
    await writer(bot, 23 + 24 * 7).write_due()
    found = await bot.store.digests.get(roof.room)
    assert found is not None
    assert found.failures == 0


async def test_the_end_of_a_digest_does_not_name_a_channel_to_who_left_it(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "bob", kind="closed")
    await bot.post_indexed(vault, "bob", "We decided that the key is under the mat.")
    await schedule(bot, vault)
    refuse_in(bot, vault)
    await refuse(bot, vault, 50)
    _, card = bot.platform.posts[-1]
    assert card.text.startswith("I ended the digest of a channel, daily 09:00 UTC,")


def refuse_in(bot: BotFixture, refused: Location) -> None:
    """Let the platform refuse messages in one channel."""
    post = bot.platform.post

    async def refuse_or_post(place: Location, card: Card) -> str:
        if place.channel == refused.channel:
            raise PermissionDenied("Slack refuses it: not in the channel.")
        return await post(place, card)

    bot.platform.post = refuse_or_post  # type: ignore[method-assign]


async def test_a_digest_waits_until_it_is_known_who_can_read_it(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    direct = await bot.platform.open_direct("T1", "ada")
    await schedule(bot, direct, personal=True)
    since = bot.context.audience.suspend(Location("slack", "T1", ""))
    await writer(bot, 23).write_due()
    assert headings(bot, direct) == []
    bot.context.audience.resume(Location("slack", "T1", ""), since)
    await writer(bot, 24).write_due()
    [reply] = bot.platform.replies
    assert "tiles are red" in reply.text


async def test_a_digest_that_fails_unexpectedly_does_not_hold_up_others(bot: BotFixture) -> None:
    roof, hall = await bot.join("ROOF", "ada"), await bot.join("HALL", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await bot.post_indexed(hall, "ada", "We decided that the kettle is new.")
    await schedule(bot, roof, due_at=START)
    await schedule(bot, hall)

    async def fail() -> None:
        raise ValueError("a bug")

    run_before(bot.answer_service, "answer", fail)
    await writer(bot, 23).write_due()
    [reply] = bot.platform.replies
    assert "kettle" in reply.text


async def call(bot: BotFixture, place: Location, words: str, person: str = "ada") -> str:
    async with bot.run_bot() as running:
        card = await run_command(running.dispatcher, CommandInvoked("c1", place, person, "digest", words, time=START))
    assert card is not None
    return card.text


async def test_managers_schedule_the_digest_of_a_channel_and_end_it(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada", "bob")
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    assert "This channel has no digest" in await call(bot, roof, "", "bob")
    assert "weekly monday 09:00 Europe/Berlin, next on 2026-11-23 09:00 Europe/Berlin" in await call(
        bot, roof, "weekly monday 9:00 Europe/Berlin"
    )
    assert "weekly monday" in await call(bot, roof, "", "bob")
    with pytest.raises(NotAllowed):
        await call(bot, roof, "off", "bob")
    assert await call(bot, roof, "off") == "There will be no more digests here."
    assert await bot.store.digests.get(roof.room) is None


async def test_everyone_schedules_their_own(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada", "bob")
    assert "You get no digest" in await call(bot, roof, "me", "bob")
    assert "comes daily 08:00 UTC, in direct messages" in await call(bot, roof, "me daily 8", "bob")
    assert await bot.store.digests.get(roof.room) is None
    assert await bot.store.digests.get((await bot.platform.open_direct("T1", "bob")).room)


@pytest.mark.parametrize("error", [None, PlatformError("Slack is away.")], ids=["written", "failed"])
async def test_a_digest_that_is_ended_while_it_is_written_stays_ended(
    bot: BotFixture, error: PlatformError | None
) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    await schedule(bot, roof)

    async def end() -> None:
        await bot.store.digests.delete(roof.room)
        if error is not None:
            raise error

    run_before(bot.answer_service, "answer", end)
    await writer(bot, 23).write_due()
    assert await bot.store.digests.get(roof.room) is None


async def test_a_digest_of_a_workspace_that_another_process_serves_is_left_to_it(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    digest = await schedule(bot, roof)
    bot.platform.unserved = {"T1"}
    await writer(bot, 23).write_due()
    assert await bot.store.digests.get(roof.room) == digest
    assert headings(bot, roof) == []


async def test_who_is_forgotten_gets_no_more_digests(bot: BotFixture) -> None:
    direct = await bot.platform.open_direct("T1", "ada")
    await schedule(bot, direct, personal=True)
    await bot.forget_person("ada")
    assert await bot.store.digests.get(direct.room) is None


async def test_who_is_forgotten_is_not_named_by_the_digest_of_a_channel_which_still_comes(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada", "bob")
    await bot.post_indexed(roof, "bob", "We decided that the tiles are red.")
    await schedule(bot, roof)
    await bot.forget_person("ada")
    found = await bot.store.digests.get(roof.room)
    assert found is not None
    assert found.person == ""
    await writer(bot, 23).write_due()
    [reply] = bot.platform.replies
    assert "the tiles are red" in reply.text
    found = await bot.store.digests.get(roof.room)
    assert found is not None
    assert found.due_at == START + timedelta(hours=47)


@with_settings(questions_per_minute=1)
async def test_a_digest_is_no_question_of_the_person_who_scheduled_it(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    await bot.post_indexed(roof, "bob", "We decided that the tiles are red.")
    await schedule(bot, roof)
    await writer(bot, 23).write_due()
    assert "red" in (await bot.ask(roof, "ada", "What color are the tiles?")).text
    assert bot.platform.private_messages == []


async def test_a_time_without_a_zone_is_in_the_zone_of_the_person(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True, time_zone="America/New_York")
    assert "comes daily 09:00 America/New_York, next on 2026-11-20 09:00 America/New_York" in await call(
        bot, roof, "daily 9:00"
    )
    assert "daily 09:00 UTC, next on 2026-11-21 09:00 UTC" in await call(bot, roof, "daily 9:00 UTC")


async def test_nothing_is_left_out_when_a_digest_is_scheduled_at_another_time(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    before = START - timedelta(days=3)
    await schedule(bot, roof, since=before, schedule="weekly monday 09:00 UTC")
    await call(bot, roof, "daily 9:00")
    found = await bot.store.digests.get(roof.room)
    assert found is not None
    assert (found.schedule, found.since) == ("daily 09:00 UTC", before)


@pytest.mark.parametrize("personal", [False, True])
async def test_a_digest_waits_for_messages_that_were_missed_but_not_for_ever(
    bot: BotFixture, *, personal: bool
) -> None:
    roof, hall = await bot.join("ROOF", "ada"), await bot.join("HALL", "ada")
    await bot.post_indexed(roof, "ada", "We decided that the tiles are red.")
    place = await bot.platform.open_direct("T1", "ada") if personal else roof
    await schedule(bot, place, personal=personal)
    pending, clock = {roof, Location("slack", "T2", "ROOF")}, ManualClock(START + timedelta(hours=23))
    context = replace(bot.context, clock=clock)
    digests = DigestWriter(context, bot.answer_service, pending_syncs=lambda: pending)
    await digests.write_due()
    assert headings(bot, place) == []
    pending -= {roof}
    pending |= set() if personal else {hall}
    await digests.write_due()
    assert len(headings(bot, place)) == 1

    pending |= {roof}
    await schedule(bot, place, personal=personal)
    await digests.write_due()
    clock.advance(MAX_WAIT.total_seconds())
    assert len(headings(bot, place)) == 1
    await digests.write_due()
    assert len(headings(bot, place)) == 2
