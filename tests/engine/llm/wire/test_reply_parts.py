from __future__ import annotations

import json
from typing import Any

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import (
    BadModelSettings,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    OutOfCredit,
    RateLimited,
    RequestRejected,
)
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.wire.rejections import STREAM
from engine.llm.wire.reply_parts import flatten_content
from tests.support.openai_server import Fault, OpenAIServer
from tests.support.raw_replies import RawReplies

THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
TEXT = {"type": "text", "text": "Ada mills."}
REFUSAL = "I will not say that."
MODELS = ["openai/stub", "hosted_vllm/stub", "openrouter/stub"]  # litellm reads their streams by different code


def parameters(server: RawReplies, model: str, **others: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Who?"}]
    endpoint = {"api_base": server.api_base, "api_key": "sk-12345", "timeout": 30.0, "max_retries": 0}
    return {"model": model, "messages": messages, **endpoint, **others}


async def stream(server: RawReplies, model: str) -> tuple[str, bool]:
    """The text of a stream, and whether the model thought."""
    provider, text, thought = LiteLLMProvider(SYSTEM_CLOCK), "", False
    try:
        async for delta in provider.stream(parameters(server, model, stream=True)):
            text, thought = text + delta.text, thought or delta.thought
    finally:
        await provider.close()
    return text, thought


def test_a_list_of_parts_becomes_a_text_and_thoughts() -> None:
    assert flatten_content([THOUGHT, TEXT, "!"]) == ("Ada mills.!", "Hm.")
    assert flatten_content(None) == ("", "")


@pytest.mark.parametrize("model", MODELS)
async def test_streams_keep_what_the_library_would_drop(model: str) -> None:
    async with RawReplies() as server:
        server.deltas = [{"content": [THOUGHT]}, {"content": [TEXT]}]
        assert await stream(server, model) == ("Ada mills.", True)
        server.deltas = [{"refusal": REFUSAL}]
        with pytest.raises(ModelRefused, match="I will not say that"):
            await stream(server, model)


def choice(index: int, text: str) -> str:
    return json.dumps({"id": "x", "choices": [{"index": index, "delta": {"content": text}, "finish_reason": None}]})


@pytest.mark.parametrize("model", MODELS[:2])
async def test_a_second_choice_is_no_part_of_the_reply(model: str) -> None:
    async with RawReplies() as server:
        server.events = [choice(0, "Ada "), choice(1, "Bob "), choice(0, "mills."), choice(1, "bakes.")]
        assert await stream(server, model) == ("Ada mills.", False)


async def test_a_provider_that_sends_a_whole_reply_does_not_stream() -> None:
    async with RawReplies() as server:
        message = {"role": "assistant", "content": "Ada mills."}
        server.replies = {"/completions": {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}}
        with pytest.raises(RequestRejected, match="does not stream") as caught:
            await stream(server, "openai/stub")
    assert caught.value.parameter == STREAM


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"error": {"message": "Out of steam", "code": 503}}, ModelUnavailable),
        ({"error": {"message": "Insufficient credits", "code": 402}}, OutOfCredit),
        ({"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}, RateLimited),
        ({"object": "error", "message": "Out of steam", "code": 503}, ModelUnavailable),
        ({"error": {"message": "Out of steam: content filter", "code": "content_filter"}}, ModelRefused),
        (
            {
                "id": "x",
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": ""},
                        "finish_reason": "error",
                        "error": {"message": "Out of steam", "code": 502},
                    }
                ],
            },
            ModelUnavailable,
        ),
    ],
    ids=["failing", "credit", "rate", "vllm", "filter", "choice"],
)
async def test_an_error_event_within_a_stream_has_its_own_sentence(
    model: str, event: dict[str, Any], kind: type[ModelError]
) -> None:
    async with RawReplies() as server:
        server.events = [json.dumps(event)]
        with pytest.raises(kind, match=r"Out of steam|Insufficient|Slow down") as caught:
            await stream(server, model)
        assert type(caught.value) is kind


@pytest.mark.parametrize("model", MODELS[:2])
async def test_whole_replies_keep_what_the_library_would_drop(model: str) -> None:
    provider = LiteLLMProvider(SYSTEM_CLOCK)
    async with RawReplies() as server:
        server.message = {"role": "assistant", "content": [THOUGHT, TEXT]}
        assert (await provider.chat(parameters(server, model))).text == "Ada mills."
        server.message = {"role": "assistant", "content": None, "refusal": REFUSAL}
        with pytest.raises(ModelRefused, match="I will not say that"):
            await provider.chat(parameters(server, model))
        await provider.close()


@pytest.mark.parametrize("model", MODELS[:2])
async def test_an_unprocessable_request_is_not_repeated_in_silence(model: str) -> None:
    provider = LiteLLMProvider(SYSTEM_CLOCK)
    async with OpenAIServer() as server:
        server.faults.append(Fault(status=422, message="Extra inputs are not permitted"))
        endpoint = {"api_base": server.api_base, "api_key": "sk-12345", "timeout": 30.0, "max_retries": 0}
        with pytest.raises(BadModelSettings, match="Extra inputs"):
            await provider.chat({"model": model, "messages": [{"role": "user", "content": "Who?"}], **endpoint})
        assert len(server.requests) == 1
        await provider.close()
