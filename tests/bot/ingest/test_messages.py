"""Messages become documents, once, and what is edited, deleted or not meant to be read does not stay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import PlatformError, Withheld
from bot.platform.events import Edited
from bot.platform.models import Person
from bot.store import ChannelSettings
from tests.support.fake_platform import START
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.household import Household


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with household(tmp_path / "home") as opened:
        yield opened


async def test_what_is_said_in_a_row_is_one_document(home: Household) -> None:
    roof = await home.joined("ROOF", "ada", "bob")
    await home.say(roof, "ada", "The tiles come on Monday.")
    await home.say(roof, "bob", "<@ada> who fetches them?")
    assert await home.texts(roof) == {"window:m1": ["Ada: The tiles come on Monday.", "Bob: @Ada who fetches them?"]}


async def test_a_passage_says_who_when_and_where(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = await home.say(roof, "ada", "The tiles come on Monday.")
    [listed] = await home.documents(roof)
    found = await home.house.desk.engine.document(listed.key, await home.house.readers.scope_here(roof))
    [passage] = found.passages
    assert found.title == "#roof: Messages of 2026-11-20 10:01"
    assert (found.kind, found.open, found.space) == ("conversation", True, "slack:T1:open")
    assert passage.text == "[2026-11-20 10:01] Ada: The tiles come on Monday."
    assert passage.label == "Ada, 2026-11-20 10:01"
    assert passage.link == "https://chat.example/T1/ROOF/m1"
    assert (passage.key, passage.author, passage.time) == ("m1", "Ada", said.time)


async def test_a_silence_of_a_quarter_of_an_hour_ends_a_window(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "One.")
    await home.say(roof, "ada", "Two.", after=899)
    await home.say(roof, "ada", "Three.", after=900)
    assert await home.texts(roof) == {"window:m1": ["Ada: One.", "Ada: Two."], "window:m3": ["Ada: Three."]}


async def test_a_window_ends_before_1200_tokens_and_is_never_filled_up_later(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "tile " * 1000)
    await home.say(roof, "ada", "roof " * 1000)
    await home.say(roof, "ada", "Short.")
    assert [len(texts) for texts in (await home.texts(roof)).values()] == [1, 2]


async def test_a_thread_is_a_document_and_its_root_moves_into_it(home: Household) -> None:
    roof = await home.joined("ROOF", "ada", "bob")
    await home.say(roof, "ada", "Good morning.")
    root = await home.say(roof, "ada", "Who has the ladder?")
    await home.say(roof, "bob", "Lunch?")
    await home.say(replace(roof, thread=root.id), "bob", "Mina has it.")
    assert await home.texts(roof) == {
        "thread:m2": ["Ada: Who has the ladder?", "Bob: Mina has it."],
        "window:m1": ["Ada: Good morning.", "Bob: Lunch?"],
    }


async def test_a_root_that_stood_alone_leaves_no_empty_window(home: Household) -> None:
    roof = await home.joined("ROOF", "ada", "bob")
    root = await home.say(roof, "ada", "Who has the ladder?")
    await home.say(replace(roof, thread=root.id), "bob", "Mina has it.")
    assert await home.texts(roof) == {"thread:m1": ["Ada: Who has the ladder?", "Bob: Mina has it."]}


async def test_a_root_that_is_heard_after_its_reply_joins_the_thread(home: Household) -> None:
    roof = await home.joined("ROOF", "ada", "bob")
    root = home.platform.say(roof, "ada", "Who has the ladder?")
    await home.say(replace(roof, thread=root.id), "bob", "Mina has it.")
    await home.hear(root)
    assert await home.texts(roof) == {"thread:m1": ["Ada: Who has the ladder?", "Bob: Mina has it."]}


async def test_a_message_that_is_told_twice_is_there_once(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = await home.say(roof, "ada", "One.")
    await home.hear(said)
    assert await home.texts(roof) == {"window:m1": ["Ada: One."]}


async def test_an_edit_changes_the_one_passage(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    first = await home.say(roof, "ada", "The tiles come on Monday.")
    await home.say(roof, "ada", "All of them.")
    await home.edit(first, "The tiles come on Friday.")
    assert await home.texts(roof) == {"window:m1": ["Ada: The tiles come on Friday.", "Ada: All of them."]}


async def test_a_preview_changes_nothing(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = await home.say(roof, "ada", "See https://tiles.example")
    await home.house.desk.engine.settled()
    calls = len(home.platform.calls)
    await home.listening.take(Edited(home.platform.unfurl(said)))
    assert home.platform.calls[calls:] == []
    assert await home.texts(roof) == {"window:m1": ["Ada: See https://tiles.example"]}


async def test_an_edit_that_comes_before_its_message_counts(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = home.platform.say(roof, "ada", "Monday.")
    await home.edit(said, "Friday.")
    await home.hear(said)
    assert await home.texts(roof) == {"window:m1": ["Ada: Friday."]}


async def test_an_edit_of_what_was_said_long_before_the_bot_came_is_not_indexed(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    old = replace(home.platform.say(roof, "ada", "Long ago."), time=START.replace(year=2020))
    await home.edit(old, "Very long ago.")
    assert await home.texts(roof) == {}


async def test_a_message_whose_words_are_edited_away_goes(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "One.")
    second = await home.say(roof, "ada", "Two.")
    await home.edit(second, " ")
    assert await home.texts(roof) == {"window:m1": ["Ada: One."]}


async def test_a_deleted_message_goes_and_the_last_one_takes_the_document_with_it(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    first, second = await home.say(roof, "ada", "One."), await home.say(roof, "ada", "Two.")
    await home.delete(first)
    assert await home.texts(roof) == {"window:m1": ["Ada: Two."]}
    await home.delete(second)
    assert await home.texts(roof) == {}
    await home.say(roof, "ada", "Three.")
    assert await home.texts(roof) == {"window:m3": ["Ada: Three."]}


async def test_a_message_that_is_told_after_its_deletion_stays_out(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = home.platform.say(roof, "ada", "One.")
    await home.delete(said)
    await home.hear(said)
    await home.listening.take(Edited(replace(said, text="Two.", edited="+")))
    assert await home.texts(roof) == {}


async def test_many_messages_can_be_deleted_at_once(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = [await home.say(roof, "ada", word) for word in ("One.", "Two.", "Three.")]
    await home.delete(said[0], said[2])
    assert await home.texts(roof) == {"window:m1": ["Ada: Two."]}


async def test_what_is_said_to_the_bot_is_not_indexed_not_even_when_it_is_edited(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    asked = await home.hear(home.platform.say(roof, "ada", "<@bot> when do the tiles come?"), addressed=True)
    await home.edit(asked, "<@bot> when will the tiles come?")
    assert await home.texts(roof) == {}


async def test_what_turns_out_to_be_said_to_the_bot_is_taken_out_again(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = await home.say(roof, "ada", "When do the tiles come?")
    await home.hear(said, addressed=True)
    assert await home.texts(roof) == {}


async def test_nor_does_a_message_stay_that_is_edited_into_one_to_the_bot(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "The tiles come on Monday.")
    said = await home.say(roof, "ada", "When do they come?")
    await home.listening.take(Edited(replace(said, text="<@BOT> when do they come?", edited="+", addressed=True)))
    assert await home.texts(roof) == {"window:m1": ["Ada: The tiles come on Monday."]}


async def test_bots_are_not_indexed_and_the_bot_itself_never(tmp_path: Path) -> None:
    for allowed in (False, True):
        async with household(tmp_path / str(allowed), index_bots=allowed) as home:
            roof = await home.joined("ROOF", "ada")
            await home.say(roof, "robot", "Build 7 failed.", by_bot=True)
            await home.hear(replace(home.platform.say(roof, "self", "I said this.", by_bot=True), own=True))
            assert list((await home.texts(roof)).values()) == ([["Robot: Build 7 failed."]] if allowed else [])


async def test_a_channel_that_is_switched_off_is_not_read(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.house.store.channels.put(roof.room, ChannelSettings(ingest=False))
    await home.say(roof, "ada", "One.")
    assert await home.texts(roof) == {}


async def test_a_name_that_is_withheld_is_an_id_and_one_that_fails_is_tried_again(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    home.platform.failing["person"] = PlatformError("busy")
    said = home.platform.say(roof, "ada", "One.")
    with pytest.raises(PlatformError):
        await home.hear(said)
    home.platform.failing["person"] = Withheld("no")
    await home.hear(said)
    assert await home.texts(roof) == {"window:m1": ["ada: One."]}


async def test_listening_that_was_cut_off_is_finished_by_repeating_it(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store has decided, the engine was never told; the decision stands though time went on."""
    roof = await home.joined("ROOF", "ada")
    first = home.platform.say(roof, "ada", "One.")
    engine = home.house.desk.engine
    with monkeypatch.context() as patch:
        patch.setattr(engine, "amend", _cut_off)
        with pytest.raises(KeyboardInterrupt):
            await home.hear(first)
    await home.say(roof, "ada", "Two.")
    await home.hear(first)
    assert await home.texts(roof) == {"window:m1": ["Ada: One.", "Ada: Two."]}


async def _cut_off(*_: object, **__: object) -> bool:
    raise KeyboardInterrupt


async def test_a_renamed_person_keeps_the_old_name_in_what_he_said(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "One.")
    home.platform.people["ada"] = Person("ada", "Countess")
    home.house.readers.forget(roof)
    await home.say(roof, "ada", "Two.")
    assert await home.texts(roof) == {"window:m1": ["Ada: One.", "Countess: Two."]}
