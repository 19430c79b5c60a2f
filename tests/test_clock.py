"""The product has one clock: only `engine/clock.py` reads the time, and all else is given it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, timedelta

import pytest

from engine.clock import SYSTEM_CLOCK
from tests.support.clock import START, ManualClock
from tests.support.source_trees import list_modules, list_nodes, relative_name

PACKAGES = ("engine", "bot", "adapters")
CLOCK = "engine/clock.py"

_COUNTERS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
READERS = {
    *(f"time.{name}{unit}" for name in _COUNTERS for unit in ("", "_ns")),
    *(f"time.clock_gettime{unit}" for unit in ("", "_ns")),
    *(f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")),
    "datetime.date.today",
}
# These read the time unless they are given one as this argument.
CONVERTERS = {"time.localtime": 0, "time.gmtime": 0, "time.ctime": 0, "time.asctime": 0, "time.strftime": 1}

# Modules that read the time themselves, and why they cannot be given a clock.
READING_REASONS: dict[str, str] = {}

# Modules of the engine that use the clock of the machine where they are given none.
DOORS = {
    "engine/__init__.py": "exports it",
    "engine/engine.py": "`Engine.open` is called by programs",
    "engine/llm/client/client.py": "programs construct `ModelClient`",
    "engine/llm/client/subprocess_main.py": "the main module of another process: no object can be handed to it",
    "engine/llm/default_models.py": "programs call `open_language_model` and `open_picture_describer`",
}


def imported_names(nodes: tuple[ast.AST, ...]) -> dict[str, str]:
    """What the names of a module stand for that it imports from `time` and `datetime`."""
    known = dict[str, str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            known |= {each.asname or each.name: each.name for each in node.names if each.name in {"time", "datetime"}}
        elif isinstance(node, ast.ImportFrom) and node.module in {"time", "datetime"}:
            known |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return known


def dotted_name(node: ast.AST, known: dict[str, str]) -> str:
    """The full name of what an expression refers to; "" if it is not imported."""
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := dotted_name(node.value, known)):
        return f"{owner}.{node.attr}"
    return ""


def find_readings(nodes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Where a module reads the time, takes a function that does, or imports one."""
    known = imported_names(nodes)
    given = {id(node.func) for node in nodes if isinstance(node, ast.Call) and is_given_time(node, known)}
    for node in nodes:
        name = dotted_name(node, known)
        if name in READERS or (name in CONVERTERS and id(node) not in given):
            yield f"{name} in line {getattr(node, 'lineno', 0)}"
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            names = {f"time.{each.name}" for each in node.names} & READERS
            yield from (f"import of {each} in line {node.lineno}" for each in sorted(names))


def is_given_time(call: ast.Call, known: dict[str, str]) -> bool:
    return len(call.args) > CONVERTERS.get(dotted_name(call.func, known), len(call.args))


@pytest.mark.parametrize("package", PACKAGES)
def test_only_the_clock_reads_the_time(package: str) -> None:
    readings = {relative_name(path): list(find_readings(list_nodes(path))) for path in list_modules(package)}
    allowed = {CLOCK, *READING_REASONS}
    assert {path: found for path, found in readings.items() if found and path not in allowed} == {}
    assert {path for path in allowed if path.startswith(package) and not readings.get(path)} == set()


def test_below_its_doors_the_engine_is_given_its_clock() -> None:
    using = {relative_name(path) for path in list_modules("engine") if uses_system_clock(list_nodes(path))}
    assert using == DOORS.keys()


def uses_system_clock(nodes: tuple[ast.AST, ...]) -> bool:
    return any(
        isinstance(node, ast.ImportFrom) and "SYSTEM_CLOCK" in {each.name for each in node.names} for node in nodes
    )


@pytest.mark.parametrize(
    "code",
    [
        "import time\ntime.time()",
        "import time as t\nt.monotonic_ns()",
        "import time\ndef measure(clock=time.perf_counter): ...",
        "from time import monotonic",
        "from time import process_time as spent",
        "import time\ntime.strftime('%H')",
        "import time\ntime.localtime()",
        "from time import gmtime\ngmtime()",
        "from datetime import datetime\ndatetime.now(UTC)",
        "import datetime\ndatetime.datetime.utcnow()",
        "import datetime as dates\ndates.date.today()",
        "from datetime import datetime as dt\ndt.today()",
        "from datetime import date\nfield(default_factory=date.today)",
    ],
)
def test_a_reading_is_noticed(code: str) -> None:
    assert list(find_readings(tuple(ast.walk(ast.parse(code)))))


@pytest.mark.parametrize(
    "code",
    [
        "clock.time(), clock.monotonic(), clock.now()",
        "asyncio.get_running_loop().time()",
        "import time\ntime.sleep(1)\ntime.gmtime(0)\ntime.strftime('%H', moment)",
        "from datetime import datetime, time\ntime.min, datetime.fromtimestamp(0, UTC)",
    ],
)
def test_a_time_that_is_given_is_no_reading(code: str) -> None:
    assert not list(find_readings(tuple(ast.walk(ast.parse(code)))))


def test_the_wall_time_is_the_same_as_a_date_and_in_seconds() -> None:
    before, moment, after = SYSTEM_CLOCK.time(), SYSTEM_CLOCK.now(), SYSTEM_CLOCK.time()
    assert before <= moment.timestamp() <= after
    assert moment.tzinfo is UTC


def test_a_manual_clock_moves_only_when_it_is_told_to() -> None:
    clock = ManualClock()
    assert (clock.now(), clock.time(), clock.monotonic()) == (START, START.timestamp(), 0.0)
    clock.advance(90.5)
    assert (clock.now(), clock.monotonic()) == (START + timedelta(seconds=90.5), 90.5)
    assert clock.time() == START.timestamp() + 90.5
