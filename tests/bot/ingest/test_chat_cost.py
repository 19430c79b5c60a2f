"""Chats and files are read in shared calls: few tokens are sent for each of their own, and the facts are the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.chat_cost import UNBATCHED, measure_cost
from bot.cli.chat import TOWN_DIR

NAMES = ("council.jsonl", "permits.txt", "ferry-timetable.md", "museum.html")
FILES = [str(TOWN_DIR / name) for name in NAMES]


@pytest.mark.long
async def test_at_most_three_tokens_are_sent_for_each_of_the_text_and_the_facts_are_the_same(tmp_path: Path) -> None:
    shared, alone = await asyncio.gather(
        measure_cost(tmp_path / "a", FILES), measure_cost(tmp_path / "b", FILES, **UNBATCHED)
    )
    assert shared.ratio <= 3
    assert shared.calls <= alone.calls / 5
    assert shared.facts == alone.facts
