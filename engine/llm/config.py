"""Configuration of model calls: model, endpoint, parameters and timeouts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


OLLAMA_PROVIDERS = frozenset({"ollama", "ollama_chat"})


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A model by its litellm name ("ollama_chat/qwen3"); empty strings use the provider's default.

    `extra` is passed to the provider unchanged (dimensions, input_type …). `num_ctx` is the context size requested from
    Ollama, 0 for its default; other providers do not get it. `reasoning_effort`: "lowest" that the model offers,
    "default" or "" for the provider's default, or a level by its name.
    """

    model: str
    api_base: str = ""
    api_key: str = field(default="", repr=False)
    temperature: float | None = None
    max_output_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    num_ctx: int = 0
    reasoning_effort: str = ""

    @property
    def name(self) -> str:
        """Identity: everything that changes replies; never the key."""
        suffix = f"@{self.api_base}" if self.api_base else ""
        chosen = {"temperature": self.temperature, "max_output_tokens": self.max_output_tokens, **self.extra}
        parameters = {key: value for key, value in chosen.items() if value is not None}
        if self.reasoning_effort:
            parameters["reasoning_effort"] = self.reasoning_effort
        return self.model + suffix + (json.dumps(parameters, sort_keys=True, default=str) if parameters else "")

    @property
    def provider(self) -> str:
        """The part before the first slash."""
        return self.model.partition("/")[0] if "/" in self.model else ""

    def with_model(self, model: str) -> ModelConfig:
        """The settings for another model; endpoint and key are kept only within the same provider."""
        if not model or model == self.model:
            return self
        if "/" not in model and self.provider:
            model = f"{self.provider}/{model}"
        other = replace(self, model=model)
        return other if other.provider == self.provider else replace(other, api_base="", api_key="", extra={})

    def chat_parameters(self) -> dict[str, Any]:
        """Parameters of a chat call, without its messages."""
        num_ctx = self.num_ctx if self.provider in OLLAMA_PROVIDERS and self.num_ctx else None
        optional = {
            "temperature": self.temperature,
            "max_tokens": self.max_output_tokens,
            "num_ctx": num_ctx,
            "reasoning_effort": self.reasoning_effort or None,
        }
        chosen = {name: value for name, value in optional.items() if value is not None}
        return {**chosen, **self.connection_parameters()}

    def connection_parameters(self) -> dict[str, Any]:
        """Parameters of every call."""
        optional = {"api_base": self.api_base, "api_key": self.api_key}
        return {"model": self.model, **{name: value for name, value in optional.items() if value}, **self.extra}


@dataclass(frozen=True, slots=True)
class CallTimeouts:
    """Timeouts and retries of a call; all times in seconds.

    `timeout` bounds a whole call, or the wait for the first text or thought of a stream; `idle_timeout` the wait for
    each further text. A thought restarts the wait, an empty piece of a stream does not; all thoughts of a stream
    together take at most `thinking`. If a provider asks for a wait longer than `max_wait`, the call is not retried.
    """

    timeout: float = 180.0
    idle_timeout: float = 60.0
    thinking: float = 600.0
    max_attempts: int = 4
    initial_wait: float = 1.0
    max_wait: float = 30.0
    jitter: float = 1.0
