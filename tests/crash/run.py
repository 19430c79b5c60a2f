"""One seed's ordeal: a script runs once in peace; then again, killed several times; both must end in the same state."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from pathlib import Path
from random import Random
from threading import Timer

from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger import Ledger
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.queries import export
from tests.crash.faults import Fault
from tests.crash.scenario import Documents, build_script, expected_documents
from tests.support.postgres_server import PostgresServer

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 120.0  # seconds that one life may take


@dataclass(frozen=True, slots=True)
class FinalState:
    """What a finished script has come to."""

    differences: list[str]
    export: list[str]
    steps: dict[str, int]


@dataclass(slots=True)
class RunOutcome:
    """What an ordeal has shown; `wrong` says what must not be, and is empty if all is well.

    `acknowledged` counts the operations known to be done at each death.
    """

    seed: int
    operations: int
    deaths: list[str] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


class UnexpectedExitError(Exception):
    """A life ended, but not by our hand."""


async def run_seed(seed: int, folder: Path, server: PostgresServer | None = None, helpers: int = 0) -> RunOutcome:
    """Run the script of a seed in peace and in trouble, below `folder`, and compare.

    The data are in files, or in databases of the server; then so many `helpers` share the work of the second run.
    """
    outcome = RunOutcome(seed, len(build_script(seed)))
    calm, rough = folder / "calm", folder / "rough"
    for home in (calm, rough):
        home.mkdir(parents=True)
        if server is not None:
            (home / "database").write_text(server.url(server.create_database()), encoding="utf-8")
    try:
        run_child(calm, seed)
        wanted = read_final_state(calm)
        with running_helpers(rough, seed, helpers):
            await _run_with_kills(rough, outcome, wanted.steps)
        found = read_final_state(rough)
    except UnexpectedExitError as error:
        outcome.violations.append(str(error))
        return outcome
    outcome.violations += [f"in peace: {difference}" for difference in wanted.differences]
    outcome.violations += [f"verify: {difference}" for difference in found.differences]
    outcome.violations += diff_exports(wanted.export, found.export)
    outcome.violations += find_leftover_files(rough, seed)
    return outcome


async def _run_with_kills(home: Path, outcome: RunOutcome, steps: dict[str, int]) -> None:
    random = Random(f"deaths {outcome.seed}")
    for left in reversed(range(random.randint(3, 5))):
        death = choose_kill(random, steps, left)
        run_child(home, outcome.seed, death)
        if (home / "state").exists():
            return
        outcome.deaths.append(str(death))
        outcome.acknowledged.append(count_acknowledged(home))
        outcome.violations += [f"after {death}: {text}" for text in await find_lost(home, outcome.seed)]
    run_child(home, outcome.seed)


@contextmanager
def running_helpers(home: Path, seed: int, count: int) -> Iterator[None]:
    """Processes that share the work on the database of a home. Raises UnexpectedExitError if one ends early."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.crash.child", str(home), str(seed), "helper"]
    with ExitStack() as stack:
        running = [
            stack.enter_context(subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            for _ in range(count)
        ]
        for process in running:
            stack.callback(process.kill)
            assert process.stdout is not None
            process.stdout.readline()
        yield
        if any(process.poll() is not None for process in running):
            raise UnexpectedExitError("a helper has ended")


@dataclass(frozen=True, slots=True)
class ExternalKill:
    """A kill from outside, so many acknowledgements and seconds after the start."""

    acknowledgements: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.3f} s after {self.acknowledgements} acknowledgements"


