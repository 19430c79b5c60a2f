from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.llm.client.litellm import LiteLLMProvider
from tests.support.openai_server import OpenAIServer

CALLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "chat": ("openai/stub", {"messages": [{"role": "user", "content": "Who?"}]}),
    "stream": ("openai/stub", {"messages": [{"role": "user", "content": "Who?"}]}),
    "embed": ("openai/stub", {"input": ["Ada"]}),
    "rerank": ("cohere/stub", {"query": "Who?", "documents": ["Ada"]}),
}


class HeldExecutor(ThreadPoolExecutor):
    """Runs what it is given once it is released. `begun`: it was given something."""

    def __init__(self) -> None:
        super().__init__(1)
        self.begun, self.released = asyncio.Event(), threading.Event()

    def submit(self, work: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        self.begun.set()

        def wait_and_run() -> Any:
            self.released.wait()
            return work(*args, **named)

        return super().submit(wait_and_run)


async def call(provider: LiteLLMProvider, name: str, parameters: dict[str, Any]) -> None:
    result = getattr(provider, name)(parameters)
    if isinstance(result, AsyncGenerator):
        async for _ in result:
            pass
    else:
        await result


@pytest.mark.parametrize("name", CALLS)
async def test_a_call_that_is_cancelled_while_it_is_prepared_is_closed(name: str) -> None:
    provider, executor = LiteLLMProvider(SYSTEM_CLOCK), HeldExecutor()
    await provider.preload()
    asyncio.get_running_loop().set_default_executor(executor)
    model, parameters = CALLS[name]
    async with OpenAIServer() as server:
        address = {"model": model, "api_base": server.api_base, "api_key": "x"}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            calling = asyncio.create_task(call(provider, name, {**address, **parameters}))
            await executor.begun.wait()
            calling.cancel()
            await asyncio.wait([calling])
            executor.released.set()
            await asyncio.to_thread(gc.collect)
        assert server.requests == []
    await provider.close()
    assert not [str(each.message) for each in caught if "never awaited" in str(each.message)]
