"""The program asks no name server and no address unless it was told to, and writes into its own folders only.

`make bench-offline` watches every long-lived process for longer.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks import offline
from tests.support.offline_recorder import list_obstacles, run_recorded

OBSTACLE = list_obstacles()
pytestmark = pytest.mark.skipif(bool(OBSTACLE), reason=OBSTACLE)

ASK = """
import socket
for attempt in (
    lambda: socket.getaddrinfo("collector.example", 443),
    lambda: socket.create_connection(("203.0.113.7", 443), 5),
    lambda: socket.create_connection(("127.0.0.1", 9), 5),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("203.0.113.8", 9000)),
):
    try:
        attempt()
    except OSError:
        pass
"""


def test_the_recorder_sees_lookups_connections_and_datagrams(tmp_path: Path) -> None:
    report = tmp_path / "report"
    done = run_recorded([sys.executable, "-c", ASK], report, dict(os.environ))
    assert done.returncode == 0, done.stderr
    seen = set(report.read_text().splitlines())
    assert {"tcp 203.0.113.7:443", "udp 203.0.113.8:9000"} <= seen
    assert any(line.endswith(":53 collector.example") for line in seen)
    assert not any("127.0.0.1:9" in line for line in seen)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["models", "library", "serve --web"])
def test_nothing_is_asked_for_and_nothing_written_elsewhere(mode: str, tmp_path: Path) -> None:
    assert offline.watch(mode, 1.0, tmp_path) == ([], [])
