"""What a parser that an attacker controls could still do: read its own libraries."""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from engine import FileParser, ParserLimits
from engine.errors import DocumentTooLarge
from engine.parsers.sandbox import protocol

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes these rights")

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 100
ATTACK = """
import json, os, socket, subprocess, sys
from pathlib import Path
from engine.parsers.sandbox import protocol
from engine.parsers.sandbox.isolation import isolate

limits, folder, port = protocol.decode_limits(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
isolate(limits)

def outcome(attempt):
    try:
        return attempt() and "done"
    except OSError as error:
        return type(error).__name__

def parse():
    import pypdfium2, kreuzberg, charset_normalizer, PIL.Image
    return True

print(json.dumps({
    "read": outcome(lambda: (folder / "secret").read_text()),
    "list": outcome(lambda: os.listdir(folder)),
    "write": outcome(lambda: (folder / "new").write_text("x")),
    "write_to_tmp": outcome(lambda: Path("/tmp/threadlore-isolation").write_text("x")),
    "delete": outcome(lambda: (folder / "secret").unlink() is None),
    "our_environment": outcome(lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes()),
    "connect": outcome(lambda: socket.create_connection(("127.0.0.1", port), 5)),
    "run": outcome(lambda: subprocess.run([folder / "program"], check=True)),
    "parse": outcome(parse),
}))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("the key of the cellar")
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    return tmp_path


def attack(folder: Path, limits: ParserLimits) -> dict[str, str]:
    """What each attempt of a worker came to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = subprocess.run(
            [sys.executable, "-c", ATTACK, protocol.encode_limits(limits), folder, str(server.getsockname()[1])],
            check=True,
            capture_output=True,
        )
    outcomes: dict[str, str] = json.loads(done.stdout)
    return outcomes


def test_a_worker_reads_nothing_but_libraries_and_reaches_nobody(folder: Path) -> None:
    outcomes = attack(folder, ParserLimits())
    assert outcomes.pop("connect") in {"PermissionError", "OSError", "ConnectionRefusedError"}
    assert outcomes.pop("parse") == "done"
    assert set(outcomes.values()) == {"PermissionError"}, outcomes
    assert (folder / "secret").exists()


async def test_a_program_that_recognizes_text_ends_with_its_worker(folder: Path) -> None:
    limits = ParserLimits(workers=1, timeout_seconds=2.0, ocr_program=str(folder / "program"))
    async with FileParser(limits) as parser:
        parsing = asyncio.create_task(parser.parse("a.png", PNG))
        while not (pids := _list_children(parser._processes[0].pid)):  # noqa: ASYNC110 - the kernel sends no news
            await asyncio.sleep(0.01)
        program = os.pidfd_open(pids[0])
        with pytest.raises(DocumentTooLarge, match="longer than 2 seconds"):
            await parsing
        assert select.select([program], [], [], 10)[0], "it still runs"
        os.close(program)


def _list_children(pid: int | None) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] if pid else []
