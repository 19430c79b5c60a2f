from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.errors import CorruptProjection, DataDirInUse, DiskError, EngineError, InvalidQuestion, StoreError
from engine.storage.library_errors import map_library_error, translate_library_errors

HOME = Path("/somewhere/graph")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("IO exception: Could not set lock on file : /x", DataDirInUse),
        ("lance error: LanceError(IO): No space left on device (os error 28)", DiskError),
        ("Cannot write to file. path: x fileDescriptor: 9 errno: 27", DiskError),
        ("The file is not a valid Kuzu database file!", CorruptProjection),
        ("Trying to read a database file with a different version.", CorruptProjection),
        ("", CorruptProjection),
    ],
)
def test_what_a_library_says_while_opening_gets_its_meaning(said: str, meant: type[EngineError]) -> None:
    assert type(map_library_error(RuntimeError(said), HOME)) is meant


def test_a_buffer_that_is_too_small_has_its_own_hint() -> None:
    told = map_library_error(RuntimeError("Buffer manager exception: the buffer pool is full"), HOME)
    assert type(told) is StoreError
    assert "threadlore reindex" in told.hint


def test_whatever_else_goes_wrong_is_a_broken_projection_with_the_way_out() -> None:
    told = map_library_error(RuntimeError("Runtime exception: what is this\nand more"), HOME)
    assert type(told) is CorruptProjection
    assert str(told) == "/somewhere/graph cannot be read: Runtime exception: what is this"
    assert "threadlore reindex" in told.hint


def test_the_cause_is_kept_and_errors_of_the_family_pass_unchanged() -> None:
    cause, own = RuntimeError("odd"), InvalidQuestion("no")
    with pytest.raises(StoreError) as caught, translate_library_errors(HOME):
        raise cause
    assert caught.value.__cause__ is cause
    with pytest.raises(InvalidQuestion) as passed, translate_library_errors(HOME):
        raise own
    assert passed.value is own


class Panic(BaseException):
    """As pyo3 raises it for a panic of Rust code: no Exception."""


@pytest.mark.parametrize("raised", [Panic("index out of range"), KeyError("vector"), AssertionError(), OverflowError()])
def test_a_panic_and_whatever_else_a_library_raises_is_a_broken_projection(raised: BaseException) -> None:
    with pytest.raises(CorruptProjection, match="cannot be read"), translate_library_errors(HOME):
        raise raised


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_what_ends_a_task_or_the_program_passes(raised: type[BaseException]) -> None:
    with pytest.raises(raised), translate_library_errors(HOME):
        raise raised
