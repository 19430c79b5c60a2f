"""A process whose event loop hangs ends, and says where it hung."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, time
from bot.monitoring.watchdog import watchdog

async def hang():
    time.sleep({hangs})

async def work():
    with watchdog(0.4):
        await asyncio.sleep(1.0)
        await hang()
    time.sleep(0.6)

asyncio.run(work())
"""


@pytest.mark.parametrize(("hangs", "status"), [(30, 1), (0, 0)])
def test_a_hanging_process_ends(hangs: int, status: int) -> None:
    command = [sys.executable, "-c", PROGRAM.format(hangs=hangs)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == status
    assert (" in hang" in ended.stderr) is bool(hangs)
