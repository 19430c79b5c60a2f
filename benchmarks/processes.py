"""Kill -9 of several bots on one database: `python -m benchmarks.processes`; ends with 1 if anything is wrong.

Prints the time from each kill until the work of the killed process was free, and everything that was lost, answered or
known twice, or out of order.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from pathlib import Path

from benchmarks.plumbing import temporary_folder
from tests.support.postgres_server import start_server
from tests.support.town.cluster import open_cluster
from tests.support.town.cluster_load import Load, LoadReport, LoadRun
from tests.support.town.slack import SlackTown


async def run_load(load: Load, folder: Path) -> LoadReport:
    server = start_server()
    try:
        async with open_cluster(SlackTown(), server.url(server.create_database()), folder) as cluster:
            return await LoadRun(cluster, load).run()
    finally:
        server.release()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, count in (("messages", 2000), ("questions", 50), ("files", 20), ("kills", 100), ("processes", 3)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    load = Load(**vars(parser.parse_args()))
    with temporary_folder() as folder:
        report = asyncio.run(run_load(load, Path(folder)))
    print(f"{load.processes} processes, {load.kills} kills, {load.messages} messages, {load.questions} questions")
    print(f"{report.seconds:.0f} s; {len(report.violations)} violations")
    if report.take_overs:
        median, worst = statistics.median(report.take_overs), report.take_overs[-1]
        print(f"work free after a kill: median {median:.1f} s, worst {worst:.1f} s")
    for line in report.violations:
        print(f"      {line}")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
