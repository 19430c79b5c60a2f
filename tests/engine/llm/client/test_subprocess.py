"""Models that are called in another process behave as in this one."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import pytest_asyncio

from engine.errors import InvalidApiKey, ModelUnavailable, RateLimited
from engine.llm.client import subprocess
from engine.llm.client.client import ChatRequest, ModelClient
from engine.llm.client.subprocess import ProviderProcess, SubprocessProvider
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.embedder import LiteLLMEmbedder
from engine.llm.reranker import LiteLLMReranker
from engine.models import LLMMessage
from engine.process import encode_frame
from engine.text.tokenizer import O200kTokenizer
from engine.usage import Purpose, UsageMeter
from tests.support.engine_fixture import wait_until
from tests.support.openai_server import Fault, OpenAIServer
from tests.support.openai_wire import hash_vector
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUICK = CallTimeouts(timeout=90.0, idle_timeout=90.0, max_attempts=2, initial_wait=0.001, max_wait=0.01, jitter=0.0)
QUESTION = "Who runs the mill? Ada runs it, as her mother did."
PIPE = asyncio.subprocess.PIPE


class RemoteProcess:
    """A client whose provider is another process, and the server that the process calls."""

    def __init__(self, server: OpenAIServer, provider: SubprocessProvider) -> None:
        self.server = server
        self.provider = provider
        self.client = ModelClient(20, QUICK, provider)
        self.model = ModelConfig("openai/stub", server.api_base, "sk-secret")
        self.meter = UsageMeter()

    def request(self, purpose: Purpose = "extract", text: str = QUESTION) -> ChatRequest:
        return ChatRequest(self.model, purpose, [LLMMessage("user", text)])

    async def complete(self, text: str = QUESTION) -> str:
        return await self.client.complete(self.request(text=text), self.meter)

    def stream(self) -> AsyncGenerator[str]:
        return self.client.stream(self.request("answer"), self.meter)

    def reply_slowly(self, words: int = 400, pace: float = 0.05) -> None:
        self.server.pace, self.server.replier = pace, lambda _: "word " * words


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[SubprocessProvider]:
    provider = SubprocessProvider()
    yield provider
    await provider.close()


@pytest_asyncio.fixture(loop_scope="module")
async def remote(provider: SubprocessProvider) -> AsyncIterator[RemoteProcess]:
    async with OpenAIServer() as server:
        yield RemoteProcess(server, provider)


async def test_a_reply_comes_whole_and_in_pieces_with_its_usage(remote: RemoteProcess) -> None:
    whole = await remote.complete()
    pieces = [piece async for piece in remote.stream()]
    assert len(pieces) > 3
    assert "".join(pieces) == whole == f"You said: {QUESTION}"
    usage = [(usage.purpose, usage.input_tokens > 0, usage.output_tokens > 0) for usage in remote.meter.items]
    assert usage == [("extract", True, True), ("answer", True, True)]


async def test_thoughts_in_a_stream_are_marked(remote: RemoteProcess) -> None:
    remote.server.thoughts = ("Who might", " it be?")
    parameters: dict[str, Any] = {"model": "openai/stub", "api_base": remote.server.api_base, "api_key": "x"}
    parameters["messages"] = [{"role": "user", "content": "Who?"}]
    pieces = [piece async for piece in remote.provider.stream(parameters)]
    assert [piece.thought for piece in pieces[:2]] == [True, True]
    assert not any(piece.text and piece.thought for piece in pieces)
    assert "".join(piece.text for piece in pieces) == "You said: Who?"


async def test_many_calls_at_once_each_get_their_own_reply(remote: RemoteProcess) -> None:
    replies = await asyncio.gather(*(remote.complete(f"number {number}") for number in range(60)))
    assert replies == [f"You said: number {number}" for number in range(60)]


async def test_vectors_and_scores_are_the_same(remote: RemoteProcess) -> None:
    texts, dim = ["the mill", "the river by the mill", "Ada"], remote.server.dim
    vectors = await LiteLLMEmbedder(remote.model, remote.client, dim).embed(texts, remote.meter)
    expected = np.stack([hash_vector(text, dim) for text in texts])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    model = ModelConfig("cohere/stub", f"http://127.0.0.1:{remote.server.port}", "key")
    reranker = LiteLLMReranker(model, remote.client, O200kTokenizer())
    assert await reranker.rerank("Who runs the mill?", ["Ada runs the mill."], remote.meter) == [0.75]


async def test_errors_keep_their_kind_their_words_and_their_wait(remote: RemoteProcess) -> None:
    remote.server.faults.append(Fault(status=401))
    with pytest.raises(InvalidApiKey) as caught:
        await remote.complete()
    assert "sk-secret" not in str(caught.value)
    remote.server.faults.append(Fault(status=429, headers={"retry-after": "60"}))
    with pytest.raises(RateLimited) as slowed:
        [piece async for piece in remote.stream()]
    assert slowed.value.retry_after == 60
    remote.server.faults.append(Fault("cut"))
    with pytest.raises(ModelUnavailable):
        [piece async for piece in remote.stream()]


async def test_a_closed_answer_is_cancelled_at_the_provider(remote: RemoteProcess) -> None:
    remote.reply_slowly()
    async with aclosing(remote.stream()) as pieces:
        assert await anext(pieces)
    async with asyncio.timeout(PATIENCE):
        while remote.server.running:  # noqa: ASYNC110 - the server sends no news of it
            await asyncio.sleep(0.02)


@pytest.mark.long
async def test_a_process_that_dies_is_replaced(remote: RemoteProcess) -> None:
    assert await remote.complete()
    former = remote.provider.pid
    assert former is not None
    remote.reply_slowly()
    with pytest.raises(ModelUnavailable, match="ended unexpectedly"):  # noqa: PT012 - it dies in the middle
        async for _ in remote.stream():
            os.kill(former, signal.SIGKILL)
    remote.server.replier = lambda _: "again"
    assert await remote.complete() == "again"
    assert remote.provider.pid != former


async def test_signals_to_a_process_group_do_not_end_the_process(remote: RemoteProcess) -> None:
    remote.reply_slowly(words=40, pace=0.01)
    received = list[str]()
    async for piece in remote.stream():
        if not received:
            os.kill(remote.provider.pid or 0, signal.SIGTERM)
            os.kill(remote.provider.pid or 0, signal.SIGINT)
        received.append(piece)
    assert "".join(received) == "word " * 40


async def test_a_process_that_cannot_start_is_an_error(remote: RemoteProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ModelUnavailable, match="Cannot start"):
        await ModelClient(4, QUICK, SubprocessProvider()).complete(remote.request(), remote.meter)


@pytest.mark.skipif(sys.platform != "linux", reason="the environment of a process is read from /proc")
async def test_the_process_gets_none_of_our_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_SLACK_BOT_TOKEN", "planted")
    monkeypatch.setenv("PLANTED_PROVIDER_KEY", "given")
    child, environment = await ProviderProcess.start(), b""
    async with asyncio.timeout(PATIENCE):
        while b"PLANTED_PROVIDER_KEY=given" not in environment:
            await asyncio.sleep(0.01)
            environment = Path(f"/proc/{child.pid}/environ").read_bytes()  # noqa: ASYNC240 - no file on a disk
    assert b"THREADLORE_" not in environment
    await child.stop()


async def start_process(*command: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)


@pytest.mark.long
async def test_a_process_ends_with_its_caller_even_in_the_middle_of_a_frame() -> None:
    process = await start_process(sys.executable, "-m", "engine.llm.client.subprocess_main")
    assert process.stdin is not None
    process.stdin.write(encode_frame(b'{"number": 1, "what": "ready", "parameters": {}}')[:-9])
    process.stdin.close()
    async with asyncio.timeout(PATIENCE):
        assert await process.wait() == 0


@pytest.mark.long
async def test_a_process_that_sends_nonsense_is_ended() -> None:
    nonsense = "import sys, time; sys.stdout.buffer.write(b'\\0\\0\\0\\2no'); sys.stdout.flush(); time.sleep(60)"
    child = ProviderProcess(await start_process(sys.executable, "-c", nonsense))
    with pytest.raises(ModelUnavailable, match="ended unexpectedly"):
        async with asyncio.timeout(PATIENCE), aclosing(child.stream_request("chat", {})) as frames:
            await anext(frames)
    assert not child.is_alive
    await child.stop()


@pytest.mark.long
async def test_only_one_task_waits_for_the_end_of_a_process(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(30):
        await ProviderProcess(await start_process("true")).stop()
    assert "Unknown child process" not in caplog.text


@pytest.mark.long
async def test_a_closed_client_leaves_no_process_behind(remote: RemoteProcess) -> None:
    assert await remote.complete()
    pid = remote.provider.pid
    assert pid is not None
    await remote.client.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


class LocalProcess:
    """Stands for the process: it answers at once, and knows whether it has been ended."""

    started: ClassVar[list[LocalProcess]] = []

    def __init__(self) -> None:
        self.is_alive = True
        self.pid = len(self.started) + 1
        self.reached = asyncio.Event()
        self.proceed = asyncio.Event()
        self.proceed.set()

    @classmethod
    async def start(cls) -> LocalProcess:
        await asyncio.sleep(0)
        cls.started.append(cls())
        return cls.started[-1]

    async def stream_request(self, _what: str, _parameters: object) -> AsyncGenerator[dict[str, Any]]:
        self.reached.set()
        await self.proceed.wait()
        assert self.is_alive
        yield {"text": f"from {self.pid}", "finish": "stop", "spent": {}}

    async def stop(self) -> None:
        self.is_alive = False


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[LocalProcess]:
    monkeypatch.setattr(LocalProcess, "started", [])
    monkeypatch.setattr(subprocess, "ProviderProcess", LocalProcess)
    return LocalProcess.started


async def test_a_process_without_calls_is_ended_and_the_next_call_starts_another(processes: list[LocalProcess]) -> None:
    provider = SubprocessProvider(idle_seconds=0)
    assert (await provider.chat({})).text == "from 1"
    await wait_until(lambda: provider.pid is None)
    assert (await provider.chat({})).text == "from 2"
    await provider.close()
    assert [process.is_alive for process in processes] == [False, False]


@pytest.mark.long
async def test_a_call_keeps_its_process_however_long_it_takes(processes: list[LocalProcess]) -> None:
    provider = SubprocessProvider(idle_seconds=0)
    await provider.chat({})
    processes[0].proceed.clear()
    calls = [asyncio.create_task(provider.chat({})) for _ in range(3)]
    await processes[0].reached.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert provider.pid == 1
    processes[0].proceed.set()
    assert {result.text for result in await asyncio.gather(*calls)} == {"from 1"}
    await provider.close()


@pytest.mark.long
async def test_no_call_meets_a_process_that_is_ended(processes: list[LocalProcess]) -> None:
    provider = SubprocessProvider(idle_seconds=0)
    for pause in range(40):  # a call begins at each step of the end of the former process
        for _ in range(pause % 8):
            await asyncio.sleep(0)
        assert (await provider.chat({})).text.startswith("from ")
    await provider.close()
    assert len(processes) > 1
    assert not any(process.is_alive for process in processes)
