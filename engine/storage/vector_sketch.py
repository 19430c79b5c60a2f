"""Sketches of vectors: a bit for each dimension, from which cosines are estimated eight times faster than from bytes.

The bits are the signs of a vector's numbers after a fixed rotation, which spreads every direction evenly over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import acos, ceil, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

WORD_BITS = 64
SEED = 1  # of the rotation
ENCODED_ROWS, COUNTED_ROWS = 128, 32_768  # handled at once, so that they stay in a cache of the processor
SUMMED_WORDS = 3  # of which the bits that differ can be counted in 8 bits
# Bits of the magnitude of a query's number, and the standard deviations that the highest one stands for.
MAGNITUDE_BITS, HIGHEST_MAGNITUDE = 2, 2.0
# Of rows whose cosine is just enough, so many standard deviations of the error let pass 96 % and 99 %.
DIFFERENCE_DEVIATIONS, ESTIMATE_DEVIATIONS = 1.75, 2.5
MEAN_MAGNITUDE = sqrt(2 / pi)  # of a number with a standard deviation of 1


class BitSketch:
    """The columns of a sketch: words of 64 bits, of which the bits behind the last dimension are 0.

    A vector has the same sketch wherever it stands: nothing but sums of its own numbers decides.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.names = tuple(f"sketch_{word}" for word in range(ceil(dim / WORD_BITS)))
        self.types: dict[str, np.dtype[Any]] = dict.fromkeys(self.names, np.dtype(np.uint64))
        chance = np.random.Generator(np.random.PCG64(SEED))
        self._signs = (2 * chance.integers(0, 2, dim) - 1).astype(np.float32)
        phases = np.exp(2j * pi * chance.random(dim // 2 + 1))
        phases[0] = 1.0  # the wave without a frequency has no phase, nor has the shortest one
        if dim % 2 == 0:
            phases[-1] = 1.0
        self._phases = phases.astype(np.complex64)

    def encode(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """The columns of vectors, shape (n, dim)."""
        words = np.empty((len(self.names), len(vectors)), np.uint64)
        for start in range(0, len(vectors), ENCODED_ROWS):
            rotated = self._rotate(vectors[start : start + ENCODED_ROWS])
            words[:, start : start + ENCODED_ROWS] = _pack(rotated > 0)
        return dict(zip(self.names, words, strict=True))

    def prepare(self, query: np.ndarray) -> SketchedQuery:
        """A query of length one, shape (dim,), for comparisons."""
        rotated = self._rotate(query[None])
        magnitudes, highest = np.abs(rotated[0]).astype(np.float64), 2**MAGNITUDE_BITS - 1
        length = max(float(np.linalg.norm(magnitudes)), 1e-30)
        step = HIGHEST_MAGNITUDE * length / (sqrt(self.dim) * highest)
        levels = np.rint(magnitudes / step).clip(max=highest).astype(np.int64)
        planes = np.stack([_pack((levels[None] >> bit) & 1 > 0)[:, 0] for bit in range(MAGNITUDE_BITS)])
        scale = length / (sqrt(self.dim) * MEAN_MAGNITUDE * max(float(magnitudes @ levels), 1e-30))
        return SketchedQuery(self.dim, _pack(rotated > 0)[:, 0], planes, int(levels.sum()), scale)

    def _rotate(self, vectors: np.ndarray) -> np.ndarray:
        """Rotated vectors: some signs change, then the phase of every frequency."""
        waves = np.fft.rfft(vectors * self._signs)
        waves *= self._phases
        return np.fft.irfft(waves, self.dim)


@dataclass(frozen=True, slots=True)
class SketchedQuery:
    """A query as signs, and as bits of the magnitudes of its numbers, to compare with the sketches of rows.

    The bounds hold whatever the vectors are, as the rotation makes errors behave like chance: of the rows that just
    have a cosine, 96 % differ in at most `most_differences` bits, and 99 % have at least `least_estimate`.
    """

    dim: int
    signs: np.ndarray
    planes: np.ndarray
    total: int
    scale: float

    def count_differences(self, words: Sequence[np.ndarray], found: np.ndarray) -> None:
        """Write for each row how many bits differ, which tells the angle."""
        rows = min(COUNTED_ROWS, len(found))
        differing, counts, sums = np.empty(rows, np.uint64), np.empty(rows, np.uint8), np.empty(rows, np.uint8)
        for start in range(0, len(found), COUNTED_ROWS):
            part = found[start : start + COUNTED_ROWS]
            part[:] = 0
            size = len(part)
            for number, (column, word) in enumerate(zip(words, self.signs, strict=True)):
                np.bitwise_xor(column[start : start + COUNTED_ROWS], word, out=differing[:size])
                if number % SUMMED_WORDS == 0:
                    np.bitwise_count(differing[:size], out=sums[:size])
                else:
                    np.add(sums[:size], np.bitwise_count(differing[:size], out=counts[:size]), out=sums[:size])
                if number % SUMMED_WORDS == SUMMED_WORDS - 1 or number == len(words) - 1:
                    np.add(part, sums[:size], out=part)

    def estimate(self, words: Sequence[np.ndarray]) -> np.ndarray:
        """The cosine of each row, with a third less error than the angle has."""
        rows = len(words[0])
        chosen, counts, lost = np.empty(rows, np.uint64), np.empty(rows, np.uint8), np.zeros(rows, np.int32)
        differing = [column ^ word for column, word in zip(words, self.signs, strict=True)]
        for plane in self.planes[::-1]:
            lost *= 2
            for column, word in zip(differing, plane, strict=True):
                np.add(lost, np.bitwise_count(np.bitwise_and(column, word, out=chosen), out=counts), out=lost)
        return (self.total - 2 * lost) * np.float32(self.scale)

    def most_differences(self, cosine: float) -> int:
        """How many bits differ at most in nearly all rows with at least this cosine."""
        share = acos(min(1.0, max(-1.0, cosine))) / pi
        expected = self.dim * share
        return min(self.dim, int(expected + DIFFERENCE_DEVIATIONS * sqrt(expected * (1 - share))))

    def least_estimate(self, cosine: float) -> float:
        """The least estimate of nearly all rows with at least this cosine."""
        deviation = sqrt((1 / MEAN_MAGNITUDE**2 - 1) * max(0.0, 1 - cosine**2) / self.dim)
        return cosine - ESTIMATE_DEVIATIONS * deviation


def _pack(bits: np.ndarray) -> np.ndarray:
    """Bits, shape (n, dim), as words of 64, shape (words, n)."""
    packed = np.packbits(bits, axis=1)
    padded = np.zeros((len(bits), ceil(bits.shape[1] / WORD_BITS) * WORD_BITS // 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64).T
