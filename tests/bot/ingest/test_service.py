"""What people want forgotten goes: their own words, a message, a conversation, and what answers said of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.platform.events import Edited, Gone, Joined
from bot.store import Outcome, Stored
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


async def test_whoever_opted_out_is_forgotten_and_not_indexed_again(home: Household) -> None:
    roof = await home.joined("ROOF", "ada", "bob")
    await home.say(roof, "ada", "One.")
    await home.say(roof, "bob", "Two.")
    store = home.house.store
    await store.answers.begin(Stored("a1", roof, "ada", "Who am I?", START))
    await home.listening.forget_person("slack", "T1", "ada")
    await home.say(roof, "ada", "Three.")
    assert await home.texts(roof) == {"window:m1": ["Bob: Two."]}
    assert await store.answers.get("a1") is None
    await store.people.opt_in("slack", "T1", "ada", home.platform.present() + timedelta(seconds=1))
    await home.say(roof, "ada", "Four.")
    assert await home.texts(roof) == {"window:m1": ["Bob: Two.", "Ada: Four."]}


async def test_what_was_being_taken_in_when_its_author_opted_out_is_forgotten_too(home: Household) -> None:
    roof = await home.joined("ROOF", "ada", "bob")
    await home.say(roof, "bob", "Two.")
    readable, asked = home.platform.readable, asyncio.Event()

    async def slowly(workspace: str, text: str) -> str:
        asked.set()
        while not await home.house.store.people.opted_out("slack", "T1", "ada"):  # noqa: ASYNC110
            await asyncio.sleep(0)
        return await readable(workspace, text)

    home.platform.readable = slowly  # type: ignore[method-assign]
    hearing = asyncio.create_task(home.say(roof, "ada", "One."))
    await asked.wait()
    await home.listening.forget_person("slack", "T1", "ada")
    await hearing
    assert await home.texts(roof) == {"window:m1": ["Bob: Two."]}


async def test_what_was_forgotten_stays_forgotten_when_its_author_is_read_again(home: Household) -> None:
    roof = await home.joined("ROOF", "ada", "bob")
    await home.say(roof, "ada", "One.")
    upload = home.platform.upload("code.txt", b"swordfish")
    told = await home.say(roof, "bob", "The code is swordfish.", uploads=[upload])
    await home.say(roof, "ada", "Two.")
    await home.listening.forget_person("slack", "T1", "bob")
    missed = await home.say(roof, "bob", "Nobody reads this.")
    await home.house.store.people.opt_in("slack", "T1", "bob", missed.time + timedelta(seconds=1))
    await home.say(roof, "bob", "Three.")
    known = {"window:m1": ["Ada: One.", "Ada: Two.", "Bob: Three."]}
    await home.listening.catch_up("slack")
    await home.listening.backfill(roof, 30)
    await home.listening.past()
    assert await home.texts(roof) == known
    await home.edit(told, "The code is still swordfish.")
    await home.listening.take(Gone(roof))
    await home.listening.take(Joined(roof))
    await home.listening.past()
    assert "swordfish" not in str(await home.texts(roof))
    assert "Nobody" not in str(await home.texts(roof))
    assert "Bob: Three." in str(await home.texts(roof))


async def test_answers_go_blank_when_something_that_they_drew_on_is_deleted(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = await home.say(roof, "ada", "The code is 1234.")
    [document] = await home.documents(roof)
    answers = home.house.store.answers
    await answers.begin(Stored("a1", roof, "bob", "The code?", START))
    await answers.finish("a1", Outcome("It is 1234 [1].", documents=frozenset({document.key})))
    await home.delete(said)
    found = await answers.get("a1")
    assert found
    assert (found.state, found.text) == ("blanked", "")


async def test_one_message_can_be_forgotten_by_hand_and_stays_out(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = await home.say(roof, "ada", "One.")
    await home.say(roof, "ada", "Two.")
    await home.listening.forget_message(roof, said.id)
    await home.listening.backfill(roof, 3650)
    await home.listening.past()
    assert await home.texts(roof) == {"window:m1": ["Ada: Two."]}


async def test_a_conversation_can_be_forgotten_by_hand(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    await home.say(roof, "ada", "One.")
    [document] = await home.documents(roof)
    assert await home.listening.forget_document(document.key)
    assert not await home.listening.forget_document(document.key)
    await home.say(roof, "ada", "Two.")
    assert await home.texts(roof) == {"window:m2": ["Ada: Two."]}


async def test_a_conversation_that_was_forgotten_by_hand_is_not_read_again(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    root = await home.say(roof, "ada", "Who has the code?")
    await home.say(replace(roof, thread=root.id), "ada", "It is swordfish.")
    kept = await home.say(roof, "ada", "One.")
    [thread, _] = await home.documents(roof)
    assert await home.listening.forget_document(thread.key)
    await home.listening.backfill(roof, 3650)
    await home.listening.take(Gone(roof))
    await home.listening.take(Joined(roof))
    await home.listening.past()
    assert await home.texts(roof) == {f"window:{kept.id}": ["Ada: One."]}


async def test_a_file_that_is_taken_out_of_a_message_goes_even_if_its_conversation_was_forgotten(
    home: Household,
) -> None:
    roof = await home.joined("ROOF", "ada")
    said = await home.say(roof, "ada", "See the list.", uploads=[home.platform.upload("tiles.txt", b"Red.")])
    await home.listening.filing.take(said)
    [_, window] = await home.documents(roof)
    await home.listening.forget_document(window.key)
    assert len(await home.documents(roof)) == 1
    await home.listening.take(Edited(replace(said, uploads=(), edited="+")))
    assert await home.documents(roof) == []
