"""Answers whose sources are edited or removed: what is stored loses the words, and what is posted is replaced."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.corrections import CORRECTION_BURST, CORRECTION_INTERVAL, GIVE_UP_AFTER, AnswerCorrector
from bot.answers.draft import AnswerDraft
from bot.answers.request import answer_id, request_from_message
from bot.answers.sources.graph_evidence import record_graph_facts
from bot.errors import PermissionDenied, PlatformError
from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync.retention import Retention
from bot.platform.events import ChannelRemoved, FilesRemoved, MessageEdited, MessagesDeleted, VisibilityChanged
from engine.models import Context, ContextEntity, Question, Scope, SearchQuery
from engine.storage.ledger.records.query_results import StatingPassage
from tests.support.answering_fixture import CannedLanguage, open_answering_bot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from bot.platform.models import Location, Message
    from bot.store import StoredAnswer
    from tests.support.answering_fixture import AnsweringFixture
    from tests.support.fake_platform import RecordedReply

    Removal = Callable[[AnsweringFixture, Message], Awaitable[object]]

ASKED = "When do the Tiles come?"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def roof(home: AnsweringFixture) -> Location:
    return await home.join_channel("ROOF", "ada", "bob")


@pytest.fixture
async def tiles(home: AnsweringFixture, roof: Location) -> Message:
    said = await home.post(roof, "ada", "The Tiles come on Monday.")
    await home.wait_until_indexed()
    return said


async def corrected(home: AnsweringFixture, now: float | None = None) -> None:
    """The corrector looks once."""
    await (AnswerCorrector(home.context, lambda: now) if now else AnswerCorrector(home.context)).process_due()


async def stored(home: AnsweringFixture, reply: RecordedReply) -> StoredAnswer:
    found = await home.context.store.answers.get(reply.target.answer)
    assert found is not None
    return found


async def forget_message(home: AnsweringFixture, message: Message) -> None:
    await home.ingest_service.forget_message(message.location, message.id)


async def forget_document(home: AnsweringFixture, message: Message) -> None:
    await home.ingest_service.forget_document(f"{message.location.room}:window:{message.id}")


async def forget_person(home: AnsweringFixture, message: Message) -> None:
    await home.ingest_service.forget_person("slack", "T1", message.author)


async def leave(home: AnsweringFixture, message: Message) -> None:
    await home.ingest_service.handle(ChannelRemoved(message.location))


async def edit(home: AnsweringFixture, message: Message) -> None:
    await home.edit(message, "The Tiles come on Thursday.")


async def edit_while_away(home: AnsweringFixture, message: Message) -> None:
    home.platform.edit_message(message, "The Tiles come on Thursday.")
    await home.ingest_service.start_reconciliation("slack")
    await home.ingest_service.run_sync()


async def age(home: AnsweringFixture, message: Message) -> None:
    later = replace(home.context, settings=home.context.settings.model_copy(update={"retention_days": 1}))
    await Retention(later, ConversationDocuments(later)).delete_expired(message.time.replace(year=2027))


@pytest.mark.parametrize(
    "remove",
    [edit, edit_while_away, lambda home, said: home.delete(said), forget_message, forget_document, forget_person, age],
)
async def test_a_posted_answer_is_replaced_once_its_source_changed(
    home: AnsweringFixture, roof: Location, tiles: Message, remove: Removal
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    assert "Monday" in reply.text
    await remove(home, tiles)
    await corrected(home)
    assert (
        reply.text
        == texts.SOURCE_REMOVED
        == "A source of this answer was removed or changed. Ask again for a current answer."
    )
    assert await home.context.store.answer_corrections.list_due(2e10, ("slack",), 9) == []


async def test_so_it_is_where_its_channel_was_left(home: AnsweringFixture, roof: Location, tiles: Message) -> None:
    hall = await home.join_channel("HALL", "bob")
    reply = await home.ask(hall, "bob", ASKED)
    await leave(home, tiles)
    await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_and_where_its_channel_turned_private(home: AnsweringFixture, roof: Location, tiles: Message) -> None:
    hall = await home.join_channel("HALL", "bob")
    elsewhere, there = await home.ask(hall, "bob", ASKED), await home.ask(roof, "bob", ASKED)
    for kind in ("closed", "open", "closed"):
        home.platform.change_channel("ROOF", kind=kind)
        await home.ingest_service.handle(VisibilityChanged(roof))
        await corrected(home)
    assert elsewhere.text == texts.SOURCE_REMOVED
    assert (await stored(home, elsewhere)).text == ""
    assert "Monday" in there.text


async def test_a_move_that_hides_nothing_corrects_nothing(
    home: AnsweringFixture, roof: Location, tiles: Message
) -> None:
    home.platform.change_channel("ROOF", kind="closed")
    await home.ingest_service.handle(VisibilityChanged(roof))
    direct = home.platform.add_channel("D1", "ada", kind="direct")
    reply = await home.ask(direct, "ada", ASKED)
    assert "Monday" in reply.text
    home.platform.change_channel("ROOF", kind="open")
    await home.ingest_service.handle(VisibilityChanged(roof))
    await corrected(home)
    assert "Monday" in reply.text


async def test_a_file_that_was_taken_back_corrects_too(home: AnsweringFixture, roof: Location) -> None:
    upload = home.platform.add_file("notes.txt", b"The Nails come on Friday, says Mina.")
    said = home.platform.add_message(roof, "ada", "", uploads=(upload,))
    await home.ingest_service.files.ingest_and_confirm(said)
    await home.wait_until_indexed()
    reply = await home.ask(roof, "bob", "When do the Nails come?")
    assert "Friday" in reply.text
    await home.ingest_service.handle(FilesRemoved(roof, (upload.id,)))
    await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_what_is_stored_loses_answer_and_question(
    home: AnsweringFixture, roof: Location, tiles: Message, tmp_path: Path
) -> None:
    reply = await home.ask(roof, "bob", "Do the Tiles come on Monday?")
    await home.edit(tiles, "The Tiles come on Thursday.")
    found = await stored(home, reply)
    assert (found.state, found.text, found.question, found.sources) == ("redacted", "", "", ())
    with closing(sqlite3.connect(tmp_path / "home" / "bot.db")) as connection:
        assert "Monday" not in "\n".join(connection.iterdump())


async def test_neither_comes_back_as_history(home: AnsweringFixture, roof: Location, tiles: Message) -> None:
    reply = await home.ask(roof, "bob", "Do the Tiles come on Monday?")
    thread = replace(roof, thread=reply.target.message)
    await home.edit(tiles, "The Tiles come on Thursday.")
    home.language.prompts.clear()
    await home.ask(thread, "bob", "And the Nails, do they come with the Tiles?")
    for prompt in home.language.prompts:
        assert "Monday" not in "".join(turn.text for turn in prompt.history)


@pytest.mark.parametrize(
    "change",
    [
        lambda home, said: home.ingest_service.handle(MessageEdited(home.platform.add_preview(said))),
        lambda home, said: home.edit(said, "  The Tiles  come on Monday. "),
        lambda home, said: home.ingest_service.handle(MessageEdited(said)),
    ],
)
async def test_an_edit_that_changes_nothing_leaves_the_answer(
    home: AnsweringFixture, roof: Location, tiles: Message, change: Removal
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    await change(home, tiles)
    await corrected(home)
    assert "Monday" in reply.text
    assert (await stored(home, reply)).state == "done"


@pytest.mark.parametrize("change", [edit, lambda home, said: home.delete(said)])
async def test_a_neighbor_that_was_not_used_may_change(home: AnsweringFixture, roof: Location, change: Removal) -> None:
    home.language.reply = ("They come on Monday [1].",)
    await home.post(roof, "ada", "The Tiles come on Monday.")
    neighbor = await home.post(roof, "bob", "Somebody has seen the Cat?")
    await home.wait_until_indexed()
    reply = await home.ask(roof, "bob", ASKED)
    assert "Monday" in reply.text
    assert "Cat" not in reply.text
    await change(home, neighbor)
    await corrected(home)
    assert "Monday" in reply.text
    found = await stored(home, reply)
    assert found.sources
    assert (found.text, found.question) == ("", ""), "a model may have retold what it was shown"


@pytest.mark.parametrize("change", [edit, lambda home, said: home.delete(said), forget_message])
@pytest.mark.parametrize(
    "told",
    [
        "A feline vanished [1]. Ein Tier wird seit gestern gesucht.",
        "Quelqu'un cherche son animal de compagnie.",
        "Lundi.",
    ],
)
async def test_a_retelling_that_cites_nothing_counts_as_used(
    home: AnsweringFixture, roof: Location, change: Removal, told: str
) -> None:
    home.language.reply = (told,)
    await home.post(roof, "ada", "The Tiles come on Monday.")
    neighbor = await home.post(roof, "bob", "Somebody has seen the Cat?")
    await home.wait_until_indexed()
    reply = await home.ask(roof, "bob", ASKED)
    await change(home, neighbor)
    await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_a_retelling_with_the_number_of_a_neighbor_is_no_history(home: AnsweringFixture, roof: Location) -> None:
    home.language.reply = ("Am Montag, und jemand sucht ein Tier [1].",)
    await home.post(roof, "ada", "The Tiles come on Monday.")
    neighbor = await home.post(roof, "bob", "Somebody has seen the Cat?")
    await home.wait_until_indexed()
    first = await home.ask(roof, "bob", ASKED)
    thread = replace(roof, thread=first.target.message)
    home.language.reply = ("So ist es [1].",)
    second = await home.ask(thread, "bob", "And who says that of the Tiles?")
    assert "Tier" in "".join(turn.text for turn in home.language.prompts[-1].history)
    await home.delete(neighbor)
    assert [(await stored(home, each)).text for each in (first, second)] == ["", ""]
    await home.ask(thread, "bob", "When do the Tiles come, again?")
    assert "Tier" not in "".join(turn.text for turn in home.language.prompts[-1].history)


async def test_what_a_model_was_shown_while_it_was_removed_is_no_history(
    home: AnsweringFixture, roof: Location
) -> None:
    home.language.reply = ("Am Montag. ", "Jemand sucht ein Tier [1].")
    await home.post(roof, "ada", "The Tiles come on Monday.")
    neighbor = await home.post(roof, "bob", "Somebody has seen the Cat?")
    await home.wait_until_indexed()
    home.language.gate.clear()
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(home.ask(roof, "bob", ASKED))
        await home.language.piece_sent.wait()
        await home.delete(neighbor)
        home.language.gate.set()
    reply = asking.result()
    assert (await stored(home, reply)).text == ""
    assert "Montag" in reply.text


async def test_what_turned_private_leaves_the_history_of_other_channels(home: AnsweringFixture, roof: Location) -> None:
    hall = await home.join_channel("HALL", "bob")
    await home.post(roof, "ada", "Somebody has seen the Cat of the Tiles?")
    await home.post(hall, "bob", "The Tiles come on Monday.")
    await home.wait_until_indexed()
    home.language.reply = ("Am Montag, und jemand sucht ein Tier [2].",)
    reply = await home.ask(hall, "bob", ASKED)
    found = await stored(home, reply)
    assert [each.room for each in found.sources] == [hall.room]
    assert found.text
    home.platform.change_channel("ROOF", kind="closed")
    await home.ingest_service.handle(VisibilityChanged(roof))
    assert (await stored(home, reply)).text == ""


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("change", [edit, lambda home, said: home.delete(said), forget_message, forget_document])
async def test_a_kill_between_the_change_and_the_redaction_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Removal
) -> None:
    async with open_answering_bot(tmp_path / "home") as home:
        roof = await home.join_channel("ROOF", "ada", "bob")
        tiles = await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        reply = await home.ask(roof, "bob", ASKED)
        platform = home.platform
        wrote = killed_after(monkeypatch, home, "amend", "forget")
        with pytest.raises(Killed):
            await change(home, tiles)
        assert wrote
    async with open_answering_bot(tmp_path / "home", platform=platform) as home:
        await home.context.store.answers.redact_pending()
        assert (await stored(home, reply)).text == ""
        await corrected(home)
        assert reply.text == texts.SOURCE_REMOVED
        assert await home.context.store.pending_redactions.list_all() == []


def killed_after(monkeypatch: pytest.MonkeyPatch, home: AnsweringFixture, *steps: str) -> list[str]:
    """Let the process end after the engine has done one of these; gives what it has done."""
    done: list[str] = []

    def ended(name: str) -> Callable[..., Awaitable[None]]:
        step = getattr(home.context.engine_context.engine, name)

        async def work(*given: object, **more: object) -> None:
            await step(*given, **more)
            done.append(name)
            raise Killed

        return work

    for name in steps:
        monkeypatch.setattr(home.context.engine_context.engine, name, ended(name))
    return done


async def test_an_edit_that_is_repeated_after_its_redaction_failed_redacts(
    home: AnsweringFixture, roof: Location, tiles: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    with monkeypatch.context() as patched:
        killed_after(patched, home, "amend")
        edited = home.platform.edit_message(tiles, "The Tiles come on Thursday.")
        with pytest.raises(Killed):
            await home.ingest_service.handle(MessageEdited(edited))
    await home.ingest_service.handle(MessageEdited(edited))
    assert (await stored(home, reply)).text == ""


async def test_words_that_no_number_names_count_as_used(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", CannedLanguage("They come on Monday, Orchid-7 says so.")) as home:
        roof = await home.join_channel("ROOF", "ada", "bob")
        said = await home.post(roof, "ada", "The Tiles are called ORCHID-7 inside.")
        await home.wait_until_indexed()
        reply = await home.ask(roof, "bob", ASKED)
        await home.delete(said)
        await corrected(home)
        assert reply.text == texts.SOURCE_REMOVED


async def test_words_that_came_by_a_fact_of_the_graph_alone_count_as_used(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", CannedLanguage("It is an Orchid.")) as home:
        roof = await home.join_channel("ROOF", "ada", "bob")
        said = await home.post(roof, "ada", "The Cat of Ada is an Orchid.")
        await home.wait_until_indexed()
        fact = ContextEntity("Cat", "thing", "The Cat is an Orchid.")
        context = Context(SearchQuery("?"), "mix", (fact,))
        passage = StatingPassage(
            f"{roof.room}:window:{said.id}", roof.room, said.id, "Ada: The Cat of Ada is an Orchid."
        )
        draft = AnswerDraft(request_from_message(replace(said, text="What is it?")), text="It is an Orchid.")
        await record_graph_facts(Told(context, [passage, passage._replace(passage="m9", text="Nothing.")]), draft)
        assert draft.graph_used_keys == {f"{roof.room}:window:{said.id}", f"{roof.room}:message:{said.id}"}
        assert draft.graph_shown_keys == {f"{roof.room}:window:{said.id}:part"}


async def test_the_passages_behind_a_fact_of_the_graph_are_found(home: AnsweringFixture, roof: Location) -> None:
    upload = home.platform.add_file("notes.txt", b"The Nails of Zanzibar come on Friday, says Mina.")
    said = home.platform.add_message(roof, "ada", "", uploads=(upload,))
    await home.ingest_service.files.ingest_and_confirm(said)
    await home.wait_until_indexed()
    scope = Scope(frozenset({"slack:T1:open"}), frozenset())
    answer = await home.context.engine_context.engine.ask(Question("Who says that of Zanzibar?", scope))
    assert answer.context.entities
    [found] = await answer.load_supporting_passages()
    assert (found.document, found.room) == (f"{roof.room}:file:{said.id}:{upload.id}", roof.room)
    assert "Zanzibar" in found.text
    await answer.aclose()


class Told:
    """An answer that was shown these facts, and what they rest on."""

    is_extractive = False

    def __init__(self, context: Context, behind: list[StatingPassage]) -> None:
        self.context = context
        self._behind = behind

    async def load_supporting_passages(self) -> list[StatingPassage]:
        return self._behind


async def test_a_follow_up_that_repeats_it_goes_too(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home") as home:
        roof = await home.join_channel("ROOF", "ada", "bob")
        tiles = await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        first = await home.ask(roof, "bob", ASKED)
        home.language.reply = ("As I said: Monday.",)
        second = await home.ask(replace(roof, thread=first.target.message), "bob", "Sure?")
        home.language.reply = (texts.NOTHING_FOUND,)
        third = await home.ask(replace(roof, thread=first.target.message), "bob", "And the Nails?")
        await home.edit(tiles, "The Tiles come late.")
        await corrected(home)
        assert (first.text, second.text) == 2 * (texts.SOURCE_REMOVED,)
        assert third.text == texts.NOTHING_FOUND


async def test_a_platform_that_fails_is_tried_again_until_it_works(
    home: AnsweringFixture, roof: Location, tiles: Message
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    await home.delete(tiles)
    home.platform.failing["replace_answer"] = PlatformError("Down.")
    await corrected(home)
    assert "Monday" in reply.text
    [waiting] = await home.context.store.answer_corrections.list_due(2e10, ("slack",), 9)
    assert waiting.attempts == 1
    del home.platform.failing["replace_answer"]
    await corrected(home)
    assert "Monday" in reply.text, "it is not due yet"
    await corrected(home, waiting.requested_at + 60)
    assert reply.text == texts.SOURCE_REMOVED


async def test_one_that_refuses_is_given_up_in_the_end(home: AnsweringFixture, roof: Location, tiles: Message) -> None:
    await home.ask(roof, "bob", ASKED)
    await home.delete(tiles)
    home.platform.failing["replace_answer"] = PermissionDenied("Never.")
    await corrected(home)
    [waiting] = await home.context.store.answer_corrections.list_due(2e10, ("slack",), 9)
    await corrected(home, waiting.requested_at + GIVE_UP_AFTER + 1)
    assert await home.context.store.answer_corrections.list_due(2e10, ("slack",), 9) == []


async def test_many_leave_room_for_answers_and_one_that_breaks_stops_no_other(tmp_path: Path) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with open_answering_bot(tmp_path / "home", questions_per_minute=1000) as home:
        roof = await home.join_channel("ROOF", "ada", "bob")
        tiles = await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        replies = [await home.ask(roof, "bob", ASKED) for _ in range(CORRECTION_BURST + 3)]
        await home.delete(tiles)
        home.platform.failing["replace_answer"] = KeyError("unforeseen")
        await AnswerCorrector(home.context, sleep=sleep).process_due()
        assert "Monday" in replies[0].text
        del home.platform.failing["replace_answer"]
        [first, *_] = await home.context.store.answer_corrections.list_due(2e10, ("slack",), 99)
        await AnswerCorrector(home.context, lambda: first.requested_at + 60, sleep).process_due()
    assert {each.text for each in replies} == {texts.SOURCE_REMOVED}
    assert waits == 6 * [CORRECTION_INTERVAL]


async def test_a_restart_goes_on_with_it(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home") as home:
        roof = await home.join_channel("ROOF", "ada", "bob")
        tiles = await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        reply = await home.ask(roof, "bob", ASKED)
        await home.delete(tiles)
        platform = home.platform
    async with open_answering_bot(tmp_path / "home", platform=platform) as home:
        await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_a_platform_that_is_not_there_costs_no_try(
    home: AnsweringFixture, roof: Location, tiles: Message
) -> None:
    await home.ask(roof, "bob", ASKED)
    await home.delete(tiles)
    away = replace(home.context, platforms={})
    await AnswerCorrector(away).process_due()
    [waiting] = await home.context.store.answer_corrections.list_due(2e10, ("slack",), 9)
    assert waiting.attempts == 0


@pytest.mark.parametrize("lasting", [False, True])
async def test_what_one_alone_saw_is_replaced_where_the_platform_can(
    home: AnsweringFixture, roof: Location, tiles: Message, *, lasting: bool
) -> None:
    home.platform.can_edit_private = lasting
    reply = await home.ask_by_command(roof, "bob", ASKED)
    await home.delete(tiles)
    await corrected(home)
    assert (reply.text == texts.SOURCE_REMOVED) is lasting
    assert ("Monday" in reply.text) is not lasting
    assert (await stored(home, reply)).text == ""
    assert len(home.platform.replies) == 1


@pytest.mark.parametrize("member", [False, True])
async def test_what_one_alone_saw_stays_while_that_person_may_read_it(home: AnsweringFixture, *, member: bool) -> None:
    roof, hall = await home.join_channel("ROOF", "ada", "bob"), await home.join_channel("HALL", "ada", "bob")
    await home.post(roof, "ada", "The Tiles come on Monday.")
    await home.wait_until_indexed()
    reply = await home.ask_by_command(hall, "bob", ASKED)
    assert "Monday" in reply.text
    home.platform.change_channel("ROOF", kind="closed", members=frozenset({"ada", "bob"} if member else {"ada"}))
    await home.ingest_service.handle(VisibilityChanged(roof))
    await corrected(home)
    assert ("Monday" in reply.text) is member
    assert (reply.text == texts.SOURCE_REMOVED) is not member


@pytest.mark.parametrize("drop", ["its question", "its asker"])
async def test_an_answer_whose_question_is_gone_is_corrected_all_the_same(
    home: AnsweringFixture, roof: Location, tiles: Message, drop: str
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    if drop == "its question":
        await home.ingest_service.handle(MessagesDeleted(roof, (reply.target.message,)))
    else:
        await home.ingest_service.forget_person("slack", "T1", "bob")
    left = await stored(home, reply)
    assert (left.question, left.text) == ("", "")
    assert "Monday" in reply.text
    await home.delete(tiles)
    await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_an_edited_question_is_kept_as_it_reads_now(
    home: AnsweringFixture, roof: Location, tiles: Message
) -> None:
    question = home.platform.add_message(roof, "bob", "<@BOT> When do the Tils come, Zanzibar?")
    await home.receive(question, addressed=True)
    await home.answer(question)
    await home.edit(question, "<@BOT> When do the Tiles come?")
    found = await home.context.store.answers.get(answer_id(roof, question.id))
    assert found is not None
    assert found.question == "<@BOT> When do the Tiles come?"
    assert found.state == "done"


async def test_words_that_only_the_question_had_leave_the_answer_with_it(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home", CannedLanguage("For Zanzibar they come on Monday [1].")) as home:
        roof = await home.join_channel("ROOF", "ada", "bob")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        question = home.platform.add_message(roof, "bob", "<@BOT> When do the Tiles for Zanzibar come?")
        await home.receive(question, addressed=True)
        await home.answer(question)
        await home.edit(question, "<@BOT> When do the Tiles come?")
        found = await home.context.store.answers.get(answer_id(roof, question.id))
        assert found is not None
        assert (found.question, found.text) == ("", "")
