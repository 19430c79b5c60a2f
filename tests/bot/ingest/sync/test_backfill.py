"""Back-fill of a channel's history on joining: resumable, newest first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.errors import PermissionDenied, PlatformError
from bot.ingest.sync.backfill import MAX_RETRY_SECONDS
from bot.platform.events import BotAdded
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.builders import ROOF
from tests.support.fake_platform import FakePlatform
from tests.support.steps import edit, run_steps, say

WHOLE = {
    **{f"window:m{1 + 4 * n}": [f"Ada: Run {n} begins.", f"Ada: Run {n} ends."] for n in range(4)},
    **{f"thread:m{2 + 4 * n}": [f"Bob: Question {n}?", f"Ada: Answer {n}."] for n in range(4)},
}


def chat(platform: FakePlatform, page_size: int = 50) -> FakePlatform:
    """Four runs of three messages, an hour apart, the second message of each with a thread of one reply."""
    platform.page_size = page_size
    platform.add_channel("ROOF", "ada", "bob")
    for run in range(4):
        platform.add_message(ROOF, "ada", f"Run {run} begins.", after=3600)
        root = platform.add_message(ROOF, "bob", f"Question {run}?")
        platform.add_message(ROOF, "ada", f"Run {run} ends.")
        platform.add_message(replace(ROOF, thread=root.id), "ada", f"Answer {run}.")
    return platform


@pytest.mark.parametrize("page_size", [1, 3, 4, 50])
async def test_documents_do_not_depend_on_where_pages_end(bot: BotFixture, page_size: int) -> None:
    chat(bot.platform, page_size)
    await bot.rejoin(ROOF)
    assert await bot.document_texts(ROOF) == WHOLE
    assert not any(document.open for document in await bot.list_documents(ROOF))
    assert await bot.store.backfill_cursors.get_position(ROOF.room) is None


@pytest.mark.parametrize("pages", [0, 2])
async def test_an_interrupted_back_fill_goes_on_where_it_stopped(tmp_path: Path, pages: int) -> None:
    platform = chat(FakePlatform(), 3)
    async with open_bot(tmp_path / "home", platform) as bot:
        platform.fail_after("page", pages, PlatformError("busy"))
        await bot.rejoin(ROOF)
        assert await bot.document_texts(ROOF) != WHOLE
        assert await bot.store.backfill_cursors.get_position(ROOF.room) is not None
    platform.failing.clear()
    async with open_bot(tmp_path / "home", platform) as bot:
        while await bot.ingest_service._backfill.run_due("slack", "T1", bot.clock.time() + MAX_RETRY_SECONDS):
            pass
        assert await bot.document_texts(ROOF) == WHOLE


@pytest.mark.usefixtures("roof")
async def test_a_back_fill_leaves_alone_what_is_known_already(bot: BotFixture) -> None:
    await run_steps(bot, [say("ada", "One."), say("ada", "Two."), edit(2, "Three.")])
    await bot.backfill(ROOF, 90)
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: One.", "Ada: Three."]}


@pytest.mark.parametrize(
    ("bot", "documents"),
    [({"backfill_days": 0}, []), ({"backfill_days": 1}, []), ({"backfill_days": 9}, ["window:m1"])],
    indirect=["bot"],
)
async def test_nothing_older_than_asked_for_is_indexed(bot: BotFixture, documents: list[str]) -> None:
    bot.platform.add_message(bot.platform.add_channel("ROOF", "ada"), "ada", "Five days ago.")
    bot.platform.add_message(bot.platform.add_channel("HALL", "ada"), "ada", "Now.", after=5 * 86400)
    await bot.rejoin(ROOF)
    assert list(await bot.document_texts(ROOF)) == documents


async def test_the_rules_of_indexing_hold_for_the_history(bot: BotFixture) -> None:
    bot.platform.add_channel("ROOF", "ada", "bob", "robot")
    await bot.store.opt_outs.opt_out("slack", "T1", "bob")
    authors: list[tuple[str, dict[str, Any]]] = [("ada", {}), ("bob", {}), ("robot", {"by_bot": True})]
    for author, facts in (*authors, ("ada", {"addressed": True}), ("ada", {"own": True})):
        message = bot.platform.add_message(ROOF, author, "Hello.")
        bot.platform.messages[-1] = replace(message, **facts)
    await bot.rejoin(ROOF)
    assert await bot.document_texts(ROOF) == {"window:m1": ["Ada: Hello."]}


async def test_files_of_the_history_are_indexed_without_reactions(bot: BotFixture) -> None:
    bot.platform.add_channel("ROOF", "ada")
    files = (("tiles.txt", b"The tiles come on Monday."), ("tiles.exe", b"\x7fELF"))
    bot.share(ROOF, *(bot.platform.add_file(*file) for file in files), text="Here.")
    await bot.rejoin(ROOF)
    assert list((await bot.document_texts(ROOF)).values()) == [["The tiles come on Monday."], ["Ada: Here."]]
    assert (bot.platform.reactions, bot.platform.private_messages) == ({}, [])


async def test_a_back_fill_ends_where_it_is_refused_or_turned_off(bot: BotFixture) -> None:
    chat(bot.platform)
    bot.platform.failing["history"] = PermissionDenied("no")
    await bot.rejoin(ROOF)
    assert await bot.store.backfill_cursors.get_position(ROOF.room) is None
    bot.platform.failing.clear()
    await bot.ingest_service.start_backfill(ROOF, 90)
    await bot.save_settings(ROOF, ingest=False)
    await bot.ingest_service.run_sync()
    assert await bot.document_texts(ROOF) == {}
    assert await bot.store.backfill_cursors.get_position(ROOF.room) is None
    with pytest.raises(PermissionDenied):
        await bot.ingest_service.start_backfill(ROOF, 90)


async def test_a_channel_that_cannot_be_read_delays_no_other(bot: BotFixture) -> None:
    chat(bot.platform)
    hall = bot.platform.add_channel("HALL", "ada")
    bot.platform.add_message(hall, "ada", "One.")
    for place in (ROOF, hall):
        await bot.ingest_service.handle(BotAdded(place))
    bot.platform.fail_after("page", 0, RuntimeError("a bug"))
    await bot.ingest_service._backfill.run_due("slack", "T1")
    bot.platform.failing.clear()
    await bot.ingest_service.run_sync()
    assert (await bot.document_texts(hall), len(await bot.document_texts(ROOF))) == ({}, 8)
