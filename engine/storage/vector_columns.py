"""How arrays hold vectors: exactly, or in a quarter of the memory as integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

Columns = Mapping[str, np.ndarray]

ROUNDED, REMAINDER = "rounded", "remainder"  # columns of bytes
MAX_INTEGER = np.float32(127)
SMALLEST = np.float32(1e-30)
# Rows whose order rounding may change: the difference of two cosines errs by 0.6 steps (standard deviation).
MARGIN_STEPS = 3
REMAINDERS = np.float32(254)  # steps between two integers


class VectorColumns(Protocol):
    """The columns that hold vectors of length one, and how a query is compared with them."""

    @property
    def types(self) -> dict[str, np.dtype[Any]]:
        """The columns and their types."""

    def encode(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """The columns of vectors, shape (n, dim)."""

    def decode(self, columns: Columns) -> np.ndarray:
        """The vectors, shape (n, dim)."""

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns that are compared with a query."""

    def decode_compared(self, columns: Columns) -> np.ndarray:
        """The vectors as far as they are compared, shape (n, dim)."""

    def prepare(self, queries: np.ndarray) -> Columns:
        """Queries of length one, shape (q, dim), for comparisons: a row for each."""

    def compare(self, columns: Columns, prepared: Columns, cosines: np.ndarray) -> None:
        """Write the cosine of each query with each of n rows, shape (q, n); `decode` gives more exact ones."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The columns that tell how exactly rows are compared."""

    def find_margin(self, columns: Columns, query: np.ndarray) -> float:
        """How much less similar than a farther row a row may seem, because of rounding.

        `columns`: the `steps` of rows near it.
        """


class ExactColumns:
    """Vectors as they are.

    `numpy.vecdot` calls BLAS for each row: unlike a product of matrices, it starts no threads, which would occupy every
    core for some milliseconds after each call, and a row has the same similarity wherever it stands.
    """

    def __init__(self, dim: int) -> None:
        self.types: dict[str, np.dtype[Any]] = {"vector": np.dtype((np.float32, (dim,)))}
        self.compared, self.steps = ("vector",), ()

    def encode(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        return {"vector": vectors}

    def decode(self, columns: Columns) -> np.ndarray:
        return columns["vector"]

    def decode_compared(self, columns: Columns) -> np.ndarray:
        return self.decode(columns)

    def prepare(self, queries: np.ndarray) -> Columns:
        return {"vector": queries}

    def compare(self, columns: Columns, prepared: Columns, cosines: np.ndarray) -> None:
        for query, row in zip(prepared["vector"], cosines, strict=True):
            np.vecdot(columns["vector"], query, out=row)

    def find_margin(self, columns: Columns, query: np.ndarray) -> float:  # noqa: ARG002 - nothing is rounded
        return 0.0


class RoundedColumns:
    """Vectors as integers from -127 to 127, each scaled by its largest number.

    For embeddings without dominant dimensions, cosines differ by less than 0.005 from the exact ones, mostly by 0.0005.
    `is_refined`: a second column has the remainders, which `decode` adds: its cosines differ by less than 0.00003.
    """

    def __init__(self, dim: int, *, is_refined: bool = False) -> None:
        self.compared, self.steps = (ROUNDED, "scale"), ("scale",)
        integers = np.dtype((np.int8, (dim,)))
        self.types: dict[str, np.dtype[Any]] = {
            ROUNDED: integers,
            "scale": np.dtype(np.float32),  # which gives the integers the length one
        } | ({REMAINDER: integers} if is_refined else {})

    def encode(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        largest = np.maximum(np.abs(vectors).max(axis=1, initial=0.0, keepdims=True), SMALLEST)
        scaled = vectors * (MAX_INTEGER / largest)
        rounded = np.rint(scaled)
        lengths = np.sqrt(np.vecdot(rounded, rounded))
        scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        columns = {ROUNDED: rounded.astype(np.int8), "scale": scale}
        if REMAINDER in self.types:
            columns[REMAINDER] = np.rint((scaled - rounded) * REMAINDERS).astype(np.int8)
        return columns

    def decode(self, columns: Columns) -> np.ndarray:
        if REMAINDER not in self.types:
            return self.decode_compared(columns)
        vectors = columns[REMAINDER] * (1 / REMAINDERS) + columns[ROUNDED]
        lengths = np.sqrt(np.vecdot(vectors, vectors))
        return np.asarray(vectors / np.maximum(lengths, SMALLEST)[:, None])

    def decode_compared(self, columns: Columns) -> np.ndarray:
        return np.asarray(columns[ROUNDED] * columns["scale"][:, None])

    def prepare(self, queries: np.ndarray) -> Columns:
        return self.encode(queries)

    def compare(self, columns: Columns, prepared: Columns, cosines: np.ndarray) -> None:
        import simsimd  # noqa: PLC0415 - only needed for large tables

        if not len(columns[ROUNDED]):  # the library refuses it
            return
        products = simsimd.cdist(columns[ROUNDED], prepared[ROUNDED], "inner", out_dtype="float32")
        np.multiply(np.asarray(products).T, columns["scale"], out=cosines)
        cosines *= prepared["scale"][:, None]

    def find_margin(self, columns: Columns, query: np.ndarray) -> float:
        largest = max(float(columns["scale"].max(initial=0.0)), float(np.abs(query).max(initial=0.0) / MAX_INTEGER))
        return MARGIN_STEPS * largest
