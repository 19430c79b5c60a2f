"""Runs the scripts in examples/: one as its readers would, the others in this process, which has loaded much of it."""

from __future__ import annotations

import asyncio
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.openai_server import OpenAIServer

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
TIMEOUT_SECONDS = 120


async def run_as_program(name: str) -> str:
    """The output of an example in a process of its own; it must succeed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLES / name),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await asyncio.wait_for(process.communicate(), TIMEOUT_SECONDS)
    assert process.returncode == 0, errors.decode()
    return output.decode()


async def run_here(name: str, *arguments: str, **environment: str) -> None:
    """Run an example in a thread of this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [name, *arguments])
        for variable, value in environment.items():
            patch.setenv(variable, value)
        await asyncio.to_thread(runpy.run_path, str(EXAMPLES / name), run_name="__main__")


async def test_the_offline_example_answers_with_a_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ferry.txt").write_text("The ferry Gudgeon leaves at noon.\n")
    await run_here("offline.py", str(tmp_path / "ferry.txt"))
    output = capsys.readouterr().out
    assert "Mara Venn" in output.splitlines()[0]
    assert "keeps the key of the hall" in output
    assert "[1] Notes, lines 1–3" in output


def reply(messages: Sequence[Mapping[str, object]]) -> str:
    """A model that extracts one fact and cites the first source."""
    prompt = str(messages)
    if "Extract" in prompt or "<|#|>" in prompt:
        return (
            "entity<|#|>Tobin Ashe<|#|>Person<|#|>Tobin Ashe repairs the roof.\n"
            "entity<|#|>village hall<|#|>Location<|#|>The hall has a roof.\n<|COMPLETE|>"
        )
    return "Tobin Ashe repairs it. [1]"


@pytest.mark.long
async def test_the_example_with_a_model_streams_an_answer_with_a_source(capsys: pytest.CaptureFixture[str]) -> None:
    async with OpenAIServer(reply) as server:
        await run_here("with_model.py", LLM_MODEL="openai/toy", LLM_API_BASE=server.api_base, LLM_API_KEY="none")
    output = capsys.readouterr().out
    assert "Tobin Ashe repairs it. [1]\n[1] Notes, line 1\n" in output
    assert "Tokens:" in output


@pytest.mark.long
async def test_the_example_with_an_own_embedder_retrieves_a_source() -> None:
    assert "Tobin Ashe repairs its roof." in await run_as_program("own_embedder.py")


def test_there_is_no_other_example() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"offline.py", "own_embedder.py", "with_model.py"}
