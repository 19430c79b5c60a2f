"""Messages become documents, once, and what is edited, deleted or not meant to be read does not stay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import MessageEdited
from bot.platform.models import Person
from bot.store import ChannelSettings
from tests.support.bot_fixture import open_bot_fixture
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.bot_fixture import BotFixture


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot_fixture(tmp_path / "home") as opened:
        yield opened


async def test_what_is_said_in_a_row_is_one_document(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada", "bob")
    await home.post(roof, "ada", "The tiles come on Monday.")
    await home.post(roof, "bob", "<@ada> who fetches them?")
    assert await home.document_texts(roof) == {
        "window:m1": ["Ada: The tiles come on Monday.", "Bob: @Ada who fetches them?"]
    }


async def test_a_passage_says_who_when_and_where(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = await home.post(roof, "ada", "The tiles come on Monday.")
    [listed] = await home.list_documents(roof)
    found = await home.context.engine_context.engine.get_document(
        listed.key, await home.context.audience.scope_for_channel(roof)
    )
    [passage] = found.passages
    assert found.title == "#roof: Messages of 2026-11-20 10:01"
    assert (found.kind, found.is_open, found.space) == ("conversation", True, "slack:T1:open")
    assert passage.text == "[2026-11-20 10:01] Ada: The tiles come on Monday."
    assert passage.label == "Ada, 2026-11-20 10:01"
    assert passage.link == "https://chat.example/T1/ROOF/m1"
    assert (passage.key, passage.author, passage.time) == ("m1", "Ada", said.time)


async def test_a_silence_of_a_quarter_of_an_hour_ends_a_window(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "One.")
    await home.post(roof, "ada", "Two.", after=899)
    await home.post(roof, "ada", "Three.", after=900)
    assert await home.document_texts(roof) == {"window:m1": ["Ada: One.", "Ada: Two."], "window:m3": ["Ada: Three."]}


async def test_a_window_ends_before_1200_tokens_and_is_never_filled_up_later(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "tile " * 1000)
    await home.post(roof, "ada", "roof " * 1000)
    await home.post(roof, "ada", "Short.")
    assert [len(texts) for texts in (await home.document_texts(roof)).values()] == [1, 2]


async def test_a_thread_is_a_document_and_its_root_moves_into_it(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada", "bob")
    await home.post(roof, "ada", "Good morning.")
    root = await home.post(roof, "ada", "Who has the ladder?")
    await home.post(roof, "bob", "Lunch?")
    await home.post(replace(roof, thread=root.id), "bob", "Mina has it.")
    assert await home.document_texts(roof) == {
        "thread:m2": ["Ada: Who has the ladder?", "Bob: Mina has it."],
        "window:m1": ["Ada: Good morning.", "Bob: Lunch?"],
    }


async def test_a_root_that_stood_alone_leaves_no_empty_window(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada", "bob")
    root = await home.post(roof, "ada", "Who has the ladder?")
    await home.post(replace(roof, thread=root.id), "bob", "Mina has it.")
    assert await home.document_texts(roof) == {"thread:m1": ["Ada: Who has the ladder?", "Bob: Mina has it."]}


async def test_a_root_that_is_heard_after_its_reply_joins_the_thread(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada", "bob")
    root = home.platform.add_message(roof, "ada", "Who has the ladder?")
    await home.post(replace(roof, thread=root.id), "bob", "Mina has it.")
    await home.receive(root)
    assert await home.document_texts(roof) == {"thread:m1": ["Ada: Who has the ladder?", "Bob: Mina has it."]}


async def test_a_message_that_is_told_twice_is_there_once(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = await home.post(roof, "ada", "One.")
    await home.receive(said)
    assert await home.document_texts(roof) == {"window:m1": ["Ada: One."]}


async def test_an_edit_changes_the_one_passage(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    first = await home.post(roof, "ada", "The tiles come on Monday.")
    await home.post(roof, "ada", "All of them.")
    await home.edit(first, "The tiles come on Friday.")
    assert await home.document_texts(roof) == {"window:m1": ["Ada: The tiles come on Friday.", "Ada: All of them."]}


async def test_a_preview_changes_nothing(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = await home.post(roof, "ada", "See https://tiles.example")
    await home.context.engine_context.engine.wait_until_indexed()
    calls = len(home.platform.calls)
    await home.ingest_service.handle(MessageEdited(home.platform.add_preview(said)))
    assert home.platform.calls[calls:] == []
    assert await home.document_texts(roof) == {"window:m1": ["Ada: See https://tiles.example"]}


async def test_an_edit_that_comes_before_its_message_counts(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = home.platform.add_message(roof, "ada", "Monday.")
    await home.edit(said, "Friday.")
    await home.receive(said)
    assert await home.document_texts(roof) == {"window:m1": ["Ada: Friday."]}


async def test_an_edit_of_what_was_said_long_before_the_bot_came_is_not_indexed(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    old = replace(home.platform.add_message(roof, "ada", "Long ago."), time=START.replace(year=2020))
    await home.edit(old, "Very long ago.")
    assert await home.document_texts(roof) == {}


async def test_a_message_whose_words_are_edited_away_goes(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "One.")
    second = await home.post(roof, "ada", "Two.")
    await home.edit(second, " ")
    assert await home.document_texts(roof) == {"window:m1": ["Ada: One."]}


async def test_a_deleted_message_goes_and_the_last_one_takes_the_document_with_it(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    first, second = await home.post(roof, "ada", "One."), await home.post(roof, "ada", "Two.")
    await home.delete(first)
    assert await home.document_texts(roof) == {"window:m1": ["Ada: Two."]}
    await home.delete(second)
    assert await home.document_texts(roof) == {}
    await home.post(roof, "ada", "Three.")
    assert await home.document_texts(roof) == {"window:m3": ["Ada: Three."]}


async def test_a_message_that_is_told_after_its_deletion_stays_out(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = home.platform.add_message(roof, "ada", "One.")
    await home.delete(said)
    await home.receive(said)
    await home.ingest_service.handle(MessageEdited(replace(said, text="Two.", edited="+")))
    assert await home.document_texts(roof) == {}


async def test_many_messages_can_be_deleted_at_once(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = [await home.post(roof, "ada", word) for word in ("One.", "Two.", "Three.")]
    await home.delete(said[0], said[2])
    assert await home.document_texts(roof) == {"window:m1": ["Ada: Two."]}


async def test_what_is_said_to_the_bot_is_not_indexed_not_even_when_it_is_edited(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    asked = await home.receive(home.platform.add_message(roof, "ada", "<@bot> when do the tiles come?"), addressed=True)
    await home.edit(asked, "<@bot> when will the tiles come?")
    assert await home.document_texts(roof) == {}


async def test_what_turns_out_to_be_said_to_the_bot_is_taken_out_again(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = await home.post(roof, "ada", "When do the tiles come?")
    await home.receive(said, addressed=True)
    assert await home.document_texts(roof) == {}


async def test_nor_does_a_message_stay_that_is_edited_into_one_to_the_bot(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "The tiles come on Monday.")
    said = await home.post(roof, "ada", "When do they come?")
    await home.ingest_service.handle(
        MessageEdited(replace(said, text="<@BOT> when do they come?", edited="+", addressed=True))
    )
    assert await home.document_texts(roof) == {"window:m1": ["Ada: The tiles come on Monday."]}


async def test_bots_are_not_indexed_and_the_bot_itself_never(tmp_path: Path) -> None:
    for allowed in (False, True):
        async with open_bot_fixture(tmp_path / str(allowed), index_bot_messages=allowed) as home:
            roof = await home.join_channel("ROOF", "ada")
            await home.post(roof, "robot", "Build 7 failed.", by_bot=True)
            await home.receive(replace(home.platform.add_message(roof, "self", "I said this.", by_bot=True), own=True))
            assert list((await home.document_texts(roof)).values()) == ([["Robot: Build 7 failed."]] if allowed else [])


async def test_a_channel_that_is_switched_off_is_not_read(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.context.store.channel_settings.save(roof.room, ChannelSettings(ingest=False))
    await home.post(roof, "ada", "One.")
    assert await home.document_texts(roof) == {}


async def test_a_name_that_is_withheld_is_an_id_and_one_that_fails_is_tried_again(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    home.platform.failing["person"] = PlatformError("busy")
    said = home.platform.add_message(roof, "ada", "One.")
    with pytest.raises(PlatformError):
        await home.receive(said)
    home.platform.failing["person"] = PermissionDenied("no")
    await home.receive(said)
    assert await home.document_texts(roof) == {"window:m1": ["ada: One."]}


async def test_listening_that_was_cut_off_is_finished_by_repeating_it(
    home: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store has decided, the engine was never told; the decision stands though time went on."""
    roof = await home.join_channel("ROOF", "ada")
    first = home.platform.add_message(roof, "ada", "One.")
    engine = home.context.engine_context.engine
    with monkeypatch.context() as patch:
        patch.setattr(engine, "amend", _cut_off)
        with pytest.raises(KeyboardInterrupt):
            await home.receive(first)
    await home.post(roof, "ada", "Two.")
    await home.receive(first)
    assert await home.document_texts(roof) == {"window:m1": ["Ada: One.", "Ada: Two."]}


async def _cut_off(*_: object, **__: object) -> bool:
    raise KeyboardInterrupt


async def test_a_renamed_person_keeps_the_old_name_in_what_he_said(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "One.")
    home.platform.people["ada"] = Person("ada", "Countess")
    home.context.audience.invalidate(roof)
    await home.post(roof, "ada", "Two.")
    assert await home.document_texts(roof) == {"window:m1": ["Ada: One.", "Countess: Two."]}
