"""Messages become documents, once; what is edited, deleted, forgotten or not to be indexed does not stay."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot import texts
from bot.errors import PermissionDenied, PlatformError
from bot.ingest.documents import ConversationDocuments
from bot.platform.events import MessageEdited
from bot.platform.models import Person
from bot.store import AnswerResult
from bot.store.models import message_key
from engine.errors import StoreError
from tests.support import steps
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import ROOF, make_answer
from tests.support.fake_platform import START
from tests.support.steps import Step, delete, edit, edit_event, find, receive, run_steps, say, write

ONE, TWO, THREE = say("ada", "One."), say("ada", "Two."), say("ada", "Three.")
LADDER, MINA = "Ada: Who has the ladder?", "Bob: Mina has it."
pytestmark = pytest.mark.usefixtures("roof")


@pytest.mark.parametrize(
    ("happened", "documents"),
    [
        pytest.param(
            [say("ada", "The tiles come on Monday."), say("bob", "<@ada> who fetches them?")],
            {"window:m1": ["Ada: The tiles come on Monday.", "Bob: @Ada who fetches them?"]},
            id="messages in a row are one document",
        ),
        pytest.param(
            [ONE, say("ada", "Two.", after=899), say("ada", "Three.", after=900)],
            {"window:m1": ["Ada: One.", "Ada: Two."], "window:m3": ["Ada: Three."]},
            id="a silence of a quarter of an hour ends a window",
        ),
        pytest.param(
            [ONE, say("ada", "Who has the ladder?"), say("bob", "Lunch?"), say("bob", "Mina has it.", thread=2)],
            {"thread:m2": [LADDER, MINA], "window:m1": ["Ada: One.", "Bob: Lunch?"]},
            id="a thread is a document and its root moves into it",
        ),
        pytest.param(
            [say("ada", "Who has the ladder?"), say("bob", "Mina has it.", thread=1)],
            {"thread:m1": [LADDER, MINA]},
            id="a root that stood alone leaves no empty window",
        ),
        pytest.param(
            [write("ada", "Who has the ladder?"), say("bob", "Mina has it.", thread=1), receive(1)],
            {"thread:m1": [LADDER, MINA]},
            id="a root that is received after its reply joins the thread",
        ),
        pytest.param([ONE, receive(1)], {"window:m1": ["Ada: One."]}, id="received twice"),
        pytest.param([ONE, TWO, edit(1, "A.")], {"window:m1": ["Ada: A.", "Ada: Two."]}, id="edited"),
        pytest.param([write("ada", "A."), edit(1, "B."), receive(1)], {"window:m1": ["Ada: B."]}, id="edited before"),
        pytest.param([ONE, TWO, edit(2, " ")], {"window:m1": ["Ada: One."]}, id="edited to nothing"),
        pytest.param(
            [write("ada", "Long ago."), edit_event(1, text="Longer.", time=START.replace(year=2020))],
            {},
            id="an edit of a message from before the bot",
        ),
        pytest.param([ONE, TWO, delete(1)], {"window:m1": ["Ada: Two."]}, id="deleted"),
        pytest.param([ONE, TWO, delete(1), delete(2)], {}, id="the last one takes the document with it"),
        pytest.param([ONE, TWO, delete(1, 2), THREE], {"window:m3": ["Ada: Three."]}, id="after a deleted document"),
        pytest.param([ONE, TWO, THREE, delete(1, 3)], {"window:m1": ["Ada: Two."]}, id="many deleted at once"),
        pytest.param(
            [write("ada", "One."), delete(1), receive(1), edit_event(1, text="Two.")], {}, id="received after deletion"
        ),
        pytest.param([write("ada", "<@bot> When?"), receive(1, addressed=True), edit(1, "<@bot> W?")], {}, id="to bot"),
        pytest.param([ONE, receive(1, addressed=True)], {}, id="turns out to be addressed to the bot"),
        pytest.param(
            [ONE, TWO, edit_event(2, text="<@BOT> when?", addressed=True)],
            {"window:m1": ["Ada: One."]},
            id="edited into a question to the bot",
        ),
        pytest.param([steps.save_settings(ingest=False), ONE], {}, id="a channel that is not indexed"),
        pytest.param(
            [ONE, say("bob", "Two."), steps.forget_person("ada"), THREE, steps.opt_in("ada"), say("ada", "Four.")],
            {"window:m1": ["Bob: Two.", "Ada: Four."]},
            id="a person who opted out and in again",
        ),
        pytest.param(
            [ONE, TWO, steps.forget_message(1), steps.backfill()],
            {"window:m1": ["Ada: Two."]},
            id="a forgotten message stays out",
        ),
        pytest.param(
            [ONE, steps.forget_document("window:m1"), TWO], {"window:m2": ["Ada: Two."]}, id="a forgotten conversation"
        ),
        pytest.param(
            [
                *(ONE, say("ada", "Two.", thread=1), THREE),
                *(steps.forget_document("thread:m1"), steps.backfill(), steps.leave_and_rejoin()),
            ],
            {"window:m3": ["Ada: Three."]},
            id="a forgotten conversation is not indexed again",
        ),
        pytest.param(
            [ONE, say("ada", "Two.", thread=1), THREE, steps.remove_thread(1), receive(2)],
            {"window:m3": ["Ada: Three."]},
            id="a deleted thread goes as a whole",
        ),
    ],
)
async def test_documents_hold_what_may_be_known(
    bot: BotFixture, happened: list[Step], documents: dict[str, list[str]]
) -> None:
    await run_steps(bot, happened)
    assert await bot.document_texts(ROOF) == documents


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        pytest.param([], "", id="nothing against it"),
        pytest.param(
            [steps.forget_person("bob")],
            "You asked me not to read your messages. `/threadlore remember-me` changes that.",
            id="out",
        ),
        pytest.param([steps.save_settings(ingest=False)], texts.CHANNEL_NOT_INDEXED, id="a channel that is not read"),
        pytest.param([steps.save_settings(content="files")], texts.CHANNEL_NOT_INDEXED, id="a channel of files"),
    ],
)
async def test_a_statement_to_the_bot_is_kept_or_there_is_a_reason(
    bot: BotFixture, before: list[Step], reason: str
) -> None:
    await run_steps(bot, [*before, write("bob", "<@BOT> The code is 4711.")])
    assert await bot.ingest_service.find_refusal(find(bot, 1)) == reason
    for _ in range(2):  # received twice
        await bot.ingest_service.ingest_told(find(bot, 1))
    assert sum(map(len, (await bot.document_texts(ROOF)).values())) == (not reason)


async def test_a_statement_in_a_direct_message_is_kept_where_no_channel_is_read(bot: BotFixture) -> None:
    direct = bot.platform.add_channel("DIRECT", "bob", kind="direct")
    message = bot.platform.add_message(direct, "bob", "The code is 4711.")
    assert await bot.ingest_service.find_refusal(message) == ""


async def test_a_statement_that_was_deleted_meanwhile_is_not_kept(bot: BotFixture) -> None:
    await run_steps(bot, [write("bob", "<@BOT> The code is 4711."), delete(1)])
    await bot.ingest_service.ingest_told(find(bot, 1))
    assert await bot.document_texts(ROOF) == {}


@pytest.mark.parametrize(("text", "documents"), [("<@BOT> which tiles?", 0), ("<@BOT> the code is 4711", 1)])
async def test_a_question_that_an_edit_turns_into_a_statement_is_kept(
    bot: BotFixture, text: str, documents: int
) -> None:
    await run_steps(bot, [write("bob", "<@BOT> which code?"), receive(1, addressed=True), edit(1, text)])
    assert len(await bot.document_texts(ROOF)) == documents


async def test_a_question_that_was_deleted_meanwhile_leaves_no_row(bot: BotFixture) -> None:
    await run_steps(bot, [write("bob", "<@BOT> which code?"), delete(1), receive(1, addressed=True)])
    assert await bot.store.messages.get(ROOF.room, "m1") is None


async def test_an_answer_that_was_shown_a_question_loses_its_text_when_that_is_edited(bot: BotFixture) -> None:
    question = await bot.receive(bot.platform.add_message(ROOF, "ada", "<@BOT> which code?"), addressed=True)
    await bot.store.answers.begin(make_answer("a1", message_id="m9"))
    shown = frozenset({message_key(ROOF.room, question.id)})
    await bot.store.answers.finish("a1", AnswerResult("The code is 4711.", documents=shown))
    await bot.edit(question, "<@BOT> which tiles?")
    found = await bot.store.answers.get("a1")
    assert found is not None
    assert (found.state, found.text) == ("redacted", "")


async def test_what_was_written_while_its_author_was_not_read_stays_out(bot: BotFixture) -> None:
    out = [steps.forget_person("ada"), write("ada", "Two."), steps.opt_in("ada"), say("ada", "Three.", after=60)]
    await run_steps(bot, [*out, receive(1)])
    assert list((await bot.document_texts(ROOF)).values()) == [["Ada: Three."]]


async def test_a_deleted_question_takes_its_answer_along(bot: BotFixture) -> None:
    question = await bot.receive(bot.platform.add_message(ROOF, "bob", "<@BOT> which code?"), addressed=True)
    await bot.answer(question)
    assert await bot.store.answers.get_by_message(ROOF, question.id) is not None
    await bot.delete(question)
    assert await bot.store.answers.get_by_message(ROOF, question.id) is None


async def test_a_root_that_could_not_be_stored_is_stored_after_its_reply(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StoreError("The disk is busy.")

    await run_steps(bot, [write("ada", "Who has the ladder?")])
    with monkeypatch.context() as patch:
        patch.setattr(ConversationDocuments, "_amend_or_add", fail)
        with pytest.raises(StoreError):
            await run_steps(bot, [receive(1)])
    await run_steps(bot, [say("bob", "Mina has it.", thread=1), receive(1)])
    assert await bot.document_texts(ROOF) == {"thread:m1": [LADDER, MINA]}


async def test_a_passage_says_who_when_and_where(bot: BotFixture) -> None:
    message = await bot.post(ROOF, "ada", "The tiles come on Monday.")
    [listed] = await bot.list_documents(ROOF)
    found = await bot.engine.documents.get(listed.key, await bot.context.audience.scope_for_channel(ROOF))
    [passage] = found.passages
    assert found.title == "#roof: Messages of 2026-11-20 10:01"
    assert (found.kind, found.is_open, found.space) == ("conversation", True, "slack:T1:open")
    assert passage.text == "[2026-11-20 10:01] Ada: The tiles come on Monday."
    assert (passage.label, passage.link) == ("Ada, 2026-11-20 10:01", "https://chat.example/T1/ROOF/m1")
    assert (passage.key, passage.author, passage.time) == ("m1", "Ada", message.time)


async def test_a_window_ends_before_1200_tokens_and_is_never_filled_up_later(bot: BotFixture) -> None:
    await run_steps(bot, [say("ada", "tile " * 1000), say("ada", "roof " * 1000), say("ada", "Short.")])
    assert [len(texts) for texts in (await bot.document_texts(ROOF)).values()] == [1, 2]


async def test_a_preview_costs_no_call(bot: BotFixture) -> None:
    message = await bot.post_indexed(ROOF, "ada", "See https://tiles.example")
    calls = len(bot.platform.calls)
    await bot.ingest_service.handle(MessageEdited(bot.platform.add_preview(message)))
    assert bot.platform.calls[calls:] == []
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: See https://tiles.example"]}


@pytest.mark.parametrize(
    ("bot", "expected"),
    [({"index_bot_messages": False}, []), ({"index_bot_messages": True}, [["Robot: Build 7 failed."]])],
    indirect=["bot"],
)
async def test_bots_are_indexed_if_that_is_set_and_the_bot_itself_never(
    bot: BotFixture, expected: list[list[str]]
) -> None:
    robot, own = say("robot", "Build 7 failed.", by_bot=True), write("self", "I said this.", by_bot=True)
    await run_steps(bot, [robot, own, receive(2, own=True)])
    assert list((await bot.document_texts(ROOF)).values()) == expected


@pytest.mark.parametrize(("chosen", "expected"), [("", 0), ("off", 0), ("on", 1)])
async def test_a_channel_decides_whether_bots_are_indexed(bot: BotFixture, chosen: str, expected: int) -> None:
    await bot.save_settings(ROOF, bot_messages=chosen)
    await run_steps(bot, [say("robot", "Build 7 failed.", by_bot=True)])
    assert len(await bot.document_texts(ROOF)) == expected


async def test_a_channel_of_files_keeps_the_messages_that_it_has_and_reads_no_more(bot: BotFixture) -> None:
    await run_steps(bot, [ONE, TWO])
    await bot.save_settings(ROOF, content="files")
    await run_steps(bot, [THREE, edit(1, "A.")])
    await bot.reconcile()
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: A.", "Ada: Two."]}


async def test_a_name_that_is_withheld_is_an_id_and_one_that_fails_is_tried_again(bot: BotFixture) -> None:
    bot.platform.failing["person"] = PlatformError("busy")
    with pytest.raises(PlatformError):
        await bot.post(ROOF, "ada", "One.")
    bot.platform.failing["person"] = PermissionDenied("no")
    await bot.receive(find(bot, 1))
    assert await bot.document_texts(ROOF) == {"window:m1": ["ada: One."]}


async def test_a_renamed_person_keeps_the_old_name_in_old_messages(bot: BotFixture) -> None:
    await bot.post(ROOF, "ada", "One.")
    bot.platform.people["ada"] = Person("ada", "Countess")
    bot.context.audience.invalidate(ROOF)
    await bot.post(ROOF, "ada", "Two.")
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: One.", "Countess: Two."]}


async def test_an_interrupted_message_is_finished_by_repeating_it(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store has decided on the window and the engine was not called; the decision stands though time went on."""

    async def interrupt(*_: object, **__: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(bot.engine.documents, "amend", interrupt)
        with pytest.raises(KeyboardInterrupt):
            await bot.post(ROOF, "ada", "One.")
    await run_steps(bot, [TWO, receive(1)])
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: One.", "Ada: Two."]}


async def test_a_message_that_is_being_indexed_when_its_author_opts_out_is_forgotten_too(bot: BotFixture) -> None:
    await bot.post(ROOF, "bob", "Two.")
    to_plain_text, asked = bot.platform.to_plain_text, asyncio.Event()

    async def slowly(workspace: str, text: str) -> str:
        asked.set()
        while not await bot.store.opt_outs.is_opted_out("slack", "T1", "ada"):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)
        return await to_plain_text(workspace, text)

    bot.platform.to_plain_text = slowly  # type: ignore[method-assign]
    posting = asyncio.create_task(bot.post(ROOF, "ada", "One."))
    await asked.wait()
    await bot.forget_person("ada")
    await posting
    assert await bot.document_texts(ROOF) == {"window:m1": ["Bob: Two."]}


