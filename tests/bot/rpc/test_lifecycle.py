"""A process leaves quickly at its end; one whose work is lost leaves within seconds, by itself or not."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from bot.rpc import lifecycle
from engine.errors import DatabaseLost
from engine.scheduling.processes import LocalProcesses

HANGING = """
import time
from bot.rpc import lifecycle
from engine.errors import DatabaseLost
lifecycle.LEAVE_SECONDS = 0.1
with lifecycle.ending_in_time(DatabaseLost("It was lost.")):
    time.sleep(60)
"""
ENDING = """
import atexit, sys, threading, time
from bot.rpc.lifecycle import ending_quickly

class Kept:
    def __del__(self):
        print("taken apart")

def work():
    time.sleep(0.05)
    print("thread")

with ending_quickly():
    kept = Kept()
    atexit.register(print, "handler")
    threading.Thread(target=work).start()
    print("block")
    {end}
"""


async def test_a_process_leaves_when_its_registration_is_lost() -> None:
    processes, leaving = LocalProcesses(), asyncio.Event()
    task = asyncio.create_task(lifecycle.watch_registration(processes, leaving.set))
    await asyncio.sleep(0)
    assert not leaving.is_set()
    processes.lost.set()
    await task
    assert leaving.is_set()


def test_a_process_that_cannot_leave_is_ended_with_a_sentence_and_a_status() -> None:
    ended = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, f"It was lost. {DatabaseLost.hint}\n")


@pytest.mark.parametrize(
    ("end", "status", "last"),
    [
        ("sys.exit(3)", 3, []),
        ("sys.exit('a sentence')", 1, ["taken apart"]),
        ("raise ValueError", 1, ["taken apart"]),
    ],
)
def test_a_process_that_exits_ends_its_threads_and_handlers_and_leaves_its_objects(
    end: str, status: int, last: list[str]
) -> None:
    command = [sys.executable, "-c", ENDING.format(end=end)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (status, ["block", "thread", "handler", *last])
