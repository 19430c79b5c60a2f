"""Kill -9 over and over: `python -m benchmarks.crash --seeds 50`; ends with 1 if anything was lost or differs.

With `--database postgres` the data are in a server of the benchmark's own; `--helpers 2` processes then share the work
of each run whose first process is killed.

One line a seed: operations of the script, kills (with the operations acknowledged by then), and what was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from benchmarks.plumbing import temporary_folder
from tests.crash.run import RunOutcome, run_seed
from tests.support.postgres_server import PostgresServer, start_server


def run_one_seed(seed: int, server: PostgresServer | None, chosen: argparse.Namespace) -> RunOutcome:
    began = time.perf_counter()
    with temporary_folder() as folder:
        outcome = asyncio.run(run_seed(seed, Path(folder), server, chosen.helpers))
    kills = " ".join(f"@{number}" for number in outcome.acknowledged)
    seconds = time.perf_counter() - began
    print(
        f"{seed:5}{outcome.operations:12}{len(outcome.deaths):7}{len(outcome.violations):13}{seconds:9.1f}  {kills}",
        flush=True,
    )
    for line in (outcome.deaths if chosen.talkative or outcome.violations else []) + outcome.violations:
        print(f"      {line}")
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--database", choices=["files", "postgres"], default="files", help="where the data are")
    parser.add_argument("--helpers", type=int, default=0, help="processes that share the work on the database")
    parser.add_argument("--talkative", action="store_true", help="tell where each kill struck")
    arguments = parser.parse_args()
    print(" seed  operations  kills  differences  seconds  operations acknowledged at each kill")
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    server = start_server() if arguments.database == "postgres" else None
    try:
        outcomes = [run_one_seed(seed, server, arguments) for seed in seeds]
    finally:
        if server is not None:
            server.release()
    kills = sum(len(outcome.deaths) for outcome in outcomes)
    acknowledged = sum(outcome.operations for outcome in outcomes)
    wrong = sum(len(outcome.violations) for outcome in outcomes)
    print(f"{len(outcomes)} seeds, {kills} kills, {acknowledged} operations acknowledged, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
