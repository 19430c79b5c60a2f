"""Whoever stands in a foreign folder runs nothing that lies there, and is set up by nothing that lies there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.process import child_python_path

PLANTED = "import os; open(os.environ.get('PLANTED', '/nonexistent'), 'a').write(__file__)\n"
MODULES = [
    "json",
    "typing",
    "dotenv",
    "litellm",
    "numpy",
    "sitecustomize",
    "usercustomize",
    "structlog",
    "engine",
    "bot",
]
SCRIPT = """
import asyncio, sys
from engine.llm.client.subprocess import SubprocessProvider
from engine import FileParser, ParserLimits

async def main():
    async with FileParser(ParserLimits(workers=1)) as reader:
        assert (await reader.parse("notes.txt", b"The ferry leaves at noon.")).passages
    models = SubprocessProvider()
    await models.preload()
    await models.close()

asyncio.run(main())

import bot.graph_image.canvas
import matplotlib
print(matplotlib.rcParams["text.usetex"], matplotlib.rcParams["font.family"])
"""


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder in which everything has been planted that somebody might read."""
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text(PLANTED)
    (tmp_path / ".env").write_text("PLANTED_KEY=planted\nTHREADLORE_LLM_MODEL=openai/planted\n")
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nfont.family: planted\n")
    return tmp_path


def run_script(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as the installed program would be: isolated from the folder it stands in."""
    path = f"import sys; sys.path[:0] = {[text for text in sys.path if text]!r}\n"
    environment = {**os.environ, "PLANTED": str(folder / "proof")}
    return subprocess.run(
        [sys.executable, "-P", "-c", path + script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.long
def test_nothing_in_the_current_folder_is_imported_or_read(foreign: Path) -> None:
    ended = run_script(SCRIPT, foreign)
    assert ended.returncode == 0, ended.stderr
    assert not (foreign / "proof").exists()
    assert ended.stdout.splitlines()[-1] == "False ['sans-serif']", "the plotting setup has no effect"


def test_a_child_looks_neither_in_relative_folders_nor_in_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path), "lib", str(tmp_path / "lib"), "/usr/lib/python"])
    assert child_python_path().split(os.pathsep) == [str(tmp_path / "lib"), "/usr/lib/python"]
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", [str(root)])
    assert child_python_path() == str(root)
