"""Plant small faults in the code that decides, and see whether its tests notice: `python -m benchmarks.mutation`.

Nothing is written into the tree. A process that has imported the code and its tests forks a child for each fault. The
child puts the fault into its copy, and runs the tests that call the function it is in, the fast ones first.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import inspect
import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Literal

import pytest

from benchmarks.mutants import Mutant, list_mutants, plant

ROOT = Path(__file__).resolve().parent.parent
ACCEPTED = Path(__file__).with_name("accepted_mutants.jsonl")
REIMPORTED = frozenset({"adapters", "bot", "engine", "tests"})
OPTIONS = ("-x", "-q", "-m", "not long", "-p", "no:cacheprovider", "-p", "no:schemathesis")
WARNINGS = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # plugins were imported before the fork
WORKERS = 2
SLOWER, LEAST_SECONDS = 3.0, 30  # a run is ended after so many times its usual time, but not before these seconds
MEMORY = 8 * 2**30  # bytes that a child may use

Verdict = Literal["killed", "ended", "survived"]  # ended: by its limits of time and memory
FaultKey = tuple[str, str, str, int]

RESOLVING = ("resolver", "channel_lists", "shared_audiences")
PERMISSIONS, ANSWERS = "tests/bot/permissions", "tests/bot/answers"
# What decides, and the tests that are to notice each fault in it.
MODULES: dict[str, tuple[str, ...]] = {
    "bot/permissions/askers.py": (f"{PERMISSIONS}/test_askers.py", f"{PERMISSIONS}/test_quotas.py"),
    "bot/permissions/audience.py": (f"{PERMISSIONS}/test_audience.py", f"{PERMISSIONS}/test_resolver.py"),
    "bot/permissions/channel_facts.py": tuple(
        f"{PERMISSIONS}/test_{name}.py" for name in ("channel_facts", "channel_lists", "resolver")
    ),
    "bot/permissions/import_destination.py": (f"{PERMISSIONS}/test_import_destination.py",),
    "bot/permissions/managers.py": (f"{PERMISSIONS}/test_managers.py",),
    "bot/permissions/provenance.py": (f"{PERMISSIONS}/test_provenance.py",),
    "bot/permissions/resolver.py": tuple(f"{PERMISSIONS}/test_{name}.py" for name in RESOLVING),
    "bot/ingest/messages.py": (
        *(f"tests/bot/ingest/test_{name}.py" for name in ("messages", "files", "unread_files")),
        f"{ANSWERS}/test_corrections.py",
    ),
    "bot/ingest/sync/deletions.py": tuple(
        f"tests/bot/ingest/sync/test_{name}.py" for name in ("deletions", "reconcile")
    ),
    "bot/ingest/sync/jobs.py": ("tests/bot/ingest/sync/test_jobs.py",),
    "bot/dispatch/reply_policy.py": tuple(
        f"tests/bot/dispatch/test_{name}.py" for name in ("reply_policy", "feedback_replies", "review_phrases")
    ),
    "bot/answers/history.py": (f"{ANSWERS}/test_history.py",),
    "bot/answers/footer.py": (f"{ANSWERS}/test_attribution.py", f"{ANSWERS}/test_footer.py"),
    "engine/answers/citations.py": ("tests/engine/answers/test_citations.py",),
    # The last starts a server of PostgreSQL for each fault that the others do not notice.
    "bot/permissions/shared_audiences.py": tuple(
        f"{PERMISSIONS}/test_{name}.py" for name in ("suspensions", "resolver", "shared_table", "shared_audiences")
    ),
}


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run without a fault: seconds by test, and the tests that call each function."""

    seconds: dict[str, float]
    callers: dict[str, list[str]]

    def select(self, function: str) -> list[str]:
        """The tests that call a function, the fast ones first; all of them for what is outside of functions."""
        return sorted(self.callers.get(function, ()) if function else self.seconds, key=self.seconds.__getitem__)


