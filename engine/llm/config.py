"""Which model is called, where, and with how much patience."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


OLLAMA_PROVIDERS = frozenset({"ollama", "ollama_chat"})


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A model as litellm names it ("openai/gpt-4o-mini", "ollama_chat/qwen3"); empty strings leave it to the provider.

    `extra` goes to the provider as it is (reasoning_effort, dimensions, input_type …). `num_ctx` is the context that
    Ollama is to give the model, 0 for its own choice; other providers are not told.
    """

    model: str
    api_base: str = ""
    api_key: str = field(default="", repr=False)
    temperature: float | None = None
    max_output_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    num_ctx: int = 0

    @property
    def name(self) -> str:
        """The identity: all that changes what it replies, and never the key."""
        place = f"@{self.api_base}" if self.api_base else ""
        chosen = {"temperature": self.temperature, "max_output_tokens": self.max_output_tokens, **self.extra}
        told = {key: value for key, value in chosen.items() if value is not None}
        return self.model + place + (json.dumps(told, sort_keys=True, default=str) if told else "")

    @property
    def provider(self) -> str:
        """What stands before the first slash."""
        return self.model.partition("/")[0] if "/" in self.model else ""

    def with_model(self, model: str) -> ModelConfig:
        """Another model with the same settings; address and key stay with their provider."""
        if not model or model == self.model:
            return self
        if "/" not in model and self.provider:
            model = f"{self.provider}/{model}"
        other = replace(self, model=model)
        return other if other.provider == self.provider else replace(other, api_base="", api_key="", extra={})

    def chat_parameters(self) -> dict[str, Any]:
        """What a chat call is given besides its messages."""
        num_ctx = self.num_ctx if self.provider in OLLAMA_PROVIDERS and self.num_ctx else None
        optional = {"temperature": self.temperature, "max_tokens": self.max_output_tokens, "num_ctx": num_ctx}
        return {
            **self.connection_parameters(),
            **{name: value for name, value in optional.items() if value is not None},
        }

    def connection_parameters(self) -> dict[str, Any]:
        """What every call is given."""
        optional = {"api_base": self.api_base, "api_key": self.api_key}
        return {"model": self.model, **{name: value for name, value in optional.items() if value}, **self.extra}


@dataclass(frozen=True, slots=True)
class CallTimeouts:
    """How long a call may take, and how often it is tried; all times in seconds.

    `timeout` is for a whole call, or up to the first text or thought of a stream; `silence` is for each further text.
    The thoughts of a model start a wait anew, but all of them take no longer than `thinking`; pieces of a stream with
    nothing in them do not.
    A provider that asks for a wait longer than `longest_wait` is not asked again here.
    """

    timeout: float = 180.0
    idle_timeout: float = 60.0
    thinking: float = 600.0
    max_attempts: int = 4
    initial_wait: float = 1.0
    max_wait: float = 30.0
    jitter: float = 1.0
