"""The columns of a row in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from engine.storage.vector_columns import VectorColumns

KEY_TYPES: dict[str, np.dtype[Any]] = {
    "id": np.dtype(np.int64),
    "space": np.dtype(np.int32),
    "room": np.dtype(np.int32),
    "part": np.dtype(np.int16),
}


def row_bytes(vectors: VectorColumns) -> int:
    """The memory that a row takes."""
    return sum(type_.itemsize for type_ in column_types(vectors).values())


def column_types(vectors: VectorColumns) -> dict[str, np.dtype[Any]]:
    """The columns; vectors without a direction are similar to nothing (see engine.text.similarity)."""
    return {**KEY_TYPES, "has_direction": np.dtype(np.bool_), **vectors.types}
