from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from engine.errors import BadModelSettings
from engine.llm.client.client import ChatRequest, ModelClient
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import CallParameters
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.traits.refused_parameters import RefusedParameters, fold_system_messages, leave_out
from engine.llm.wire.rejections import ANY_PARAMETER
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
        ("temperature", "Extra inputs are not permitted", {"temperature": 0.2}),
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


async def test_a_parameter_of_the_owner_is_left_out_only_if_it_is_named() -> None:
    refused, tried = RefusedParameters(ManualClock()), list[set[str]]()

    async def send(sent: CallParameters) -> str:
        tried.append(set(sent))
        if (name := "sparkle") in sent:
            raise BadModelSettings("Extra inputs are not permitted", parameter=name if is_named else ANY_PARAMETER)
        return "Fine."

    model = ModelConfig("hosted_vllm/stub", temperature=0.2, extra={"sparkle": 1})
    is_named = False
    with pytest.raises(BadModelSettings, match="not permitted") as caught:
        await refused.call(model, {**model.chat_parameters(), "messages": []}, send)
    assert "sparkle" in caught.value.hint
    assert [each & {"temperature", "sparkle"} for each in tried] == [{"temperature", "sparkle"}, {"sparkle"}]
    assert refused.list_refused(model) == []
    is_named = True
    with capture_logs() as logs:
        assert await refused.call(model, {**model.chat_parameters(), "messages": []}, send) == "Fine."
    assert [log["parameter"] for log in logs] == ["sparkle"]


async def test_what_is_left_out_without_a_name_is_named_in_the_log() -> None:
    async def send(sent: CallParameters) -> str:
        if "temperature" in sent:
            raise BadModelSettings("Extra inputs are not permitted", parameter=ANY_PARAMETER)
        return "Fine."

    model = ModelConfig("hosted_vllm/stub", temperature=0.2, max_output_tokens=9)
    with capture_logs() as logs:
        await RefusedParameters(ManualClock()).call(model, {**model.chat_parameters(), "messages": []}, send)
    assert [log["parameter"] for log in logs] == ["max_tokens, temperature"]


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
