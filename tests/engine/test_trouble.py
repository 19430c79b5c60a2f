from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import BadQuestion, BrokenProjection, DiskTrouble, EngineError, FolderInUse, StoreError
from engine.trouble import in_words, told_in_words

HOME = Path("/somewhere/graph")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("IO exception: Could not set lock on file : /x", FolderInUse),
        ("lance error: LanceError(IO): No space left on device (os error 28)", DiskTrouble),
        ("Cannot write to file. path: x fileDescriptor: 9 errno: 27", DiskTrouble),
        ("The file is not a valid Kuzu database file!", BrokenProjection),
        ("Trying to read a database file with a different version.", BrokenProjection),
        ("", BrokenProjection),
    ],
)
def test_what_a_library_says_while_opening_gets_its_meaning(said: str, meant: type[EngineError]) -> None:
    assert type(in_words(RuntimeError(said), HOME, opening=True)) is meant


def test_a_buffer_that_is_too_small_has_its_own_hint() -> None:
    told = in_words(RuntimeError("Buffer manager exception: the buffer pool is full"), HOME, opening=False)
    assert type(told) is StoreError
    assert "rebuild" in told.hint


def test_whatever_else_goes_wrong_later_is_a_store_error_with_the_way_out() -> None:
    told = in_words(RuntimeError("Runtime exception: what is this\nand more"), HOME, opening=False)
    assert type(told) is StoreError
    assert str(told) == "/somewhere/graph: Runtime exception: what is this"
    assert "threadlore rebuild" in told.hint


def test_the_cause_is_kept_and_errors_of_the_family_pass_unchanged() -> None:
    cause, own = RuntimeError("odd"), BadQuestion("no")
    with pytest.raises(StoreError) as caught, told_in_words(HOME):
        raise cause
    assert caught.value.__cause__ is cause
    with pytest.raises(BadQuestion) as passed, told_in_words(HOME):
        raise own
    assert passed.value is own
