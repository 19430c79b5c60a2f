"""A stub of a provider, and calls of it with little patience."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.llm.client.client import ModelClient
from engine.llm.config import CallTimeouts, ModelConfig
from tests.support.openai_server import OpenAIServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

QUICK = CallTimeouts(timeout=5.0, idle_timeout=5.0, max_attempts=3, initial_wait=0.001, max_wait=0.01, jitter=0.0)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as server:
        yield server


@pytest.fixture
async def calls() -> AsyncIterator[ModelClient]:
    calls = ModelClient(at_once=4, timeouts=QUICK)
    yield calls
    await calls.close()


@pytest.fixture
def model(server: OpenAIServer) -> ModelConfig:
    return ModelConfig("openai/stub", server.api_base, "sk-secret")


@pytest.fixture
async def patient() -> AsyncIterator[Callable[[CallTimeouts], ModelClient]]:
    """Makes calls with a patience of the test's own."""
    made: list[ModelClient] = []

    def make(patience: CallTimeouts) -> ModelClient:
        made.append(ModelClient(at_once=4, timeouts=patience))
        return made[-1]

    yield make
    for calls in made:
        await calls.close()
