"""The built-in embedder, loaded once by each worker: a load takes half a second of processor time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine.llm.minilm.embedder import MiniLMEmbedder, MiniLMModel


@contextmanager
def load_minilm_once() -> Iterator[None]:
    """Let all embedders with the same number of threads use the same model."""
    loaded: dict[int, MiniLMModel] = {}
    load_model = MiniLMEmbedder.load_model

    def load_shared(self: MiniLMEmbedder) -> MiniLMModel:
        if self.threads not in loaded:
            loaded[self.threads] = load_model(self)
        self.model = loaded[self.threads]
        return self.model

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MiniLMEmbedder, "load_model", load_shared)
        yield
