from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.cli.runner import GlobalOptions
from bot.cli.serve import serve_until_stopped
from bot.settings import Settings
from engine import Clock
from tests.support.patience import PATIENCE


async def test_the_page_alone_checks_its_models_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = list[str]()
    is_checked = asyncio.Event()

    async def check(settings: Settings, _: Clock) -> None:
        checked.append(settings.llm_model)
        is_checked.set()

    async def serve_page(*_: object, **__: object) -> None:
        await asyncio.wait_for(is_checked.wait(), PATIENCE)

    monkeypatch.setenv("THREADLORE_LLM_MODEL", "openai/gpt-4o-mini")
    monkeypatch.setenv("THREADLORE_LLM_API_KEY", "sk-good")
    monkeypatch.setattr("bot.model_setup.checks.log_problems", check)
    monkeypatch.setattr("bot.plugins.load_door", lambda _: serve_page)
    assert await serve_until_stopped(GlobalOptions(data_dir=tmp_path / "data"), web=True, setup=False) == 0
    assert checked == ["openai/gpt-4o-mini"]
