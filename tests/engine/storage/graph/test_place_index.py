from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.column_arrays import ColumnArrays
from engine.storage.graph import place_index
from engine.storage.graph.place_index import PlaceIndex

COLUMNS = ("one", "other")
NUMBERS = st.integers(0, 12)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=4)),
        st.tuples(st.just("delete"), st.sets(NUMBERS, max_size=3)),
        st.just(("merge", ())),
    ),
    max_size=12,
)


@given(CHANGES, st.sampled_from([np.int32, np.int64]), st.integers(0, 6))
def test_rows_are_found_whatever_was_added_deleted_and_merged(
    changes: list[tuple[str, object]], type_: type[np.signedinteger], most: int
) -> None:
    rows, index = ColumnArrays({name: np.dtype(type_) for name in COLUMNS}, 64), PlaceIndex()

    def list_columns() -> list[np.ndarray]:
        return [rows[name] for name in COLUMNS]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place_index, "MAX_CHANGES", most)
        for change, given_ in changes:
            if change == "add":
                first = len(rows)
                rows.append(dict(zip(COLUMNS, np.array(given_, type_).reshape(-1, 2).T, strict=True)))
                index.note(np.arange(first, len(rows)))
            elif change == "delete":
                found = index.find(given_, list_columns())  # type: ignore[arg-type]  # numbers
                rows.delete(found)
                index.note(found)
            else:
                index.merge(list_columns())
            for number in range(13):
                expected = np.flatnonzero((rows["one"] == number) | (rows["other"] == number))
                assert index.find([number], list_columns()).tolist() == expected.tolist()


def test_numbers_beyond_a_column_are_not_found() -> None:
    index, column = PlaceIndex(), np.array([3, 1, 2], np.int32)
    index.merge([column])
    assert index.find([1 << 40, 1, (1 << 32) + 3], [column]).tolist() == [1]
