"""Models that are called in another process do what they do in this one."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytest_asyncio

from engine.errors import InvalidApiKey, ModelUnavailable, RateLimited
from engine.llm.client.client import ChatRequest, ModelClient
from engine.llm.client.provider_process import ProviderProcess
from engine.llm.client.subprocess import SubprocessProvider
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.embedder import LiteLLMEmbedder
from engine.llm.reranker import LiteLLMReranker
from engine.models import LLMMessage
from engine.process.ipc import encode_frame
from engine.text.tokenizer import O200kTokenizer
from engine.usage import UsageMeter
from tests.support.openai_server import Fault, OpenAIServer
from tests.support.openai_wire import hash_vector

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUICK = CallTimeouts(timeout=20.0, idle_timeout=20.0, max_attempts=2, initial_wait=0.001, max_wait=0.01, jitter=0.0)
WHO = [LLMMessage("user", "Who runs the mill? Ada runs it, as her mother did.")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def apart() -> AsyncIterator[SubprocessProvider]:
    apart = SubprocessProvider()
    yield apart
    await apart.close()


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as server:
        yield server


@pytest.fixture
def calls(apart: SubprocessProvider) -> ModelClient:
    return ModelClient(4, QUICK, apart)


@pytest.fixture
def model(server: OpenAIServer) -> ModelConfig:
    return ModelConfig("openai/stub", server.api_base, "sk-secret")


async def test_a_reply_comes_whole_and_in_pieces_with_what_it_took(calls: ModelClient, model: ModelConfig) -> None:
    whole = await calls.complete(ChatRequest(model, "extract", WHO), bill := UsageMeter())
    assert whole == f"You said: {WHO[0].content}"
    pieces = [piece async for piece in calls.stream(ChatRequest(model, "answer", WHO), bill)]
    assert len(pieces) > 3
    assert "".join(pieces) == whole
    assert [(usage.purpose, usage.input_tokens > 0, usage.output_tokens > 0) for usage in bill.items] == [
        ("extract", True, True),
        ("answer", True, True),
    ]


async def test_thoughts_in_a_stream_are_known_as_such(server: OpenAIServer, apart: SubprocessProvider) -> None:
    server.thoughts = ("Who might", " it be?")
    asked = {"model": "openai/stub", "api_base": server.api_base, "api_key": "x"}
    messages = [{"role": "user", "content": "Who?"}]
    pieces = [piece async for piece in apart.stream({**asked, "messages": messages})]
    assert [piece.thought for piece in pieces[:2]] == [True, True]
    assert not any(piece.text and piece.thought for piece in pieces)
    assert "".join(piece.text for piece in pieces) == "You said: Who?"


async def test_many_calls_at_once_each_get_their_own_reply(apart: SubprocessProvider, model: ModelConfig) -> None:
    many = ModelClient(20, QUICK, apart)
    asked = [ChatRequest(model, "extract", [LLMMessage("user", f"number {number}")]) for number in range(60)]
    told = await asyncio.gather(*(many.complete(each, UsageMeter()) for each in asked))
    assert told == [f"You said: number {number}" for number in range(60)]


async def test_vectors_and_scores_are_the_same(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    texts = ["the mill", "the river by the mill", "Ada"]
    made = await LiteLLMEmbedder(model, calls, server.dim).embed(texts, UsageMeter())
    expected = np.stack([hash_vector(text, server.dim) for text in texts])
    np.testing.assert_allclose(made, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    ranked = ModelConfig("cohere/stub", f"http://127.0.0.1:{server.port}", "key")
    scores = await LiteLLMReranker(ranked, calls, O200kTokenizer()).rerank(
        "Who runs the mill?", ["Ada runs the mill."], UsageMeter()
    )
    assert scores == [0.75]


async def test_errors_keep_their_kind_their_words_and_the_wait_that_is_asked_for(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.faults.append(Fault(status=401))
    with pytest.raises(InvalidApiKey) as caught:
        await calls.complete(ChatRequest(model, "extract", WHO), UsageMeter())
    assert "sk-secret" not in str(caught.value)
    server.faults.append(Fault(status=429, headers={"retry-after": "60"}))
    with pytest.raises(RateLimited) as slowed:
        await calls.complete(ChatRequest(model, "extract", WHO), UsageMeter())
    assert slowed.value.retry_after == 60
    server.faults.append(Fault("cut"))
    with pytest.raises(ModelUnavailable):
        [piece async for piece in calls.stream(ChatRequest(model, "answer", WHO), UsageMeter())]


async def test_a_passing_failure_is_tried_again(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.faults.append(Fault(status=503))
    assert await calls.complete(ChatRequest(model, "extract", WHO), UsageMeter())
    assert len(server.requests) == 2


async def test_an_answer_that_nobody_wants_any_more_is_ended_at_the_provider(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.pace = 0.05
    server.replier = lambda _: "word " * 400
    async with aclosing(calls.stream(ChatRequest(model, "answer", WHO), UsageMeter())) as pieces:
        assert await anext(pieces)
    async with asyncio.timeout(5):
        while server.running:  # noqa: ASYNC110 - the server sends no news of it
            await asyncio.sleep(0.02)


async def test_a_process_that_dies_is_replaced(
    server: OpenAIServer, apart: SubprocessProvider, calls: ModelClient, model: ModelConfig
) -> None:
    assert await calls.complete(ChatRequest(model, "extract", WHO), UsageMeter())
    before = apart.pid
    assert before is not None
    server.pace = 0.05
    server.replier = lambda _: "word " * 400
    with pytest.raises(ModelUnavailable, match="ended unexpectedly"):  # noqa: PT012 - it dies in the middle
        async for _ in calls.stream(ChatRequest(model, "answer", WHO), UsageMeter()):
            os.kill(before, signal.SIGKILL)
    server.replier = lambda _: "anew"
    assert await calls.complete(ChatRequest(model, "extract", WHO), UsageMeter()) == "anew"
    assert apart.pid != before


async def test_an_end_that_a_whole_group_is_told_is_left_to_who_started_it(
    server: OpenAIServer, apart: SubprocessProvider, calls: ModelClient, model: ModelConfig
) -> None:
    server.pace = 0.01
    server.replier = lambda _: "word " * 40
    said: list[str] = []
    async for piece in calls.stream(ChatRequest(model, "answer", WHO), UsageMeter()):
        if not said:
            os.kill(apart.pid or 0, signal.SIGTERM)
            os.kill(apart.pid or 0, signal.SIGINT)
        said.append(piece)
    assert "".join(said) == server.replier([])


async def test_where_no_process_can_be_started_a_call_may_be_tried_again(
    model: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ModelUnavailable, match="Cannot start"):
        await ModelClient(4, QUICK, SubprocessProvider()).complete(ChatRequest(model, "extract", WHO), UsageMeter())


@pytest.mark.skipif(sys.platform != "linux", reason="the environment of a process is read from /proc")
async def test_the_process_knows_no_token_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_SLACK_BOT_TOKEN", "planted")
    monkeypatch.setenv("PLANTED_PROVIDER_KEY", "given")
    child = await ProviderProcess.start()
    known = b""
    async with asyncio.timeout(10):
        while b"PLANTED_PROVIDER_KEY=given" not in known:
            await asyncio.sleep(0.01)
            known = Path(f"/proc/{child.pid}/environ").read_bytes()  # noqa: ASYNC240 - no file on a disk
    assert b"THREADLORE_" not in known
    await child.stop()


async def test_a_process_whose_asker_was_killed_in_mid_sentence_ends_too() -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine.llm.client.subprocess_main"), stdin=pipe, stdout=pipe
    )
    assert process.stdin is not None
    process.stdin.write(encode_frame(b'{"number": 1, "what": "ready", "parameters": {}}')[:-9])
    process.stdin.close()
    async with asyncio.timeout(20):
        assert await process.wait() == 0


async def test_a_process_that_talks_nonsense_is_done_with(model: ModelConfig) -> None:
    pipe = asyncio.subprocess.PIPE
    nonsense = (
        "import sys, time; sys.stdout.buffer.write(bytes([0, 0, 0, 2]) + b'no'); sys.stdout.flush(); time.sleep(60)"
    )
    child = ProviderProcess(
        await asyncio.create_subprocess_exec(sys.executable, "-c", nonsense, stdin=pipe, stdout=pipe)
    )
    with pytest.raises(ModelUnavailable, match="ended unexpectedly"):
        async with asyncio.timeout(20), aclosing(child.stream_request("chat", {})) as frames:
            await anext(frames)
    assert not child.is_alive
    await child.stop()


async def test_a_process_that_ends_is_waited_for_by_one_alone(caplog: pytest.LogCaptureFixture) -> None:
    pipe = asyncio.subprocess.PIPE
    for _ in range(30):
        child = ProviderProcess(await asyncio.create_subprocess_exec("true", stdin=pipe, stdout=pipe))
        await child.stop()
    assert "Unknown child process" not in caplog.text


async def test_closed_it_leaves_nothing_behind(
    apart: SubprocessProvider, calls: ModelClient, model: ModelConfig
) -> None:
    assert await calls.complete(ChatRequest(model, "extract", WHO), UsageMeter())
    pid = apart.pid
    assert pid is not None
    await calls.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
