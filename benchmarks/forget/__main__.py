"""ForgetBench: `python -m benchmarks.forget [--histories 3] [--documents 6]`.

Gives each memory the same random histories of documents in two spaces: facts that two documents share, edits, deletions
and summaries. Then it asks every question again, and counts the words of facts that no document states any more: in
answers, in what is retrieved, in the graph with its summaries, and in all bytes on disk. Each released package runs in
an environment of its own under `.bench/`, with its embedded stores and a stub as the model, which says everything that
it is given: what reaches the model could be said.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.forget.history import SPACES, History, make_history, save_history
from benchmarks.peer.install import PACKAGE, ROOT, VERSION, PeerNotInstallable, build_environment, install_peer
from benchmarks.plumbing import temporary_folder

BENCH = ROOT / ".bench"
OURS = "Threadlore"
LIMIT_SECONDS = 1800
VIEWS = ("answers", "retrieval", "graph")
PLACES = {
    "answers": "in answers",
    "retrieval": "in what is retrieved",
    "graph": "in the graph and its summaries",
    "bytes": "in bytes on disk",
}


@dataclass(frozen=True, slots=True)
class Package:
    """A released package. `folder`: of its environment; `runner`: the module that its process runs.

    `further`: requirements that it leaves out.
    """

    name: str
    version: str
    folder: str
    runner: str
    title: str
    further: tuple[str, ...] = ()


PACKAGES = (
    Package(PACKAGE, VERSION, "peer/venv", "lightrag_runner", f"LightRAG {VERSION}"),
    Package("mem0ai", "2.2.1", "mem0", "mem0_runner", "mem0 2.2.1"),
    Package("graphiti-core", "0.31.2", "graphiti", "graphiti_runner", "graphiti 0.31.2", ("kuzu==0.11.3", "httpx")),
    Package("cognee", "1.6.5", "cognee", "cognee_runner", "cognee 1.6.5"),
)


@dataclass(slots=True)
class Survivors:
    """What is left of the histories of a memory: counts of words, of all that were looked for.

    `erased`: words that no document states any more. `foreign`: words of the other space in what a space was told.
    `lost`: words that a document still states, and that no answer has.
    """

    erased: int = 0
    by_view: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*VIEWS, "bytes"), 0))
    foreign: int = 0
    present: int = 0
    lost: int = 0


def count_survivors(history: History, found: dict[str, dict[str, list[str]]], home: Path, into: Survivors) -> None:
    """Add what survives of one history."""
    stored = read_bytes(home)
    for space, other in zip(SPACES, reversed(SPACES), strict=True):
        told = {view: "\n".join(found[space][view]) for view in VIEWS}
        erased = [fact.word for fact in history.list_erased(space)]
        into.erased += len(erased)
        for view in VIEWS:
            into.by_view[view] += count(erased, told[view])
        into.by_view["bytes"] += sum(word.encode() in stored for word in erased)
        into.foreign += count((fact.word for fact in history.list_facts(other)), "\n".join(told.values()))
        present = [fact.word for fact in history.list_present(space)]
        into.present += len(present)
        into.lost += len(present) - count(present, told["answers"])


def count(words: Iterable[str], text: str) -> int:
    """How many of the words a text contains."""
    return sum(word in text for word in words)


def read_bytes(home: Path) -> bytes:
    """All bytes of a folder."""
    return b"\n".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


def run_history(command: Sequence[str], history: History, folder: Path, into: Survivors) -> None:
    """Let a memory live through one history in a process of its own. Raises RuntimeError with the end of its output."""
    home, file = folder / "home", folder / "history.json"
    home.mkdir(parents=True)
    save_history(history, file)
    words = [*command, str(file), str(home)]
    environment = build_environment()
    done = subprocess.run(words, capture_output=True, timeout=LIMIT_SECONDS, env=environment, cwd=folder, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace")[-1500:])
    count_survivors(history, json.loads(done.stdout), home, into)


def measure(name: str, command: Sequence[str], histories: Sequence[History]) -> Survivors:
    """What survives in a memory over all histories."""
    survivors = Survivors()
    for history in histories:
        print(f"{name}: history {history.seed} …", file=sys.stderr, flush=True)
        with temporary_folder() as folder:
            run_history(command, history, Path(folder) / "run", survivors)
    return survivors


def format_table(found: dict[str, Survivors]) -> str:
    """The table, in Markdown."""
    lines = [f"| | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    for view, words in PLACES.items():
        cells = (f"{each.by_view[view]} of {each.erased}" for each in found.values())
        lines.append(f"| deleted words {words} | {' | '.join(cells)} |")
    lines.append(f"| words of the other space | {' | '.join(str(each.foreign) for each in found.values())} |")
    kept = (f"{each.lost} of {each.present}" for each in found.values())
    lines.append(f"| words lost that a document still states | {' | '.join(kept)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=3)
    parser.add_argument("--documents", type=int, default=6, help="in each space")
    arguments = parser.parse_args()
    histories = [make_history(seed, arguments.documents) for seed in range(1, arguments.histories + 1)]
    found = {OURS: measure(OURS, [sys.executable, "-m", "benchmarks.forget.threadlore_runner"], histories)}
    left_out = dict[str, str]()
    for package in PACKAGES:
        try:
            python = install_peer(BENCH / package.folder, package.version, package.name, package.further)
        except PeerNotInstallable as failure:
            left_out[package.title] = f"it cannot be installed: {failure}"
            continue
        command = [str(python), "-m", f"benchmarks.forget.{package.runner}"]
        found[package.title] = measure(package.title, command, histories)
    print(format_table(found))
    print(*(f"Not measured: {name}: {reason}." for name, reason in left_out.items()), sep="\n")


if __name__ == "__main__":
    main()
