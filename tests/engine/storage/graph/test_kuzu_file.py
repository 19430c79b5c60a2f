from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import CorruptProjection
from engine.storage.graph import kuzu_file
from engine.storage.graph.base import GraphNode
from engine.storage.graph.kuzu import KuzuGraph


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """The file of a graph that was closed in order."""
    graph = await KuzuGraph.open(tmp_path)
    await graph.upsert([GraphNode(1, 1)], [])
    await graph.close()
    return tmp_path / "graph.kuzu"


async def test_a_graph_that_was_closed_is_opened_again_also_without_a_checksum(file: Path) -> None:
    for _ in range(2):
        graph = await KuzuGraph.open(file.parent)
        assert (await graph.list_all())[0] == [GraphNode(1, 1, exists_in_graph=True)]
        await graph.close()
        Path.unlink(file.parent / "graph.checksum")


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(("damage", "words"), [(flip_a_bit, "changed since it was closed"), (Path.unlink, "graph")])
async def test_a_file_that_was_changed_since_it_was_closed_never_reaches_the_library(
    file: Path, damage: Callable[[Path], None], words: str
) -> None:
    damage(file)
    with pytest.raises(CorruptProjection, match=words):
        await KuzuGraph.open(file.parent)


async def test_an_opening_that_never_ended_is_not_tried_again(file: Path) -> None:
    with kuzu_file.guard_opening(file), pytest.raises(CorruptProjection, match="did not end"):
        await KuzuGraph.open(file.parent)
    await (await KuzuGraph.open(file.parent)).close()
