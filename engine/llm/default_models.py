"""Opens models of providers by their names, for programs that use the engine as a library."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from engine.clock import SYSTEM_CLOCK
from engine.llm.client.client import ModelClient
from engine.llm.client.subprocess import SubprocessProvider
from engine.llm.config import ModelConfig
from engine.llm.picture_describer import LiteLLMPictureDescriber
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.text.tokenizer import O200kTokenizer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from engine.clock import Clock
    from engine.llm.base import LanguageModel
    from engine.usage import UsageMeter


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