class CallRecorder:
    """A plugin of pytest that records which tests call the functions of a module, also in their fixtures, in a file."""

    def __init__(self, module: str, path: str) -> None:
        self._file, self._path = str(ROOT / module), path
        self._seconds: dict[str, float] = {}
        self._callers: dict[str, set[str]] = {}
        self._test = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began, self._test = time.monotonic(), item.nodeid
        threading.setprofile(self._record)
        sys.setprofile(self._record)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            self._seconds[item.nodeid] = time.monotonic() - began

    def _record(self, frame: FrameType, event: str, _: Any) -> None:
        code: CodeType = frame.f_code
        if event == "call" and code.co_filename == self._file:
            self._callers.setdefault(code.co_qualname, set()).add(self._test)

    def pytest_sessionfinish(self) -> None:
        callers = {name: sorted(tests) for name, tests in self._callers.items()}
        Path(self._path).write_text(json.dumps([self._seconds, callers]), encoding="utf-8")


class ChosenTests:
    """A plugin of pytest that runs these tests alone, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._rank = {test: rank for rank, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._rank), key=lambda each: self._rank[each.nodeid]
        )


class FaultyModule(importlib.machinery.SourceFileLoader):
    """A module with a fault."""

    def __init__(self, module: str, mutant: Mutant) -> None:
        super().__init__(module.removesuffix(".py").replace("/", "."), str(ROOT / module))
        tree = plant(Path(self.path).read_text(encoding="utf-8"), mutant.number)
        self._code = compile(tree, self.path, "exec", dont_inherit=True)
        self._function = mutant.function.partition(".<locals>")[0]

    def install(self) -> None:
        """Replace the code of one function where that is enough; else have everything imported anew."""
        if self._function and self._replace_function():
            return
        for name in [module for module in sys.modules if module.partition(".")[0] in REIMPORTED]:
            del sys.modules[name]
        sys.meta_path.insert(0, self)

    def _replace_function(self) -> bool:
        code = _find_code(self._code, self._function)
        found: Any = sys.modules[self.name]
        for part in self._function.split("."):
            found = inspect.getattr_static(found, part)
        if isinstance(found, property):
            found = found.fget
        function = inspect.unwrap(getattr(found, "__func__", found))
        if code is None or not isinstance(function, FunctionType) or function.__qualname__ != self._function:
            return False
        if code.co_freevars != function.__code__.co_freevars:
            return False
        function.__code__ = code
        return True

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> Any:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        return self._code


def _find_code(code: CodeType, function: str) -> CodeType | None:
    """The code of a function within that of a module."""
    if code.co_qualname == function:
        return code
    inner = (_find_code(const, function) for const in code.co_consts if isinstance(const, CodeType))
    return next(filter(None, inner), None)


@dataclass(frozen=True, slots=True)
class Trial:
    """One fault in a module, and the tests that are to notice it."""

    module: str
    mutant: Mutant
    tests: Sequence[str]
    seconds: float

    @property
    def key(self) -> FaultKey:
        """What names the fault as long as its function is unchanged, wherever that stands."""
        return self.module, self.mutant.function, self.mutant.text, self.mutant.occurrence


def fork_tests(files: Iterable[str], plugin: object, seconds: float, fault: FaultyModule | None = None) -> int:
    """Run tests in a child, whose process id this returns; its status is that of pytest."""
    sys.stdout.flush()
    if child := os.fork():
        return child
    status = int(pytest.ExitCode.INTERNAL_ERROR)
    try:
        signal.alarm(int(seconds))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        silence()
        if fault is not None:
            fault.install()
        status = int(pytest.main([*OPTIONS, *WARNINGS, *files], plugins=[plugin]))
    finally:
        os._exit(status)


def measure_baseline(module: str, files: Sequence[str]) -> Baseline:
    """Run the tests of a module without a fault. Exits if they fail."""
    with tempfile.NamedTemporaryFile() as saved:
        child = fork_tests(files, CallRecorder(module, saved.name), 3600.0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit(f"The tests of {module} fail without any fault: pytest {' '.join(files)}")
        return Baseline(*json.loads(Path(saved.name).read_text(encoding="utf-8")))


def silence() -> None:
    """Print nothing more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def import_tests(files: Iterable[str]) -> None:
    """Import tests with all that they import, so that each child has it already."""
    with redirect_stdout(StringIO()) as printed:
        status = pytest.main(["--collect-only", *OPTIONS, *sorted(set(files))])
    if status:
        sys.exit(printed.getvalue())


