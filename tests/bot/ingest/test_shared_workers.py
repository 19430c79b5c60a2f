"""Files of one channel do not keep another channel waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

from bot.ingest.files import MAX_CONCURRENT_FILES
from bot.store import FileRecord
from engine import ParserLimits, Passage
from engine.parsers.base import ParsedFile
from tests.support.bot_fixture import open_bot
from tests.support.builders import HALL, ROOF
from tests.support.patience import PATIENCE


class SlowParser:
    """Holds files named bomb.txt until they may end; counts them."""

    limits = ParserLimits()

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.origins: list[str] = []

    async def stream(self, name: str, data: bytes, *, origin: str = "") -> AsyncGenerator[ParsedFile]:
        self.origins.append(origin)
        if name == "bomb.txt":
            await self.may_end.wait()
        yield ParsedFile(name, (Passage("1", data.decode()),))


async def test_a_channel_full_of_slow_files_leaves_room_for_another(tmp_path: Path) -> None:
    parser = SlowParser()
    async with open_bot(tmp_path, parser=parser) as bot:
        files, platform = bot.ingest_service.files, bot.platform
        await bot.join("ROOF", "ada", "bob")
        await bot.join("HALL", "ada", "bob")
        bombs = [
            asyncio.create_task(files.ingest(bot.share(ROOF, platform.add_file("bomb.txt", b"x"))))
            for _ in range(2 * MAX_CONCURRENT_FILES)
        ]
        async with asyncio.timeout(PATIENCE):
            while not parser.origins:  # noqa: ASYNC110 - the list sends no news
                await asyncio.sleep(0)
            [filed] = await files.ingest(bot.share(HALL, platform.add_file("plan.txt", b"The plan.")))
        assert isinstance(filed, FileRecord)
        assert not any(bomb.done() for bomb in bombs)
        assert {ROOF.room, HALL.room} == set(parser.origins)
        parser.may_end.set()
        await asyncio.gather(*bombs)
