"""One channel cannot occupy the workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from engine import FileParser, ParserLimits, Passage
from engine.parsers.base import ParsedFile
from engine.parsers.sandbox.origins import OriginLimit
from engine.parsers.sandbox.pool import ParserProcess
from tests.support.patience import PATIENCE


async def test_an_origin_waits_for_itself_and_others_do_not_wait_for_it() -> None:
    limit, entered, may_leave = OriginLimit(1), list[str](), asyncio.Event()

    async def work(origin: str) -> None:
        async with limit.enter(origin):
            entered.append(origin)
            await may_leave.wait()

    tasks = [asyncio.create_task(work(origin)) for origin in ("a", "a", "a", "b", "", "")]
    while len(entered) < 4:  # noqa: ASYNC110 - the list sends no news
        await asyncio.sleep(0)
    assert entered == ["a", "b", "", ""]
    tasks[1].cancel()
    may_leave.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(result, BaseException) for result in done] == [False, True, False, False, False, False]
    assert limit._shares == {}


@pytest.mark.parametrize(("workers", "held"), [(1, 1), (2, 1), (4, 3)])
async def test_files_of_one_channel_leave_a_worker_to_others(
    monkeypatch: pytest.MonkeyPatch, workers: int, held: int
) -> None:
    parsing, may_end = list[str](), asyncio.Event()

    async def stream(process: ParserProcess, name: str, data: bytes) -> AsyncGenerator[ParsedFile]:
        parsing.append(name)
        if name == "bomb.txt":
            await may_end.wait()
        yield ParsedFile(name, (Passage("k", data.decode(), "l"),))

    monkeypatch.setattr(ParserProcess, "stream", stream)
    async with FileParser(ParserLimits(workers=workers)) as parser:
        bombs = [asyncio.create_task(parser.parse("bomb.txt", b"x", origin="room")) for _ in range(10)]
        other = asyncio.create_task(parser.parse("other.txt", b"x", origin="other"))
        async with asyncio.timeout(PATIENCE):
            if workers > 1:
                await other
            while len(parsing) < held + (workers > 1):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0)
        assert parsing.count("bomb.txt") == held
        may_end.set()
        await asyncio.gather(*bombs, other)
