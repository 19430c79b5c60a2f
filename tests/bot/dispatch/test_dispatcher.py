"""What people say to the bot is answered, kept, or acknowledged; what they reword or delete takes its answer along."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot import texts
from bot.answers.introduction import ABOUT_WEEK, EXAMPLES_HEADING
from bot.answers.question import request_from_message
from bot.bot import Bot
from bot.capabilities.asking.calls import WELCOME
from bot.platform.events import MessageEdited, MessageReceived, MessagesDeleted, QuestionAsked, message_event_key
from bot.platform.models import Location, Message
from engine.errors import DatabaseReadOnly
from engine.models import Document, Passage
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import ROOF
from tests.support.patience import PATIENCE

ASKED = "When do the Tiles come?"
pytestmark = pytest.mark.usefixtures("tiles")


async def settle(running: Bot) -> None:
    async with asyncio.timeout(PATIENCE):
        await running.event_queue.wait_until_idle()


async def say(bot: BotFixture, running: Bot, text: str, place: Location = ROOF, author: str = "bob") -> Message:
    """Say something to the bot, and wait until it is handled."""
    said = bot.platform.add_message(place, author, text)
    await running.receive(MessageReceived(said, addressed=True), said.id)
    await settle(running)
    return said


async def kept(bot: BotFixture, place: Location = ROOF) -> str:
    return str(await bot.document_texts(place))


@pytest.mark.parametrize(
    "text",
    ["<@BOT> no, Brandt brings them since yesterday", "<@BOT> the gate code is 4711", "remember <@BOT>: ask Mina"],
)
async def test_a_statement_is_kept_like_any_message_and_acknowledged(bot: BotFixture, text: str) -> None:
    async with bot.run_bot() as running:
        said = await say(bot, running, text)
        assert bot.platform.reactions[said.id] == ["done"]
        assert bot.platform.replies == []
        assert text.rsplit(maxsplit=1)[-1] in await kept(bot)


async def test_a_statement_in_a_direct_message_is_kept_for_its_author_alone(bot: BotFixture) -> None:
    direct = bot.platform.add_channel("DIRECT", "bob", kind="direct")
    async with bot.run_bot() as running:
        said = await say(bot, running, "remember: the gate code is 4711", direct)
        assert bot.platform.reactions[said.id] == ["done"]
        [document] = await bot.list_documents(direct)
        assert document.space == "slack:T1:dm:bob"
        await running.receive(MessagesDeleted(direct, (said.id,)), "gone")
        await settle(running)
        assert await bot.list_documents(direct) == []


async def test_where_nothing_is_read_a_statement_is_refused_to_its_author(bot: BotFixture) -> None:
    hall = bot.platform.add_channel("HALL", "bob")
    await bot.save_settings(hall, ingest=False)
    async with bot.run_bot() as running:
        said = await say(bot, running, "<@BOT> the gate code is 4711", hall)
    assert said.id not in bot.platform.reactions
    assert bot.platform.private_messages[-1][1].text == texts.not_kept(texts.CHANNEL_NOT_INDEXED)


async def test_a_mention_in_passing_is_kept_without_a_word(bot: BotFixture) -> None:
    async with bot.run_bot() as running:
        said = await say(bot, running, "I asked <@BOT> yesterday and it knew nothing")
    assert said.id not in bot.platform.reactions
    assert (bot.platform.replies, bot.platform.private_messages) == ([], [])
    assert "yesterday" in await kept(bot)


@pytest.mark.parametrize("text", ["what can you do?", "who are you?", "are you there?", "?"])
async def test_a_question_about_the_bot_gets_an_introduction_with_examples(bot: BotFixture, text: str) -> None:
    async with bot.run_bot() as running:
        await say(bot, running, f"<@BOT> {text}")
    card = bot.platform.private_messages[-1][1].text
    assert EXAMPLES_HEADING in card
    assert ABOUT_WEEK in card
    assert bot.platform.replies == []


@pytest.mark.parametrize(("text", "part"), [("What can you do?", ABOUT_WEEK), ("thank you!", WELCOME)])
async def test_the_command_for_questions_replies_to_what_asks_for_nothing(
    bot: BotFixture, text: str, part: str
) -> None:
    asked = QuestionAsked("c1", ROOF, "bob", text, bot.clock.now())
    async with bot.run_bot() as running:
        await running.receive(asked, asked.id)
        await settle(running)
    assert part in bot.platform.private_messages[-1][1].text
    assert bot.platform.replies == []


async def test_examples_in_a_public_reply_are_of_what_everyone_there_can_read(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "bob", kind="closed")
    home, passages = await bot.context.audience.get_home_space(vault), (Passage("1", "The Gold is in the Cellar."),)
    await bot.engine.documents.add(Document("file:gold", home, vault.room, "gold.txt", passages, kind="file"))
    public = QuestionAsked("c1", ROOF, "bob", "What can you do?", bot.clock.now(), private=False)
    async with bot.run_bot() as running:
        await running.receive(replace(public, id="c2", private=True), "c2")
        await settle(running)
        own = bot.platform.private_messages[-1][1].text
        await running.receive(public, public.id)
        await settle(running)
        shown = [own, bot.platform.private_messages[-1][1].text]
        await say(bot, running, "<@BOT> who are you?")
        shown.append(bot.platform.private_messages[-1][1].text)
    assert ["gold.txt" in card for card in shown] == [True, False, False]


@pytest.mark.parametrize("text", ["/digset", "/digest", "!digst of today"])
async def test_a_command_in_a_message_is_explained_or_the_nearest_one(bot: BotFixture, text: str) -> None:
    async with bot.run_bot() as running:
        await say(bot, running, f"<@BOT> {text}")
    card = bot.platform.private_messages[-1][1].text
    assert ("digest" in card, "forget" in card) == (True, False)
    assert bot.platform.replies == []


@pytest.mark.parametrize("text", ["<@ada> can you look? <@BOT> found nothing", "<@ada>: who pays, <@BOT> is out"])
async def test_a_message_to_a_colleague_that_mentions_the_bot_is_left_alone(bot: BotFixture, text: str) -> None:
    async with bot.run_bot() as running:
        said = await say(bot, running, text)
        assert (bot.platform.replies, bot.platform.private_messages) == ([], [])
        assert said.id not in bot.platform.reactions
        assert text.rsplit(maxsplit=1)[-1] in await kept(bot)
        await say(bot, running, f"<@ada> <@BOT> {ASKED}")
        assert len(bot.platform.replies) == 1


@with_settings(llm_model="canned")
async def test_a_follow_up_waits_for_the_answer_before_it_and_has_it_as_history(bot: BotFixture) -> None:
    bot.language.reply = ("On Monday [1].",)
    bot.language.answer_gate.clear()
    async with bot.run_bot() as running:
        asked = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
        await running.receive(MessageReceived(asked, addressed=True), asked.id)
        async with asyncio.timeout(PATIENCE):
            while not bot.platform.replies:  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(0.005)
        follow_up = bot.platform.add_message(replace(ROOF, thread=asked.id), "bob", "And who brings them?")
        await running.receive(MessageReceived(follow_up, addressed=False), follow_up.id)
        bot.language.answer_gate.set()
        await settle(running)
    assert [reply.target.message for reply in bot.platform.replies] == [asked.id, follow_up.id]
    assert any("On Monday" in turn.text for turn in bot.language.prompts[-1].history)


async def test_an_edited_question_is_answered_again_in_place(bot: BotFixture) -> None:
    async with bot.run_bot() as running:
        asked = await say(bot, running, "<@BOT> When does the Glue come?")
        edited = bot.platform.edit_message(asked, f"<@BOT> {ASKED}")
        await running.receive(MessageEdited(edited), "edit")
        await settle(running)
    assert [prompt.question for prompt in bot.language.prompts] == ["When does the Glue come?", ASKED]
    assert {reply.target.message for reply in bot.platform.replies} == {asked.id}
    assert (await bot.stored(bot.last_reply)).question == f"<@BOT> {ASKED}"


async def test_a_message_that_an_edit_makes_a_question_to_the_bot_is_answered(bot: BotFixture) -> None:
    said = await bot.post(ROOF, "bob", ASKED)
    async with bot.run_bot() as running:
        edited = bot.platform.edit_message(said, f"<@BOT> {ASKED}")
        await running.receive(MessageEdited(edited), "edit")
        await settle(running)
    assert "Monday" in bot.last_reply.text


async def test_a_preview_of_a_question_asks_nothing_again(bot: BotFixture) -> None:
    async with bot.run_bot() as running:
        asked = await say(bot, running, f"<@BOT> {ASKED}")
        questions = len(bot.language.prompts)
        await running.receive(MessageEdited(bot.platform.add_preview(asked)), "preview")
        await settle(running)
    assert len(bot.language.prompts) == questions


async def test_a_deleted_question_takes_its_answer_along(bot: BotFixture) -> None:
    async with bot.run_bot() as running:
        asked = await say(bot, running, f"<@BOT> {ASKED}")
        await running.receive(MessagesDeleted(ROOF, (asked.id,)), "gone")
        await settle(running)
    await bot.correct_answers()
    assert bot.last_reply.deleted


async def catch_up(bot: BotFixture, running: Bot, later: float = 0.0) -> None:
    """Compare everything with the platform, as after a start."""
    bot.platform.advance(later)
    await running.ingest_service.start_reconciliation("slack")
    await running.ingest_service.run_sync()
    await settle(running)


async def test_a_question_that_came_while_the_bot_was_away_is_answered_once_with_a_word(bot: BotFixture) -> None:
    missed = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    async with bot.run_bot() as running:
        await catch_up(bot, running, later=3600)
        assert bot.last_reply.target.message == missed.id
        assert bot.last_reply.closing is not None
        assert texts.ANSWERED_LATE in bot.last_reply.closing.notice
        await catch_up(bot, running)
        await running.receive(MessageReceived(missed, addressed=True), missed.id)
        await settle(running)
    assert len(bot.platform.replies) == 1


async def test_a_question_that_was_missed_waits_for_a_database_that_takes_no_changes(bot: BotFixture) -> None:
    bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    async with bot.run_bot() as running:
        with pytest.MonkeyPatch.context() as read_only:
            read_only.setattr(type(running.store.event_queue), "enqueue", refuse_changes)
            await catch_up(bot, running)
        assert bot.platform.replies == []
        assert running.ingest_service.pending_syncs
        bot.platform.advance(3600)
        await running.ingest_service.run_sync()
        await settle(running)
    assert len(bot.platform.replies) == 1


async def refuse_changes(*_: object) -> bool:
    raise DatabaseReadOnly("It takes no changes.")


async def test_whoever_asked_too_long_ago_is_told_once_to_ask_again(bot: BotFixture) -> None:
    for question in (ASKED, "And who brings them?"):
        bot.platform.add_message(ROOF, "bob", f"<@BOT> {question}")
    async with bot.run_bot() as running:
        await catch_up(bot, running, later=8 * 3600)
    assert bot.platform.replies == []
    assert [card.text for _, card in bot.platform.private_messages] == [texts.ASK_AGAIN]


async def test_a_statement_that_came_while_the_bot_was_away_is_read_as_history(bot: BotFixture) -> None:
    bot.platform.add_message(ROOF, "bob", "<@BOT> the gate code is 4711")
    async with bot.run_bot() as running:
        await catch_up(bot, running, later=3600)
    assert "4711" in await kept(bot)
    assert bot.platform.replies == []


async def test_direct_messages_that_came_while_the_bot_was_away_are_answered_and_kept(bot: BotFixture) -> None:
    direct = bot.platform.add_channel("DIRECT", "bob", kind="direct")
    async with bot.run_bot() as running:
        await say(bot, running, "When do the Nails come?", direct)
        asked = bot.platform.add_message(direct, "bob", ASKED)
        bot.platform.add_message(direct, "bob", "remember: the gate code is 4711")
        await catch_up(bot, running, later=60)
    assert bot.last_reply.target.message == asked.id
    assert "4711" in await kept(bot, direct)


async def test_a_correction_in_words_is_carried_out_and_not_only_acknowledged(bot: BotFixture) -> None:
    async with bot.run_bot() as running:
        said = await say(bot, running, "<@BOT> correction: the Tiles come on Friday")
    assert said.id not in bot.platform.reactions
    assert bot.platform.private_messages


async def test_thanks_that_come_late_get_no_word_about_a_question(bot: BotFixture) -> None:
    thanks = bot.platform.add_message(ROOF, "bob", "<@BOT> thanks!")
    bot.platform.advance(8 * 3600)
    async with bot.run_bot() as running:
        await running.receive(MessageReceived(thanks, addressed=True), thanks.id)
        await settle(running)
    assert bot.platform.private_messages == []


async def test_an_answer_that_was_begun_is_finished_however_late(bot: BotFixture) -> None:
    asked = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    await bot.store.answers.begin(request_from_message(asked).to_stored_answer())
    bot.platform.advance(8 * 3600)
    async with bot.run_bot() as running:
        await running.receive(MessageReceived(asked, addressed=True), asked.id)
        await settle(running)
    assert "Monday" in bot.last_reply.text


async def test_of_who_opted_out_nothing_is_looked_for(bot: BotFixture) -> None:
    bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    await bot.forget_person("bob")
    async with bot.run_bot() as running:
        await catch_up(bot, running, later=60)
    assert (bot.platform.replies, bot.platform.private_messages) == ([], [])


@with_settings(llm_model="canned")
async def test_an_edit_during_an_answer_is_answered_after_it_also_after_a_repeated_event(bot: BotFixture) -> None:
    bot.language.reply = ("On Monday [1].",)
    bot.language.answer_gate.clear()
    async with bot.run_bot() as running:
        asked = bot.platform.add_message(ROOF, "bob", "<@BOT> When does the Glue come?")
        await running.receive(MessageReceived(asked, addressed=True), asked.id)
        async with asyncio.timeout(PATIENCE):
            while not bot.platform.replies:  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(0.005)
        edited = bot.platform.edit_message(asked, f"<@BOT> {ASKED}")
        await running.dispatcher.ingest(MessageEdited(edited))  # the process ended before it was handled
        await running.receive(MessageEdited(edited), "edit")
        bot.language.answer_gate.set()
        await settle(running)
    assert bot.language.prompts[-1].question == ASKED
    assert (await bot.stored(bot.last_reply)).question == f"<@BOT> {ASKED}"


async def test_a_question_that_is_deleted_already_gets_no_answer(bot: BotFixture) -> None:
    asked = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    async with bot.run_bot() as running:
        await running.receive(MessagesDeleted(ROOF, (asked.id,)), "gone")
        await settle(running)
        await running.receive(MessageReceived(asked, addressed=True), asked.id)
        await settle(running)
    assert bot.platform.replies == []
    assert await bot.store.messages.get(ROOF.room, asked.id) is None


async def test_a_question_that_becomes_a_statement_is_kept(bot: BotFixture) -> None:
    async with bot.run_bot() as running:
        asked = await say(bot, running, f"<@BOT> {ASKED}")
        answers = len(bot.language.prompts)
        edited = bot.platform.edit_message(asked, "<@BOT> the Tiles come on Friday instead")
        await running.receive(MessageEdited(edited), "edit")
        await settle(running)
    assert "Friday" in await kept(bot)
    assert len(bot.language.prompts) == answers


@with_settings(questions_per_minute=1)
async def test_an_edit_that_may_not_be_answered_is_refused_to_its_author(bot: BotFixture) -> None:
    async with bot.run_bot() as running:
        asked = await say(bot, running, "<@BOT> When does the Glue come?")
        await running.receive(MessageEdited(bot.platform.edit_message(asked, f"<@BOT> {ASKED}")), "edit")
        await settle(running)
    assert bot.platform.private_messages[-1][1].text == texts.TOO_MANY_QUESTIONS
    assert len(bot.language.prompts) == 1


async def test_a_message_that_is_found_and_received_is_handled_once(bot: BotFixture) -> None:
    missed = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    async with bot.run_bot() as running:
        assert await running.receive(MessageReceived(missed, addressed=True), message_event_key(missed))
        await catch_up(bot, running)
        assert not await running.receive(MessageReceived(missed, addressed=True), message_event_key(missed))
        await settle(running)
    assert len(bot.platform.replies) == 1
