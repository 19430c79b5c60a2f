"""Arrays of words find the rows of a term within a scope, after any changes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.storage.column_arrays import ArraysFull
from engine.storage.ledger.postgres.word_copy import word_arrays
from engine.storage.ledger.postgres.word_copy.word_arrays import WordArrays

Texts = dict[int, list[int]]  # the terms of each row by id; rows with even ids are in space 2, else in 1


def add(arrays: WordArrays, texts: Texts) -> None:
    ids = np.array([*texts], np.int64)
    held = [sorted(set(terms)) for terms in texts.values()]
    times = [texts[id_].count(term) for id_, terms in zip(texts, held, strict=True) for term in terms]
    rows = {"id": ids, "space": 2 - ids % 2, "room": ids % 3, "length": np.array([*map(len, texts.values())], np.int64)}
    flat = [term for terms in held for term in terms]
    arrays.append(rows, np.array([*map(len, held)], np.int64), np.array(flat, np.int64), np.array(times, np.int64))


def find(arrays: WordArrays, term: int, spaces: set[int], rooms: set[int]) -> dict[int, tuple[int, int]]:
    places = arrays.find(term, arrays.find_scope(frozenset(spaces), frozenset(rooms)))
    columns = arrays.list_ids(places.rows), arrays.list_lengths(places.rows), places.times
    return {id_: (length, times) for id_, length, times in zip(*(column.tolist() for column in columns), strict=True)}


def expect(texts: Texts, term: int, spaces: set[int], rooms: set[int]) -> dict[int, tuple[int, int]]:
    return {
        id_: (len(terms), terms.count(term))
        for id_, terms in texts.items()
        if term in terms and (2 - id_ % 2 in spaces or id_ % 3 in rooms)
    }


@pytest.mark.parametrize("seed", range(4))
def test_terms_are_found_in_the_rows_that_are_left(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_arrays, "MIN_ROWS", 2)
    chance, arrays, texts = random.Random(seed), WordArrays(1 << 20), Texts()
    for first in range(0, 200, 10):
        new = {id_: chance.choices(range(-5, 9), k=chance.randrange(8)) for id_ in range(first, first + 10)}
        add(arrays, new)
        texts |= new
        gone = chance.sample(range(first + 12), 6)
        arrays.delete(gone)
        texts = {id_: terms for id_, terms in texts.items() if id_ not in gone}
        changed = chance.sample([*texts], min(3, len(texts)))
        arrays.delete(changed)
        add(arrays, {id_: [*texts[id_], 7] for id_ in changed})
        texts |= {id_: [*texts[id_], 7] for id_ in changed}
        assert len(arrays) == len(texts)
        for term in range(-5, 10):
            for spaces, rooms in (({1, 2}, set[int]()), ({2}, set[int]()), (set[int](), {1}), ({1}, {0, 2})):
                assert find(arrays, term, spaces, rooms) == expect(texts, term, spaces, rooms)


def test_an_empty_index_holds_nothing() -> None:
    arrays = WordArrays(1 << 20)
    assert find(arrays, 1, {1}, set()) == {}
    add(arrays, {4: []})
    assert find(arrays, 1, {2}, set()) == {}


def test_more_than_the_memory_is_refused() -> None:
    arrays = WordArrays(100_000)
    add(arrays, {id_: [id_, 1, 2] for id_ in range(900)})
    with pytest.raises(ArraysFull):
        add(arrays, {id_: [id_, 1, 2] for id_ in range(900, 20_000)})
