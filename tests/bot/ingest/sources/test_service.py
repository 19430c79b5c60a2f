"""What connectors keep on disk goes with a source that is only rehearsed, and with one that nobody knows any more."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from adapters.sources.folder import FOLDER
from bot.capabilities.requests import AtSpace
from bot.capabilities.run import run
from bot.capabilities.sources.requests import AddSource
from bot.errors import SourceUnavailable
from bot.platform.document_source import Scanned, SourceTools
from tests.support.bot_fixture import BotFixture
from tests.support.memory_source import RECORD, MemorySource


@dataclass
class CachingSource(MemorySource):
    """A source that keeps a copy on disk, as a clone is one."""

    cache: Path = Path()

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:
        self.cache.mkdir(parents=True, exist_ok=True)
        (self.cache / "copy.txt").write_text("agate")
        if self.scan_error is not None:
            raise self.scan_error
        async for scanned in super().scan(cursor):
            yield scanned


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> CachingSource:
    """The only source of the kind of folders."""
    made = CachingSource({"a.md": "The ferry leaves at noon."})

    def open_source(address: str, options: Mapping[str, str], tools: SourceTools) -> CachingSource:
        assert (address, options) == ("/town", {})
        made.cache = tools.cache
        return made

    monkeypatch.setattr("adapters.sources.folder.FOLDER", replace(FOLDER, open=open_source))
    return made


def list_folders(bot: BotFixture) -> list[str]:
    folder = bot.context.settings.data_path / "sources"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def add(bot: BotFixture, *, confirmed: bool = False) -> None:
    async with aclosing(run(bot.deps, AtSpace("console:local", AddSource("/town", confirmed=confirmed)))) as results:
        async for _ in results:
            pass


async def test_a_rehearsal_leaves_nothing_on_disk(bot: BotFixture, source: CachingSource) -> None:
    await add(bot)
    assert list_folders(bot) == []
    source.scan_error = SourceUnavailable("It is away.")
    for confirmed in (False, True):
        with pytest.raises(SourceUnavailable):
            await add(bot, confirmed=confirmed)
    assert list_folders(bot) == []


async def test_a_copy_without_a_source_is_deleted(bot: BotFixture) -> None:
    sources, folder = bot.ingest_service.sources, bot.context.settings.data_path / "sources"
    await bot.store.sources.insert(RECORD)
    for name in (RECORD.id, "rehearsed", "abandoned"):
        (folder / name).mkdir(parents=True)
    async with sources.drafting(replace(RECORD, id="rehearsed")):  # somebody rehearses it now
        await sources.delete_unknown_copies()
        assert list_folders(bot) == ["rehearsed", RECORD.id]
    assert list_folders(bot) == [RECORD.id]
    (folder / "elsewhere").mkdir()  # its source is removed by another process
    await sources.run_due()
    assert list_folders(bot) == [RECORD.id]
    shutil.rmtree(folder)
    await sources.delete_unknown_copies()
