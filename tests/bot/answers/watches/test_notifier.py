"""People are told privately of what they wait for: once, with the message cited, and only what they may read."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.answers.renewal.superseded import SupersessionFinder
from bot.answers.watches import notifier as notifier_module
from bot.answers.watches.notifier import QUIET_SECONDS, WatchNotifier
from bot.commands.table import run_command
from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import CommandInvoked
from bot.platform.models import Card, Location
from bot.store import FileRecord
from bot.store.schedules.watches import Watch
from engine.errors import ModelError, ModelUnavailable
from engine.llm.base import EventRequest
from engine.llm.offline.points.watched import WatchKind
from engine.usage import Usage, UsageMeter
from tests.bot.commands.conftest import RecordingAnswers, Workspace
from tests.support.bot_fixture import BotFixture, open_bot, run_before
from tests.support.canned_language import CannedLanguage
from tests.support.clock import ManualClock
from tests.support.fake_platform import RecordedReply


async def watch(bot: BotFixture, person: str, kind: WatchKind, subject: str) -> Watch:
    kept = Watch(f"{person}-{subject[:4]}", "slack", "T1", person, kind, subject, bot.platform.current_time())
    assert await bot.store.watches.add(kept, 20)
    return kept


def notifier(bot: BotFixture, seconds: float = QUIET_SECONDS) -> WatchNotifier:
    later = bot.platform.current_time() + timedelta(seconds=seconds)
    return WatchNotifier(replace(bot.context, clock=ManualClock(later)))


async def run(bot: BotFixture) -> None:
    """Compare what is noted, and tell it after a pause."""
    await notifier(bot, 0.0).compare()
    await notifier(bot, QUIET_SECONDS + 60).tell()


def told(bot: BotFixture, person: str) -> list[RecordedReply]:
    return [reply for reply in bot.platform.replies if reply.target.location.channel == f"D{person}"]


class JudgingLanguage(CannedLanguage):
    """Judges messages as it is told to."""

    def __init__(self, verdict: bool | ModelError) -> None:  # noqa: FBT001 - what it is
        super().__init__()
        self.verdict, self.judged = verdict, list[EventRequest]()

    async def judge_event(self, request: EventRequest, meter: UsageMeter) -> bool:
        self.judged.append(request)
        meter.record(Usage("condense", self.name, input_tokens=50, output_tokens=5))
        if isinstance(self.verdict, ModelError):
            raise self.verdict
        return self.verdict


@pytest.mark.parametrize(
    ("verdict", "is_told"), [(True, True), (False, False), (ModelUnavailable("It is down."), True)]
)
async def test_a_model_that_judges_has_the_last_word_unless_it_fails(
    tmp_path: Path, *, verdict: bool | ModelError, is_told: bool
) -> None:
    language = JudgingLanguage(verdict)
    async with open_bot(tmp_path / "home", language=language) as bot:
        yard = await bot.join("YARD", "ada", "bob")
        await watch(bot, "ada", "decided", "orchard fence")
        await bot.post(yard, "bob", "We decided to paint the orchard fence green.")
        await run(bot)
        assert [bool(told(bot, "ada")), language.judged[0].awaited] == [is_told, "a decision about orchard fence"]


async def test_what_was_begun_is_not_judged_again(tmp_path: Path) -> None:
    language = JudgingLanguage(verdict=True)
    async with open_bot(tmp_path / "home", language=language) as bot:
        yard = await bot.join("YARD", "ada", "bob")
        await watch(bot, "ada", "decided", "orchard fence")
        await bot.post(yard, "bob", "We decided to paint the orchard fence green.")
        bot.platform.fail_after("finish", 0, PlatformError("busy"))
        await run(bot)
        bot.platform.failing.clear()
        language.verdict = False
        await notifier(bot, 3600).tell()
        assert "orchard fence green" in told(bot, "ada")[-1].text
        assert len(language.judged) == 1


async def test_a_decision_about_the_subject_is_told_once_with_the_message_cited(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "decided", "orchard fence")
    await bot.post(yard, "bob", "Shall we paint the orchard fence?")
    message = await bot.post(yard, "bob", "We decided to paint the orchard fence green.")
    for _ in range(2):
        await run(bot)
    [reply] = told(bot, "ada")
    assert reply.text.splitlines()[0] == "**Decided: orchard fence**"
    assert "We decided to paint the orchard fence green." in reply.text
    assert bot.platform.message_link(yard, message.id) in reply.text
    assert reply.closing is not None
    assert [button.label for button in reply.closing.buttons][-1] == "Stop telling me"


async def test_a_burst_is_told_in_one_message(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    for text in ("The kettle leaks.", "Who repairs the kettle?"):
        await bot.post(yard, "bob", text, after=1.0)
    await notifier(bot, 0.0).compare()
    await notifier(bot, 1.0).tell()
    assert told(bot, "ada") == []
    await run(bot)
    [reply] = told(bot, "ada")
    assert reply.text.count("kettle") == 3


async def test_nothing_is_noted_without_a_standing_request(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await bot.post(yard, "bob", "The kettle leaks.")
    assert await bot.store.watches.list_candidates(9) == []


async def test_own_and_earlier_messages_are_no_news(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await bot.post(yard, "bob", "The kettle leaks.")
    await watch(bot, "ada", "mentioned", "kettle")
    await bot.post(yard, "ada", "I repair the kettle.")
    await run(bot)
    assert told(bot, "ada") == []


async def test_what_the_person_cannot_read_when_it_is_posted_is_not_told(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "ada", "bob", kind="closed")
    await watch(bot, "ada", "mentioned", "kettle")
    await bot.post(vault, "bob", "The kettle leaks.")
    await notifier(bot, 0.0).compare()
    bot.change_channel(vault, members=frozenset({"bob"}))
    await run(bot)
    assert told(bot, "ada") == []
    assert await bot.store.watches.list_waiting() == []


async def test_who_loses_access_while_a_notice_is_posted_is_not_told(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "ada", "bob", kind="closed")
    await watch(bot, "ada", "mentioned", "kettle")
    await bot.post(vault, "bob", "The kettle leaks.")

    async def leave() -> None:
        bot.change_channel(vault, members=frozenset({"bob"}))

    run_before(bot.store.answers, "begin", leave)
    await run(bot)
    assert "kettle leaks" not in repr(told(bot, "ada"))
    assert await bot.store.watches.list_waiting() == []


async def test_a_message_that_was_deleted_is_not_told_and_one_that_was_told_is_taken_back(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    first = await bot.post(yard, "bob", "The kettle leaks.")
    await notifier(bot, 0.0).compare()
    await bot.delete(first)
    await run(bot)
    assert told(bot, "ada") == []
    second = await bot.post(yard, "bob", "The kettle is new.")
    await run(bot)
    await bot.delete(second)
    await bot.correct_answers()
    [reply] = told(bot, "ada")
    assert "kettle is new" not in reply.text


async def test_an_edit_that_becomes_a_decision_is_told(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "decided", "orchard fence")
    message = await bot.post(yard, "bob", "The orchard fence is old.")
    await run(bot)
    await bot.edit(message, "We decided to sell the orchard fence.")
    await run(bot)
    assert len(told(bot, "ada")) == 1


async def test_an_edit_is_told_also_if_messages_are_compared_while_it_is_stored(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "decided", "orchard fence")
    message = await bot.post(yard, "bob", "The orchard fence is old.")
    await run(bot)
    run_before(bot.engine.documents, "amend", notifier(bot, 0.0).compare)
    await bot.edit(message, "We decided to sell the orchard fence.")
    await run(bot)
    assert len(told(bot, "ada")) == 1


async def share(bot: BotFixture, place: Location, name: str, text: str) -> str:
    """Bob shares a file; gives the key of its document."""
    message = await bot.receive(bot.share(place, bot.platform.add_file(name, text.encode()), author="bob"))
    await bot.ingest_service.files.ingest(message, quiet=True)
    [file] = await bot.store.files.list_by_messages(place.room, [message.id])
    return file.document


MINUTES = "Present: Ada, Bob.\n\nWe decided to paint the orchard fence green.\n\nThe kettle leaks."


@pytest.mark.parametrize(
    ("kind", "subject", "said"),
    [
        ("mentioned", "kettle", "The kettle leaks."),
        ("decided", "orchard fence", "We decided to paint the orchard fence green."),
    ],
)
async def test_what_a_new_file_says_is_told_with_the_file_cited(
    bot: BotFixture, kind: WatchKind, subject: str, said: str
) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await share(bot, yard, "former.txt", MINUTES)
    for person in ("ada", "bob"):  # Bob shares it himself
        await watch(bot, person, kind, subject)
    await share(bot, yard, "minutes.txt", MINUTES)
    for _ in range(2):
        await run(bot)
    [reply] = told(bot, "ada")
    assert told(bot, "bob") == []
    assert said in reply.text
    assert "minutes.txt" in reply.text
    assert "former.txt" not in reply.text


async def test_a_value_that_a_file_replaces_is_told(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await bot.post_indexed(yard, "bob", "The rent of the barn is 600 euros.")
    await watch(bot, "ada", "changed", "rent of the barn")
    await share(bot, yard, "contract.txt", "The rent of the barn is 600 euros.")
    await run(bot)
    assert told(bot, "ada") == []
    await share(bot, yard, "letter.txt", "Your windows are new.\n\nThe rent of the barn is raised to 640 euros.")
    await run(bot)
    assert "640" in told(bot, "ada")[0].text


async def test_a_file_that_cannot_be_read_any_more_is_not_told(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "ada", "bob", kind="closed")
    await watch(bot, "ada", "mentioned", "kettle")
    await share(bot, vault, "minutes.txt", MINUTES)
    await notifier(bot, 0.0).compare()
    bot.change_channel(vault, members=frozenset({"bob"}))
    await run(bot)
    assert told(bot, "ada") == []


async def test_a_file_that_is_forgotten_leaves_no_trace_and_takes_back_what_was_told(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    key = await share(bot, yard, "minutes.txt", MINUTES)
    await run(bot)
    await bot.ingest_service.forget_document(key)
    await bot.correct_answers()
    [reply] = told(bot, "ada")
    assert "kettle leaks" not in reply.text
    database = bot.store.files._database
    for table in ("watch_candidate", "watch_notice"):
        assert await database.fetch_all(f"SELECT message FROM {table}") == []


async def test_a_file_that_is_forgotten_while_it_is_compared_leaves_no_trace(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    key = await share(bot, yard, "minutes.txt", MINUTES)
    run_before(bot.store.watches, "finish_candidate", lambda: bot.ingest_service.forget_document(key))
    await notifier(bot, 0.0).compare()
    for table in ("watch_candidate", "watch_notice"):
        assert await bot.store.files._database.fetch_all(f"SELECT message FROM {table}") == []


async def test_files_that_are_not_stored_yet_hold_up_nothing(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier_module, "MAX_COMPARED", 1)
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    time, watches = bot.platform.current_time(), bot.store.watches
    half = FileRecord("a:file", yard.room, "a", "a", "bob", time)
    await bot.store.files.insert(half)
    await watches.add_candidates(yard.room, [half.document], time)
    assert await watches.list_candidates(1) == []
    await bot.post(yard, "bob", "The kettle leaks.")
    await run(bot)
    assert "kettle leaks" in told(bot, "ada")[0].text
    await bot.store.files.record_applied(half)
    assert [each.message for each in await watches.list_candidates(1)] == [half.document]


@pytest.mark.parametrize("call", ["finish", "open_direct"])
async def test_a_notice_that_could_not_be_posted_is_posted_once_later(bot: BotFixture, call: str) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    await bot.post(yard, "bob", "The kettle leaks.")
    bot.platform.fail_after(call, 0, PlatformError("busy"))
    await run(bot)
    assert await bot.store.watches.list_waiting()
    bot.platform.failing.clear()
    for _ in range(2):
        await run(bot)
    [reply] = told(bot, "ada")
    assert reply.closing is not None


async def test_a_person_who_accepts_no_direct_messages_is_tried_once(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    await bot.post(yard, "bob", "The kettle leaks.")
    bot.platform.fail_after("finish", 0, PermissionDenied("no direct messages"))
    await run(bot)
    assert await bot.store.watches.list_waiting() == []
    assert len(await bot.store.watches.list_all()) == 1


async def test_failures_to_tell_are_tried_again_after_growing_pauses(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    await bot.post(yard, "bob", "The kettle leaks.")
    await notifier(bot, 0.0).compare()
    clock, tries = ManualClock(bot.platform.current_time() + timedelta(seconds=QUIET_SECONDS)), list[int]()

    async def fail() -> None:
        tries.append(1)
        run_before(bot.platform, "open_direct", fail)
        raise PlatformError("busy")

    run_before(bot.platform, "open_direct", fail)
    patient = WatchNotifier(replace(bot.context, clock=clock))
    for _ in range(100):
        await patient.tell()
        clock.advance(5.0)
    assert len(tries) == 7


async def test_a_process_that_ended_after_it_posted_does_not_post_again(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kettle")
    await bot.post(yard, "bob", "The kettle leaks.")
    await notifier(bot, 0.0).compare()
    ended = notifier(bot)

    async def end() -> None:
        raise KeyboardInterrupt

    run_before(bot.store.watches, "finish_telling", end)
    with pytest.raises(KeyboardInterrupt):
        await ended.tell()
    await run(bot)
    assert len(told(bot, "ada")) == 1
    assert await bot.store.watches.list_waiting() == []


async def test_who_left_the_workspace_or_was_forgotten_is_told_nothing(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob", "cleo")
    for person in ("ada", "bob"):
        await watch(bot, person, "mentioned", "kettle")
    await bot.post(yard, "cleo", "The kettle leaks.")
    await notifier(bot, 0.0).compare()
    bot.platform.people["ada"] = replace(bot.platform.people["ada"], is_deactivated=True)
    bot.context.audience.invalidate(yard)
    await bot.forget_person("bob")
    await run(bot)
    assert (told(bot, "ada"), told(bot, "bob")) == ([], [])
    assert await bot.store.watches.list_all() == []


async def test_a_later_message_does_not_overwrite_what_was_told(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await watch(bot, "ada", "mentioned", "kiln")
    await bot.post_indexed(yard, "bob", "The kiln is lit on Monday.")
    await run(bot)
    [reply] = told(bot, "ada")
    message = await bot.post(yard, "bob", "Correction: the kiln is lit on Thursday, not on Monday.", after=7200.0)
    await bot.engine.wait_until_indexed()
    await SupersessionFinder(bot.context).check(message)
    assert (await bot.stored(reply)).state == "done"


async def test_a_changed_value_is_found_beside_what_was_said_before(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await bot.post_indexed(yard, "bob", "The rent of the barn is 600 euros.")
    await watch(bot, "ada", "changed", "rent of the barn")
    await bot.post(yard, "bob", "The rent of the barn is 600 euros.", after=86_400)
    await bot.post(yard, "bob", "The rent of the barn is raised to 640 euros.")
    await run(bot)
    [reply] = told(bot, "ada")
    assert reply.text.count("640") == 1
    assert "is 600" not in reply.text


@pytest.mark.parametrize("seed", range(3))
async def test_in_random_workspaces_people_are_told_exactly_what_they_can_read(bot: BotFixture, seed: int) -> None:
    chance = random.Random(seed)
    people = ("ada", "bob", "cleo", "dan")
    bot.platform.add_channel("HALL", *people)
    rooms = list[Location]()
    for number in range(5):
        members = chance.sample(people, chance.randint(1, 3))
        kind = chance.choice(("open", "closed"))
        rooms.append(await bot.join(f"R{number}", *members, kind=kind))
    for person in people:
        await watch(bot, person, "mentioned", "kettle")
    wanted = {person: set[str]() for person in people}
    for number in range(12):
        place = chance.choice(rooms)
        channel = bot.platform.channels[place.channel]
        author = chance.choice(sorted(channel.members))
        await bot.post(place, author, f"The kettle has the number K{number}.")
        readers = people if channel.kind == "open" else channel.members
        for person in set(readers) - {author}:
            wanted[person].add(f"K{number}")
    await run(bot)
    for person in people:
        text = " ".join(each.text for each in told(bot, person))
        assert {f"K{number}" for number in range(12) if f"number K{number}." in text} <= wanted[person]
        assert bool(text) == bool(wanted[person])


async def test_a_direct_message_without_a_workspace_shows_the_requests_of_all(bot: BotFixture) -> None:
    kept = await watch(bot, "ada", "mentioned", "kettle")
    store = bot.store.watches
    assert await store.list_of(Location("slack", "", "DADA"), "ada") == [kept]
    assert await store.list_of(Location("slack", "T2", ""), "ada") == []
    assert await store.list_of(Location("slack", "", "DBOB"), "bob") == []


async def test_a_person_keeps_lists_and_ends_standing_requests_in_the_chat(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    workspace = Workspace(bot, bot.context, RecordingAnswers())

    async def call(command: str, words: str = "") -> Card:
        invoked = CommandInvoked("c", yard, "ada", command, words, time=bot.platform.current_time())
        card = await run_command(workspace, invoked)  # type: ignore[arg-type]
        assert card is not None
        return card

    assert "For example" in (await call("watches")).text
    kept = await call("watch", "somebody decides about the orchard fence")
    assert kept.text.startswith("I'll tell you when something about “orchard fence” is decided")
    await bot.post_indexed(yard, "bob", "We decided to sell the orchard fence.")
    listed = await call("watches")
    assert "orchard fence" in listed.text
    assert "We decided to sell" in listed.text
    [button] = listed.buttons
    assert "anymore" in (await call(button.action, button.value)).text
    assert "For example" in (await call("watches")).text
