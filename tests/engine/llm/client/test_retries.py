"""Failing calls are retried if that may help, and calls share the slots of a client."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import (
    InvalidApiKey,
    ModelError,
    ModelNotFound,
    ModelRefused,
    ModelUnavailable,
    ModelUnreachable,
    PromptTooLong,
    RateLimited,
)
from engine.llm.client.client import ChatRequest
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import CallParameters, ChatReply
from engine.llm.config import ModelConfig
from engine.models import Excerpt, LLMMessage, SummaryInput
from engine.usage import UsageMeter
from tests.engine.llm.stub_provider import PROVIDERS, REFUSED, StubProvider, answer_text, make_prompt
from tests.support.openai_server import Fault
from tests.support.patience import PATIENCE

ADA = SummaryInput("Ada", ("She mills.", "She runs it."))


CONTEXT_LENGTH = Fault(status=400, message="maximum context length", code="context_length_exceeded")
LONG_WAIT = Fault(status=429, headers={"Retry-After": "3600"})


@pytest.mark.share(2)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("fault", "times", "kind", "requests"),
    [
        pytest.param(Fault(status=401, message="Incorrect API key"), 9, InvalidApiKey, 1, id="wrong key"),
        pytest.param(Fault(status=403), 9, InvalidApiKey, 1, id="forbidden"),
        pytest.param(CONTEXT_LENGTH, 9, PromptTooLong, 1, id="too long"),
        pytest.param(REFUSED, 9, ModelRefused, 1, id="refused"),
        pytest.param(Fault(status=404, message="model not found"), 9, ModelNotFound, 1, id="no such model"),
        pytest.param(LONG_WAIT, 9, RateLimited, 1, id="too long a wait"),
        pytest.param(Fault(status=503), 9, ModelUnavailable, 3, id="attempts end"),
        *(pytest.param(Fault(status=status), 1, None, 2, id=f"brief {status}") for status in (429, 500, 503)),
        pytest.param(Fault("cut", pieces=0), 1, None, 2, id="connection lost"),
    ],
)
async def test_a_failure_is_retried_if_that_may_help(
    stub: StubProvider, provider: str, fault: Fault, times: int, kind: type[ModelError] | None, requests: int
) -> None:
    async def summarize() -> str | None:
        return (await stub.language(provider, stub.open_client()).summarize([ADA], UsageMeter()))[0]

    stub.reply("Ada runs it.")
    for call in (summarize, lambda: answer_text(stub.language(provider, stub.open_client()))):
        stub.server.faults.clear()
        stub.server.requests.clear()
        stub.fail(fault, times)
        if kind is None:
            assert await call() == "Ada runs it."
        else:
            with pytest.raises(kind) as caught:
                await call()
            assert stub.model.api_key not in str(caught.value)
        assert stub.request_count == requests


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_wait_that_a_provider_asks_for_is_kept(stub: StubProvider, provider: str) -> None:
    stub.reply("Ada.")
    stub.fail(Fault(status=429, headers={"Retry-After": "0.3"}))
    client = stub.open_client(max_wait=1.0)
    await client.preload()
    started = asyncio.get_running_loop().time()
    assert await stub.language(provider, client).summarize([ADA], UsageMeter()) == ["Ada."]
    assert asyncio.get_running_loop().time() - started >= 0.3


@pytest.mark.share(2)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("kind", ["silence", "cut"])
async def test_a_stream_that_breaks_raises_after_its_text(stub: StubProvider, provider: str, kind: Any) -> None:
    stub.reply("one two three four")
    stub.fail(Fault(kind, pieces=2))
    client = stub.open_client(idle_timeout=1.5)
    answer = stub.language(provider, client).answer(make_prompt(), meter := UsageMeter())
    assert [(await anext(answer)).strip(), (await anext(answer)).strip()] == ["one", "two"]
    with pytest.raises(ModelUnavailable):
        await anext(answer)
    assert stub.request_count == 1
    assert [usage.purpose for usage in meter.items] == ["answer"]


@pytest.mark.parametrize("provider", ["openai/stub", "ollama_chat/stub"])
async def test_a_missing_server_is_named_with_its_address(stub: StubProvider, provider: str) -> None:
    language = stub.language(answer_model=ModelConfig(provider, "http://127.0.0.1:9/v1", "x"))
    sentence = rf"^Cannot reach the model {provider} at 127\.0\.0\.1:9: connection refused\.$"
    with pytest.raises(ModelUnreachable, match=sentence):
        await language.summarize([ADA], UsageMeter())
    with pytest.raises(ModelUnreachable, match=sentence):
        await answer_text(language)


async def test_an_unreachable_server_is_tried_twice_then_once(
    stub: StubProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unreachable(LiteLLMProvider):
        attempts = 0

        async def preload(self) -> None:
            """Load nothing."""

        async def chat(self, parameters: CallParameters) -> ChatReply:
            self.attempts += 1
            raise ModelUnreachable(f"Nobody is {parameters['model']}.")

    monkeypatch.setattr("engine.llm.client.retry_policy.UNREACHABLE_WAIT", 0.01)
    provider = Unreachable(SYSTEM_CLOCK)
    client = stub.open_client(provider, max_attempts=9)
    request = ChatRequest(stub.model, "answer", [LLMMessage("user", "?")])
    for attempts in (2, 3, 4):
        with pytest.raises(ModelUnreachable):
            await client.complete(request, UsageMeter())
        assert provider.attempts == attempts


async def test_a_missing_key_is_an_invalid_key(stub: StubProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidApiKey):
        await stub.language(answer_model=replace(stub.model, api_key="")).summarize([ADA], UsageMeter())


async def test_background_work_leaves_a_slot_for_a_question(stub: StubProvider) -> None:
    stub.reply('{"question": "Who?", "entities": [], "relationships": []}')
    language = stub.language(gleaning="off")
    stub.server.gate.clear()
    work = [asyncio.create_task(language.extract(Excerpt(f"text {n}"), UsageMeter())) for n in range(6)]
    await stub.server.wait_for_requests(3)
    question = asyncio.create_task(language.rewrite_query("Who?", (), UsageMeter()))
    await stub.server.wait_for_requests(4)
    assert "response_format" in stub.server.requests[-1].body
    stub.server.gate.set()
    await asyncio.gather(question, *work)
    assert stub.server.most_at_once == 4


async def test_an_answer_left_early_releases_its_slot(stub: StubProvider) -> None:
    stub.reply("one two three")
    language = stub.language()
    for _ in range(6):
        answer = language.answer(make_prompt(), UsageMeter())
        assert (await anext(answer)).strip() == "one"
        await answer.aclose()
    async with asyncio.timeout(PATIENCE):
        assert await answer_text(language) == "one two three"


async def test_settings_reach_the_provider(stub: StubProvider) -> None:
    chosen = ModelConfig("openai/stub", stub.model.api_base, "sk-1", 0.25, 77, {"seed": 5})
    await stub.language(answer_model=chosen).summarize([ADA], UsageMeter())
    (request,) = stub.server.requests
    assert {"temperature": 0.25, "max_tokens": 77, "seed": 5}.items() <= request.body.items()
    assert request.headers["Authorization"] == "Bearer sk-1"
