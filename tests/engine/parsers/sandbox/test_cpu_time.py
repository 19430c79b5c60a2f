"""The CPU time of a parser is bounded by the size of its file."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from engine import ParserLimits
from engine.parsers.sandbox.cpu_time import budget_seconds
from tests.support.source_trees import ROOT

MIB = 2**20
LOOP = """
import resource
from engine import ParserLimits
from engine.parsers.sandbox.cpu_time import extend_cpu_time, limit_cpu_time
limits = ParserLimits(timeout_seconds=0.1)
limit_cpu_time(100, limits)
before = resource.getrlimit(resource.RLIMIT_CPU)
with extend_cpu_time(ParserLimits()):
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] == before[0] + 120
assert resource.getrlimit(resource.RLIMIT_CPU) == before
while True:
    pass
"""


@pytest.mark.parametrize(
    ("size", "seconds"), [(0, 10), (MIB, 13), (10 * MIB, 40), (50 * MIB, 120)], ids=["0", "1", "10", "50"]
)
def test_a_larger_file_has_more_time_up_to_the_limit(size: int, seconds: float) -> None:
    assert budget_seconds(size, ParserLimits()) == pytest.approx(seconds, abs=0.1)


def test_a_lower_time_limit_lowers_the_budget() -> None:
    assert budget_seconds(MIB, ParserLimits(timeout_seconds=2.0)) == 4


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_kernel_ends_what_takes_longer() -> None:
    done = subprocess.run([sys.executable, "-c", LOOP], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == -signal.SIGXCPU, done.stderr
