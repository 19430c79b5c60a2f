"""The product has one clock: only `engine/clock.py` reads the time, and all else is given it."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, timedelta
from functools import cache

import pytest

from engine.clock import SYSTEM_CLOCK
from tests.support.clock import START, ManualClock, ShiftedClock
from tests.support.patience import PATIENCE
from tests.support.source_trees import PACKAGES, ROOT, list_modules, list_nodes, name_of, relative_name

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

# Modules that use the clock of the machine, where a program gives none.
DOORS = {
    "engine/engine.py": "`Engine.open` is called by programs",
    "engine/llm/client/client.py": "programs construct `ModelClient`",
    "engine/llm/client/subprocess_main.py": "the main module of another process: no object can be handed to it",
    "engine/llm/default_models.py": "programs call `open_language_model` and `open_picture_describer`",
    "bot/cli/runner.py": "a command that is typed is given no clock",
}

# Modules that tell a time which is not that of the clock, and why; by what tells it.
STILL = "a wait: a clock that stands still must not hang it"
SHARED = "processes share the clock of their database"
FOLDER = "ages of files are those of their file system, which may have another clock"
OTHER_TIMES: dict[str, dict[str, str]] = {
    "an event loop": {
        "adapters/web/admission.py": "ends a wait at once",
        "adapters/web/security.py": STILL,
        "bot/rpc/lifecycle.py": "ends a wait at once",
        "bot/permissions/shared_audiences.py": STILL,
        "engine/llm/client/client.py": STILL,
        "engine/llm/client/limiter.py": STILL,
        "engine/scheduling/foreground.py": "how long the loop has served one task alone",
        "engine/storage/memory_copy.py": STILL,
    },
    "a database": {
        "bot/store/shared/visibility.py": SHARED,
        "engine/storage/ledger/postgres/word_copy/source.py": SHARED,
        "engine/storage/ledger/schema/postgres.sql": SHARED,
        "engine/storage/ledger/schema/stems.py": SHARED,
        "engine/storage/postgres/call_limits.py": SHARED,
        "engine/storage/postgres/process_statements.py": SHARED,
        "engine/storage/postgres/postgres.sql": SHARED,
        "engine/storage/vectors/pgvector_copy/change_log.py": SHARED,
    },
    "a file system": {
        "adapters/sources/folder.py": "identifies a version of a file",
        "bot/cli/doctor/checks.py": "checks the clock against them",
        "bot/store/file_fingerprints.py": "identifies a version of a file",
    },
    "structlog": {},
}
LOOPS = {"get_running_loop", "get_event_loop"}
SQL_TIME = re.compile(
    r"\b(now|\w+_timestamp|timeofday|unixepoch|julianday)\s*\(\s*\)|\bcurrent_(timestamp|time|date)\b|\(\s*'now'",
    re.IGNORECASE,
)
FILE_TIME = re.compile(r"(st_([acm]|birth)time(_ns)?|get[acm]time)")


def imported_names(nodes: tuple[ast.AST, ...]) -> dict[str, str]:
    """What the names of a module stand for that it imports from `time` and `datetime`."""
    known = dict[str, str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            known |= {name.asname or name.name: name.name for name in node.names if name.name in {"time", "datetime"}}
        elif isinstance(node, ast.ImportFrom) and node.module in {"time", "datetime"}:
            known |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
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


def test_below_the_doors_everything_is_given_its_clock() -> None:
    using = {relative_name(path) for path in list_modules() if any(map(is_system_clock, list_nodes(path)))}
    assert using - {CLOCK} == DOORS.keys()


def is_system_clock(node: ast.AST) -> bool:
    """Whether a node uses the clock of the machine, imports it or makes another one."""
    if isinstance(node, ast.Call):
        return name_of(node) == "Clock"
    if isinstance(node, ast.keyword):
        return node.arg == "default_factory" and last_name(node.value) == "Clock"
    return "SYSTEM_CLOCK" in {last_name(node), getattr(node, "name", "")}


def last_name(node: ast.AST | None) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


@pytest.mark.parametrize("source", OTHER_TIMES)
def test_only_named_modules_tell_the_time_of(source: str) -> None:
    modules = {path for path, found in other_times().items() if source in found}
    assert modules | (find_sql_files() if source == "a database" else set()) == OTHER_TIMES[source].keys()


@cache
def other_times() -> dict[str, set[str]]:
    """What tells each module the time, besides the clock."""
    return {relative_name(path): find_other_times(list_nodes(path)) for path in list_modules()}


def find_sql_files() -> set[str]:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.sql")]
    assert files
    return {relative_name(path) for path in files if SQL_TIME.search(strip_comments(path.read_text("utf-8")))}


def strip_comments(script: str) -> str:
    return re.sub(r"--.*", "", script)


def find_other_times(nodes: tuple[ast.AST, ...]) -> set[str]:
    """What tells a module the time, besides the clock."""
    loops, found = named_loops(nodes), set[str]()
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == "time" and is_loop(node.value, loops):
            found.add("an event loop")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_TIME.search(node.value):
            found.add("a database")
        elif FILE_TIME.fullmatch(last_name(node)):
            found.add("a file system")
        elif "TimeStamper" in {last_name(node), getattr(node, "name", "")}:
            found.add("structlog")
    return found


def named_loops(nodes: tuple[ast.AST, ...]) -> set[str]:
    """The names that event loops are assigned to, and that are declared as one."""
    names = set[str]()
    for node in nodes:
        if isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in zip(unpack(target), unpack(node.value), strict=False)]
            names |= {last_name(target) for target, value in pairs if is_loop(value, set())}
        elif isinstance(node, ast.arg | ast.AnnAssign) and last_name(node.annotation) == "AbstractEventLoop":
            names.add(node.arg if isinstance(node, ast.arg) else last_name(node.target))
    return names


def unpack(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple) else [value]


def is_loop(value: ast.expr, names: set[str]) -> bool:
    return name_of(value) in LOOPS if isinstance(value, ast.Call) else last_name(value) in names


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


@pytest.mark.parametrize(
    "code",
    [
        "from engine import SYSTEM_CLOCK as machine",
        "import engine\nengine.SYSTEM_CLOCK.now()",
        "Clock().monotonic",
        "import engine\nengine.Clock()",
        "clock: Clock = field(default_factory=Clock)",
    ],
)
def test_the_clock_of_the_machine_is_noticed(code: str) -> None:
    assert any(map(is_system_clock, ast.walk(ast.parse(code))))


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("asyncio.get_running_loop().time()", "an event loop"),
        ("stop, loop = asyncio.Event(), asyncio.get_running_loop()\nloop.time()", "an event loop"),
        ("self._loop = asyncio.get_event_loop()\nself._loop.time()", "an event loop"),
        ("def wait(loop: asyncio.AbstractEventLoop): return loop.time", "an event loop"),
        ("'UPDATE process SET seen_at = now()'", "a database"),
        ("f'SELECT {what}, clock_timestamp()'", "a database"),
        ("'DELETE FROM call WHERE day < CURRENT_DATE'", "a database"),
        ("\"SELECT datetime('now')\"", "a database"),
        ("path.stat().st_mtime_ns", "a file system"),
        ("os.path.getmtime(path)", "a file system"),
        ("structlog.processors.TimeStamper(fmt='iso')", "structlog"),
        ("from structlog.processors import TimeStamper as Stamp", "structlog"),
    ],
)
def test_another_time_is_noticed(code: str, source: str) -> None:
    assert find_other_times(tuple(ast.walk(ast.parse(code)))) == {source}


@pytest.mark.parametrize(
    "code",
    [
        "clock.now(), self._clock.time()",
        "'You may ask now (again).'",
        "moment.time()\nloop = asyncio.get_running_loop()\nloop.call_later(1.0, stop)",
        "context.obj if isinstance(context.obj, Clock) else None",
    ],
)
def test_the_time_of_a_given_clock_is_no_other_time(code: str) -> None:
    nodes = tuple(ast.walk(ast.parse(code)))
    assert not find_other_times(nodes)
    assert not any(map(is_system_clock, nodes))


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


def test_a_manual_clock_never_goes_back() -> None:
    clock = ManualClock()
    clock.move_to(2.0)
    with pytest.raises(AssertionError):
        clock.move_to(1.9)
    with pytest.raises(AssertionError):
        clock.advance(-0.1)
    assert clock.monotonic() == 2.0


async def test_a_sleep_on_a_manual_clock_is_over_at_once() -> None:
    clock = ManualClock()
    await clock.sleep(3600.0)
    assert (clock.now(), clock.monotonic()) == (START + timedelta(hours=1), 3600.0)


async def test_a_clock_that_runs_wakes_those_who_sleep_on_it_when_it_is_moved() -> None:
    clock = ShiftedClock(START)
    asleep = asyncio.create_task(clock.sleep(3600.0))
    await asyncio.sleep(0)
    clock.advance(3600.0)
    await asyncio.wait_for(asleep, PATIENCE)
    assert timedelta(hours=1) <= clock.now() - START < timedelta(hours=2)


def test_the_wall_time_and_the_monotonic_time_of_a_clock_that_runs_move_together() -> None:
    clock = ShiftedClock(START)
    apart = clock.time() - clock.monotonic()
    clock.advance(86_400.0)
    assert clock.time() - clock.monotonic() == pytest.approx(apart, abs=60.0)
    with pytest.raises(AssertionError):
        clock.advance(-0.1)
