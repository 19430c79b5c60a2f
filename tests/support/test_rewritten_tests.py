from __future__ import annotations

import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from tests.support.rewritten_tests import rewrite_module, rewrite_modules


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))


def test_a_module_is_rewritten_once_and_again_when_it_changes(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    module = tmp_path / "test_one.py"
    found = []
    for text in ("assert 1\n", "assert 1\n", "assert 2\n"):
        module.write_text(text)
        found.append(rewrite_module(module, pytestconfig))
    assert found == [True, False, True]
    kept = rewrite.get_cache_dir(module) / f"test_one{rewrite.PYC_TAIL}"
    assert rewrite._read_pyc(module, kept) is not None


def test_processes_share_the_modules(
    tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = [tmp_path / f"test_{name}.py" for name in "abc"]
    for module in modules:
        module.write_text("assert 1\n")
    monkeypatch.setattr(pytestconfig, "args", [str(tmp_path)])
    rewrite_modules(pytestconfig, 2)
    assert [rewrite_module(module, pytestconfig) for module in modules] == [False, False, False]
