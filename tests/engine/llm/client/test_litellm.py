from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import ModelError
from engine.llm.client.litellm import LiteLLMProvider, load_litellm
from tests.support.openai_server import OpenAIServer

READS_A_FILE = """
import os
if os.getenv("LITELLM_MODE", "DEV") == "DEV":
    os.environ["PLANTED_PROVIDER_KEY"] = "planted"
"""


def test_litellm_reads_no_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "litellm.py").write_text(READS_A_FILE)
    monkeypatch.setenv("PLANTED_PROVIDER_KEY", "")
    monkeypatch.delenv("PLANTED_PROVIDER_KEY")
    for name in ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOG", "LITELLM_MODE"):
        monkeypatch.setenv(name, "DEV")
    monkeypatch.delitem(sys.modules, "litellm", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert load_litellm().__file__ == str(tmp_path / "litellm.py")
    finally:
        sys.modules.pop("litellm", None)
    assert "PLANTED_PROVIDER_KEY" not in os.environ


async def test_no_warning_quotes_a_reply_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    parts: Any = [{"type": "text", "text": "Ada runs "}, {"type": "text", "text": "the mill."}]
    monkeypatch.setattr("tests.support.openai_wire.count_tokens", len)
    provider, messages = LiteLLMProvider(SYSTEM_CLOCK), [{"role": "user", "content": "Who?"}]
    async with OpenAIServer(lambda _: parts) as server:
        with warnings.catch_warnings(record=True) as caught, suppress(ModelError):
            warnings.simplefilter("always")
            load_litellm()
            endpoint = {"model": "openai/stub", "api_base": server.api_base, "api_key": "x"}
            await provider.chat({**endpoint, "messages": messages})
        await provider.close()
    assert not [warning for warning in caught if "Pydantic" in str(warning.message)]
