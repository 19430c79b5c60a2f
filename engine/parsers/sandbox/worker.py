"""Process that parses untrusted files: `python -m engine.parsers.sandbox.worker LIMITS`, frames on its pipes.

It has bounded memory and CPU time, no network if the kernel allows it to be dropped, and a minimal environment. It ends
when its input does.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument, InvalidDocument
from engine.parsers.dates import find_stated_date
from engine.parsers.detection import detect_format
from engine.parsers.registry import PARSERS
from engine.parsers.sandbox import protocol
from engine.process import encode_frame, ignore_stop_signals, read_frame

if TYPE_CHECKING:
    from engine.parsers.base import ParsedFile, ParserLimits

_NEW_USER_AND_NETWORK = 0x10000000 | 0x40000000
_THREADS = 2


def main() -> None:
    """Handle requests in turn: a frame with the name and a frame with the bytes give a frame with the result."""
    ignore_stop_signals()
    limits = protocol.decode_limits(sys.argv[1])
    _isolate_network()
    _limit_memory(limits.max_memory)
    # Output of a library must not fall between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    while (name := read_frame(requests)) is not None and (data := read_frame(requests)) is not None:
        _limit_cpu_seconds(limits.timeout_seconds)
        answers.write(encode_frame(protocol.encode_result(_parse_safely(name.decode(), data, limits))))
        answers.flush()


def _parse_safely(name: str, data: bytes, limits: ParserLimits) -> ParsedFile | InvalidDocument:
    try:
        return parse_file(name, data, limits)
    except InvalidDocument as error:
        return error
    except MemoryError:
        return DocumentTooLarge(f"{name} needs more memory than the limit for one file.")
    except RecursionError:
        return CorruptFile(f"{name} is nested too deeply.")
    except Exception as error:  # noqa: BLE001  - any error of a parser is due to the file
        return CorruptFile(f"{name} could not be read ({type(error).__name__}).")


def _isolate_network() -> None:
    """Enter a network namespace without interfaces, if this is Linux and the kernel allows it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER_AND_NETWORK)


def _limit_memory(size: int) -> None:
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  - not available on Windows

        with contextlib.suppress(ValueError, OSError):  # macOS refuses; the time limit remains
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_cpu_seconds(seconds: float) -> None:
    """Limit the CPU time of this file, so that even an orphaned process ends."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  - not available on Windows

        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime + _THREADS * seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def parse_file(name: str, data: bytes, limits: ParserLimits) -> ParsedFile:
    """The file as passages, at least one. Raises one of the InvalidDocument family."""
    file_format = PARSERS[detect_format(name, data, limits)]
    parsed = file_format.parse(name, data)
    if not parsed.passages:
        raise EmptyDocument(f"There is no text in {name}.")
    if sum(len(passage.text) for passage in parsed.passages) > limits.max_text_length:
        raise DocumentTooLarge(f"{name} holds more than {limits.max_text_length:,} characters of text.")
    time = parsed.time
    if not time and file_format.is_dated:
        time = find_stated_date(name, _document_head(parsed)) or parsed.saved_at
    return replace(parsed, time=time, saved_at=None, attachments=())


def _document_head(parsed: ParsedFile) -> str:
    """The title and the first passage: where a document states its date."""
    return f"{parsed.title}\n{parsed.passages[0].text}" if parsed.title else parsed.passages[0].text


if __name__ == "__main__":
    main()
