from __future__ import annotations

from bot.capabilities.ingest.ingest import IngestStats


def test_a_slow_file_is_named_with_the_place_that_is_stored_already() -> None:
    stats = IngestStats(started_files={"big.csv": 0.0, "new.csv": 11.0}, places={"big.csv": "rows 40–80"})
    assert stats.slowest_file(12.0) == "big.csv for 12 s, at rows 40–80"
    assert IngestStats(started_files={"new.csv": 11.0}).slowest_file(12.0) == ""
