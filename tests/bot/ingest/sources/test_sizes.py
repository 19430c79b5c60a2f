"""How much a source holds is estimated by a few of its documents."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from bot.errors import ItemNotReadNow, SourceUnavailable
from bot.ingest.sources.sizes import SAMPLE, SourceSize, measure_source
from bot.platform.document_source import FetchedItem, ScanEnd, Scanned, SourceItem
from engine import FileParser
from engine.errors import InvalidDocument


class Shelf:
    """A source of notes of three words, of which some cannot be read or are withheld."""

    at_once = 1

    def __init__(self, count: int, *, is_away: bool = False, is_busy: bool = False) -> None:
        self._count = count
        self._is_busy = is_busy
        self._is_away = is_away
        self.fetched = list[str]()

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:
        for number in range(self._count):
            yield SourceItem(f"{number}.md")
        yield SourceItem("secret.md", withheld="Not everyone may read it.")
        yield ScanEnd()

    async def fetch(self, item: SourceItem, validator: str) -> FetchedItem:
        if self._is_away:
            raise SourceUnavailable("It is away.")
        self.fetched.append(item.id)
        if self._is_busy:
            raise ItemNotReadNow("Too many requests.")
        if item.id == "1.md":
            raise InvalidDocument("It is damaged.")
        return FetchedItem(item.id, b"the ferry leaves")

    async def close(self) -> None:
        """Has nothing to release."""


def count_words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, SourceSize(0)), (2, SourceSize(2, 3)), (100, SourceSize(100, 300, is_whole=False))],
)
async def test_a_sample_stands_for_all(count: int, expected: SourceSize) -> None:
    shelf = Shelf(count)
    async with FileParser() as parser:
        assert await measure_source(shelf, parser, count_words) == expected
    assert len(shelf.fetched) <= SAMPLE
    assert "secret.md" not in shelf.fetched
    assert await measure_source(Shelf(count), None, count_words) == SourceSize(count)


async def test_a_source_that_is_away_is_no_small_one() -> None:
    async with FileParser() as parser:
        with pytest.raises(SourceUnavailable):
            await measure_source(Shelf(3, is_away=True), parser, count_words)


async def test_what_cannot_be_read_now_is_not_said_to_cost_nothing() -> None:
    async with FileParser() as parser:
        found = await measure_source(Shelf(500, is_busy=True), parser, count_words)
    assert found == SourceSize(500, None, is_whole=False)
