from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from engine.errors import BadModelSettings
from engine.llm.client.client import ChatRequest, ModelClient
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.traits.refused_parameters import fold_system_messages, leave_out
from engine.models import LLMMessage
from engine.usage import UsageMeter
from tests.support.clock import ManualClock
from tests.support.raw_replies import RawReplies

MESSAGES = (LLMMessage("system", "Be short."), LLMMessage("user", "Who?"))
ONCE = CallTimeouts(timeout=60.0, max_attempts=1)


@pytest.fixture
async def server() -> AsyncIterator[RawReplies]:
    async with RawReplies() as opened:
        yield opened


@pytest.fixture
async def client(server: RawReplies) -> AsyncIterator[ModelClient]:
    clock = ManualClock()
    opened = ModelClient(4, ONCE, LiteLLMProvider(clock), clock)
    yield opened
    await opened.close()


def ask(server: RawReplies, *, json: bool = False, **others: Any) -> ChatRequest:
    model = ModelConfig("hosted_vllm/stub", server.api_base, "sk-12345", **others)
    return ChatRequest(model, "condense", MESSAGES, json)


def refuse(name: str, message: str) -> Any:
    def reject(body: Mapping[str, Any]) -> str:
        return message if name in body else ""

    return reject


@pytest.mark.parametrize(
    ("name", "message", "request_options"),
    [
        ("temperature", "Unsupported value: 'temperature' does not support 0.2 with this model", {"temperature": 0.2}),
        ("response_format", "JSON mode is not supported here", {"json": True}),
        ("sparkle", "property 'sparkle' is unsupported", {"extra": {"sparkle": 1}}),
        ("sparkle", "Extra inputs are not permitted", {"extra": {"sparkle": 1}}),
    ],
)
async def test_a_refused_parameter_is_left_out_and_that_is_remembered(
    server: RawReplies, client: ModelClient, name: str, message: str, request_options: dict[str, Any]
) -> None:
    server.reject = refuse(name, message)
    request = ask(server, **request_options)
    assert await client.complete(request, UsageMeter()) == "Fine."
    assert await client.complete(request, UsageMeter()) == "Fine."
    assert [name in body for body in server.bodies] == [True, False, False]
    assert client.list_refused_parameters(request.model)


async def test_a_system_role_that_is_refused_becomes_a_part_of_the_question(
    server: RawReplies, client: ModelClient
) -> None:
    server.reject = lambda body: "System role not supported" if body["messages"][0]["role"] == "system" else ""
    assert await client.complete(ask(server), UsageMeter()) == "Fine."
    assert server.bodies[-1]["messages"] == [{"role": "user", "content": "Be short.\n\nWho?"}]


async def test_a_model_that_may_not_be_streamed_is_asked_for_a_whole_reply(
    server: RawReplies, client: ModelClient
) -> None:
    server.reject = lambda body: "Your organization must be verified to stream this model." * bool(body.get("stream"))
    pieces = [piece async for piece in client.stream(ask(server), UsageMeter())]
    assert pieces == ["Fine."]


async def test_a_setting_without_which_nothing_works_is_an_error_of_the_settings(
    server: RawReplies, client: ModelClient
) -> None:
    server.reject = lambda _: "Your organization must be verified to use this model."
    with pytest.raises(BadModelSettings, match="must be verified"):
        await client.complete(ask(server, temperature=0.5), UsageMeter())
    assert len(server.bodies) == 1


def test_a_limit_of_the_reply_is_sent_by_its_other_name() -> None:
    assert leave_out({"model": "m", "max_tokens": 9}, ["max_tokens"]) == {"model": "m", "max_completion_tokens": 9}
    assert leave_out({"model": "m", "max_tokens": 9}, ["max_tokens", "max_completion_tokens"]) == {"model": "m"}


def test_roles_alternate_after_the_system_role_is_folded() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [picture]},
        {"role": "assistant", "content": "Yes."},
        {"role": "system", "content": "Cite."},
    ]
    assert fold_system_messages(messages) == [
        {"role": "user", "content": [{"type": "text", "text": "Be short."}, picture]},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Cite."},
    ]
