"""A stub of a provider, and calls of it with little patience."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.llm.client.client import Calls
from engine.llm.config import ModelSettings, Patience
from tests.support.openai_server import OpenAIServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

QUICK = Patience(timeout=5.0, silence=5.0, attempts=3, first_wait=0.001, longest_wait=0.01, jitter=0.0)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as server:
        yield server


@pytest.fixture
async def calls() -> AsyncIterator[Calls]:
    calls = Calls(at_once=4, patience=QUICK)
    yield calls
    await calls.close()


@pytest.fixture
def model(server: OpenAIServer) -> ModelSettings:
    return ModelSettings("openai/stub", server.base, "sk-secret")


@pytest.fixture
async def patient() -> AsyncIterator[Callable[[Patience], Calls]]:
    """Makes calls with a patience of the test's own."""
    made: list[Calls] = []

    def make(patience: Patience) -> Calls:
        made.append(Calls(at_once=4, patience=patience))
        return made[-1]

    yield make
    for calls in made:
        await calls.close()
