"""A provider on this machine, and models that call it with short timeouts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from engine.clock import SYSTEM_CLOCK, Clock
from engine.llm.client.client import ModelClient
from engine.llm.client.protocol import Provider
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.models import Context, Prompt, SearchQuery
from engine.usage import UsageMeter
from tests.support.openai_server import Fault, OpenAIServer

QUICK = CallTimeouts(timeout=60.0, idle_timeout=60.0, max_attempts=3, initial_wait=0.001, max_wait=0.01, jitter=0.0)
TOO_LONG = Fault(status=400, message="maximum context length is 8192 tokens")
REFUSED = Fault(status=400, message="violates our content policy", code="content_policy_violation")
PROVIDERS = ["openai/stub", "hosted_vllm/stub"]  # litellm calls them through different libraries


class StubProvider:
    """An OpenAI-compatible server, and clients that call it; `client` is the usual one."""

    def __init__(self, server: OpenAIServer) -> None:
        self.server = server
        self.model = ModelConfig("openai/stub", server.api_base, "sk-secret")
        self.clients: list[ModelClient] = []
        self.client = self.open_client()

    def open_client(
        self, provider: Provider | None = None, clock: Clock = SYSTEM_CLOCK, **timeouts: Any
    ) -> ModelClient:
        """Another client; it is closed at the end of the test."""
        self.clients.append(ModelClient(4, replace(QUICK, **timeouts), provider, clock))
        return self.clients[-1]

    def unknown_language(self, model: str = "openai/stub", **config: Any) -> LiteLLMModel:
        """A language model of which nothing is known; it gleans all excerpts in which it finds anything."""
        config = {"answer_model": replace(self.model, model=model), "gleaning_threshold": 1, **config}
        return LiteLLMModel(LLMConfig(**config), self.client, len)

    def language(self, model: str = "openai/stub", client: ModelClient | None = None, **config: Any) -> LiteLLMModel:
        """The same, known not to think."""
        config = {"answer_model": replace(self.model, model=model), "gleaning_threshold": 1, **config}
        chosen = client or self.client
        chosen.thinking_models.record_reply(config["answer_model"], "Hello.", is_free=True)
        return LiteLLMModel(LLMConfig(**config), chosen, len)

    def reply(self, *texts: str) -> None:
        """Reply with the texts in turn, and with the last one from then on."""
        waiting = list(texts)
        self.server.replier = lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0]

    def fail(self, fault: Fault, times: int = 1) -> None:
        """The next requests fail."""
        self.server.faults.extend([fault] * times)

    @property
    def request_count(self) -> int:
        return len(self.server.requests)

    def messages(self, number: int) -> Sequence[Mapping[str, str]]:
        """The messages of one chat request."""
        messages: Sequence[Mapping[str, str]] = self.server.bodies()[number]["messages"]
        return messages


@asynccontextmanager
async def open_stub_provider() -> AsyncIterator[StubProvider]:
    async with OpenAIServer() as server:
        stub = StubProvider(server)
        try:
            yield stub
        finally:
            for client in stub.clients:
                await client.close()


def make_prompt(text: str = "Who runs the mill?", **changes: Any) -> Prompt:
    return Prompt(text, Context(SearchQuery(text), "mix"), **changes)


async def answer_text(language: LiteLLMModel, prompt: Prompt | None = None, meter: UsageMeter | None = None) -> str:
    """The whole answer to a prompt."""
    return "".join([piece async for piece in language.answer(prompt or make_prompt(), meter or UsageMeter())])