def choose_trials(module: str, baseline: Baseline, count: int, seed: int) -> list[Trial]:
    """A sample of the faults of a module (all of them if `count` is 0), in the order of lines."""
    found = list_mutants((ROOT / module).read_text(encoding="utf-8"))
    if count and count < len(found):
        found = sorted(random.Random(f"{seed} {module}").sample(found, count), key=lambda each: each.number)
    trials = []
    for mutant in found:
        tests = baseline.select(mutant.function)
        usual = sum(baseline.seconds[test] for test in tests)
        trials.append(Trial(module, mutant, tests, max(LEAST_SECONDS, SLOWER * usual)))
    return trials


def try_all(trials: Sequence[Trial], until: float) -> Iterator[tuple[Trial, Verdict]]:
    """Plant each fault and run its tests, until a time (`time.monotonic`); those that no test calls survive."""
    waiting, running = list(reversed(trials)), dict[int, Trial]()
    while waiting or running:
        while waiting and len(running) < WORKERS and time.monotonic() < until:
            trial = waiting.pop()
            if not trial.tests:
                yield trial, "survived"
                continue
            files = dict.fromkeys(test.partition("::")[0] for test in trial.tests)
            fault = FaultyModule(trial.module, trial.mutant)
            running[fork_tests(files, ChosenTests(trial.tests), trial.seconds, fault)] = trial
        if not running:
            return
        child, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            sys.exit(f"No test was found for {running[child]}.")
        if code == pytest.ExitCode.INTERNAL_ERROR:
            sys.exit(f"The fault could not be planted: {describe(running[child])}")
        yield running.pop(child), judge(code)


def judge(code: int) -> Verdict:
    """What the exit code of a run says; a signal, as a negative number, ends one that takes too long."""
    if code == pytest.ExitCode.OK:
        return "survived"
    return "ended" if code < 0 else "killed"


def describe(trial: Trial) -> str:
    return f"{trial.module}:{trial.mutant.line}  {trial.mutant.function or '(module)'}  {trial.mutant.text}"


def load_accepted() -> frozenset[FaultKey]:
    """The faults that no test is to notice, each listed with its reason."""
    rows = map(json.loads, ACCEPTED.read_text(encoding="utf-8").splitlines())
    return frozenset((row["module"], row["function"], row["text"], row.get("occurrence", 1)) for row in rows)


def print_summary(counts: Mapping[str, Counter[str]]) -> None:
    columns = ("killed", "ended", "survived", "accepted", "not tried")
    print(f"\n{'module':44}" + "".join(f"{column:>12}" for column in columns))
    total = sum(counts.values(), Counter[str]())
    for module, count in [*counts.items(), ("all", total)]:
        print(f"{module:44}" + "".join(f"{count[column]:12}" for column in columns))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", nargs="*", default=list(MODULES), help="paths, or parts of them")
    parser.add_argument("--mutants", type=int, default=20, help="faults of each module; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=25.0, help="no fault is tried after these")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    os.chdir(ROOT)
    until = time.monotonic() + 60 * arguments.minutes
    counts, known = dict[str, Counter[str]](), load_accepted()
    chosen = {module: files for module, files in MODULES.items() if any(part in module for part in arguments.modules)}
    import_tests(file for files in chosen.values() for file in files)
    for module, files in chosen.items():
        baseline = measure_baseline(module, files)
        trials = choose_trials(module, baseline, arguments.mutants, arguments.seed)
        counts[module] = count = Counter({"not tried": len(trials)})
        for trial, verdict in try_all(trials, until):
            shown = "accepted" if verdict == "survived" and trial.key in known else verdict
            count.update({shown: 1, "not tried": -1})
            print(f"{shown:10}  {describe(trial)}", flush=True)
    print_summary(counts)


if __name__ == "__main__":
    main()
