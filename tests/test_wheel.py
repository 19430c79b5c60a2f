"""The wheel: what is in it, and that an empty environment can resolve it without the lock."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UNREACHABLE = re.compile(r"failed to fetch|error sending request|dns error|connection|timed out|network", re.IGNORECASE)
PATIENCE = 120
FRONTEND, STYLES = "adapters/web/frontend/", "adapters/web/static/styles.css"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without an index."""
    folder = tmp_path_factory.mktemp("wheel")
    made = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    [path] = folder.glob("*.whl")
    return path


def test_everything_that_the_program_reads_of_its_own_is_in_the_wheel(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    ours = [path for name in ("bot", "engine", "adapters") for path in (ROOT / name).rglob("*") if path.is_file()]
    needed = {str(our.relative_to(ROOT)) for our in ours if "__pycache__" not in our.parts}
    assert {name for name in needed if not name.startswith(FRONTEND)} <= held
    assert not {name for name in held if name.startswith(("tests/", "scripts/", "locking/", FRONTEND))}


def test_the_built_page_is_in_the_wheel(wheel: Path) -> None:
    if not (ROOT / STYLES).exists():
        pytest.skip("the page is not built: make page")
    assert STYLES in zipfile.ZipFile(wheel).namelist()


@pytest.mark.long
def test_an_empty_environment_resolves_it_at_once(wheel: Path, tmp_path: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    for command in (
        [uv, "venv", "--quiet", "--python", sys.executable, "empty"],
        [uv, "pip", "install", "--dry-run", "--verbose", "--no-config", "--python", "empty/bin/python", str(wheel)],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode and UNREACHABLE.search(done.stderr):
            pytest.skip("no index of packages can be reached")
        assert done.returncode == 0, done.stderr[-2000:]
    tried = set(re.findall(r"Selecting: ([\w.-]+)==(\S+)", done.stderr))
    names = [name for name, _ in tried]
    assert len(names) > 50
    assert names.count("litellm") == 1
    assert len(names) - len(set(names)) < 5, sorted(name for name in set(names) if names.count(name) > 1)
    assert not {"torch", "sentence-transformers"} & set(names)
