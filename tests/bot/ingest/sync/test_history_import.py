"""The past of a workspace is imported from an export: as it was readable, once, and with what came later."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.export import SlackExport, open_export
from bot.ingest.service import IngestService
from bot.ingest.sync.history_import import NOT_INDEXED
from bot.platform.events import BotAdded, MessageEdited, VisibilityChanged
from bot.platform.export_readers import ExportOptions
from bot.platform.history_source import ImportStats
from bot.platform.models import Location
from bot.platform.ports import Platform
from bot.store import ChannelSettings
from engine.clock import SYSTEM_CLOCK
from engine.models import Scope
from tests.support.bot_fixture import BotFixture, open_bot, run_before, with_settings
from tests.support.exports import START, SlackExportFiles, slack_message, ts_at

ROOF, VAULT = Location("slack", "T1", "ROOF"), Location("slack", "T1", "VAULT")
ROOT = ts_at(1)
ROOF_TEXTS = {
    f"window:{ts_at(0)}": ["Ada: The tiles are red.", "Ada: They cost 40 euros."],
    f"thread:{ROOT}": ["Bela: Who lays them?", "Ada: Mina does."],
    f"window:{ts_at(300)}": ["Bela: It rains."],
}


def town() -> SlackExportFiles:
    """An open channel with a thread that ends days later, and a private one."""
    files = SlackExportFiles()
    roof = [
        slack_message("U1", 0, "The tiles are red."),
        slack_message("U2", 1, "Who lays them?", thread_ts=ROOT, reply_count=1),
        slack_message("U1", 2, "They cost 40 euros."),
        slack_message("U2", 300, "It rains."),
        slack_message("U1", 4000, "Mina does.", thread_ts=ROOT),
    ]
    files.add_channel("channels", "ROOF", "roof", roof)
    files.add_channel("groups", "VAULT", "vault", [slack_message("U1", 5, "The key is under the mat.")])
    return files


def open_files(files: SlackExportFiles, path: Path, **options: Any) -> SlackExport:
    return open_export(files.write_zip(path / "export.zip"), ExportOptions(**options), clock=SYSTEM_CLOCK)


async def run_import(bot: BotFixture, source: SlackExport, *, connected: bool = False) -> ImportStats:
    """Import an export, while the bot is connected or not."""
    service = bot.ingest_service
    if not connected:
        service = IngestService(replace(bot.context, platforms={}))
    async with service.open_import(source) as running:
        async for _ in running.run():
            pass
    return running.stats


async def spaces(bot: BotFixture, place: Location) -> set[str]:
    return set(await bot.spaces(place))


async def test_channels_are_imported_with_their_threads_and_readable_as_they_were(
    bot: BotFixture, tmp_path: Path
) -> None:
    stats = await run_import(bot, open_files(town(), tmp_path))
    assert await bot.document_texts(ROOF) == ROOF_TEXTS
    assert await spaces(bot, ROOF) == {"slack:T1:open"}
    assert await spaces(bot, VAULT) == {VAULT.room}
    assert (stats.channels, stats.seen, stats.new, stats.edited) == (2, 6, 6, 0)
    homes = Scope(frozenset({"slack:T1:open", VAULT.room}), frozenset({ROOF.room, VAULT.room}))
    assert await bot.context.store.imported_spaces.read_scope() == homes  # what its owner asks about
    assert await bot.context.store.imported_spaces.find_channels("Roof") == [ROOF.room]
    assert not any(document.open for document in await bot.list_documents(ROOF))


async def test_the_same_export_again_changes_nothing(bot: BotFixture, tmp_path: Path) -> None:
    await run_import(bot, open_files(town(), tmp_path))
    await bot.engine.wait_until_indexed()
    before = [line async for line in bot.engine.maintenance.export("jsonl", Scope.of("slack:T1:open", VAULT.room))]
    stats = await run_import(bot, open_files(town(), tmp_path))
    assert (stats.seen, stats.new, stats.edited) == (6, 0, 0)
    assert [
        line async for line in bot.engine.maintenance.export("jsonl", Scope.of("slack:T1:open", VAULT.room))
    ] == before


async def test_a_newer_export_adds_messages_and_edits(bot: BotFixture, tmp_path: Path) -> None:
    await run_import(bot, open_files(town(), tmp_path))
    newer = town()
    newer.messages["roof"][0] |= {"text": "The tiles are blue.", "edited": {"user": "U1", "ts": ts_at(3)}}
    newer.messages["roof"].append(slack_message("U2", 6000, "The roof is done."))
    stats = await run_import(bot, open_files(newer, tmp_path))
    assert (stats.new, stats.edited) == (1, 1)
    texts = await bot.document_texts(ROOF)
    assert texts[f"window:{ts_at(0)}"] == ["Ada: The tiles are blue.", "Ada: They cost 40 euros."]
    assert texts[f"window:{ts_at(6000)}"] == ["Bela: The roof is done."]


@pytest.mark.parametrize("channel", ["roof", "vault"])
async def test_an_older_export_does_not_bring_old_texts_back(bot: BotFixture, tmp_path: Path, channel: str) -> None:
    newer, older = town(), town()
    older.messages["roof"][0] |= {"text": "The tiles are gray.", "edited": {"user": "U1", "ts": ts_at(0.5)}}
    newer.messages[channel].append(slack_message("U2", 60000, "The roof is done."))
    await run_import(bot, open_files(newer, tmp_path))
    stats = await run_import(bot, open_files(older, tmp_path))
    assert (stats.new, stats.edited) == (0, 0)
    assert (await bot.document_texts(ROOF))[f"window:{ts_at(0)}"][0] == "Ada: The tiles are red."


@pytest.mark.long
@pytest.mark.parametrize("writes", range(1, 8))
async def test_an_interrupted_import_continues_and_ends_like_an_undisturbed_one(tmp_path: Path, writes: int) -> None:
    exported = {}
    for name in ("undisturbed", "interrupted"):
        async with open_bot(tmp_path / name) as bot:
            if name == "interrupted":
                with pytest.raises(OSError, match="power cut"):
                    await run_import(bot, _cut_after(bot, open_files(town(), tmp_path), writes))
        async with open_bot(tmp_path / name) as bot:
            await run_import(bot, open_files(town(), tmp_path))
            await bot.engine.wait_until_indexed()
            exported[name] = (
                [line async for line in bot.engine.maintenance.export("jsonl", Scope.of("slack:T1:open", VAULT.room))],
                await bot.document_texts(ROOF),
            )
    assert exported["interrupted"] == exported["undisturbed"]


def _cut_after(bot: BotFixture, source: SlackExport, writes: int) -> SlackExport:
    """Let the machine fail after so many documents were changed."""
    documents, left = bot.engine.documents, [writes]
    for name in ("add", "amend"):
        method = getattr(documents, name)

        async def call(*args: Any, _method: Any = method, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise OSError("power cut")
            return await _method(*args, **kwargs)

        setattr(documents, name, call)
    return source


async def test_what_people_had_forgotten_or_opted_out_of_stays_out(bot: BotFixture, tmp_path: Path) -> None:
    await run_import(bot, open_files(town(), tmp_path))
    await bot.ingest_service.forget_message(ROOF, ts_at(0))
    await bot.forget_person("U2")
    stats = await run_import(bot, open_files(town(), tmp_path))
    said = [text for texts in (await bot.document_texts(ROOF)).values() for text in texts]
    assert sorted(said) == ["Ada: Mina does.", "Ada: They cost 40 euros."]
    assert (stats.seen, stats.new) == (6, 0)
    assert dict(stats.omissions) == {NOT_INDEXED: 3}


async def test_a_channel_that_a_manager_turned_off_is_left_out(bot: BotFixture, tmp_path: Path) -> None:
    await bot.save_settings(ROOF, ChannelSettings(ingest=False))
    stats = await run_import(bot, open_files(town(), tmp_path))
    assert await bot.document_texts(ROOF) == {}
    assert stats.omissions["channels that a manager turned off"] == 1


@with_settings(retention_days=1)
async def test_messages_beyond_the_retention_period_are_left_out(bot: BotFixture, tmp_path: Path) -> None:
    stats = await run_import(bot, open_files(town(), tmp_path))
    assert await bot.document_texts(ROOF) == {}
    assert stats.omissions["messages beyond the retention period"] == 6


async def test_files_of_the_export_are_read_and_refused_ones_reported(bot: BotFixture, tmp_path: Path) -> None:
    files = town()
    files.uploads = {"F1/plan.txt": b"The gutter is copper.", "F2/photo.png": b"\x89PNG"}
    shared = [
        {"id": "F1", "name": "plan.txt", "mimetype": "text/plain", "size": 21, "mode": "hosted"},
        {"id": "F2", "name": "photo.png", "mimetype": "image/png", "size": 4, "mode": "hosted"},
        {"id": "F3", "name": "gone.txt", "mimetype": "text/plain", "mode": "hidden_by_limit"},
        {"id": "F4", "mode": "tombstone"},
    ]
    files.messages["roof"][0]["files"] = shared
    stats = await run_import(bot, open_files(files, tmp_path))
    assert (stats.files, sum(stats.omissions.values())) == (1, 2)
    texts = await bot.document_texts(ROOF)
    assert texts[f"file:{ts_at(0)}:F1"] == ["The gutter is copper."]
    assert (await run_import(bot, open_files(files, tmp_path))).files == 0


# Beside a bot that is connected.


async def test_channels_that_the_connected_bot_is_not_in_stay_closed_until_it_is_added(
    bot: BotFixture, tmp_path: Path
) -> None:
    bot.platform.add_channel("ROOF", "U1")
    bot.platform.change_channel("ROOF", has_bot=False)
    await run_import(bot, open_files(town(), tmp_path), connected=True)
    assert await spaces(bot, ROOF) == {ROOF.room}
    bot.change_channel(ROOF, has_bot=True)
    await bot.ingest_service.handle(BotAdded(ROOF))
    assert await spaces(bot, ROOF) == {"slack:T1:open"}
    assert await bot.document_texts(ROOF) == ROOF_TEXTS


async def test_a_bot_that_connects_hides_imported_channels_that_it_is_not_in_and_keeps_them(
    bot: BotFixture, tmp_path: Path
) -> None:
    await run_import(bot, open_files(town(), tmp_path))
    bot.platform.add_channel("ROOF", "U1")
    bot.platform.change_channel("ROOF", has_bot=False)
    await bot.reconcile()
    assert await spaces(bot, ROOF) == {ROOF.room}
    assert await bot.document_texts(ROOF) == ROOF_TEXTS


async def test_messages_that_the_bot_has_received_are_not_doubled(bot: BotFixture, tmp_path: Path) -> None:
    roof = await bot.join("ROOF", "U1")
    live = replace(bot.platform.add_message(roof, "U1", "The tiles are red."), id=ts_at(0), time=START)
    await bot.receive(live)
    stats = await run_import(bot, open_files(town(), tmp_path), connected=True)
    said = [text for texts in (await bot.document_texts(ROOF)).values() for text in texts]
    assert sum("tiles are red" in text for text in said) == 1
    assert stats.new == 5
    await bot.receive(replace(bot.platform.add_message(roof, "U2", "It rains."), id=ts_at(300)))
    said = [text for texts in (await bot.document_texts(ROOF)).values() for text in texts]
    assert sum("It rains" in text for text in said) == 1


async def test_an_export_does_not_undo_edits_that_the_bot_has_received(bot: BotFixture, tmp_path: Path) -> None:
    roof = await bot.join("ROOF", "U1")
    live = replace(bot.platform.add_message(roof, "U1", "The password is 1234."), id=ts_at(0), time=START)
    await bot.receive(live)
    await bot.ingest_service.handle(MessageEdited(replace(live, text="The password is gone.", edited="2")))
    files = town()
    files.messages["roof"][0] |= {"text": "The password is 12345.", "edited": {"user": "U1", "ts": ts_at(1)}}
    stats = await run_import(bot, open_files(files, tmp_path), connected=True)
    said = [text for texts in (await bot.document_texts(ROOF)).values() for text in texts]
    assert [text for text in said if "password" in text] == ["U1: The password is gone."]
    assert stats.edited == 0


async def test_an_export_does_not_open_what_was_closed_since(bot: BotFixture, tmp_path: Path) -> None:
    await run_import(bot, open_files(town(), tmp_path))
    await bot.engine.documents.move_room(ROOF.room, ROOF.room)
    newer = town()
    newer.messages["roof"].append(slack_message("U2", 6000, "The roof is done."))
    await run_import(bot, open_files(newer, tmp_path))
    assert await spaces(bot, ROOF) == {ROOF.room}


@pytest.fixture
def single_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let exports be read in pages of one day at most."""
    monkeypatch.setattr("adapters.common.export_folder.PAGE_SIZE", 1)


