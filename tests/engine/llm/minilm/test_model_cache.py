"""The graph is stored whole, renewed with its weights, and leaves no other file behind."""

from __future__ import annotations

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.errors import DiskError
from engine.llm.minilm import model_cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Weights of a model whose graph has the same bytes."""
    monkeypatch.setattr(model_cache, "build_graph", lambda weights, kind: weights.read_bytes() + kind.encode())
    (tmp_path / "model.safetensors").write_bytes(b"graph")
    return tmp_path


def test_other_weights_make_another_graph_and_remove_the_old_one(folder: Path) -> None:
    cache = folder / "cache"
    old = model_cache.cached_graph(folder, cache, "fast")
    for name, age in (("dead", model_cache.PARTIAL_FILE_MAX_AGE + 1), ("alive", 0.0)):
        (cache / f"minilm-{name}.part").touch()
        then = old.stat().st_mtime - age
        os.utime(cache / f"minilm-{name}.part", (then, then))
    (folder / "model.safetensors").write_bytes(b"newer")
    new = model_cache.cached_graph(folder, cache, "fast")
    assert new != old
    assert new.read_bytes() == b"newerfast"
    assert {path.name for path in cache.glob("minilm-*")} == {new.name, "minilm-alive.part"}


def test_both_graphs_of_the_same_weights_are_kept(folder: Path) -> None:
    exact = model_cache.cached_graph(folder, folder / "cache", "exact")
    fast = model_cache.cached_graph(folder, folder / "cache", "fast")
    assert sorted((folder / "cache").glob("minilm-*")) == sorted([exact, fast])
    assert model_cache.cached_graph(folder, folder / "cache", "exact") == exact


def test_a_failed_write_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DiskError, match="No space left"):
        model_cache.cached_graph(folder, folder / "cache", "fast")
    assert list((folder / "cache").glob("minilm-*")) == []


def test_of_several_that_miss_the_graph_one_builds_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = list[str]()

    def build(_: Path, kind: str) -> bytes:
        built.append(kind)
        time.sleep(0.05)
        return b"graph"

    monkeypatch.setattr(model_cache, "build_graph", build)
    with ThreadPoolExecutor(3) as pool:
        graphs = set(pool.map(lambda _: model_cache.cached_graph(folder, folder / "cache", "fast"), range(3)))
    assert len(graphs) == 1
    assert built == ["fast"]


@pytest.mark.parametrize("damaged", [b"", b"graphfas", b"graphfasT", b"graphfast "])
def test_a_damaged_graph_is_built_again(folder: Path, monkeypatch: pytest.MonkeyPatch, damaged: bytes) -> None:
    graph = model_cache.cached_graph(folder, folder / "cache", "fast")
    graph.write_bytes(damaged)
    assert model_cache.cached_graph(folder, folder / "cache", "fast").read_bytes() == b"graphfast"
    monkeypatch.delattr(model_cache, "build_graph")
    assert model_cache.cached_graph(folder, folder / "cache", "fast") == graph


def test_without_a_home_the_next_folder_that_can_be_written_to_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    home, data = Path("/dev/null/.cache/threadlore"), folder / "data" / "cache"
    assert model_cache.cached_graph_in(folder, (home, data), "fast").parent == data
    temporary = model_cache.cached_graph_in(folder, (home,), "fast")
    assert temporary.parent == model_cache.temporary_cache()
    assert temporary.parent.parent.parent == folder
    temporary.parent.chmod(0o777)  # others may have planted a graph
    with pytest.raises(DiskError, match="/dev/null/"):
        model_cache.cached_graph_in(folder, (home,), "fast")
