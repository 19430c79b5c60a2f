from __future__ import annotations

from adapters.common.bounded_dict import BoundedDict


def test_the_oldest_goes_beyond_so_many() -> None:
    known = BoundedDict[str, int](3)
    for number, key in enumerate("abacd"):
        known[key] = number
    assert known == {"a": 2, "c": 3, "d": 4}


def test_what_is_told_again_is_the_latest() -> None:
    known = BoundedDict[str, int](2)
    for number, key in enumerate("abac"):
        known[key] = number
    assert list(known.items()) == [("a", 2), ("c", 3)]
