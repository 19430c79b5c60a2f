from __future__ import annotations

import pytest

from engine.llm.config import ModelConfig


def test_address_and_key_stay_with_their_provider() -> None:
    model = ModelConfig("openai/a", "http://here", "sk")
    assert model.with_model("b") == ModelConfig("openai/b", "http://here", "sk")
    assert model.with_model("anthropic/c") == ModelConfig("anthropic/c")
    assert model.with_model("") is model
    assert "sk" not in repr(model)


@pytest.mark.parametrize(("name", "sent"), [("ollama_chat/qwen3", 8192), ("ollama/qwen3", 8192), ("openai/stub", None)])
def test_only_ollama_gets_the_size_of_its_context(name: str, sent: int | None) -> None:
    assert ModelConfig(name, num_ctx=8192).chat_parameters().get("num_ctx") == sent
    assert ModelConfig(name, num_ctx=8192).name == ModelConfig(name).name
    assert "num_ctx" not in ModelConfig(name).chat_parameters()
