"""Opens models by their names, and those of an engine whose caller gives none."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from engine.clock import SYSTEM_CLOCK
from engine.errors import ModelNotInstalled
from engine.llm.checked_embedder import wrap_embedder
from engine.llm.client.client import ModelClient
from engine.llm.client.subprocess import SubprocessProvider
from engine.llm.config import ModelConfig
from engine.llm.e5.embedder import E5Embedder
from engine.llm.e5.spoken import needs_multilingual
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.offline.model import OfflineModel
from engine.llm.picture_describer import LiteLLMPictureDescriber
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.text.tokenizer import O200kTokenizer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from contextlib import AsyncExitStack

    from engine.clock import Clock
    from engine.llm.base import Embedder, LanguageModel
    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.usage import UsageMeter


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


@asynccontextmanager
async def open_language_model(
    model: str | LLMConfig, *, api_base: str = "", api_key: str = "", clock: Clock = SYSTEM_CLOCK
) -> AsyncIterator[LanguageModel]:
    """A language model that litellm reaches ("openai/gpt-4o-mini", "ollama_chat/qwen3"), called in a subprocess.

    `api_base` and `api_key` go with a name; empty ones leave the choice to the provider. An LLMConfig brings its own.
    """
    config = LLMConfig(ModelConfig(model, api_base, api_key)) if isinstance(model, str) else model
    client = ModelClient(provider=SubprocessProvider(), clock=clock)
    try:
        yield LiteLLMModel(config, client, O200kTokenizer().count)
    finally:
        await client.close()


@asynccontextmanager
async def open_picture_describer(
    model: str | ModelConfig,
    record_usage: Callable[[UsageMeter], Awaitable[None]],
    *,
    api_base: str = "",
    api_key: str = "",
    clock: Clock = SYSTEM_CLOCK,
) -> AsyncIterator[LiteLLMPictureDescriber]:
    """A vision model for `FileParser`, reached as `open_language_model` does it.

    `record_usage`: receives the usage of each call, as that of `engine.maintenance` does.
    """
    config = ModelConfig(model, api_base, api_key) if isinstance(model, str) else model
    client = ModelClient(provider=SubprocessProvider(), clock=clock)
    try:
        yield LiteLLMPictureDescriber(config, client, record_usage)
    finally:
        await client.close()
