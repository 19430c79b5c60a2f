"""The blocks of docs/models.md reach servers that play the providers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bot.model_setup.roles import chat_model_settings
from bot.settings import load_settings
from engine.clock import SYSTEM_CLOCK
from engine.llm.client.client import ChatRequest, ModelClient
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.config import CallTimeouts
from engine.models import LLMMessage
from engine.usage import UsageMeter
from tests.support.raw_replies import RawReplies

PAPER = Path(__file__).parents[1] / "docs" / "models.md"
SECTION = re.compile(r"^### (.+)\n(?:[^`]|`(?!``))*?```\n([^`]+)```", re.MULTILINE)
BLOCKS = dict(SECTION.findall(PAPER.read_text(encoding="utf-8")))
MESSAGES = (LLMMessage("system", "Be short."), LLMMessage("user", "Ready?"))

BEDROCK = "/model/eu.anthropic.claude-haiku-4-5-20251001-v1:0/converse"
VERTEX = ":generateContent"
REPLIES: dict[str, Any] = {
    BEDROCK: {
        "output": {"message": {"role": "assistant", "content": [{"text": "Fine."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12},
    },
    VERTEX: {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Fine."}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12},
    },
    "/api/chat": {
        "model": "qwen3",
        "message": {"role": "assistant", "content": "Fine."},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 10,
        "eval_count": 2,
    },
}


def read_block(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """A settings file of the block; variables of providers are removed again after the test."""
    lines = BLOCKS[name].replace("…", "sk-12345").splitlines()
    for line in lines:
        variable, _, value = line.partition("=")
        if not variable.startswith("THREADLORE_"):
            monkeypatch.setenv(variable, value)
    (folder / "block.env").write_text("\n".join(lines), encoding="utf-8")
    return folder / "block.env"


async def call(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> tuple[str, str, dict[str, Any]]:
    """The reply to a call with the settings of a block, and the path and the body of the request."""
    file = read_block(name, monkeypatch, folder)
    async with RawReplies() as server:
        server.replies = REPLIES
        is_root = name in {"Azure", "Bedrock", "Vertex", "Ollama"}
        base = server.address if is_root else server.api_base
        model = chat_model_settings(load_settings(file, data_dir=folder, llm_api_base=base))
        client = ModelClient(1, CallTimeouts(max_attempts=1), LiteLLMProvider(SYSTEM_CLOCK))
        reply = await client.complete(ChatRequest(model, "condense", MESSAGES), UsageMeter())
        await client.close()
        return reply, server.paths[-1], server.bodies[-1]


def test_each_provider_has_a_block() -> None:
    assert set(BLOCKS) == {"Azure", "Bedrock", "Vertex", "Ollama", "LM Studio", "vLLM", "OpenRouter"}


@pytest.mark.parametrize(
    ("name", "path", "model"),
    [
        ("Azure", "/openai/deployments/my-deployment/chat/completions", "my-deployment"),
        ("Ollama", "/api/chat", "qwen3"),
        ("LM Studio", "/v1/chat/completions", "qwen3-8b"),
        ("vLLM", "/v1/chat/completions", "Qwen/Qwen3-8B"),
        ("OpenRouter", "/v1/chat/completions", "openai/gpt-4o-mini"),
        ("Bedrock", BEDROCK, None),
    ],
)
async def test_a_block_reaches_its_provider(
    name: str, path: str, model: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reply, asked, body = await call(name, monkeypatch, tmp_path)
    assert (reply, asked, body.get("model")) == ("Fine.", path, model)
    if name == "Ollama":
        assert body["options"]["num_ctx"] == 16_384
    if name == "OpenRouter":
        assert body["usage"] == {"include": True}


async def test_the_block_of_vertex_reaches_its_provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from litellm.llms.vertex_ai.vertex_llm_base import VertexBase  # noqa: PLC0415 - seconds

    async def sign_in(*_: object, **__: object) -> tuple[str, str]:
        return "token", "my-project"

    monkeypatch.setattr(VertexBase, "_ensure_access_token_async", sign_in)
    reply, asked, body = await call("Vertex", monkeypatch, tmp_path)
    assert reply == "Fine."
    assert asked.endswith(VERTEX)
    assert body["contents"] == [{"role": "user", "parts": [{"text": "Ready?"}]}]
