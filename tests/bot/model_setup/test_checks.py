"""Checks of the models: what they find, what is remembered, and what failing providers and disks do to them."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.__main__ import app
from bot.model_setup.checks import check_models
from bot.model_setup.roles import build_context_window
from bot.settings import Settings, load_settings
from engine.clock import SYSTEM_CLOCK
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.traits.model_check import ModelCheck
from engine.llm.traits.remembered import FILE_NAME, list_checked_roles
from tests.support.clock import ManualClock
from tests.support.raw_replies import RawReplies

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
    return {each.role: each for each in checks}


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
    assert all(each.works for each in checks.values())
    facts = checks["answers"].facts
    assert (facts["window"], facts["window_origin"]) == (8_192, "provider")
    assert all(facts[name] for name in ("streaming", "system_role", "json_mode"))
    assert checks["vectors"].facts["dimension"] == 2
    assert build_context_window(chosen).size == 8_192
    assert {each["role"] for each in list_checked_roles(tmp_path)} == set(checks)


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
        assert all(each.works for each in checks.values())
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240  - left by this process or a killed one


def refuse_some(body: Mapping[str, Any]) -> str:
    if "temperature" in body:
        return "Unsupported value: 'temperature'"
    if any(message["role"] == "system" for message in body.get("messages", ())):
        return "System role not supported"
    return "JSON mode is not supported" if "response_format" in body else ""


async def test_what_a_provider_refuses_is_named_with_its_setting(tmp_path: Path) -> None:
    async with RawReplies() as server:
        server.replies, server.reject = WINDOW, refuse_some
        checks = await run_checks(settings_for(server, tmp_path))
    extraction = checks["extraction"]
    said = " ".join(f"{each.text} {each.hint}" for each in extraction.problems)
    assert extraction.works
    assert "THREADLORE_EXTRACTION_TEMPERATURE" in said
    assert not any(extraction.facts[name] for name in ("system_role", "json_mode"))


async def test_an_unknown_window_is_probed(tmp_path: Path) -> None:
    async with RawReplies() as server:
        server.usage = {"prompt_tokens": 4_000, "completion_tokens": 1, "total_tokens": 4_001}
        checks = await run_checks(settings_for(server, tmp_path))
    facts = checks["answers"].facts
    assert (facts["window"], facts["window_origin"]) == (4_096, "probed")


async def test_a_window_that_is_set_too_large_is_a_problem(tmp_path: Path) -> None:
    async with RawReplies() as server:
        server.replies = WINDOW
        chosen = settings_for(server, tmp_path, llm_context_tokens=32_768)
        checks = await run_checks(chosen)
    assert "takes 8,192 tokens" in checks["answers"].problems[0].text
    assert not checks["answers"].works


def test_the_command_fails_for_a_model_that_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MODEL", "hosted_vllm/small"), ("API_BASE", "http://127.0.0.1:1/v1"), ("API_KEY", "sk-1")):
        monkeypatch.setenv(f"THREADLORE_LLM_{name}", value)
    shown = CliRunner().invoke(app, ["--data-dir", str(tmp_path), "check", "--json"], obj=ManualClock())
    assert shown.exit_code == 1
    assert "THREADLORE_LLM_API_BASE" in json.loads(shown.stdout)[0]["problems"][0]["hint"]
