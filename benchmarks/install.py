"""Installs the wheel into empty environments, by the newest pip and by uv, without the lock, and uses it.

`python -m benchmarks.install [--resolve]`: how long it took, how many releases of a library were looked at, and
whether a first `setup`, `ingest` and `ask` work there. It needs an index of packages, and 800 MB an environment.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = str(Path(sys.executable).with_name("uv"))
INSTALL_START = r"(?:Selecting: |(?:Downloading|Processing|Using cached) (?:\S*/)?)"
INSTALL_ATTEMPT = re.compile(INSTALL_START + r"([A-Za-z0-9._-]+?)(?:==|-)(\d[\w.]*)")
FIRST_COMMANDS = ("setup --yes", "ingest ferry.txt", "ask When_does_the_ferry_leave?", "status")


def run_command(folder: Path, *words: str) -> str:
    """What a command says; it must succeed."""
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    environment["PATH"] = os.pathsep.join((str(Path(UV).parent), environment.get("PATH", "")))
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def install_wheel(folder: Path, tool: str, wheel: Path, *, dry: bool) -> Path:
    """Install the wheel, and print what that took; gives the folder of programs."""
    programs = folder / tool / "bin"
    extra = ["--dry-run"] if dry else []
    if tool == "pip":
        run_command(folder, sys.executable, "-m", "venv", tool)
        run_command(folder, str(programs / "pip"), "install", "--quiet", "--upgrade", "pip")
        words = [str(programs / "pip"), "install", *extra]
    else:
        run_command(folder, UV, "venv", "--quiet", "--python", sys.executable, tool)
        words = [UV, "pip", "install", "--verbose", "--python", str(programs / "python"), *extra]
    began = time.perf_counter()
    said = run_command(folder, *words, str(wheel))
    tried = Counter(name.lower() for name, _ in set(INSTALL_ATTEMPT.findall(said)))
    several = ", ".join(f"{name} {count}" for name, count in tried.most_common(3) if count > 1) or "none more than once"
    print(f"{tool}: {time.perf_counter() - began:.0f} s, litellm tried {tried['litellm']} times; several: {several}")
    return programs


def run_first_commands(folder: Path, programs: Path) -> None:
    """The first commands of somebody who has just installed it."""
    (folder / "ferry.txt").write_text("The ferry Gudgeon leaves at noon.\n")
    for words in FIRST_COMMANDS:
        given = [word.replace("_", " ") for word in words.split()]
        home, began = str(folder / "home"), time.perf_counter()
        said = run_command(folder, str(programs / "threadlore"), "--data-dir", home, *given)
        print(
            f"  threadlore {words.split()[0]}: {time.perf_counter() - began:.1f} s, {said.strip().splitlines()[0][:80]}"
        )


def main() -> None:
    """Build the wheel, install it in both ways, use it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resolve", action="store_true", help="only resolve, install nothing")
    dry = parser.parse_args().resolve
    with tempfile.TemporaryDirectory(prefix="threadlore-install-") as name:
        folder = Path(name)
        run_command(ROOT, sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", name)
        [wheel] = folder.glob("*.whl")
        for tool in ("uv", "pip"):
            programs = install_wheel(folder, tool, wheel, dry=dry)
            if not dry:
                run_first_commands(folder, programs)


if __name__ == "__main__":
    main()
