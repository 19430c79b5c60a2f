"""The built-in embedder, loaded once by each worker: a load takes half a second of processor time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.llm.minilm.embedder import MiniLMEmbedder, MiniLMModel


@contextmanager
def load_minilm_once() -> Iterator[None]:
    """Let all embedders with the same cache and number of threads use the same model."""
    loaded: dict[tuple[Path, int], MiniLMModel] = {}
    load_model = MiniLMEmbedder.load_model

    def load_shared(self: MiniLMEmbedder) -> MiniLMModel:
        key = self.cache_dir, self.threads
        if key not in loaded:
            loaded[key] = load_model(self)
        self.model = loaded[key]
        return self.model

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MiniLMEmbedder, "load_model", load_shared)
        yield
