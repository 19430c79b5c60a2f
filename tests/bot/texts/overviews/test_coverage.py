"""The sentence below an answer says how many sources agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.i18n import use_language
from bot.texts.overviews.coverage import describe_coverage, describe_wrong
from engine.llm.offline.contradictions.coverage import Coverage

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("agreeing", "disagreeing", "said"),
    [
        (3, 1, "3 sources say “5 GB”, the newest 2 days ago. 1 says otherwise."),
        (2, 0, "2 sources say “5 GB”, the newest 2 days ago."),
        (1, 2, "1 source says “5 GB”, the newest 2 days ago. 2 say otherwise."),
    ],
)
def test_it_counts_both_sides(agreeing: int, disagreeing: int, said: str) -> None:
    assert describe_coverage(Coverage(agreeing, disagreeing, NOW - timedelta(days=2), "5 GB"), NOW) == said


@pytest.mark.parametrize("language", ["de", "es", "fr", "ja", "pt"])
def test_it_is_said_in_every_language(language: str) -> None:
    coverage = Coverage(3, 1, NOW - timedelta(days=2), "5 GB")
    english = describe_coverage(coverage, NOW)
    with use_language(language):
        assert describe_coverage(coverage, NOW) != english
        assert "[2]" in describe_wrong([2])
        assert "marked" not in describe_wrong([2])
