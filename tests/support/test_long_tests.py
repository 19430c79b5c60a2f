"""Which tests run that take many seconds: those whose file is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import find_named_files

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
