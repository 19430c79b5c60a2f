"""The process that parses foreign files: `python -m engine.parsers.sandbox.worker LIMITS`, frames on its pipes.

It has bounded memory and processor time, no network where the kernel lets it give that up, and an empty environment.
It ends when its input does.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import TYPE_CHECKING

from engine.errors import BadInput, Broken, TooLarge
from engine.parsers.registry import read
from engine.parsers.sandbox import protocol
from engine.process.ipc import framed, leave_signals, take

if TYPE_CHECKING:
    from engine.parsers.base import Limits, Read

_NEW_USER_AND_NETWORK = 0x10000000 | 0x40000000
_THREADS = 2


def main() -> None:
    """Answer one request after the other: a frame with the name, a frame with the bytes, a frame with the outcome."""
    leave_signals()
    limits = protocol.decode_limits(sys.argv[1])
    _leave_network()
    _bound_memory(limits.memory)
    # What a library prints must not fall between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    while (name := take(requests)) is not None and (data := take(requests)) is not None:
        _bound_seconds(limits.seconds)
        answers.write(framed(protocol.encode(_outcome(name.decode(), data, limits))))
        answers.flush()


def _outcome(name: str, data: bytes, limits: Limits) -> Read | BadInput:
    try:
        return read(name, data, limits)
    except BadInput as error:
        return error
    except MemoryError:
        return TooLarge(f"{name} needs more memory than one file may take.")
    except RecursionError:
        return Broken(f"{name} is nested too deeply.")
    except Exception as error:  # noqa: BLE001  - whatever a parser stumbles over, the file is at fault
        return Broken(f"{name} could not be read ({type(error).__name__}).")


def _leave_network() -> None:
    """Into a network namespace without any interface, if this is Linux and the kernel allows it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER_AND_NETWORK)


def _bound_memory(size: int) -> None:
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  - there is none on Windows

        with contextlib.suppress(ValueError, OSError):  # macOS refuses; the time limit remains
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _bound_seconds(seconds: float) -> None:
    """The processor time of this file, so that even an orphan ends."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  - there is none on Windows

        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime + _THREADS * seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