def choose_kill(random: Random, steps: dict[str, int], left: int) -> Fault | ExternalKill:
    """How the next life ends: mostly at some step, rare ones as often as frequent ones; else at any moment."""
    kind = random.choices(("fault", "moment", "acknowledgement"), (5, 1, 1))[0]
    if kind == "fault":
        step = random.choice(sorted(steps))
        number = random.randint(1, max(1, steps[step] // (left + 2)))
        when = random.choice(("before", "during", "during", "after"))
        return Fault(step, number, when, random.choice((0.0, 0.0005, 0.002, 0.01)) * random.random())  # type: ignore[arg-type]
    if kind == "moment":
        return ExternalKill(0, random.uniform(0.3, 3.0))
    return ExternalKill(random.randint(1, 20), random.uniform(0, 0.05))


def run_child(home: Path, seed: int, death: Fault | ExternalKill | None = None) -> None:
    """Let the script run until its end or its death. Raises UnexpectedExitError if it ends in any other way."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.crash.child", str(home), str(seed)]
    command += [str(death)] if isinstance(death, Fault) else []
    with (home / "words").open("w+", encoding="utf-8") as words:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=words, text=True)
        assert process.stdout is not None
        limit = Timer(TIMEOUT_SECONDS, process.terminate)
        limit.start()
        if isinstance(death, ExternalKill):
            for _ in range(death.acknowledgements):
                process.stdout.readline()
            time.sleep(death.seconds)
            process.kill()
        process.communicate()
        limit.cancel()
        words.seek(0)
        if process.returncode not in ((0, -9) if death else (0,)):
            raise UnexpectedExitError(f"{death}: ended with {process.returncode}: {words.read()[-3000:]}")


def read_final_state(home: Path) -> FinalState:
    """What the script of a home has come to."""
    return FinalState(**json.loads((home / "state").read_text(encoding="utf-8")))


def count_acknowledged(home: Path) -> int:
    """How many operations of the script have returned."""
    path = home / "acknowledged"
    return path.stat().st_size if path.exists() else 0


async def find_lost(home: Path, seed: int) -> list[str]:
    """What an acknowledged operation has done and is not there; an operation cut off may have happened or not."""
    done = count_acknowledged(home)
    operations = build_script(seed)
    before: Documents = reduce(expected_documents, operations[:done], {})
    expected = [count_texts(before), count_texts(reduce(expected_documents, operations[done : done + 1], before))]
    address, file = home / "database", home / "data" / "ledger.db"
    if not address.exists() and not file.exists():
        return ["nothing is there"] if done else []
    ledger = await (
        PostgresLedger.open(address.read_text(), clock=SYSTEM_CLOCK)
        if address.exists()
        else Ledger.open(file, clock=SYSTEM_CLOCK)
    )
    try:
        async with ledger.stream_connection() as db:
            records = [json.loads(line) async for line in export.export_canonical(db)]
    finally:
        await ledger.close()
    found = Counter(
        (record["space"], record["document"], record["key"], record["text"]) for record in records if is_text(record)
    )
    return [] if found in expected else [f"{done} acknowledged: lost {expected[0] - found}, more {found - expected[0]}"]


def is_text(record: dict[str, str]) -> bool:
    return record["kind"] == "passage"


def count_texts(documents: Documents) -> Counter[tuple[str, str, str, str]]:
    return Counter((d.space, d.key, passage.key, passage.text) for d in documents.values() for passage in d.passages)


def find_leftover_files(home: Path, seed: int) -> list[str]:
    """Files in which words still stand that no document holds any more."""
    nothing: Documents = {}
    states = list(accumulate(build_script(seed), expected_documents, initial=nothing))
    held = [{passage.text for document in documents.values() for passage in document.passages} for documents in states]
    gone = {text.encode() for text in set().union(*held) - held[-1]}
    found = [(file.name, file.read_bytes()) for file in (home / "data").rglob("*") if file.is_file()]
    return [f"{name} still holds {text!r}" for name, content in found for text in sorted(gone) if text in content]


def diff_exports(wanted: list[str], found: list[str]) -> list[str]:
    """Lines that one export has and the other has not."""
    if wanted == found:
        return []
    lacking, extra = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    lines = [f"- {line}" for line in lacking] + [f"+ {line}" for line in extra]
    return lines or ["the exports differ in their order"]
