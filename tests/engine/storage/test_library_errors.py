from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.errors import CorruptProjection, DataDirInUse, DiskError, DiskFull, EngineError, InvalidQuestion, StoreError
from engine.storage.library_errors import map_library_error, translate_library_errors
from tests.support.engine_fixture import Panic

HOME = Path("/somewhere/graph")


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ("IO exception: Could not set lock on file : /x", DataDirInUse, ""),
        ("lance error: LanceError(IO): No space left on device (os error 28)", DiskFull, ""),
        ("lance error: LanceError(IO): Too many open files (os error 24)", DiskError, "ulimit -n"),
        ("Cannot write to file. path: x fileDescriptor: 9 errno: 27", DiskError, ""),
        ("The file is not a valid Kuzu database file!", CorruptProjection, ""),
        ("Trying to read a database file with a different version.", CorruptProjection, ""),
        ("", CorruptProjection, "threadlore reindex"),
        ("Runtime exception: what is this\nand more", CorruptProjection, "threadlore reindex"),
        ("Buffer manager exception: the buffer pool is full", StoreError, "threadlore reindex"),
    ],
)
def test_what_a_library_says_while_opening_gets_its_meaning(text: str, error: type[EngineError], hint: str) -> None:
    mapped = map_library_error(RuntimeError(text), HOME)
    assert type(mapped) is error
    assert hint in mapped.hint
    if "what is this" in text:
        assert str(mapped) == "/somewhere/graph cannot be read: Runtime exception: what is this"


@pytest.mark.parametrize("cause", [Panic("index out of range"), KeyError("vector"), AssertionError(), OverflowError()])
def test_whatever_a_library_raises_is_a_corrupt_projection_with_its_cause(cause: BaseException) -> None:
    with pytest.raises(CorruptProjection, match="cannot be read") as caught, translate_library_errors(HOME):
        raise cause
    assert caught.value.__cause__ is cause


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(), asyncio.CancelledError(), GeneratorExit(), InvalidQuestion("no")]
)
def test_what_ends_a_task_or_the_program_and_our_own_errors_pass(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, translate_library_errors(HOME):
        raise error
    assert caught.value is error
