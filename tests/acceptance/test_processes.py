"""Three bots on one database: processes of their own, of which some are killed while people talk and ask."""

from __future__ import annotations

from pathlib import Path

from tests.support.town.cluster import open_cluster
from tests.support.town.cluster_load import Load, LoadRun
from tests.support.town.slack import SlackTown


async def test_kills_lose_repeat_and_reorder_nothing(tmp_path: Path, postgres_url: str) -> None:
    async with open_cluster(SlackTown(), postgres_url, tmp_path) as cluster:
        report = await LoadRun(cluster, Load(messages=100, questions=10, files=3, kills=3)).run()
        assert report.violations == []
        assert len(report.take_overs) == 3
        assert [await cluster.terminate(place) for place in range(3)] == [0, 0, 0]
