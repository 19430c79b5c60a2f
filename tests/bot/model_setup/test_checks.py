"""Checks of the models: what they find, what is remembered, and what failing providers and disks do to them."""

from __future__ import annotations

import errno
import json
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bot.__main__ import app
from bot.model_setup.checks import check_models
from bot.model_setup.roles import build_context_window, embedding_model_settings
from bot.settings import Settings, load_settings
from engine import ModelConfig
from engine.clock import SYSTEM_CLOCK
from engine.errors import ModelError, OutOfCredit, RateLimited
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import CallParameters, ChatReply, EmbeddingResult, RerankResult, StreamDelta, TokenUsage
from engine.llm.traits.model_check import CheckedRole, ModelCheck
from engine.llm.traits.remembered import FILE_NAME, list_checked_roles, load_facts
from tests.support.clock import ManualClock
from tests.support.raw_replies import RawReplies


class FakeProvider:
    """Replies to each chat, and counts the characters that it is sent; fails with an error if it is to."""

    def __init__(self) -> None:
        self.sent, self.calls = 0, 0
        self.failure: ModelError | None = None

    async def preload(self) -> None:
        """Load nothing."""

    async def close(self) -> None:
        """Hold nothing."""

    async def chat(self, parameters: CallParameters) -> ChatReply:
        self._record(parameters)
        return ChatReply('{"ready": true}', "stop", TokenUsage(self.sent // 4, 3))

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        self._record(parameters)
        yield StreamDelta("Yes", "stop", TokenUsage(5, 1))

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        raise NotImplementedError

    async def rerank(self, parameters: CallParameters) -> RerankResult:
        raise NotImplementedError

    def _record(self, parameters: CallParameters) -> None:
        self.calls += 1
        self.sent += sum(len(str(message["content"])) for message in parameters["messages"])
        if self.failure:
            raise self.failure


NO_PROCESS = 2**22 + 1  # beyond all numbers of processes
READY = {"role": "assistant", "content": '{"ready": true}'}
WINDOW = {"/v1/models": {"data": [{"id": "small", "max_model_len": 8_192}]}}
VECTORS = {
    "/v1/embeddings": {
        "data": [{"index": 0, "embedding": [0.5, 0.5]}],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }
}


def settings_for(server: RawReplies, folder: Path, **others: Any) -> Settings:
    server.message = READY
    endpoint = {"llm_model": "hosted_vllm/small", "llm_api_base": server.api_base, "llm_api_key": "sk-12345"}
    return load_settings(**{"data_dir": folder, "llm_max_attempts": 1, **endpoint, **others})


async def run_checks(settings: Settings) -> dict[str, ModelCheck]:
    """The checks by role."""
    checks = await check_models(settings, SYSTEM_CLOCK, LiteLLMProvider(SYSTEM_CLOCK))
    return {check.role: check for check in checks}


@pytest.mark.long
async def test_each_role_is_checked_and_that_is_remembered(tmp_path: Path) -> None:
    async with RawReplies() as server:
        server.replies = {**WINDOW, **VECTORS}
        chosen = settings_for(
            server,
            tmp_path,
            embedding_model="openai/e",
            embedding_api_base=server.api_base,
            embedding_api_key="sk-12345",
        )
        checks = await run_checks(chosen)
    assert set(checks) == {"answers", "extraction", "queries", "vectors"}
    assert all(check.works for check in checks.values())
    facts = checks["answers"].facts
    assert (facts["window"], facts["window_origin"]) == (8_192, "provider")
    assert all(facts[name] for name in ("streaming", "system_role", "json_mode"))
    assert checks["vectors"].facts["dimension"] == 2
    assert build_context_window(chosen).size == 8_192
    assert {role["role"] for role in list_checked_roles(tmp_path)} == set(checks)


async def test_a_start_checks_each_settings_once_by_small_prompts(tmp_path: Path) -> None:
    provider, clock = FakeProvider(), ManualClock()
    endpoint = {"data_dir": tmp_path, "llm_model": "openai/m", "llm_api_base": "http://m.example/v1"}
    first = await check_models(load_settings(**endpoint), clock, provider, is_start=True)
    assert (provider.calls, provider.sent < 1_000) == (6, True)
    assert await check_models(load_settings(**endpoint), clock, provider, is_start=True) == first
    assert provider.calls == 6
    changed = load_settings(**endpoint, extraction_temperature=0.5)
    await check_models(changed, clock, provider, is_start=True)
    assert provider.calls == 8
    clock.advance(31 * 86_400)
    await check_models(changed, clock, provider, is_start=True)
    assert provider.calls == 14
    await check_models(changed, clock, provider)
    assert provider.calls == 21, "the command checks all, and probes the window once"


async def test_a_model_that_is_busy_is_not_broken(tmp_path: Path) -> None:
    provider, clock = FakeProvider(), ManualClock()
    provider.failure = RateLimited("The provider asks to slow down.")
    chosen = load_settings(
        data_dir=tmp_path, llm_model="openai/m", llm_api_base="http://m.example/v1", llm_max_attempts=1
    )
    checks = await check_models(chosen, clock, provider)
    assert all(check.works and check.problems[0].is_warning for check in checks)
    provider.failure = None
    (answers, *_) = await check_models(chosen, clock, provider, is_start=True)
    assert "error" not in answers.facts, "it is checked at the next start"
    provider.failure = OutOfCredit("The quota is used up.")
    assert not any(model.works for model in (await check_models(chosen, clock, provider))[:1])


class EmbeddingProvider(FakeProvider):
    """Returns vectors of this many dimensions."""

    dim = 3

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        return EmbeddingResult(np.ones((len(parameters["input"]), self.dim), np.float32), TokenUsage())


async def test_a_remembered_dimension_is_corrected(tmp_path: Path) -> None:
    provider = EmbeddingProvider()
    chosen = load_settings(data_dir=tmp_path, embedding_model="openai/e", embedding_api_base="http://e.example/v1")
    (check,) = await check_models(chosen, SYSTEM_CLOCK, provider)
    assert (check.facts["dimension"], check.problems) == (3, ())
    provider.dim = 4
    (check,) = await check_models(chosen, SYSTEM_CLOCK, provider)
    assert check.works
    assert "4 dimensions, not 3" in check.problems[0].text
    assert load_facts(tmp_path).find_dimension(embedding_model_settings(chosen)) == 4
    (check,) = await check_models(chosen, SYSTEM_CLOCK, provider)
    assert check.problems == ()


@pytest.mark.long
async def test_a_disk_that_takes_nothing_hides_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / f".{FILE_NAME}.{NO_PROCESS}"

    def refuse(path: Path, _: str, **__: str) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    left.touch()
    async with RawReplies() as server:
        server.replies = WINDOW
        with monkeypatch.context() as full:
            full.setattr(Path, "write_text", refuse)
            checks = await run_checks(settings_for(server, tmp_path))
        assert all(check.works for check in checks.values())
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240  - left by this process or a killed one


def refuse_some(body: Mapping[str, Any]) -> str:
    if "temperature" in body:
        return "Unsupported value: 'temperature'"
    if any(message["role"] == "system" for message in body.get("messages", ())):
        return "System role not supported"
    return "JSON mode is not supported" if "response_format" in body else ""


@pytest.mark.long
async def test_what_a_provider_refuses_is_named_with_its_setting(tmp_path: Path) -> None:
    async with RawReplies() as server:
        server.replies, server.reject = WINDOW, refuse_some
        checks = await run_checks(settings_for(server, tmp_path))
    extraction = checks["extraction"]
    said = " ".join(f"{problem.text} {problem.hint}" for problem in extraction.problems)
    assert extraction.works
    assert "THREADLORE_EXTRACTION_TEMPERATURE" in said
    assert not any(extraction.facts[name] for name in ("system_role", "json_mode"))


async def test_an_unknown_window_is_probed(tmp_path: Path) -> None:
    async with RawReplies() as server:
        server.usage = {"prompt_tokens": 4_000, "completion_tokens": 1, "total_tokens": 4_001}
        checks = await run_checks(settings_for(server, tmp_path))
    facts = checks["answers"].facts
    assert (facts["window"], facts["window_origin"]) == (4_096, "probed")


@pytest.mark.long
async def test_a_window_that_is_set_too_large_is_a_problem(tmp_path: Path) -> None:
    async with RawReplies() as server:
        server.replies = WINDOW
        chosen = settings_for(server, tmp_path, llm_context_tokens=32_768)
        checks = await run_checks(chosen)
    assert "takes 8,192 tokens" in checks["answers"].problems[0].text
    assert not checks["answers"].works


@pytest.mark.long
async def test_a_window_that_holds_no_prompt_or_no_reply_is_a_problem(tmp_path: Path) -> None:
    async with RawReplies() as server:
        server.replies = WINDOW
        long = (await run_checks(settings_for(server, tmp_path, llm_max_output_tokens=8_192)))["answers"]
        server.replies = {"/v1/models": {"data": [{"id": "small", "max_model_len": 1_024}]}}
        short = (await run_checks(settings_for(server, tmp_path)))["answers"]
    assert long.works
    assert "THREADLORE_LLM_MAX_OUTPUT_TOKENS" in long.problems[0].hint
    assert not short.works
    assert "takes 1,024 tokens" in short.problems[0].text


@pytest.mark.long
def test_the_command_fails_for_a_model_that_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MODEL", "hosted_vllm/small"), ("API_BASE", "http://127.0.0.1:1/v1"), ("API_KEY", "sk-1")):
        monkeypatch.setenv(f"THREADLORE_LLM_{name}", value)
    shown = CliRunner().invoke(app, ["--data-dir", str(tmp_path), "check", "--json"], obj=ManualClock())
    assert shown.exit_code == 1
    assert "THREADLORE_LLM_API_BASE" in json.loads(shown.stdout)[0]["problems"][0]["hint"]


@pytest.mark.parametrize(("inherits", "variable"), [(True, "THREADLORE_LLM_MODEL"), (False, "THREADLORE_QUERY_MODEL")])
def test_the_variable_of_a_model_that_is_inherited_is_that_of_the_answers(*, inherits: bool, variable: str) -> None:
    role = CheckedRole("queries", ModelConfig("openai/any"), "THREADLORE_QUERY", inherits=inherits)
    assert role.setting("MODEL") == variable
