"""A stock OpenAI client asks and streams; it shows the citations below the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.web.conftest import Api

if TYPE_CHECKING:
    import openai

QUESTION: list[Any] = [
    {"role": "system", "content": "You are a pirate."},
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": "Ahoy."},
    {"role": "user", "content": [{"type": "text", "text": "When does the ferry Gudgeon leave?"}]},
]


@pytest.fixture
def client(api: Api) -> openai.AsyncOpenAI:
    import openai  # noqa: PLC0415 - takes half a second, in one worker instead of all

    return openai.AsyncOpenAI(api_key=api.token, base_url="http://testserver/v1", http_client=api.client, max_retries=0)


async def test_a_stock_client_gets_an_answer_with_citations(client: openai.AsyncOpenAI) -> None:
    done = await client.chat.completions.create(model="threadlore", messages=QUESTION, temperature=0.2)
    text = done.choices[0].message.content or ""
    assert "noon" in text
    assert text.endswith("[1] [Note](https://t.example/note)")
    assert done.choices[0].finish_reason == "stop"
    assert done.model_extra is not None
    assert done.model_extra["citations"][0]["link"] == "https://t.example/note"


async def test_a_stock_client_streams_the_same_answer(client: openai.AsyncOpenAI) -> None:
    whole = await client.chat.completions.create(model="threadlore", messages=QUESTION)
    stream = await client.chat.completions.create(model="threadlore", messages=QUESTION, stream=True)
    chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole.choices[0].message.content
    assert chunks[-1].choices[0].finish_reason == "stop"


async def test_the_tokens_of_a_stream_come_last_if_they_are_asked_for(client: openai.AsyncOpenAI) -> None:
    options: Any = {"model": "threadlore", "messages": QUESTION, "stream": True}
    plain = [chunk async for chunk in await client.chat.completions.create(**options)]
    assert {chunk.usage for chunk in plain} == {None}
    counted = [
        chunk async for chunk in await client.chat.completions.create(**options, stream_options={"include_usage": True})
    ]
    *_, last = counted
    assert ([chunk.usage for chunk in counted[:-1]], last.choices) == ([None] * len(plain), [])
    assert last.usage is not None
    assert last.usage.total_tokens == last.usage.prompt_tokens + last.usage.completion_tokens


async def test_a_stock_client_lists_the_model_and_is_told_what_is_wrong(client: openai.AsyncOpenAI) -> None:
    import openai  # noqa: PLC0415 - as above

    assert [each.id async for each in client.models.list()] == ["threadlore"]
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="wrong").models.list()
    with pytest.raises(openai.UnprocessableEntityError, match="last message"):
        await client.chat.completions.create(model="threadlore", messages=QUESTION[:3])


async def test_the_model_is_listed_for_a_token_that_may_only_ask(api: Api) -> None:
    asker = await api.create_token("ask")
    assert (await api.call("GET", "/v1/models", token=asker)).json()["data"][0]["id"] == "threadlore"
