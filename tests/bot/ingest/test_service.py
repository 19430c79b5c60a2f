"""What people want forgotten goes: their own words, a message, a conversation, and what answers said of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.platform.events import BotAdded, ChannelRemoved, MessageEdited
from bot.store import AnswerResult, StoredAnswer
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


async def test_whoever_opted_out_is_forgotten_and_not_indexed_again(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada", "bob")
    await home.post(roof, "ada", "One.")
    await home.post(roof, "bob", "Two.")
    store = home.context.store
    await store.answers.begin(StoredAnswer("a1", roof, "ada", "Who am I?", START))
    await home.ingest_service.forget_person("slack", "T1", "ada")
    await home.post(roof, "ada", "Three.")
    assert await home.document_texts(roof) == {"window:m1": ["Bob: Two."]}
    assert await store.answers.get("a1") is None
    await store.opt_outs.opt_in("slack", "T1", "ada", home.platform.current_time() + timedelta(seconds=1))
    await home.post(roof, "ada", "Four.")
    assert await home.document_texts(roof) == {"window:m1": ["Bob: Two.", "Ada: Four."]}


async def test_what_was_being_taken_in_when_its_author_opted_out_is_forgotten_too(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada", "bob")
    await home.post(roof, "bob", "Two.")
    readable, asked = home.platform.to_plain_text, asyncio.Event()

    async def slowly(workspace: str, text: str) -> str:
        asked.set()
        while not await home.context.store.opt_outs.is_opted_out("slack", "T1", "ada"):  # noqa: ASYNC110
            await asyncio.sleep(0)
        return await readable(workspace, text)

    home.platform.to_plain_text = slowly  # type: ignore[method-assign]
    hearing = asyncio.create_task(home.post(roof, "ada", "One."))
    await asked.wait()
    await home.ingest_service.forget_person("slack", "T1", "ada")
    await hearing
    assert await home.document_texts(roof) == {"window:m1": ["Bob: Two."]}


async def test_what_was_forgotten_stays_forgotten_when_its_author_is_read_again(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada", "bob")
    await home.post(roof, "ada", "One.")
    upload = home.platform.add_file("code.txt", b"swordfish")
    told = await home.post(roof, "bob", "The code is swordfish.", uploads=[upload])
    await home.post(roof, "ada", "Two.")
    await home.ingest_service.forget_person("slack", "T1", "bob")
    missed = await home.post(roof, "bob", "Nobody reads this.")
    await home.context.store.opt_outs.opt_in("slack", "T1", "bob", missed.time + timedelta(seconds=1))
    await home.post(roof, "bob", "Three.")
    known = {"window:m1": ["Ada: One.", "Ada: Two.", "Bob: Three."]}
    await home.ingest_service.start_reconciliation("slack")
    await home.ingest_service.start_backfill(roof, 30)
    await home.ingest_service.run_sync()
    assert await home.document_texts(roof) == known
    await home.edit(told, "The code is still swordfish.")
    await home.ingest_service.handle(ChannelRemoved(roof))
    await home.ingest_service.handle(BotAdded(roof))
    await home.ingest_service.run_sync()
    assert "swordfish" not in str(await home.document_texts(roof))
    assert "Nobody" not in str(await home.document_texts(roof))
    assert "Bob: Three." in str(await home.document_texts(roof))


async def test_answers_go_blank_when_something_that_they_drew_on_is_deleted(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = await home.post(roof, "ada", "The code is 1234.")
    [document] = await home.list_documents(roof)
    answers = home.context.store.answers
    await answers.begin(StoredAnswer("a1", roof, "bob", "The code?", START))
    await answers.finish("a1", AnswerResult("It is 1234 [1].", documents=frozenset({document.key})))
    await home.delete(said)
    found = await answers.get("a1")
    assert found
    assert (found.state, found.text) == ("redacted", "")


async def test_one_message_can_be_forgotten_by_hand_and_stays_out(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = await home.post(roof, "ada", "One.")
    await home.post(roof, "ada", "Two.")
    await home.ingest_service.forget_message(roof, said.id)
    await home.ingest_service.start_backfill(roof, 3650)
    await home.ingest_service.run_sync()
    assert await home.document_texts(roof) == {"window:m1": ["Ada: Two."]}


async def test_a_conversation_can_be_forgotten_by_hand(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    await home.post(roof, "ada", "One.")
    [document] = await home.list_documents(roof)
    assert await home.ingest_service.forget_document(document.key)
    assert not await home.ingest_service.forget_document(document.key)
    await home.post(roof, "ada", "Two.")
    assert await home.document_texts(roof) == {"window:m2": ["Ada: Two."]}


async def test_a_conversation_that_was_forgotten_by_hand_is_not_read_again(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    root = await home.post(roof, "ada", "Who has the code?")
    await home.post(replace(roof, thread=root.id), "ada", "It is swordfish.")
    kept = await home.post(roof, "ada", "One.")
    [thread, _] = await home.list_documents(roof)
    assert await home.ingest_service.forget_document(thread.key)
    await home.ingest_service.start_backfill(roof, 3650)
    await home.ingest_service.handle(ChannelRemoved(roof))
    await home.ingest_service.handle(BotAdded(roof))
    await home.ingest_service.run_sync()
    assert await home.document_texts(roof) == {f"window:{kept.id}": ["Ada: One."]}


async def test_a_file_that_is_taken_out_of_a_message_goes_even_if_its_conversation_was_forgotten(
    home: BotFixture,
) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = await home.post(roof, "ada", "See the list.", uploads=[home.platform.add_file("tiles.txt", b"Red.")])
    await home.ingest_service.files.ingest(said)
    [_, window] = await home.list_documents(roof)
    await home.ingest_service.forget_document(window.key)
    assert len(await home.list_documents(roof)) == 1
    await home.ingest_service.handle(MessageEdited(replace(said, uploads=(), edited="+")))
    assert await home.list_documents(roof) == []
