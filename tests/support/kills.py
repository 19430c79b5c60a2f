"""Kill a program before one of its changes to the file system, as a power switch would: nothing is cleaned up."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable

CHANGES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate"}
KILLED, FAILED = 9, 1
NEVER = sys.maxsize  # a step that no work reaches; it may end itself with the status KILLED


def run_until_killed(work: Callable[[], object], step: int) -> bool:
    """Run work in a copy of this process up to before this change (from 0); returns whether it was killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork, if other threads run
        child = os.fork()
    if not child:
        _run_and_exit(work, step)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in {0, KILLED}, "the work failed"
    return status == KILLED


def _run_and_exit(work: Callable[[], object], step: int) -> None:
    left = step

    def count(event: str, _: tuple[object, ...]) -> None:
        nonlocal left
        if event in CHANGES:
            if not left:
                os._exit(KILLED)
            left -= 1

    sys.addaudithook(count)
    try:
        work()
    except BaseException:  # noqa: BLE001 - nothing may return into the test
        traceback.print_exc()
        os._exit(FAILED)
    os._exit(0)
