"""Which tests run that take many seconds: those whose file is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import find_named_files, mark_shares

HERE = Path(__file__)


@pytest.mark.parametrize(
    "argument",
    [
        "support/test_long_tests.py",
        "support/test_long_tests.py::test_a_folder_names_no_file",
        str(HERE),
        f"{HERE}::a::b[c/d]",
    ],
)
def test_a_file_and_a_test_name_their_file(argument: str) -> None:
    assert find_named_files(["-q", argument], HERE.parents[1]) == {HERE}


def test_a_folder_names_no_file() -> None:
    assert find_named_files(["support", str(HERE.parent), "nowhere.py", ""], HERE.parents[1]) == set()


class FakeItem:
    """A test with a parameter, as pytest collects it."""

    def __init__(self, nodeid: str, *marks: pytest.MarkDecorator) -> None:
        self.nodeid, self.marks = nodeid, [mark.mark for mark in marks]

    def iter_markers(self, name: str) -> Iterator[pytest.Mark]:
        return (mark for mark in self.marks if mark.name == name)

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next(self.iter_markers(name), None)

    def add_marker(self, name: str) -> None:
        self.marks.append(getattr(pytest.mark, name).mark)


@pytest.mark.parametrize(("cases", "share", "running"), [(12, 4, 3), (3, 3, 1), (2, 9, 1), (1, 2, 1)])
def test_of_a_share_some_run_always_and_the_others_are_long(cases: int, share: int, running: int) -> None:
    items: list[Any] = [FakeItem(f"a.py::b[{number}]", pytest.mark.share(share)) for number in range(cases)]
    mark_shares(items)
    assert sum(item.get_closest_marker("long") is None for item in items) == running


def test_what_is_long_by_itself_is_no_part_of_a_share() -> None:
    items: list[Any] = [FakeItem("a.py::b[0]", pytest.mark.share(2), pytest.mark.long)]
    items += [FakeItem(f"a.py::b[{number}]", pytest.mark.share(2)) for number in (1, 2)]
    mark_shares(items)
    assert sum(item.get_closest_marker("long") is None for item in items) == 1
