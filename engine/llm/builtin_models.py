"""Opens the models that are built in: the embedders, and the language model that quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import ModelNotInstalled
from engine.llm.checked_embedder import wrap_embedder
from engine.llm.e5.embedder import E5Embedder
from engine.llm.e5.spoken import needs_multilingual
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.offline.model import OfflineModel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AsyncExitStack

    from engine.llm.base import Embedder, LanguageModel
    from engine.llm.checked_embedder import CheckedEmbedder

BUILTINS = {f"{builtin.name} ({builtin.dim} dimensions)": builtin for builtin in (MiniLMEmbedder, E5Embedder)}


def choose_builtin(languages: Sequence[str]) -> type[MiniLMEmbedder | E5Embedder]:
    """The built-in embedder for texts in these languages, ISO 639-1 codes; without any, that for English."""
    return E5Embedder if needs_multilingual(languages) else MiniLMEmbedder


def open_builtin(identity: str, stack: AsyncExitStack) -> Embedder | None:
    """The built-in embedder of an identity, None if there is none or its weights are not installed.

    `stack` closes it.
    """
    if (builtin := BUILTINS.get(identity)) is None:
        return None
    try:
        builtin.find_weights()
    except ModelNotInstalled:
        return None
    opened = builtin()
    stack.callback(opened.close)
    return opened


def resolve_models(
    language: LanguageModel | None, embedder: Embedder | None, languages: Sequence[str], stack: AsyncExitStack
) -> tuple[LanguageModel, CheckedEmbedder]:
    """The given models; the offline language model and the built-in embedder (384 dimensions) replace missing ones.

    `languages`: of texts and questions. `stack` closes what is opened here.
    """
    if embedder is None:
        builtin = choose_builtin(languages)()
        stack.callback(builtin.close)
        embedder = builtin
    checked = wrap_embedder(embedder)
    return language if language is not None else OfflineModel(checked), checked
