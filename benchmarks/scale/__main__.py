"""The command line: fill a store in one process, open and measure it in another, and print the figures."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from benchmarks.plumbing import start_model_server, start_postgres, start_process, temporary_folder

FILLED = "filled"  # the file that marks a complete store
MODEL = "benchmarks.synthetic:build_reply"


async def run(home: Path, corpus: list[str], measured: list[str], *database: str) -> None:
    if not is_filled(home):
        async with start_process("-m", "benchmarks.scale.fill", str(home), *corpus, *database) as process:
            assert process.stdout is not None
            print(f"filled: {(await process.stdout.readline()).decode().strip()}", flush=True)
            if await process.wait():
                raise RuntimeError("the store was not filled")
        (home / FILLED).touch()
    async with start_model_server(MODEL) as address:
        command = ("-m", "benchmarks.scale.measure", str(home), *corpus, address, *measured, *database)
        began = time.perf_counter()
        async with start_process(*command) as process:
            assert process.stdout is not None
            async for line in process.stdout:
                if line.startswith(b"{"):  # others are logged
                    print_step(json.loads(line), time.perf_counter() - began)
            if await process.wait():
                raise RuntimeError("the measurement failed")


def print_step(step: dict[str, Any], seconds: float) -> None:
    """A step of the measurement; seconds since the process was started."""
    match step["event"]:
        case "retrieval":
            print(
                f"| {step['spaces']} | {step['mode']} | {step['p50']:.0f} | {step['p95']:.0f} "
                f"| {step['processor']:.0f} | {json.dumps(step['stages'])}",
                flush=True,
            )
        case "memory":
            print(
                f"MiB resident: {step['main']:.0f}, {step['own']:.0f} of it in no file;"
                f" the process that calls models: {step['model']:.0f}"
            )
        case "upkeep":
            print(
                f"{step['work']}: {step['seconds']} s; asked beside it: {json.dumps(step['asked'])} ms,"
                f" written: {json.dumps(step['written'])} ms",
                flush=True,
            )
        case "first word":
            print(f"first word after {seconds:.1f} s\n\n| spaces | mode | p50 ms | p95 ms | processor ms | stages")
            print("|---|---|---|---|---|---")
        case event:
            print(f"{event} after {seconds:.1f} s {json.dumps(step.get('stages', ''))}", flush=True)


def is_filled(home: Path) -> bool:
    """Whether the store was filled completely. Raises FileExistsError for one that was filled in part."""
    if home.exists() and not (home / FILLED).exists():
        raise FileExistsError(f"{home} was not filled completely: delete it.")
    return home.exists()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000, help="of one chunk each")
    parser.add_argument("--spaces", type=int, default=200)
    parser.add_argument("--facts", type=int, default=4, help="relations that each document states")
    parser.add_argument("--questions", type=int, default=60, help="for each scope and mode")
    parser.add_argument("--memory", type=int, default=0, help="MiB that the process stays below; 0: the default")
    parser.add_argument("--loading", type=float, default=15.0, help="seconds in which copies are loaded")
    parser.add_argument("--modes", default="mix,local,naive")
    parser.add_argument("--upkeep", action="store_true", help="then compact and back up, while others ask and write")
    parser.add_argument("--home", type=Path, help="keep the store here; measure it again if it exists")
    parser.add_argument("--database", choices=["files", "postgres"], default="files", help="on a server for the run")
    chosen = parser.parse_args()
    with temporary_folder() as folder:
        home = chosen.home or Path(folder) / "home"
        corpus = [str(chosen.documents), str(chosen.spaces), str(chosen.facts)]
        measured = [str(chosen.questions), str(chosen.memory), str(chosen.loading), chosen.modes]
        measured.append(str(int(chosen.upkeep)))
        with start_postgres() if chosen.database == "postgres" else nullcontext() as url:
            asyncio.run(run(home, corpus, measured, *filter(None, [url])))


if __name__ == "__main__":
    main()