@pytest.mark.usefixtures("single_rows")
async def test_a_channel_that_is_closed_during_an_import_gets_no_open_documents(
    bot: BotFixture, tmp_path: Path
) -> None:
    roof = await bot.join("ROOF", "U1")
    async with bot.ingest_service.open_import(open_files(town(), tmp_path)) as running:
        pages = 0
        async for channel in running.run():
            pages += channel.location == roof
            if pages == 2:  # the first page is stored
                bot.change_channel(roof, kind="closed")
                await bot.ingest_service.handle(VisibilityChanged(roof))
    assert pages > 2
    assert await bot.document_texts(ROOF) == ROOF_TEXTS
    assert await spaces(bot, ROOF) == {ROOF.room}


@pytest.mark.usefixtures("single_rows")
async def test_a_bot_that_connects_during_an_import_decides_about_what_follows(bot: BotFixture, tmp_path: Path) -> None:
    platforms = dict[str, Platform]()
    service = IngestService(replace(bot.context, platforms=platforms))
    async with service.open_import(open_files(town(), tmp_path)) as running:
        async for channel in running.run():
            if channel.location == ROOF and not platforms:
                bot.platform.add_channel("ROOF", "U1", kind="closed")
                platforms["slack"] = bot.platform
                await bot.reconcile()
    assert await bot.document_texts(ROOF) == ROOF_TEXTS
    assert await spaces(bot, ROOF) == {ROOF.room}


