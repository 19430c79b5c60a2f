"""Answers whose sources are edited or removed: what is stored loses the text, and what is posted is replaced."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from bot import texts
from bot.answers.corrections import CORRECTION_BURST, CORRECTION_INTERVAL, GIVE_UP_AFTER, AnswerCorrector
from bot.answers.footer import GraphKeys, find_graph_keys
from bot.answers.question import answer_id
from bot.errors import PermissionDenied, PlatformError
from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync.retention import Retention
from bot.platform.events import FilesRemoved, MessageEdited, MessagesDeleted
from bot.platform.models import Location, Message
from bot.store import AnswerCorrection
from engine import Answer
from engine.models import Context, ContextEntity, Question, Scope, SearchQuery
from engine.storage.ledger.records.query_results import StatingPassage
from tests.support import steps
from tests.support.bot_fixture import BotFixture, open_bot, with_settings
from tests.support.builders import ROOF
from tests.support.fake_platform import RecordedReply
from tests.support.steps import Step, run_steps

ASKED, THURSDAY = "When do the Tiles come?", "The Tiles come on Thursday."


def changes(number: int) -> dict[str, list[Step]]:
    """What can happen to a message, by name."""
    return {
        "edited": [steps.edit(number, THURSDAY)],
        "edited while away": [steps.edit_away(number, THURSDAY), steps.reconcile(0)],
        "deleted": [steps.delete(number)],
        "forgotten": [steps.forget_message(number)],
        "its conversation forgotten": [steps.forget_document(f"window:m{number}")],
        "its author forgotten": [steps.forget_person("ada")],
        "its channel left": [steps.leave()],
        "its channel closed": [steps.set_kind("closed")],
        "preview added": [steps.edit_event(number, edited="")],
        "edited to the same": [steps.edit_event(number)],
        "other spaces": [steps.edit(number, "  The Tiles  come on Monday. ")],
    }


async def due(bot: BotFixture) -> list[AnswerCorrection]:
    found = await bot.store.answer_corrections.list_workspaces()
    return await bot.store.answer_corrections.list_due(2e10, found, 9)


@pytest.mark.usefixtures("hall")
@pytest.mark.parametrize(
    ("change", "asked_in", "replaced"),
    [
        *((change, "ROOF", True) for change in list(changes(1))[:6]),
        *((change, "HALL", True) for change in ("its channel left", "its channel closed")),
        *((change, "ROOF", False) for change in list(changes(1))[7:]),
    ],
)
async def test_a_posted_answer_is_replaced_if_its_readers_lose_its_source(
    bot: BotFixture, tiles: Message, change: str, asked_in: str, *, replaced: bool
) -> None:
    reply = await bot.ask(bot.platform.place(asked_in), "bob", ASKED)
    assert "Monday" in reply.text
    await run_steps(bot, changes(1)[change])
    await bot.correct_answers()
    assert reply.text == texts.SOURCE_REMOVED if replaced else "Monday" in reply.text
    stored = await bot.stored(reply)
    assert (stored.state, bool(stored.text)) == (("redacted", False) if replaced else ("done", True))
    assert await due(bot) == []


async def test_an_expired_answer_is_replaced_too(bot: BotFixture, tiles: Message) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    context = bot.with_settings(retention_days=1)
    await Retention(context, ConversationDocuments(context)).delete_expired(tiles.time + timedelta(days=2))
    await bot.correct_answers()
    assert reply.text == texts.SOURCE_REMOVED


async def test_a_channel_that_closes_again_and_again_redacts_elsewhere_only(
    bot: BotFixture, tiles: Message, hall: Location
) -> None:
    elsewhere, there = await bot.ask(hall, "bob", ASKED), await bot.ask(ROOF, "bob", ASKED)
    for kind in ("closed", "open", "closed"):
        await run_steps(bot, [steps.set_kind(kind)])
        await bot.correct_answers()
    assert elsewhere.text == texts.SOURCE_REMOVED
    assert "Monday" in there.text


async def test_a_channel_that_opens_hides_nothing(bot: BotFixture, tiles: Message) -> None:
    await run_steps(bot, [steps.set_kind("closed")])
    reply = await bot.ask(bot.platform.add_channel("D1", "ada", kind="direct"), "ada", ASKED)
    await run_steps(bot, [steps.set_kind("open")])
    await bot.correct_answers()
    assert "Monday" in reply.text


async def test_a_removed_file_replaces_answers_too(bot: BotFixture, roof: Location) -> None:
    upload = bot.platform.add_file("notes.txt", b"The Nails of Zanzibar come on Friday, says Mina.")
    message = bot.share(roof, upload)
    await bot.ingest_service.files.ingest_and_confirm(message)
    await bot.engine.wait_until_indexed()
    answer = await bot.engine.ask(
        Question("Who says that of Zanzibar?", Scope(frozenset({"slack:T1:open"}), frozenset()))
    )
    [found] = await answer.load_supporting_passages()
    assert (found.document, found.room) == (f"{roof.room}:file:{message.id}:{upload.id}", roof.room)
    await answer.aclose()
    reply = await bot.ask(roof, "bob", "When do the Nails come?")
    assert "Friday" in reply.text
    await bot.ingest_service.handle(FilesRemoved(roof, (upload.id,)))
    await bot.correct_answers()
    assert reply.text == texts.SOURCE_REMOVED


async def test_an_edit_takes_answer_and_question_out_of_the_file_and_out_of_the_history(
    bot: BotFixture, tiles: Message, tmp_path: Path
) -> None:
    reply = await bot.ask(ROOF, "bob", "Do the Tiles come on Monday?")
    await bot.edit(tiles, THURSDAY)
    found = await bot.stored(reply)
    assert (found.state, found.text, found.question, found.sources) == ("redacted", "", "", ())
    with closing(sqlite3.connect(tmp_path / "home" / "bot.db")) as connection:
        assert "Monday" not in "\n".join(connection.iterdump())
    bot.language.prompts.clear()
    await bot.ask(replace(ROOF, thread=reply.target.message), "bob", "And the Nails, do they come with the Tiles?")
    for prompt in bot.language.prompts:
        assert "Monday" not in "".join(turn.text for turn in prompt.history)


@pytest.fixture
async def neighbor(bot: BotFixture, roof: Location, tiles: Message) -> Message:
    """A message beside the one that is asked for."""
    return await bot.post_indexed(roof, "bob", "Somebody has seen the Cat?")


@pytest.mark.parametrize("change", ["edited", "deleted"])
async def test_a_neighbor_that_was_not_used_may_change(bot: BotFixture, neighbor: Message, change: str) -> None:
    bot.language.reply = ("They come on Monday [1].",)
    reply = await bot.ask(ROOF, "bob", ASKED)
    assert "Cat" not in reply.text
    await run_steps(bot, changes(2)[change])
    await bot.correct_answers()
    assert "Monday" in reply.text
    found = await bot.stored(reply)
    assert found.sources
    assert (found.text, found.question) == ("", ""), "a model may have retold what it was shown"


@pytest.mark.parametrize(
    ("change", "reply"),
    [
        ("edited", "Lundi."),
        *((name, "A feline vanished [1]. Ein Tier wird seit gestern gesucht.") for name in ("deleted", "forgotten")),
    ],
)
async def test_a_retelling_that_cites_nothing_counts_as_used(
    bot: BotFixture, neighbor: Message, change: str, reply: str
) -> None:
    bot.language.reply = (reply,)
    shown = await bot.ask(ROOF, "bob", ASKED)
    await run_steps(bot, changes(2)[change])
    await bot.correct_answers()
    assert shown.text == texts.SOURCE_REMOVED


async def test_a_retelling_that_cites_a_neighbor_is_no_history(bot: BotFixture, neighbor: Message) -> None:
    bot.language.reply = ("Am Montag, und jemand sucht ein Tier [1].",)
    first = await bot.ask(ROOF, "bob", ASKED)
    thread = replace(ROOF, thread=first.target.message)
    bot.language.reply = ("So ist es [1].",)
    second = await bot.ask(thread, "bob", "And who says that of the Tiles?")
    assert "Tier" in "".join(turn.text for turn in bot.language.prompts[-1].history)
    await bot.delete(neighbor)
    assert [(await bot.stored(each)).text for each in (first, second)] == ["", ""]
    await bot.ask(thread, "bob", "When do the Tiles come, again?")
    assert "Tier" not in "".join(turn.text for turn in bot.language.prompts[-1].history)


async def test_what_was_deleted_while_a_model_saw_it_is_no_history(bot: BotFixture, neighbor: Message) -> None:
    bot.language.reply = ("Am Montag. ", "Jemand sucht ein Tier [1].")
    bot.language.answer_gate.clear()
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(bot.ask(ROOF, "bob", ASKED))
        await bot.language.piece_sent.wait()
        await bot.delete(neighbor)
        bot.language.answer_gate.set()
    assert (await bot.stored(asking.result())).text == ""
    assert "Montag" in asking.result().text


async def test_what_turned_private_leaves_the_history_of_other_channels(
    bot: BotFixture, roof: Location, hall: Location
) -> None:
    await bot.post(roof, "ada", "Somebody has seen the Cat of the Tiles?")
    await bot.post_indexed(hall, "bob", "The Tiles come on Monday.")
    bot.language.reply = ("Am Montag, und jemand sucht ein Tier [1].",)
    reply = await bot.ask(hall, "bob", ASKED)
    found = await bot.stored(reply)
    assert [source.room for source in found.sources] == [hall.room]
    assert found.text
    await run_steps(bot, [steps.set_kind("closed")])
    assert (await bot.stored(reply)).text == ""


class Killed(BaseException):
    """The process ends here."""


def kill_after(monkeypatch: pytest.MonkeyPatch, bot: BotFixture, *steps: str) -> None:
    """Let the process end after the engine has done one of these."""
    for name in steps:
        step = getattr(bot.engine.documents, name)

        async def work(*given: object, step: Any = step, **more: object) -> None:
            await step(*given, **more)
            raise Killed

        monkeypatch.setattr(bot.engine.documents, name, work)


@pytest.mark.parametrize("change", ["edited", "deleted", "forgotten", "its conversation forgotten"])
async def test_a_kill_between_a_change_and_its_redaction_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    async with open_bot(tmp_path / "home") as bot:
        roof = await bot.join("ROOF", "ada", "bob")
        await bot.post_indexed(roof, "ada", "The Tiles come on Monday.")
        reply = await bot.ask(roof, "bob", ASKED)
        kill_after(monkeypatch, bot, "amend", "forget")
        with pytest.raises(Killed):
            await run_steps(bot, changes(1)[change])
    async with open_bot(tmp_path / "home", bot.platform) as bot:
        await bot.store.answers.redact_pending()
        assert (await bot.stored(reply)).text == ""
        await bot.correct_answers()
        assert reply.text == texts.SOURCE_REMOVED
        assert await bot.store.pending_redactions.list_abandoned() == []


async def test_an_edit_that_is_repeated_after_its_redaction_failed_redacts(
    bot: BotFixture, tiles: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    edited = bot.platform.edit_message(tiles, THURSDAY)
    with monkeypatch.context() as patched:
        kill_after(patched, bot, "amend")
        with pytest.raises(Killed):
            await bot.ingest_service.handle(MessageEdited(edited))
    await bot.ingest_service.handle(MessageEdited(edited))
    assert (await bot.stored(reply)).text == ""


async def test_words_that_no_citation_marks_count_as_used(bot: BotFixture, roof: Location) -> None:
    bot.language.reply = ("They come on Monday, Orchid-7 says so.",)
    message = await bot.post_indexed(roof, "ada", "The Tiles are called ORCHID-7 inside.")
    reply = await bot.ask(roof, "bob", ASKED)
    await bot.delete(message)
    await bot.correct_answers()
    assert reply.text == texts.SOURCE_REMOVED


class AnswerWithFacts:
    """An answer that was shown facts of the graph, and the passages behind them."""

    is_extractive = False

    def __init__(self, context: Context, passages: list[StatingPassage]) -> None:
        self.context = context
        self._passages = passages

    async def load_supporting_passages(self) -> list[StatingPassage]:
        return self._passages


async def test_words_from_a_fact_of_the_graph_alone_count_as_used() -> None:
    window, fact = f"{ROOF.room}:window:m1", ContextEntity("Cat", "thing", "The Cat is an Orchid.")
    passage = StatingPassage(window, ROOF.room, "m1", "Ada: The Cat of Ada is an Orchid.")
    answer = AnswerWithFacts(
        Context(SearchQuery("?"), "mix", (fact,)), [passage, passage._replace(passage="m9", text="Nothing.")]
    )
    keys = await find_graph_keys(cast(Answer, answer), "It is an Orchid.", "What is it?", ())
    assert keys == GraphKeys(frozenset({window, f"{ROOF.room}:message:m1"}), frozenset({f"{window}:part"}))


async def test_a_follow_up_that_repeats_an_answer_goes_with_it(bot: BotFixture, tiles: Message) -> None:
    first = await bot.ask(ROOF, "bob", ASKED)
    thread = replace(ROOF, thread=first.target.message)
    bot.language.reply = ("As I said: Monday.",)
    second = await bot.ask(thread, "bob", "Sure?")
    bot.language.reply = (texts.NOTHING_FOUND,)
    third = await bot.ask(thread, "bob", "And the Nails?")
    await bot.edit(tiles, "The Tiles come late.")
    await bot.correct_answers()
    assert (first.text, second.text, third.text) == (*2 * (texts.SOURCE_REMOVED,), texts.NOTHING_FOUND)


@pytest.mark.parametrize("lasting", [False, True])
async def test_a_failing_platform_is_tried_again_until_it_works_or_for_long_enough(
    bot: BotFixture, tiles: Message, *, lasting: bool
) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    await bot.delete(tiles)
    bot.platform.failing["replace_answer"] = PermissionDenied("Never.") if lasting else PlatformError("Down.")
    await bot.correct_answers()
    [waiting] = await due(bot)
    assert ("Monday" in reply.text, waiting.attempts) == (True, 1)
    if not lasting:
        bot.platform.failing.clear()
        await bot.correct_answers()
        assert "Monday" in reply.text, "it is not due yet"
    await bot.correct_answers(waiting.requested_at + (GIVE_UP_AFTER + 1 if lasting else 60))
    assert await due(bot) == []
    assert (reply.text == texts.SOURCE_REMOVED) is not lasting


@pytest.mark.long
@with_settings(questions_per_minute=1000)
async def test_many_corrections_leave_room_for_answers_and_one_that_fails_stops_no_other(
    bot: BotFixture, tiles: Message
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    replies = [await bot.ask(ROOF, "bob", ASKED) for _ in range(CORRECTION_BURST + 3)]
    await bot.delete(tiles)
    bot.platform.failing["replace_answer"] = KeyError("unforeseen")
    await AnswerCorrector(bot.context, sleep=sleep).process_due()
    assert "Monday" in replies[0].text
    bot.platform.failing.clear()
    bot.platform.advance(60)
    await AnswerCorrector(bot.context, sleep).process_due()
    assert {reply.text for reply in replies} == {texts.SOURCE_REMOVED}
    assert waits == 6 * [CORRECTION_INTERVAL]


async def test_a_platform_that_is_not_connected_costs_no_attempt(bot: BotFixture, tiles: Message) -> None:
    await bot.ask(ROOF, "bob", ASKED)
    await bot.delete(tiles)
    await AnswerCorrector(replace(bot.context, platforms={})).process_due()
    assert [each.attempts for each in await due(bot)] == [0]


async def test_corrections_of_a_workspace_that_another_process_has_are_left_to_it(
    bot: BotFixture, tiles: Message
) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    bot.platform.unserved.add(ROOF.workspace)
    await bot.delete(tiles)
    await AnswerCorrector(bot.context).process_due()
    assert [each.attempts for each in await due(bot)] == [0]
    bot.platform.unserved.clear()
    await AnswerCorrector(bot.context).process_due()
    assert (reply.text, await due(bot)) == (texts.SOURCE_REMOVED, [])


@pytest.mark.parametrize("lasting", [False, True])
async def test_a_private_answer_is_replaced_where_the_platform_can(
    bot: BotFixture, tiles: Message, *, lasting: bool
) -> None:
    bot.platform.can_edit_private = lasting
    reply = await bot.ask_by_command(ROOF, "bob", ASKED)
    await bot.delete(tiles)
    await bot.correct_answers()
    assert reply.text == texts.SOURCE_REMOVED if lasting else "Monday" in reply.text
    assert (await bot.stored(reply)).text == ""
    assert len(bot.platform.replies) == 1


@pytest.mark.parametrize("member", [False, True])
async def test_a_private_answer_stays_while_its_asker_may_read_the_source(
    bot: BotFixture, tiles: Message, hall: Location, *, member: bool
) -> None:
    reply = await bot.ask_by_command(hall, "bob", ASKED)
    bot.platform.change_channel("ROOF", members=frozenset({"ada", "bob"} if member else {"ada"}))
    await run_steps(bot, [steps.set_kind("closed")])
    await bot.correct_answers()
    assert "Monday" in reply.text if member else reply.text == texts.SOURCE_REMOVED


async def delete_question(bot: BotFixture, reply: RecordedReply) -> None:
    await bot.ingest_service.handle(MessagesDeleted(reply.target.location.without_thread, (str(reply.target.message),)))


async def forget_asker(bot: BotFixture, reply: RecordedReply) -> None:
    await bot.forget_person("bob")


async def test_an_answer_goes_with_its_question(bot: BotFixture, tiles: Message) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    await delete_question(bot, reply)
    await bot.correct_answers()
    assert reply.deleted


async def test_an_answer_whose_asker_is_forgotten_is_replaced_all_the_same(bot: BotFixture, tiles: Message) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    await forget_asker(bot, reply)
    left = await bot.stored(reply)
    assert (left.question, left.text) == ("", "")
    assert "Monday" in reply.text
    await bot.delete(tiles)
    await bot.correct_answers()
    assert reply.text == texts.SOURCE_REMOVED


@pytest.mark.parametrize(
    ("reply", "before", "kept"),
    [
        ((), "<@BOT> When do the Tils come, Zanzibar?", True),
        (("For Zanzibar they come on Monday [1].",), "<@BOT> When do the Tiles for Zanzibar come?", False),
    ],
    ids=["not repeated", "repeated by the answer"],
)
async def test_words_that_an_edit_takes_out_of_a_question_leave_its_answer(
    bot: BotFixture, tiles: Message, reply: tuple[str, ...], before: str, *, kept: bool
) -> None:
    bot.language.reply = reply
    question = await bot.receive(bot.platform.add_message(ROOF, "bob", before), addressed=True)
    await bot.answer(question)
    await bot.edit(question, f"<@BOT> {ASKED}")
    found = await bot.store.answers.get(answer_id(ROOF, question.id))
    assert found is not None
    assert (found.question, bool(found.text)) == ((f"<@BOT> {ASKED}", True) if kept else ("", False))
