from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.errors import CorruptProjection
from engine.storage.graph import kuzu_file
from engine.storage.graph.base import GraphNode
from engine.storage.graph.kuzu import KuzuGraph

if TYPE_CHECKING:
    from pathlib import Path


async def closed(path: Path) -> Path:
    """The file of a graph that was closed in order."""
    graph = await KuzuGraph.open(path)
    await graph.upsert([GraphNode(1, 1)], [])
    await graph.close()
    return path / "graph.kuzu"


async def test_a_graph_that_was_closed_is_opened_again(tmp_path: Path) -> None:
    for _ in range(2):
        await closed(tmp_path)
    graph = await KuzuGraph.open(tmp_path)
    assert (await graph.list_all())[0] == [GraphNode(1, 1, exists_in_graph=True)]
    await graph.close()


async def test_a_file_that_was_changed_since_it_was_closed_never_reaches_the_library(tmp_path: Path) -> None:
    file = await closed(tmp_path)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(CorruptProjection, match="changed since it was closed"):
        await KuzuGraph.open(tmp_path)


async def test_a_file_that_is_gone_is_not_taken_for_an_empty_graph(tmp_path: Path) -> None:
    (await closed(tmp_path)).unlink()
    with pytest.raises(CorruptProjection):
        await KuzuGraph.open(tmp_path)


async def test_an_opening_that_never_ended_is_not_tried_again(tmp_path: Path) -> None:
    file = await closed(tmp_path)
    with kuzu_file.guard_opening(file):  # noqa: SIM117
        with pytest.raises(CorruptProjection, match="did not end"):
            await KuzuGraph.open(tmp_path)
    await (await KuzuGraph.open(tmp_path)).close()


async def test_a_graph_that_was_never_closed_needs_no_checksum(tmp_path: Path) -> None:
    await closed(tmp_path)
    (tmp_path / "graph.checksum").unlink()
    await (await KuzuGraph.open(tmp_path)).close()
