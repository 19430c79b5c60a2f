"""Workers that are forked after collection."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.conftest import pytest_runtestloop

TESTS = """
import os, time
import pytest

@pytest.fixture(scope="session")
def shared():
    yield os.getpid()
    if os.path.exists("{mark}"):
        raise ValueError("not torn down")

@pytest.mark.parametrize("number", range(5))
def test_one(number, shared, tmp_path):
    print("said", number)
    assert shared == os.getpid()
    if number == 1:
        if os.fork():
            os._exit(3)
        time.sleep(5)
        os._exit(0)
    assert number != 3
"""


SERVER = """
import os, subprocess, sys, time
import pytest

@pytest.fixture(scope="session")
def server():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    with open("{note}", "w") as note:
        note.write(str(process.pid))
    yield
    process.kill()
    process.wait()

def test_that_waits(server):
    time.sleep(60)
"""
FAILING = """
import os, time
import pytest

def test_that_fails():
    while not (os.path.exists("{note}") and open("{note}").read()):
        time.sleep(0.05)
    assert {holds}
    time.sleep(60)
"""
LAST = """
import os
import pytest

@pytest.fixture(scope="session")
def shared():
    yield
    {end}

def test_last(shared):
    pass
"""


def list_command(folder: Path, *arguments: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-q", *arguments]
    return [*command, "--basetemp", str(folder / "temporary"), str(folder)]


def run(folder: Path, *arguments: str) -> str:
    command = list_command(folder, "--workers=2", *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout


def write_server_tests(folder: Path, *, holds: bool) -> Path:
    note = folder / "note"
    (folder / "test_a.py").write_text(SERVER.replace("{note}", str(note)))
    (folder / "test_b.py").write_text(FAILING.replace("{note}", str(note)).replace("{holds}", str(holds)))
    return note


def has_ended(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return False
    return True


def test_each_test_runs_once_though_one_ends_its_process(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(TESTS.replace("{mark}", str(mark) if name == "test_a.py" else ""))
    found = run(tmp_path)
    assert sorted(re.findall(r"^(FAILED|ERROR) \S*(test_\w\.py::\S+)", found, re.MULTILINE)) == [
        ("ERROR", "test_a.py::test_one[4]"),
        ("FAILED", "test_a.py::test_one[1]"),
        ("FAILED", "test_a.py::test_one[3]"),
        ("FAILED", "test_b.py::test_one[1]"),
        ("FAILED", "test_b.py::test_one[3]"),
    ]
    assert re.search("4 failed, 6 passed, .*1 error in", found)
    assert found.count("it ended its worker process") >= 2
    assert found.count("said 3") == 2
    assert "said 2" not in found
    assert "ValueError: not torn down" in found


@pytest.mark.long
def test_nothing_that_tests_started_remains_behind_a_first_failure(tmp_path: Path) -> None:
    note = write_server_tests(tmp_path, holds=False)
    assert "1 failed in" in run(tmp_path, "-x")
    assert has_ended(int(note.read_text()))


@pytest.mark.long
def test_nothing_that_tests_started_remains_behind_an_interrupt(tmp_path: Path) -> None:
    note = write_server_tests(tmp_path, holds=True)
    whole = subprocess.Popen(list_command(tmp_path, "--workers=2"), start_new_session=True, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(whole.pid, signal.SIGINT)
    assert whole.wait(60) == pytest.ExitCode.INTERRUPTED
    assert has_ended(int(note.read_text()))


@pytest.mark.long
def test_an_end_amid_the_last_teardown_is_reported(tmp_path: Path) -> None:
    for name, end in (("a", "os._exit(0)"), ("b", "pytest.fail('left')")):
        (tmp_path / f"test_{name}.py").write_text(LAST.replace("{end}", end))
    found = run(tmp_path)
    assert "2 passed, 2 errors in" in found
    assert "it ended its worker process" in found
    assert "Failed: left" in found


def test_no_workers_are_one() -> None:
    config = SimpleNamespace(getoption=lambda _: 0)
    assert pytest_runtestloop(cast("pytest.Session", SimpleNamespace(config=config))) is None
