"""Make each fault that docs/operations.md lists, in each mode of the program, and look for what it states.

`python -m benchmarks.faults [--row WORDS]` runs the tests of each row of the section "Faults", or of those whose fault
contains these words, and prints a table. It exits with 1 if one of them fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT_SECONDS = 900  # for the tests of one fault in one mode
OPTIONS = ("-q", "--thorough", "-p", "no:cacheprovider", "--no-header", "--tb=short")
SUMMARY = re.compile(r"^=* ?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", re.MULTILINE)  # the last line of pytest
Modes = Mapping[str, Sequence[str]]  # what pytest calls the tests of a fault, by the mode in which they make it


def load_faults() -> Mapping[str, Modes]:
    """The tests of each fault and mode, in the order of the paper."""
    return tomllib.loads((ROOT / "benchmarks/faults.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Outcome:
    """What the tests of a fault in a mode came to; `page` is what pytest printed."""

    words: str
    is_good: bool
    page: str = ""


def read_outcome(status: int, page: str) -> Outcome:
    """The outcome of a run of pytest. It is only good if a test ran: what is skipped shows nothing."""
    words = (SUMMARY.findall(page) or ["not run"])[-1]
    return Outcome(words, status == 0 and "passed" in words, page)


def run_tests(node_ids: Sequence[str]) -> Outcome:
    command = [sys.executable, "-m", "pytest", *OPTIONS, *node_ids]
    environment = os.environ | {"COLUMNS": "120"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(f"no end within {LIMIT_SECONDS} seconds", is_good=False)
    return read_outcome(done.returncode, done.stdout + done.stderr)


def select_rows(faults: Mapping[str, Modes], words: str) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Each fault that contains the words, its modes, and their tests."""
    for fault, modes in faults.items():
        if words.casefold() in fault.casefold():
            for mode, node_ids in modes.items():
                yield fault, mode, node_ids


def run(words: str) -> bool:
    """Make the selected faults and show a table; whether all went as the paper says."""
    faults, is_good = load_faults(), True
    rows = list(select_rows(faults, words))
    if not rows:
        sys.exit(f"No fault contains “{words}”: {'; '.join(faults)}")
    print("| fault | mode | outcome | seconds |\n|---|---|---|---|", flush=True)
    for fault, mode, node_ids in rows:
        began = time.perf_counter()
        outcome = run_tests(node_ids)
        print(f"| {fault} | {mode} | {outcome.words} | {time.perf_counter() - began:.0f} |", flush=True)
        if not outcome.is_good:
            is_good = False
            print(outcome.page, file=sys.stderr, flush=True)
    return is_good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", default="", metavar="WORDS", help="only faults that contain these words")
    if not run(parser.parse_args().row):
        sys.exit(1)


if __name__ == "__main__":
    main()
