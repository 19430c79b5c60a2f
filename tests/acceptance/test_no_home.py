"""The account of a service has no home that can be written, and everything works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source_trees import ROOT

NOWHERE = "/proc/nobody"  # no account can create it
UNSET = {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MPLCONFIGDIR"}
DRAW = "import bot.graph_image.canvas"


def run(folder: Path, *words: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    environment = kept | {"HOME": NOWHERE, "THREADLORE_DATA_DIR": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *words], env=environment, cwd=folder, capture_output=True, text=True)  # noqa: PLW1510 - it says why
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_a_file_is_indexed_and_asked_about_without_a_home(tmp_path: Path) -> None:
    (tmp_path / "ferry.txt").write_text("The ferry Gudgeon leaves at noon.", encoding="utf-8")
    run(tmp_path, "-m", "bot", "ingest", "ferry.txt")
    assert "noon" in run(tmp_path, "-m", "bot", "ask", "When does the Gudgeon leave?")
    run(tmp_path, "-c", DRAW)