async def test_an_import_does_not_move_a_channel_by_what_was_true_before(bot: BotFixture, tmp_path: Path) -> None:
    roof = await bot.join("ROOF", "U1")
    changes: list[asyncio.Task[None]] = []

    async def close() -> None:
        bot.change_channel(roof, kind="closed")
        changes.append(asyncio.create_task(bot.ingest_service.handle(VisibilityChanged(roof))))
        await asyncio.wait(changes, timeout=0.2)

    await bot.post(roof, "U1", "The ladder is blue.")
    run_before(bot.engine.documents, "move_room", close)
    await run_import(bot, open_files(town(), tmp_path), connected=True)
    await asyncio.gather(*changes)
    assert await spaces(bot, ROOF) == {ROOF.room}


@pytest.mark.parametrize("changed", [ROOF, Location("slack", "T1", "")])
async def test_an_imported_channel_that_the_bot_is_not_in_stays_closed_whatever_changes(
    bot: BotFixture, tmp_path: Path, changed: Location
) -> None:
    await run_import(bot, open_files(town(), tmp_path))
    bot.platform.add_channel("ROOF", "U1")
    bot.platform.change_channel("ROOF", has_bot=False)
    await bot.reconcile()
    await bot.ingest_service.handle(VisibilityChanged(changed))
    assert await spaces(bot, ROOF) == {ROOF.room}
