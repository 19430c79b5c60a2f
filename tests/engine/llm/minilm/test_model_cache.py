"""The graph is kept whole, renewed with its weights, and leaves nothing behind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from engine.errors import DiskError
from engine.llm.minilm import model_cache

if TYPE_CHECKING:
    from pathlib import Path


def test_other_weights_make_another_graph_and_leave_no_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, cache = tmp_path / "model", tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(model_cache, "build_graph", lambda weights: weights.read_bytes())
    (folder / "model.safetensors").write_bytes(b"old")
    old = model_cache.cached_graph(folder, cache)
    (cache / "minilm-dead.part").touch()
    os.utime(cache / "minilm-dead.part", (0, 0))
    (cache / "minilm-alive.part").touch()
    (folder / "model.safetensors").write_bytes(b"newer")
    new = model_cache.cached_graph(folder, cache)
    assert new != old
    assert new.read_bytes() == b"newer"
    assert {path.name for path in cache.iterdir()} == {new.name, "minilm-alive.part"}


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setattr(model_cache, "build_graph", lambda _: b"graph")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskError, match="No space left"):
        model_cache.cached_graph(tmp_path, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("harm", [b"", b"grap", b"grapH", b"graph "])
def test_a_damaged_graph_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setattr(model_cache, "build_graph", lambda _: b"graph")
    kept = model_cache.cached_graph(tmp_path, tmp_path / "cache")
    kept.write_bytes(harm)
    assert model_cache.cached_graph(tmp_path, tmp_path / "cache").read_bytes() == b"graph"
    monkeypatch.delattr(model_cache, "build_graph")
    assert model_cache.cached_graph(tmp_path, tmp_path / "cache") == kept
