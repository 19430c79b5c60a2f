"""Workers that are forked after collection."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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


def run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-q", *arguments]
    command += ["--basetemp", str(folder / "temporary"), "--workers=2", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout


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
