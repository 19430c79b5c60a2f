"""What a parser that an attacker controls could still do: read its own libraries."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from engine import FileParser, ParserLimits
from engine.errors import InvalidDocument
from engine.parsers.sandbox import protocol
from engine.parsers.sandbox.kernel.landlock import find_version
from tests.support.patience import PATIENCE
from tests.support.source_trees import ROOT

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes these rights"),
    pytest.mark.skipif(sys.platform == "linux" and not find_version(), reason="this kernel has no Landlock"),
]

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 100
NOBODY = 65534
# Without sockets of files, which a test's folder may be too deep for.
DROP_USER = f"import os, sys; os.setgid({NOBODY}); os.setuid({NOBODY}); os.execv(sys.executable, sys.argv)"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder as the program has one, with a file, a program and open sockets."""
    (tmp_path / "secret").write_text("the key of the cellar")
    program = tmp_path / "program"
    program.write_text(f"#!{Path(sys.executable).resolve()} -IS\nimport time\ntime.sleep(600)\n")
    program.chmod(0o755)
    with ExitStack() as stack:
        for name, kind in (("socket", socket.SOCK_STREAM), ("datagrams", socket.SOCK_DGRAM)):
            bound = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            os.chdir(tmp_path)  # the path of a socket is at most 107 bytes long
            bound.bind(name)
            if kind == socket.SOCK_STREAM:
                bound.listen()
        os.chdir(ROOT)
        yield tmp_path


def attack(folder: Path, limits: ParserLimits) -> dict[str, Any]:
    """The state of the sandbox, and what each attempt of a worker came to."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as hidden:
        port = server.getsockname()[1]
        hidden.bind(f"\0threadlore-test-{port}")
        hidden.listen()
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.hostile_parser", protocol.encode_limits(limits), folder, str(port)],
            check=True,
            capture_output=True,
            cwd=ROOT,
        )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.share(2)
@pytest.mark.parametrize("recognizes", [False, True], ids=["without OCR", "with OCR"])
def test_a_worker_reads_nothing_but_libraries_and_reaches_nobody(folder: Path, *, recognizes: bool) -> None:
    result = attack(folder, ParserLimits(ocr_program="/usr/bin/true" if recognizes else ""))
    assert protocol.decode_state(json.dumps(result["state"]).encode()).is_complete
    outcomes = result["outcomes"]
    assert outcomes.pop("parse") == "done"
    assert {name: what for name, what in outcomes.items() if what != "PermissionError"} == {}
    assert (folder / "secret").read_text() == "the key of the cellar"


async def test_a_program_that_recognizes_text_ends_with_its_worker(folder: Path) -> None:
    limits = ParserLimits(workers=1, timeout_seconds=10 * PATIENCE, ocr_program=str(folder / "program"))
    async with FileParser(limits) as parser:
        parsing = asyncio.create_task(parser.parse("a.png", PNG))
        async with asyncio.timeout(PATIENCE):
            while not (pids := _list_children(parser._processes[0].pid)):  # noqa: ASYNC110 - the kernel sends no news
                await asyncio.sleep(0.01)
        program = os.pidfd_open(pids[0])
        os.kill(parser._processes[0].pid or 0, signal.SIGKILL)
        with pytest.raises(InvalidDocument):
            await parsing
        assert select.select([program], [], [], PATIENCE)[0], "it still runs"
        os.close(program)


def _list_children(pid: int | None) -> list[int]:
    return [int(part) for part in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] if pid else []
