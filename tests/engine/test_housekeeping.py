from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.errors import Unavailable
from engine.ledger import work
from engine.options import Options
from tests.fakes.embedder import HashEmbedder
from tests.fakes.engines import doc, light_engine

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_compaction_that_the_embedder_hinders_is_tried_again(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with light_engine(tmp_path, embedder=embedder, options=Options(compact_after=0.2)) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        embedder.failing[""] = Unavailable("the embedder is away")
        await engine.add(doc("b", "Carla waits."))
        await engine.forget("a")
        async with asyncio.timeout(20):
            while engine._worker.trouble is None:  # noqa: ASYNC110 - it comes by itself
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.5)
            assert await engine._ledger.read(work.removed_since_compaction)
            embedder.failing.clear()
            while await engine._ledger.read(work.removed_since_compaction):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
