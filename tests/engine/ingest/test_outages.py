"""An outage of a provider, of any kind and length, makes no document final and costs few requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from engine.engine import Engine
from engine.errors import ModelError, ModelPaused, ModelRefused, ModelTimeout, ModelUnavailable, RateLimited
from engine.ingest import worker
from engine.llm.client.client import ModelClient
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import CallParameters, EmbeddingResult, TokenUsage
from engine.llm.embedder import LiteLLMEmbedder
from engine.llm.remote_model import LiteLLMModel
from engine.models import Question
from engine.options import EngineOptions
from tests.engine.llm.stub_provider import QUICK, StubProvider
from tests.support.clock import ManualClock
from tests.support.engine_fixture import HERE, doc, open_memory_engine, statuses, wait_until
from tests.support.openai_server import Fault, OpenAIServer
from tests.support.patience import PATIENCE
from tests.support.toy_language import ToyLanguage

NAMES = ["Ada", "Bob", "Carl", "Dora", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon"]
ROW = "entity<|#|>Ada<|#|>person<|#|>She is known.\n<|COMPLETE|>"
QUOTA = Fault(status=429, message="You exceeded your current quota", code="insufficient_quota")
OUTAGES = {
    "overloaded": (Fault(status=503), 240),
    "quota": (QUOTA, 10_800),
    "balance": (Fault(status=400, message="Your credit balance is too low"), 240),
    "gateway": (Fault("page", status=502), 10_800),
    "silence": (Fault("silence", pieces=0), 240),
    "key": (Fault(status=401, message="Incorrect API key"), 240),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def stub() -> AsyncIterator[StubProvider]:
    async with OpenAIServer(lambda _: ROW) as server:
        stub = StubProvider(server)
        yield stub
        for client in stub.clients:
            await client.close()


@pytest.fixture(autouse=True)
def quick_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "ERROR_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(worker, "MAX_MODEL_WAIT_SECONDS", 0.02)
    monkeypatch.setattr(worker, "STARTUP_GRACE_SECONDS", 0.0)
    monkeypatch.setattr(worker, "BATCH_INTERVAL_SECONDS", {"embed": 0.0, "project": 0.0})


def open_client(stub: StubProvider, clock: ManualClock, timeout: float = PATIENCE) -> ModelClient:
    timeouts = replace(QUICK, timeout=timeout, initial_wait=1.0, max_attempts=1)
    stub.clients.append(ModelClient(8, timeouts, clock=clock))
    return stub.clients[-1]


def open_language(stub: StubProvider, clock: ManualClock, timeout: float = PATIENCE) -> LiteLLMModel:
    client = open_client(stub, clock, timeout)
    return stub.language(client=client, gleaning="off", batch_token_limit=0)


async def pass_time(engine: Engine, clock: ManualClock, seconds: float, step: float) -> None:
    """Let time pass in steps, and the worker work in each."""
    for _ in range(int(seconds / step)):
        clock.advance(step)
        engine._worker.wake()
        await asyncio.sleep(0.004)


async def finish(engine: Engine, clock: ManualClock) -> None:
    """Let time pass until everything is indexed."""
    async with asyncio.timeout(PATIENCE):
        waiting = asyncio.create_task(wait_until_indexed(engine))
        while not waiting.done():
            await pass_time(engine, clock, 30, 30)
        await waiting


async def wait_until_indexed(engine: Engine) -> None:
    while True:
        try:
            return await engine.wait_until_indexed()
        except ModelError:
            await asyncio.sleep(0.01)


@pytest.mark.long
@pytest.mark.parametrize("kind", OUTAGES)
async def test_every_document_has_its_facts_after_an_outage(
    tmp_path: Path, stub: StubProvider, clock: ManualClock, kind: str
) -> None:
    fault, seconds = OUTAGES[kind]
    language = open_language(stub, clock, 1.0 if kind == "silence" else PATIENCE)
    await language.client.preload()
    async with open_memory_engine(tmp_path, language, clock=clock) as engine:
        stub.server.outage = fault
        for number in range(20):
            await engine.documents.add(doc(f"d{number}", f"{NAMES[number % 10]} met Zoe {number} times."))
        await wait_until(lambda: engine.maintenance.indexing_error is not None)
        await pass_time(engine, clock, seconds, seconds / 40)
        assert set((await statuses(engine)).values()) == {"searchable"}
        assert await engine.maintenance.count_given_up() == 0
        assert any("Indexing is waiting" in problem for problem in await engine.maintenance.list_problems())
        spent = stub.request_count
        assert spent <= 40, "8 at once, then a test each time that the pause has passed"
        stub.server.outage = None
        await finish(engine, clock)
        assert set((await statuses(engine)).values()) == {"indexed"}
        # A busy machine may be too slow for the short time limit that shows the silence.
        assert kind == "silence" or stub.request_count - spent <= 22
        assert engine.maintenance.indexing_error is None


@pytest.mark.long
async def test_a_restart_amid_an_outage_loses_nothing(tmp_path: Path, stub: StubProvider, clock: ManualClock) -> None:
    stub.server.outage = Fault(status=503)
    for _ in range(2):
        async with open_memory_engine(tmp_path, open_language(stub, clock), clock=clock) as engine:
            await engine.documents.add(doc("a", "Ada met Bob."))
            await wait_until(lambda engine=engine: engine.maintenance.indexing_error is not None)
            await pass_time(engine, clock, 1200, 60)
    stub.server.outage = None
    async with open_memory_engine(tmp_path, open_language(stub, clock), clock=clock) as engine:
        await finish(engine, clock)
        assert await statuses(engine) == {"a": "indexed"}


@pytest.mark.long
@pytest.mark.parametrize("fault", [Fault(status=503), Fault(status=401)])
async def test_an_outage_of_the_embedder_gives_up_no_text(
    tmp_path: Path, stub: StubProvider, clock: ManualClock, fault: Fault
) -> None:
    embedder = LiteLLMEmbedder(stub.model, open_client(stub, clock), 32)
    async with open_memory_engine(tmp_path, embedder=embedder, clock=clock) as engine:
        stub.server.outage = fault
        for number in range(20):
            await engine.documents.add(doc(f"d{number}", f"{NAMES[number % 10]} met Zoe {number} times."))
        await wait_until(lambda: engine.maintenance.indexing_error is not None)
        await pass_time(engine, clock, 3600, 60)
        assert set((await statuses(engine)).values()) == {"pending"}
        assert await engine.maintenance.count_given_up() == 0
        assert stub.request_count <= 40
        stub.server.outage = None
        await finish(engine, clock)
        assert set((await statuses(engine)).values()) == {"indexed"}


async def test_a_question_amid_an_outage_is_searched_as_it_is_and_ends_it_when_the_model_is_back(
    tmp_path: Path, stub: StubProvider, clock: ManualClock
) -> None:
    async with open_memory_engine(tmp_path, open_language(stub, clock), clock=clock) as engine:
        stub.server.outage = Fault(status=503, message="no capacity")
        await engine.documents.add(doc("a", "Ada met Bob."))
        await wait_until(lambda: engine.maintenance.indexing_error is not None)
        await pass_time(engine, clock, 3600, 120)
        assert (await engine.retrieve(Question("Who is Ada?", HERE))).failed_helpers == ("rewriting",)
        assert len([body for body in stub.server.bodies() if "Who is Ada?" in str(body)]) <= 1
        stub.server.outage = None
        assert (await engine.retrieve(Question("Who is Ada?", HERE))).sources
        await pass_time(engine, clock, 60, 30)
        await wait_until(lambda: engine.maintenance.indexing_error is None)


class PausedLanguage(ToyLanguage):
    """Fails as a client that holds calls back."""

    def __init__(self) -> None:
        super().__init__()
        self.failing["extract", ""] = RateLimited("slow down")


async def test_any_language_model_is_tested_by_one_call_at_a_time(tmp_path: Path, clock: ManualClock) -> None:
    language = PausedLanguage()
    async with open_memory_engine(tmp_path, language, clock=clock, options=EngineOptions(max_attempts=1)) as engine:
        for number in range(20):
            await engine.documents.add(doc(f"d{number}", f"Ada met Bob {number} times."))
        await wait_until(lambda: engine.maintenance.indexing_error is not None)
        await pass_time(engine, clock, 3600, 60)
        assert language.calls["extract"] <= 16 + 60
        language.failing["extract", ""] = ModelPaused("held back")
        await pass_time(engine, clock, 60, 30)
        assert "slow down" in str(engine.maintenance.indexing_error)
        language.failing.clear()
        await finish(engine, clock)
        assert set((await statuses(engine)).values()) == {"indexed"}


@pytest.mark.share(2)
@pytest.mark.parametrize("shared_tokens", [0, 1000])
@pytest.mark.parametrize("error", [ModelTimeout("slow"), ModelUnavailable("500")])
async def test_texts_at_which_the_model_always_fails_do_not_stop_the_others(
    tmp_path: Path, clock: ManualClock, error: ModelError, shared_tokens: int
) -> None:
    language = ToyLanguage()
    language.batch_token_limit = shared_tokens
    language.failing = {("extract", "Ada"): error, ("extract", "Bob"): error}
    async with open_memory_engine(
        tmp_path, language, clock=clock, options=EngineOptions(extraction_linger=0)
    ) as engine:
        await engine.documents.add(doc("ada", "Ada met Zoe."))
        await engine.documents.add(doc("bob", "Bob met Zoe."))
        for number in range(10):
            await engine.documents.add(doc(f"d{number}", f"{NAMES[2 + number % 8]} met Zoe {number} times."))
        await finish(engine, clock)
        found = await statuses(engine)
        assert [key for key, status in found.items() if status != "indexed"] == ["ada", "bob"]
        assert await engine.maintenance.count_given_up() == 2
        assert language.calls["extract"] < 60
        assert engine.maintenance.indexing_error is None
        language.failing.clear()
        await engine.maintenance.retry()
        await finish(engine, clock)
        assert set((await statuses(engine)).values()) == {"indexed"}


async def test_a_text_at_which_the_model_always_fails_is_given_up_without_others(
    tmp_path: Path, clock: ManualClock
) -> None:
    language = ToyLanguage()
    language.failing["extract", "Ada"] = ModelTimeout("slow")
    async with open_memory_engine(tmp_path, language, clock=clock, options=EngineOptions(max_attempts=2)) as engine:
        await engine.documents.add(doc("ada", "Ada met Zoe."))
        await finish(engine, clock)
        assert await engine.maintenance.count_given_up() == 1
        assert language.calls["extract"] == 4, "after each failure, the model is tested with another text"


class PickyProvider(LiteLLMProvider):
    """Embeds by the length of a text, and times out if one holds the word."""

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        texts = parameters["input"]
        if any("Ada" in text for text in texts):
            raise ModelTimeout("slow")
        rows = np.array([[len(text), *[1.0] * 31] for text in texts], np.float32)
        return EmbeddingResult(rows / np.linalg.norm(rows, axis=1, keepdims=True), TokenUsage())


async def test_a_text_that_the_embedder_cannot_read_is_given_up_and_holds_back_no_other(
    tmp_path: Path, stub: StubProvider, clock: ManualClock
) -> None:
    client = stub.open_client(PickyProvider(clock), clock, max_attempts=1)
    embedder = LiteLLMEmbedder(stub.model, client, 32)
    async with open_memory_engine(tmp_path, embedder=embedder, clock=clock) as engine:
        for number in range(10):
            await engine.documents.add(doc(f"d{number}", f"{NAMES[number]} met Zoe {number} times."))
        await finish(engine, clock)
        found = await statuses(engine)
        assert {key: status for key, status in found.items() if status != "indexed"} == {"d0": "failed"}


@pytest.mark.long
@pytest.mark.parametrize("documents", [1, 10])
async def test_a_text_that_the_server_cannot_read_is_given_up_and_does_not_hold_back_its_provider(
    tmp_path: Path, stub: StubProvider, clock: ManualClock, documents: int
) -> None:
    def reply(messages: Sequence[Mapping[str, Any]]) -> str:
        if any("Ada met" in str(message) for message in messages):
            raise web.HTTPInternalServerError
        return ROW

    stub.server.replier = reply
    async with open_memory_engine(tmp_path, open_language(stub, clock), clock=clock) as engine:
        for number in range(documents):
            await engine.documents.add(doc(f"d{number}", f"{NAMES[number]} met Zoe {number} times."))
        await finish(engine, clock)
        assert [key for key, status in (await statuses(engine)).items() if status != "indexed"] == ["d0"]
        assert await engine.maintenance.count_given_up() == 1
        assert stub.request_count < 30


async def test_what_was_given_up_is_listed_and_read_by_another_model(tmp_path: Path) -> None:
    language = ToyLanguage()
    language.failing["extract", "Ada"] = ModelRefused("not that")
    for _ in range(2):
        async with open_memory_engine(tmp_path, language) as engine:
            await engine.documents.add(doc("a", "Ada met Bob."))
            await engine.wait_until_indexed()
            assert await engine.maintenance.count_given_up() == 1
            assert "1 given up: not that" in await engine.maintenance.list_problems()
    assert language.calls["extract"] == 1
    async with open_memory_engine(tmp_path, ToyLanguage("another")) as engine:
        await engine.wait_until_indexed()
        assert await engine.maintenance.count_given_up() == 0
        assert await statuses(engine) == {"a": "indexed"}
