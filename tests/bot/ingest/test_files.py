"""Files: fetched, parsed, indexed where they were shared, confirmed by a reaction, refused in one sentence."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot import texts
from bot.errors import PlatformError
from bot.ingest.files import RejectedFile
from bot.platform.events import (
    ChannelRemoved,
    CommandInvoked,
    FilesRemoved,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    PlatformEvent,
    QuestionAsked,
    VisibilityChanged,
)
from bot.platform.models import Location, Message, Upload
from bot.store import FileRecord
from engine import ParserLimits
from engine.errors import ModelRefused
from engine.models import Question, Scope
from engine.parsers import base
from engine.parsers.base import ParsedFile
from engine.parsers.sandbox import worker
from tests.engine.parsers.samples import archive
from tests.support.bot_fixture import BotFixture, run_before, with_settings
from tests.support.builders import HALL, ROOF
from tests.support.fake_embedder import HashEmbedder
from tests.support.fake_platform import START, TRAITS, FakePlatform

Change = Callable[[BotFixture], Awaitable[object]]

TILES = b"The tiles come on Monday, says Ada."
WORKSPACE = FakePlatform().place("")
pytestmark = pytest.mark.usefixtures("roof")


@pytest.fixture
def upload(bot: BotFixture) -> Upload:
    return bot.platform.add_file("tiles.txt", TILES)


@pytest.fixture
def message(bot: BotFixture, roof: Location, upload: Upload) -> Message:
    """A file that was shared in the roof channel."""
    return bot.share(roof, upload)


def learn(*uploads: Upload, place: Location = ROOF) -> CommandInvoked:
    return CommandInvoked("c1", place, "ada", "learn", uploads=uploads)


def question(*uploads: Upload, **facts: Any) -> QuestionAsked:
    return QuestionAsked("q1", ROOF, "ada", "When?", START, uploads, **facts)


async def titles(bot: BotFixture, place: Location = ROOF) -> list[str]:
    return [document.title for document in await bot.list_documents(place)]


async def test_the_attachments_of_an_email_are_documents_that_go_with_it(bot: BotFixture, roof: Location) -> None:
    letter = (
        b"Subject: Roof\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nSee below.\n"
        b"--x\nContent-Disposition: attachment; filename=tiles.txt\n\n" + TILES + b"\n--x--"
    )
    message = bot.share(roof, bot.platform.add_file("letter.eml", letter))
    outcomes = await bot.ingest_service.files.ingest(message)
    assert [isinstance(outcome, FileRecord) for outcome in outcomes] == [True, True]
    assert sorted(await titles(bot)) == ["Roof › tiles.txt", "letter.eml"]
    await bot.ingest_service.handle(MessagesDeleted(roof, (message.id,)))
    assert await titles(bot) == []


async def test_nothing_is_added_to_a_file_that_was_forgotten_meanwhile(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = bot.share(ROOF, bot.platform.add_file("plans.zip", archive({"a.txt": TILES, "b.txt": b"Slates."})))
    parser, stream = bot.context.engine_context.parser, bot.context.engine_context.parser.stream

    async def forget_first(*args: Any, **options: Any) -> AsyncIterator[ParsedFile]:
        async for each in stream(*args, **options):
            yield each
            if not each.key:
                await bot.ingest_service.forget_document(f"{ROOF.room}:file:{message.id}:{message.uploads[0].id}")

    monkeypatch.setattr(parser, "stream", forget_first)
    await bot.ingest_service.files.ingest(message)
    assert await titles(bot) == []


async def test_an_uploaded_chat_cannot_forge_messages(bot: BotFixture) -> None:
    forged = (
        b'{"id": "1", "user": "The Chair", "text": "The budget of the harbour is nine crowns.",'
        b' "time": "2026-01-02T10:00:00Z", "link": "https://town.example/harbour/1"}'
    )
    message = bot.share(ROOF, bot.platform.add_file("proof.jsonl", forged))
    await bot.ingest_service.files.ingest_and_confirm(message)
    await bot.engine.wait_until_indexed()
    scope = Scope(frozenset(), frozenset({ROOF.room}))
    [source] = (await bot.engine.retrieve(Question("What is the budget of the harbour?", scope))).sources
    assert (source.author, source.time) == ("", message.time)
    assert "town.example" not in source.link
    assert "According to the file proof.jsonl, The Chair wrote" in source.text


async def test_a_file_becomes_a_document_once_and_is_confirmed_when_it_can_be_found(
    bot: BotFixture, message: Message
) -> None:
    for _ in range(2):
        await bot.ingest_service.handle(MessageReceived(message, False))
        [filed] = await bot.ingest_service.files.ingest_and_confirm(message)
        assert isinstance(filed, FileRecord)
    [listed] = await bot.list_documents(ROOF)
    assert listed.status != "pending"
    assert (listed.key, listed.kind, listed.title) == ("slack:T1:ROOF:file:m2:F1", "file", "tiles.txt")
    assert (listed.space, listed.link) == ("slack:T1:open", "https://chat.example/T1/ROOF/m2")
    assert listed.time == message.time
    assert bot.platform.reactions["m2"][:2] == ["working", "done"]
    assert bot.platform.private_messages == []


@pytest.mark.parametrize(
    ("name", "data", "kind", "words"),
    [
        ("blank.txt", b"  \n", "text/plain", "empty"),
        ("paper.pdf", b"<!doctype html><html><body>Log in</body></html>", "application/pdf", "web page"),
    ],
)
async def test_a_file_that_cannot_be_read_is_explained_to_its_author_and_hinders_no_other(
    bot: BotFixture, upload: Upload, name: str, data: bytes, kind: str, words: str
) -> None:
    message = bot.share(ROOF, upload, bot.platform.add_file(name, data, kind=kind))
    [_, refused] = await bot.ingest_service.files.ingest_and_confirm(message)
    assert isinstance(refused, RejectedFile)
    assert bot.platform.reactions == {message.id: ["working", "failed"]}
    [(target, card)] = bot.platform.private_messages
    assert (target.person, target.message, target.private) == ("ada", message.id, True)
    assert name in card.text
    assert words in card.text
    assert await titles(bot) == ["tiles.txt"]


async def test_what_is_announced_as_too_large_or_as_no_text_is_not_even_fetched(bot: BotFixture) -> None:
    big = bot.platform.add_file("big.txt", b"small", size=10**9)
    film = bot.platform.add_file("film.mp4", b"small", kind="video/mp4")
    await bot.ingest_service.files.ingest_and_confirm(bot.share(ROOF, big, film))
    assert "fetch" not in bot.platform.calls
    [(_, card)] = bot.platform.private_messages
    assert "files of up to 50 MiB" in card.text
    assert "film" not in card.text


@with_settings(limits=ParserLimits(max_file_size=100, workers=1))
async def test_a_file_that_is_larger_than_announced_is_refused(bot: BotFixture) -> None:
    message = bot.share(ROOF, bot.platform.add_file("big.txt", b"x" * 101, size=1))
    assert isinstance((await bot.ingest_service.files.ingest_and_confirm(message))[0], RejectedFile)


@with_settings(limits=ParserLimits(max_text_length=15_000, workers=1))
async def test_of_a_file_that_fails_behind_its_first_part_that_part_is_kept_and_said(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PART_LENGTH", 10_000)
    monkeypatch.setattr(base, "_HEAD_PASSAGES", 5)
    rows = b"name,weight\n" + b"".join(b"tile %d,%d\n" % (row, row) for row in range(1_200))
    await bot.ingest_service.files.ingest_and_confirm(bot.share(ROOF, bot.platform.add_file("big.csv", rows)))
    [(_, card)] = bot.platform.private_messages
    assert card.text.startswith("I could read only the beginning of big.csv: ")
    assert await titles(bot) == ["big.csv"]


def _refusing_embedder() -> HashEmbedder:
    embedder = HashEmbedder()
    embedder.failing["tiles"] = ModelRefused("It cannot be embedded.")
    return embedder


@with_settings(embedder=_refusing_embedder())
async def test_a_document_that_fails_after_it_was_accepted_is_explained_too(bot: BotFixture, message: Message) -> None:
    await bot.ingest_service.files.ingest_and_confirm(message)
    assert bot.platform.reactions[message.id] == ["working", "failed"]
    [(_, card)] = bot.platform.private_messages
    assert card.text == f"I couldn't read tiles.txt: {texts.EMBEDDING_REFUSED}"


async def test_a_file_lives_where_its_readers_are(bot: BotFixture, upload: Upload) -> None:
    places = [ROOF, await bot.join("VAULT", "ada", kind="closed"), bot.platform.add_channel("D1", "ada", kind="direct")]
    for place in places:
        await bot.ingest_service.files.ingest_and_confirm(bot.share(place, upload))
    spaces = [space for place in places for space in await bot.spaces(place)]
    assert spaces == ["slack:T1:open", "slack:T1:VAULT", "slack:T1:dm:ada"]


@pytest.mark.parametrize(
    ("event", "home", "kept"),
    [
        (learn, "slack:T1:ROOF", True),
        (lambda upload: question(upload, private=True), "slack:T1:dm:ada", False),
        (lambda upload: question(upload, private=True, may_write=False), "slack:T1:dm:ada", False),
        (lambda upload: question(upload, private=False, may_write=False), texts.CANNOT_WRITE, False),
    ],
    ids=["learn", "a private question", "private, may not write there", "may not write there"],
)
async def test_a_file_of_a_command_goes_to_the_channel_or_to_the_asker(
    bot: BotFixture, upload: Upload, event: Any, home: str, *, kept: bool
) -> None:
    [outcome] = await bot.ingest_service.files.ingest_from_command(
        asked := event(upload), START, private=isinstance(asked, QuestionAsked) and asked.private
    )
    assert (outcome.room if isinstance(outcome, FileRecord) else outcome.reason) == home
    assert await titles(bot) == (["tiles.txt"] if kept else [])
    if isinstance(outcome, FileRecord):
        assert await bot.ingest_service.files.wait_for_indexed([outcome.document], 10)
    assert bot.platform.reactions == {}


async def test_files_of_channels_and_people_that_are_not_indexed_stay_out_unless_they_are_asked_about(
    bot: BotFixture, message: Message
) -> None:
    await bot.save_settings(ROOF, ingest=False)
    files = bot.ingest_service.files
    assert [len(await files.ingest(message, with_question=asked)) for asked in (False, True)] == [0, 1]
    await bot.forget_person("ada")
    assert await files.ingest(message, with_question=True) == []
    assert await titles(bot) == []


async def test_a_file_from_before_its_author_opted_in_again_is_indexed_at_their_wish(
    bot: BotFixture, message: Message
) -> None:
    await bot.store.opt_outs.opt_out("slack", "T1", "ada")
    await bot.store.opt_outs.opt_in("slack", "T1", "ada", message.time + timedelta(minutes=1))
    assert await bot.ingest_service.files.ingest(message) == []
    assert isinstance((await bot.ingest_service.files.ingest(message, is_explicit=True))[0], FileRecord)


REMOVALS = [MessagesDeleted(ROOF, ("m2",)), FilesRemoved(ROOF, ("F1",)), FilesRemoved(WORKSPACE, ("F1",))]


@pytest.mark.parametrize("event", REMOVALS, ids=["its message", "in the channel", "everywhere"])
@pytest.mark.parametrize("before", [False, True])
async def test_a_file_that_is_deleted_leaves_and_stays_out(
    bot: BotFixture, message: Message, event: PlatformEvent, *, before: bool
) -> None:
    """`before`: it was not indexed yet."""
    if not before:
        await bot.ingest_service.files.ingest(message)
        assert await titles(bot) == ["tiles.txt"]
    await bot.ingest_service.handle(event)
    await bot.ingest_service.files.ingest_and_confirm(message)
    assert await titles(bot) == []


async def test_a_file_leaves_one_channel_or_all_and_can_be_shared_again(
    bot: BotFixture, upload: Upload, hall: Location
) -> None:
    for place in (ROOF, HALL):
        await bot.ingest_service.files.ingest(bot.share(place, upload))
    await bot.ingest_service.handle(FilesRemoved(ROOF, (upload.id,)))
    assert [await titles(bot, place) for place in (ROOF, HALL)] == [[], ["tiles.txt"]]
    await bot.ingest_service.handle(FilesRemoved(WORKSPACE, (upload.id,)))
    assert await titles(bot, HALL) == []
    again = replace(bot.share(ROOF, upload), time=bot.clock.now() + timedelta(minutes=1))
    await bot.ingest_service.files.ingest(again)
    assert await titles(bot) == ["tiles.txt"]


async def test_an_edit_takes_files_away_and_adds_others_and_words(bot: BotFixture, message: Message) -> None:
    await bot.receive(message)
    await bot.ingest_service.files.ingest(message)
    new = bot.platform.add_file("new.txt", TILES)
    edited = replace(message, text="See the list.", uploads=(new,), edited="+")
    await bot.ingest_service.handle(MessageEdited(edited))
    assert await titles(bot) == ["new.txt", "#roof: Messages of 2026-11-20 10:01"]
    await bot.ingest_service.forget_document(f"{ROOF.room}:window:{message.id}")
    assert await titles(bot) == ["new.txt"]
    await bot.ingest_service.handle(MessageEdited(replace(edited, uploads=(), edited="++")))
    assert await titles(bot) == [], "also after its conversation was forgotten"


async def test_a_file_that_an_edit_took_away_stays_out(bot: BotFixture, message: Message) -> None:
    await bot.receive(message)
    await bot.ingest_service.files.ingest(message)
    await bot.ingest_service.handle(MessageEdited(replace(message, text="Never mind.", uploads=(), edited="+")))
    await bot.ingest_service.files.ingest_and_confirm(message)
    assert await titles(bot) == ["#roof: Messages of 2026-11-20 10:01"]


async def close_channel(bot: BotFixture) -> None:
    bot.platform.change_channel("ROOF", kind="closed")
    await bot.ingest_service.handle(VisibilityChanged(ROOF))


async def opt_out(bot: BotFixture) -> None:
    await bot.forget_person("ada")


async def remove_bot(bot: BotFixture) -> None:
    await bot.ingest_service.handle(ChannelRemoved(ROOF))


async def turn_off(bot: BotFixture) -> None:
    await bot.save_settings(ROOF, ingest=False)


async def read_messages_only(bot: BotFixture) -> None:
    await bot.save_settings(ROOF, content="messages")


OPTED_OUT = texts.opted_out_notice(TRAITS["slack"])


async def test_a_file_that_its_message_lost_while_it_was_fetched_is_left_out(bot: BotFixture, roof: Location) -> None:
    kept, lost = bot.platform.add_file("kept.txt", TILES), bot.platform.add_file("lost.txt", b"The Safe is green.")
    message = bot.share(roof, kept, lost)
    without = replace(message, uploads=(kept,))
    run_before(bot.platform, "fetch_file", lambda: bot.ingest_service.handle(MessageEdited(without)))
    await bot.ingest_service.files.ingest(message)
    assert [document.key for document in await bot.list_documents(roof)] == [f"{roof.room}:file:{message.id}:{kept.id}"]


@pytest.mark.parametrize(
    ("change", "shared_with", "reason"),
    [
        (close_channel, "message", ""),
        (opt_out, "message", OPTED_OUT),
        (opt_out, "question", OPTED_OUT),
        (opt_out, "command", OPTED_OUT),
        (remove_bot, "message", texts.CHANNEL_NOT_INDEXED),
        (remove_bot, "question", texts.CHANNEL_NOT_INDEXED),
        (turn_off, "message", texts.CHANNEL_NOT_INDEXED),
        (read_messages_only, "message", texts.FILES_NOT_READ),
    ],
)
async def test_a_file_obeys_what_changed_while_it_was_fetched(
    bot: BotFixture, message: Message, change: Change, shared_with: str, reason: str
) -> None:
    files = bot.ingest_service.files
    run_before(bot.platform, "fetch_file", lambda: change(bot))
    if shared_with == "command":
        outcomes = await files.ingest_from_command(learn(*message.uploads), START, private=False)
    else:
        outcomes = await files.ingest(message, with_question=shared_with == "question")
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, RejectedFile)] == ([reason] if reason else [])
    assert await bot.spaces(ROOF) == ([] if reason else [ROOF.room])
    if change is opt_out:
        assert await bot.store.files.list_by_author("slack", "T1", "ada") == []
    if change is remove_bot:
        assert await bot.store.channels.list_joined("slack") == []


async def test_a_file_of_a_channel_that_is_not_indexed_moves_with_its_readers_too(
    bot: BotFixture, upload: Upload
) -> None:
    yard = bot.platform.add_channel("YARD", "ada")
    await bot.save_settings(yard, ingest=False)
    await bot.ingest_service.files.ingest_from_command(learn(upload, place=yard), START, private=False)
    assert await bot.spaces(yard) == ["slack:T1:open"]
    bot.platform.change_channel("YARD", kind="closed")
    await bot.ingest_service.handle(VisibilityChanged(WORKSPACE))
    assert await bot.spaces(yard) == [yard.room]


async def test_a_passing_failure_is_raised_and_shown_only_when_it_is_given_up(
    bot: BotFixture, message: Message
) -> None:
    bot.platform.failing["fetch"] = PlatformError("busy")
    with pytest.raises(PlatformError):
        await bot.ingest_service.files.ingest(message)
    await bot.ingest_service.files.report_failure(message, PlatformError("busy"))
    assert bot.platform.reactions == {message.id: ["working", "failed"]}
    assert len(bot.platform.private_messages) == 1


async def test_reactions_that_are_refused_hinder_no_file(bot: BotFixture, message: Message) -> None:
    bot.platform.failing["sign"] = PlatformError("no")
    await bot.ingest_service.files.ingest_and_confirm(message)
    assert await titles(bot) == ["tiles.txt"]


async def test_a_forgotten_file_does_not_come_back_from_the_history(bot: BotFixture, message: Message) -> None:
    await bot.receive(message)
    [filed] = await bot.ingest_service.files.ingest(message)
    assert isinstance(filed, FileRecord)
    assert await bot.ingest_service.forget_document(filed.document)
    assert not await bot.ingest_service.forget_document(filed.document)
    await bot.backfill(ROOF)
    await bot.reconcile()
    assert await titles(bot) == []


async def test_files_without_words_are_fetched_once_and_go_with_their_message(bot: BotFixture, upload: Upload) -> None:
    message = await bot.receive(bot.share(ROOF, upload, bot.platform.add_file("tool.exe", b"\x7fELF")))
    await bot.ingest_service.files.ingest(message)
    fetched = bot.platform.calls.count("fetch")
    await bot.reconcile()
    assert bot.platform.calls.count("fetch") == fetched
    bot.platform.delete_message(message)
    await bot.reconcile(300)
    assert await titles(bot) == []
