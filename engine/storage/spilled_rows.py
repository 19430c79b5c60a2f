"""Rows of numbers, the first in memory and the others in a file without a name."""

from __future__ import annotations

import os
import tempfile
import weakref
from typing import TYPE_CHECKING

import numpy as np

from engine.storage.column_arrays import ArraysFull, reserve_memory
from engine.storage.disk import Disk, full_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_DISK_SHARE = 2  # rows take at most 1 / share of what is free


class CopyLost(ArraysFull):
    """The file of a copy can no longer be read or written: the rows must be loaded again."""


class SpilledRows:
    """At most `max_rows` rows of `width` bytes, signed; `resident_rows` are in memory.

    No folder lists the file: it is gone with this object, or with the process, however that ends. Rows are read by
    calls: a disk that fails, or a file that was cut, raises CopyLost, where a mapped page would end the process.
    """

    def __init__(self, folder: Path, width: int, max_rows: int, resident_rows: int = 0) -> None:
        """Take the file. `check_space` should be called before. Raises OSError."""
        self.width = width
        self.resident_rows = min(resident_rows, max_rows)
        memory = np.frombuffer(reserve_memory(self.resident_rows * width), np.int8, self.resident_rows * width)
        self._memory = memory.reshape(self.resident_rows, width)
        with tempfile.TemporaryFile(dir=folder) as file:
            self.number = os.dup(file.fileno())
        weakref.finalize(self, os.close, self.number)
        os.ftruncate(self.number, (max_rows - self.resident_rows) * width)

    def __getitem__(self, places: slice | np.ndarray) -> np.ndarray:
        """The rows at these places; a slice has both ends."""
        if isinstance(places, slice):
            return self.read_run(places.start, places.stop, np.empty((places.stop - places.start, self.width), np.int8))
        found = np.empty((len(places), self.width), np.int8)
        is_resident = places < self.resident_rows
        found[is_resident] = self._memory[places[is_resident]]
        content, width = found.reshape(-1).data.cast("B"), self.width
        for start, stop, first in _list_runs(places, ~is_resident):
            self._read(first, content[start * width : stop * width])
        return found

    def __setitem__(self, places: slice | np.ndarray, rows: np.ndarray | int) -> None:
        """Write rows at these places, or a number everywhere in them."""
        if isinstance(places, slice):
            places = np.arange(places.start, places.stop)
        content = np.broadcast_to(np.asarray(rows, np.int8), (len(places), self.width))
        is_resident = places < self.resident_rows
        self._memory[places[is_resident]] = content[is_resident]
        for start, stop, first in _list_runs(places, ~is_resident):
            self._write(first, np.ascontiguousarray(content[start:stop]))

    def read_run(self, start: int, stop: int, buffer: np.ndarray) -> np.ndarray:
        """The rows from one place to another, in the buffer if they are not in memory."""
        if stop <= self.resident_rows:
            return self._memory[start:stop]
        found = buffer[: stop - start]
        held = max(0, self.resident_rows - start)
        found[:held] = self._memory[start : start + held]
        self._read(start + held, found[held:].reshape(-1).data.cast("B"))
        return found

    def _read(self, first: int, content: memoryview) -> None:
        """Fill the memory with the rows from a place on."""
        at = (first - self.resident_rows) * self.width
        while content:
            try:
                count = os.preadv(self.number, (content,), at)
            except OSError as error:
                raise CopyLost(f"A copy on the disk cannot be read: {error.strerror}.") from error
            if not count:
                raise CopyLost("A copy on the disk ends too early.")
            content, at = content[count:], at + count

    def _write(self, first: int, rows: np.ndarray) -> None:
        content, at = rows.data.cast("B"), (first - self.resident_rows) * self.width
        while content:
            try:
                count = os.pwrite(self.number, content, at)
            except OSError as error:
                raise CopyLost(f"A copy on the disk cannot be written: {error.strerror}.") from error
            content, at = content[count:], at + count


def check_space(folder: Path, size: int) -> None:
    """Raise DiskFull if so many bytes would leave the disk of the folder too little space, or OSError."""
    disk = Disk.find(folder)
    if size > disk.free // MAX_DISK_SHARE:
        raise full_error(f"There is no space for a copy of {size:,} bytes", disk)


def _list_runs(places: np.ndarray, chosen: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """The runs of chosen neighbors: where they begin and end among the places, and the first place of each."""
    at = np.flatnonzero(chosen)
    if not len(at):
        return iter(())
    edges = np.flatnonzero((np.diff(at) != 1) | (np.diff(places[at]) != 1)) + 1
    starts, ends = at[np.append(0, edges)], at[np.append(edges, len(at)) - 1] + 1
    return zip(starts.tolist(), ends.tolist(), places[starts].tolist(), strict=True)
