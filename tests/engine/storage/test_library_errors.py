from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.errors import BadQuestion, BrokenProjection, DiskTrouble, EngineError, FolderInUse, StoreError
from engine.storage.library_errors import in_words, told_in_words

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
    assert type(in_words(RuntimeError(said), HOME)) is meant


def test_a_buffer_that_is_too_small_has_its_own_hint() -> None:
    told = in_words(RuntimeError("Buffer manager exception: the buffer pool is full"), HOME)
    assert type(told) is StoreError
    assert "rebuild" in told.hint


def test_whatever_else_goes_wrong_is_a_broken_projection_with_the_way_out() -> None:
    told = in_words(RuntimeError("Runtime exception: what is this\nand more"), HOME)
    assert type(told) is BrokenProjection
    assert str(told) == "/somewhere/graph cannot be read: Runtime exception: what is this"
    assert "threadlore rebuild" in told.hint


def test_the_cause_is_kept_and_errors_of_the_family_pass_unchanged() -> None:
    cause, own = RuntimeError("odd"), BadQuestion("no")
    with pytest.raises(StoreError) as caught, told_in_words(HOME):
        raise cause
    assert caught.value.__cause__ is cause
    with pytest.raises(BadQuestion) as passed, told_in_words(HOME):
        raise own
    assert passed.value is own


class Panic(BaseException):
    """As pyo3 raises it for a panic of Rust code: no Exception."""


@pytest.mark.parametrize("raised", [Panic("index out of range"), KeyError("vector"), AssertionError(), OverflowError()])
def test_a_panic_and_whatever_else_a_library_raises_is_a_broken_projection(raised: BaseException) -> None:
    with pytest.raises(BrokenProjection, match="cannot be read"), told_in_words(HOME):
        raise raised


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_what_ends_a_task_or_the_program_passes(raised: type[BaseException]) -> None:
    with pytest.raises(raised), told_in_words(HOME):
        raise raised