@with_settings(backfill_days=30)
async def test_what_was_forgotten_stays_forgotten_when_its_author_is_read_again(bot: BotFixture) -> None:
    code = say("bob", "The code is swordfish.", uploads=[bot.platform.add_file("code.txt", b"swordfish")])
    missed = say("bob", "Nobody reads this.")
    await run_steps(
        bot, [ONE, code, TWO, steps.forget_person("bob"), missed, steps.opt_in("bob"), say("bob", "Three.")]
    )
    await run_steps(bot, [steps.reconcile(0), steps.backfill(30)])
    assert list((await bot.document_texts(ROOF)).values()) == [["Ada: One.", "Ada: Two.", "Bob: Three."]]
    await run_steps(bot, [edit(3, "The code is still swordfish."), steps.leave_and_rejoin()])
    known = str(await bot.document_texts(ROOF))
    assert ("swordfish" in known, "Nobody" in known, "Bob: Three." in known) == (False, False, True)


async def list_titles(bot: BotFixture) -> list[tuple[str, str]]:
    return [(document.title, document.link.rpartition("/")[2]) for document in await bot.list_documents(ROOF)]


async def test_a_conversation_is_named_after_what_is_left_of_it(bot: BotFixture) -> None:
    root = await bot.post(ROOF, "ada", "Who has the ladder?")
    await bot.post(replace(ROOF, thread=root.id), "bob", "Mina has it.")
    assert await list_titles(bot) == [("#roof: Thread by Ada, 2026-11-20", "m1")]
    await bot.forget_person("ada")
    assert await list_titles(bot) == [("#roof: Thread by Bob, 2026-11-20", "m2")]
    window = await bot.post(ROOF, "bob", "The tiles come.")
    await bot.post(ROOF, "bob", "They are red.")
    assert (await list_titles(bot))[1] == ("#roof: Messages of 2026-11-20 10:03", "m3")
    await bot.delete(window)
    assert (await list_titles(bot))[1] == ("#roof: Messages of 2026-11-20 10:04", "m4")


@pytest.mark.parametrize("how", ["deleted", "retitled"])
async def test_the_former_title_of_a_post_is_nowhere(bot: BotFixture, how: str) -> None:
    post = bot.platform.add_message(
        replace(ROOF, thread="m1"), "ada", "Where can it be?", title="Mirabella lost the ladder"
    )
    await bot.receive(post)
    await bot.post_indexed(replace(ROOF, thread=post.id), "bob", "Mina has it in the Shed.")
    reply = await bot.ask(ROOF, "bob", "What is in the Shed?")
    assert (await bot.stored(reply)).sources[0].title.startswith("#roof: Mirabella lost the ladder")
    if how == "deleted":
        await bot.delete(post)
    else:
        await bot.ingest_service.handle(
            MessageEdited(bot.platform._replace_message(post, replace(post, title="Found")))
        )
    assert [title for title, _ in await list_titles(bot) if "Mirabella" in title] == []
    assert "Mirabella" not in repr(await bot.stored(reply))
