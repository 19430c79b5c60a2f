"""Damaged files of every format end with an error of their own; `make bench-docs` does the same with real files."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.documents import classify, mutate
from engine import FileParser, ParserLimits
from tests.engine.parsers.test_golden import INPUTS

LIMITS = ParserLimits(workers=1)
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.share(9)
@pytest.mark.parametrize("name", sorted(INPUTS))
async def test_a_damaged_file_is_read_or_refused_with_a_reason(parser: FileParser, name: str) -> None:
    random = Random(name)
    for _ in range(8):
        outcome, words = await classify(parser, name, mutate(INPUTS[name], random))
        assert outcome != "wrong", words
