"""LightRAG beside Threadlore: `python -m benchmarks.peer --data DATA [--documents 2000] [--minutes 90]`.

Installs the published LightRAG into an environment of its own, then adds the same documents to both, slice by slice and
in turn: the passages of MuSiQue, then synthetic documents. Both get the same vectors, the same stored extraction, the
same keywords and a stub as the model. Prints tables with ratios and draws both growth curves.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np

from benchmarks.peer.corpus import ReplayDocument, ReplayQuestion, extend, load_musique
from benchmarks.peer.install import ROOT, VERSION, PeerNotInstallable, build_environment, install_peer
from benchmarks.peer.measurement import (
    MODES,
    GrowthPlan,
    SystemFigures,
    grow,
    load_figures,
    save_figures,
    to_rows,
)
from benchmarks.peer.picture import draw_growth
from benchmarks.peer.report import print_report
from benchmarks.peer.system import RunnerFailed, System
from benchmarks.peer.vectors import VectorCache, serve_vectors
from benchmarks.plumbing import temporary_folder
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.usage import UsageMeter

BENCH = ROOT / ".bench" / "peer"
MUSIQUE = "musique_openie"
FIGURES = "figures.json"
PEER, OURS = f"LightRAG {VERSION}", "Threadlore"


def build_systems(folder: Path, python: Path, address: Path) -> list[System]:
    """The peer and ours, each with a process and a data folder of its own."""
    modules = {PEER: (python, "lightrag_runner"), OURS: (Path(sys.executable), "threadlore_runner")}
    systems = []
    for name, (interpreter, module) in modules.items():
        home, log = folder / module / "home", BENCH / f"{module}.log"
        words = (home, BENCH / "vectors.sqlite", address)
        command = (str(interpreter), "-m", f"benchmarks.peer.{module}", *map(str, words))
        systems.append(System(name, command, build_environment(), home, log))
    return systems


async def fill_cache(ours: System, documents: Sequence[ReplayDocument], questions: Sequence[ReplayQuestion]) -> None:
    """Let ours run once in a folder that is thrown away, so that its vectors are kept.

    While a process waits for vectors, threads of a store could go on: that must not count in its favor.
    """
    await ours.start()
    reply = await ours.call("ingest", documents=to_rows(documents))
    for mode in MODES:
        await ours.call("retrieve", mode=mode, questions=[question.keywords() for question in questions], rounds=0)
    await ours.stop()
    shutil.rmtree(ours.home)
    print(f"A first run of {OURS} made {reply.computed:,} vectors in {reply.waited:.0f} s.", flush=True)


async def measure(arguments: argparse.Namespace, python: Path) -> list[SystemFigures]:
    musique, questions = load_musique(arguments.data / MUSIQUE)
    documents = extend(musique, arguments.documents)
    embedder, cache = await MiniLMEmbedder.open(), VectorCache(BENCH / "vectors.sqlite")

    async def embed(texts: Sequence[str]) -> np.ndarray:
        return await embedder.embed(texts, UsageMeter())

    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(temporary_folder()))
        await stack.enter_async_context(serve_vectors(cache, folder / "vectors.sock", embed))
        systems = build_systems(folder, python, folder / "vectors.sock")
        for system in systems:
            system.log.unlink(missing_ok=True)
            stack.push_async_callback(system.stop)
        await fill_cache(systems[1], documents, questions)
        for system in systems:
            await system.start()
        plan = GrowthPlan([len(musique)], arguments.slice, time.monotonic() + 60 * arguments.minutes)
        return await grow(systems, documents, questions, plan, save)


def save(figures: Sequence[SystemFigures]) -> None:
    """Keep what was measured so far."""
    save_figures(BENCH / FIGURES, figures)


def parse_command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help=f"the folder that holds {MUSIQUE}")
    parser.add_argument("--documents", type=int, default=2000, help="documents to add at most")
    parser.add_argument("--slice", type=int, default=100, help="documents added to one system before the other's turn")
    parser.add_argument(
        "--minutes", type=float, default=90, help="minutes of growth after which no further slice begins"
    )
    parser.add_argument("--picture", type=Path, default=BENCH / "growth.svg", help="where to draw the curves")
    parser.add_argument("--again", action="store_true", help="print and draw the figures of the last run")
    return parser.parse_args()


def run_comparison(arguments: argparse.Namespace) -> None:
    """Measure; ends the program with a reason where there is no peer or a process fails."""
    try:
        figures = asyncio.run(measure(arguments, install_peer(BENCH / "venv")))
    except PeerNotInstallable as failure:
        sys.exit(f"{PEER} could not be installed, so there is nothing to compare with:\n{failure}")
    except RunnerFailed as failure:
        sys.exit(str(failure))
    if (reached := figures[0].stages[-1].documents) < arguments.documents:
        print(f"Stopped after {arguments.minutes:g} minutes at {reached:,} of {arguments.documents:,} documents.")


def main() -> None:
    arguments = parse_command_line()
    if not arguments.again:
        if arguments.data is None or not (arguments.data / MUSIQUE).is_dir():
            print(f"skipped: no data; give the folder that holds {MUSIQUE}, as DATA=…")
            return
        run_comparison(arguments)
    elif not (BENCH / FIGURES).exists():
        sys.exit("There is no last run.")
    peer, ours = load_figures(BENCH / FIGURES)
    print_report(peer, ours, os.cpu_count() or 1)
    draw_growth((peer, ours), arguments.picture)
    print(f"\nBoth growth curves: {arguments.picture}")


if __name__ == "__main__":
    main()
