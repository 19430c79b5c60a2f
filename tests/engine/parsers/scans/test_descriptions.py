"""The pictures of a file are described a few at once, and keep their order."""

from __future__ import annotations

import asyncio

import pytest

from engine.errors import EmptyDocument, ModelUnavailable
from engine.parsers.base import ParsedFile, UnreadPicture
from engine.parsers.scans.descriptions import PICTURES_AT_ONCE, add_descriptions
from tests.support.fake_describer import Eyes
from tests.support.patience import PATIENCE

SCAN = ParsedFile("scan.pdf", (), pictures=tuple(UnreadPicture(f"p{n}", f"p. {n}", n, b"%d" % n) for n in range(1, 7)))


class PairedEyes:
    """Describes each picture by its bytes, two at the same time."""

    def __init__(self) -> None:
        self.pair = asyncio.Barrier(2)
        self.most = 0
        self.open = 0

    async def describe(self, jpeg: bytes) -> str:
        self.open += 1
        self.most = max(self.most, self.open)
        await self.pair.wait()
        self.open -= 1
        return f"Picture {int(jpeg)}."


async def test_a_few_are_described_at_once_in_order() -> None:
    eyes = PairedEyes()
    async with asyncio.timeout(PATIENCE):
        described = await add_descriptions(SCAN, eyes)
    assert [passage.text for passage in described.passages] == [f"Picture {number}." for number in range(1, 7)]
    assert eyes.most <= PICTURES_AT_ONCE


async def test_one_that_fails_for_good_is_left_out_and_one_that_fails_now_stops_the_file() -> None:
    described = await add_descriptions(SCAN, Eyes("One.", EmptyDocument("No."), "Three.", "Four.", "Five.", "Six."))
    assert [passage.label for passage in described.passages] == ["p. 1", "p. 3", "p. 4", "p. 5", "p. 6"]
    with pytest.raises(EmptyDocument):
        await add_descriptions(SCAN, Eyes(*[EmptyDocument("No.")] * 6))
    eyes = Eyes("One.", ModelUnavailable("It sleeps."), "Three.", "Four.")
    with pytest.raises(ModelUnavailable):
        await add_descriptions(SCAN, eyes)
    assert len(eyes.seen) == PICTURES_AT_ONCE
