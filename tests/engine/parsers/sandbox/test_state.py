"""What is said, and done, where the kernel lacks a part of the boundary."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from engine import FileParser, ParserLimits
from engine.parsers.sandbox.kernel.landlock import find_version
from engine.parsers.sandbox.state import SandboxState
from tests.support.source_trees import ROOT

if sys.platform != "linux" or not find_version():
    pytest.skip("only Linux with Landlock has all of the boundary", allow_module_level=True)

from tests.support.older_kernel import LANDLOCK, SECCOMP

NOBODY = 65534
PARSE_TWICE = """
import asyncio, json, sys
from structlog.testing import capture_logs
from engine import FileParser, ParserLimits
from engine.errors import SandboxIncomplete

async def main():
    outcomes = []
    async with FileParser(ParserLimits(requires_sandbox="required" in sys.argv)) as parser:
        for number in range(2):
            try:
                outcomes.append((await parser.parse("a.txt", b"one")).passages[0].text)
            except SandboxIncomplete as error:
                outcomes.append(str(error))
        pids = [each.pid for each in parser._processes if each.pid]
        return {"outcomes": outcomes, "missing": parser.sandbox.missing, "workers": len(pids)}

with capture_logs() as lines:
    result = asyncio.run(main())
print(json.dumps(result | {"warnings": [each["event"] for each in lines]}))
"""
COMPLETE = SandboxState(landlock=7, seccomp=True, memory=True)


def parse_twice(
    *words: str, without: tuple[int, ...] = (), python: str = sys.executable, user: int | None = None
) -> dict[str, Any]:
    command = [python, "-c", PARSE_TWICE, *words]
    if without:
        command = [python, "-m", "tests.support.older_kernel", *map(str, without), "--", *command]
    environment = {"PYTHONPATH": f"{ROOT}:{Path(structlog.__file__).parents[1]}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment, user=user, group=user
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.long
def test_a_complete_boundary_is_not_spoken_of() -> None:
    found = parse_twice("required")
    assert found == {"outcomes": ["one", "one"], "missing": [], "workers": 1, "warnings": []}


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "what"), [(LANDLOCK, "Landlock"), (SECCOMP, "system calls")], ids=["Landlock", "seccomp"]
)
def test_what_the_kernel_lacks_is_logged_once(call: int, what: str) -> None:
    found = parse_twice(without=(call,))
    assert found["outcomes"] == ["one", "one"]
    assert [what in each for each in found["missing"]] == [True]
    assert found["warnings"] == ["parsers.sandbox_incomplete"]


def test_nothing_is_parsed_without_a_boundary_that_is_required() -> None:
    found = parse_twice("required", without=(LANDLOCK, SECCOMP))
    assert all("Landlock" in outcome and "seccomp" in outcome for outcome in found["outcomes"])
    assert found["workers"] == 0


def find_public_python() -> str:
    """A Python of this version that other users can run, empty if there is none: ours may be in the home of root."""
    for name in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        places = (Path(name), Path(name).resolve(), ROOT / "engine" / "__init__.py", Path(structlog.__file__))
        if all(parent.exists() and parent.stat().st_mode & 0o5 == 0o5 for place in places for parent in place.parents):
            return name
    return ""


@pytest.mark.long
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not find_public_python(), reason="another user can read no Python of this version")
def test_an_ordinary_user_has_the_whole_boundary() -> None:
    found = parse_twice("required", python=find_public_python(), user=NOBODY)
    assert found["outcomes"] == ["one", "one"]


@pytest.mark.long
async def test_the_pool_knows_what_bounds_its_workers() -> None:
    with capture_logs() as lines:
        async with FileParser(ParserLimits(workers=1)) as parser:
            assert parser.sandbox is None
            await parser.parse("a.txt", b"one")
            assert parser.sandbox is not None
            assert parser.sandbox.is_complete
            assert parser.sandbox.capabilities
    assert lines == []


@pytest.mark.parametrize(
    ("state", "missing"),
    [
        (COMPLETE, 0),
        (SandboxState(), 3),
        (SandboxState(landlock=1, seccomp=True, memory=True, namespaces=True, capabilities=True), 0),
        (SandboxState(landlock=7, seccomp=True), 1),
        (SandboxState(memory=True, seccomp=True, namespaces=True), 1),
    ],
)
def test_namespaces_and_capabilities_are_not_needed(state: SandboxState, missing: int) -> None:
    assert len(state.missing) == missing
    assert state.is_complete == (not missing)
    assert len(state.list_mechanisms()) == 5


@pytest.mark.long
async def test_several_workers_start_at_once() -> None:
    async with FileParser(ParserLimits(workers=2)) as parser:
        parsed = await asyncio.gather(*(parser.parse(f"{number}.txt", b"one") for number in range(4)))
    assert len(parsed) == 4
