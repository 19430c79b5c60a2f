"""The peer's Python environment: a folder of its own, filled by uv or pip as the user has configured them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.text.tokenizer import find_vocabulary_dir

PACKAGE, VERSION = "lightrag-hku", "1.5.7"
ROOT = Path(__file__).parents[2]
LAST_LINES = 1500  # characters of an installer's output that are shown


class PeerNotInstallable(RuntimeError):
    """No installer could provide the peer; the message says why."""


def run_installer(words: Sequence[str]) -> str:
    """Run a command; the end of its output if it fails, else nothing."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return (done.stdout + done.stderr)[-LAST_LINES:] or f"exit code {done.returncode}" if done.returncode else ""


def installed_version(python: Path, package: str = PACKAGE) -> str:
    """The version of a package in that environment; empty if it is not there."""
    question = f"from importlib.metadata import version; print(version('{package}'))"
    try:
        done = subprocess.run([str(python), "-c", question], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def install_peer(folder: Path, version: str = VERSION, package: str = PACKAGE, further: Sequence[str] = ()) -> Path:
    """The Python of an environment that holds a package, made if it is missing. Raises PeerNotInstallable.

    `further`: requirements that the package leaves out.
    """
    python = folder / "bin" / "python"
    if installed_version(python, package) == version:
        return python
    print(f"Installing {package} {version} into {folder} …", flush=True)
    uv, wanted = str(Path(sys.executable).with_name("uv")), f"{package}=={version}"
    if failure := run_installer([sys.executable, "-m", "venv", "--clear", str(folder)]):
        raise PeerNotInstallable(failure)
    failures = list[str]()
    for words in (
        [uv, "pip", "install", "--quiet", "--python", str(python), wanted, *further],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted, *further],
    ):
        if not (failure := run_installer(words)):
            return python
        failures.append(failure)
    raise PeerNotInstallable("\n".join(failures))


def build_environment() -> dict[str, str]:
    """Variables of a runner process: none that would configure the peer; the vocabulary of its default tokenizer."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    vocabulary = find_vocabulary_dir()
    return kept | {"PYTHONPATH": str(ROOT), "TIKTOKEN_CACHE_DIR": str(vocabulary or "")}
