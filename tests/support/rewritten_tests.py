"""Assertions of test modules, rewritten by several processes: to rewrite those of all takes 20 seconds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import source_hash
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

HASH = slice(8, 16)  # where a compiled module holds the hash of its source


def rewrite_modules(config: pytest.Config, processes: int) -> None:
    """Rewrite the modules that changed, into the files where the collection looks for them."""
    if processes == 1 or sys.dont_write_bytecode:
        return
    children = [fork_rewriter(config, number, processes) for number in range(processes)]
    for child in children:
        os.waitpid(child, 0)


def fork_rewriter(config: pytest.Config, number: int, shares: int) -> int:
    """The number of a new process that rewrites a share of the modules."""
    if child := os.fork():
        return child
    try:
        for module in [*list_modules(config)][number::shares]:
            rewrite_module(module, config)
    finally:
        os._exit(0)  # whatever is not rewritten now is when it is collected


def list_modules(config: pytest.Config) -> Iterator[Path]:
    """The test modules that a command line names, in their order."""
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        yield from [path] if path.is_file() else sorted(path.rglob("test_*.py"))


def rewrite_module(module: Path, config: pytest.Config) -> bool:
    """Rewrite a module unless that was done; whether it was."""
    folder = rewrite.get_cache_dir(module)
    target = folder / (module.name[:-3] + rewrite.PYC_TAIL)
    if target.is_file() and target.read_bytes()[HASH] == source_hash(module.read_bytes())[:8]:
        return False
    if not rewrite.try_makedirs(folder):
        return False
    known, code = rewrite._rewrite_test(module, config)
    rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, known, target)
    return True
