from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import (
    InvalidApiKey,
    ModelError,
    ModelNotFound,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreachable,
    PromptTooLong,
    RateLimited,
)
from engine.llm.client.client import ChatRequest, ModelClient
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import StreamDelta
from engine.llm.config import CallTimeouts, ModelConfig
from engine.llm.remote_model import MAX_MIXED_REPLIES, LiteLLMModel, LLMConfig
from engine.models import (
    ChatTurn,
    Context,
    Excerpt,
    Extraction,
    Link,
    LLMMessage,
    Mention,
    Overview,
    Prompt,
    SearchQuery,
    SummaryInput,
)
from engine.options import ContextWindow
from engine.usage import UsageMeter
from tests.support.openai_server import Fault, OpenAIServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence

    from engine.llm.client.protocol import CallParameters, ChatReply

ROWS = """entity<|#|>Ada<|#|>Person<|#|>Ada runs the mill.
entity<|#|>Mill<|#|>Location<|#|>The mill stands by the river.
relation<|#|>Ada<|#|>Mill<|#|>management<|#|>Ada runs the mill.
<|COMPLETE|>"""
MORE = "entity<|#|>River<|#|>Location<|#|>The river is long.\n<|COMPLETE|>"
EXCERPT = Excerpt("Ada runs the mill by the river.", "Town")


def replies(*texts: str) -> Callable[[Sequence[Mapping[str, Any]]], str]:
    """The texts in turn, the last one for ever."""
    waiting = list(texts)
    return lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0]


def llm(calls: ModelClient, model: ModelConfig, **more: Any) -> LiteLLMModel:
    return LiteLLMModel(LLMConfig(model, **{"gleaning_threshold": 1, **more}), calls, len)


def asked(text: str = "Who runs the mill?", model: str = "") -> Prompt:
    return Prompt(text, Context(SearchQuery(text), "mix"), model=model)


async def heard(pieces: AsyncIterator[str]) -> str:
    return "".join([piece async for piece in pieces])


async def test_an_excerpt_is_read_and_looked_at_twice(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies(ROWS, MORE)
    bill = UsageMeter()
    reading = await llm(calls, model).extract(EXCERPT, bill)
    assert [mention.name for mention in reading.mentions] == ["Ada", "Mill", "River"]
    assert reading.mentions[0] == Mention("Ada", "person", "Ada runs the mill.")
    assert reading.links == (Link("Ada", "Mill", "management", "Ada runs the mill."),)
    first, second = server.bodies()
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2]["content"] == ROWS
    assert [(usage.purpose, usage.model, usage.calls) for usage in bill.items] == [("extract", "openai/stub", 1)] * 2
    assert all(usage.input_tokens > 0 and usage.output_tokens > 0 for usage in bill.items)


async def test_without_gleaning_there_is_one_look(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.replier = replies(ROWS)
    await llm(calls, model, gleaning_passes=0).extract(EXCERPT, UsageMeter())
    assert len(server.requests) == 1


@pytest.mark.parametrize(("letters", "looks"), [(9_000, 2), (40_000, 1)])
async def test_a_long_exchange_gets_no_second_look(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, letters: int, looks: int
) -> None:
    server.replier = replies(ROWS)
    await llm(calls, model).extract(Excerpt("a" * letters), UsageMeter())
    assert len(server.requests) == looks


@pytest.mark.parametrize(
    ("fault", "tries"),
    [
        (Fault(status=400, message="maximum context length is 8192 tokens"), 1),
        (Fault(status=500), 3),
        (Fault(status=429), 3),
        (Fault(status=401), 1),
        (Fault(status=400, message="violates our content policy", code="content_policy_violation"), 1),
        (Fault("cut"), 3),
    ],
)
async def test_a_failing_second_look_keeps_the_first(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, fault: Fault, tries: int
) -> None:
    def replier(messages: Sequence[Mapping[str, Any]]) -> str:
        if len(messages) == 2:
            server.faults.extend([fault] * tries)
        return ROWS

    server.replier = replier
    reading = await llm(calls, model).extract(EXCERPT, UsageMeter())
    assert len(reading.mentions) == 2
    assert len(server.requests) == 1 + tries


async def test_a_second_look_that_takes_too_long_keeps_the_first(
    server: OpenAIServer, patient: Callable[[CallTimeouts], ModelClient], model: ModelConfig
) -> None:
    def replier(messages: Sequence[Mapping[str, Any]]) -> str:
        server.faults.append(Fault("silence"))
        return ROWS

    server.replier = replier
    reading = await llm(patient(CallTimeouts(timeout=0.5, max_attempts=1)), model).extract(EXCERPT, UsageMeter())
    assert len(reading.mentions) == 2


def test_remembered_summaries_depend_on_what_summarises_alone(calls: ModelClient, model: ModelConfig) -> None:
    small = ModelConfig("openai/small")
    one = llm(calls, model, extraction_model=small)
    for other in (
        llm(calls, model.with_model("other"), extraction_model=small),
        llm(calls, model, extraction_model=small, query_model=model.with_model("other")),
        llm(calls, model, extraction_model=small, extraction_format="json", gleaning_passes=0),
    ):
        assert other.name != one.name
        assert other.summary_model == one.summary_model
    assert llm(calls, model, extraction_model=model.with_model("other")).summary_model != one.summary_model


async def test_only_where_much_was_found_is_looked_twice(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies(ROWS)
    await llm(calls, model, gleaning_threshold=4).extract(EXCERPT, UsageMeter())
    assert len(server.requests) == 1
    await llm(calls, model, gleaning_threshold=3).extract(EXCERPT, UsageMeter())
    assert len(server.requests) == 3


BREAD = Excerpt("Bo bakes bread.", "Town")
BREAD_ROWS = "entity<|#|>Bo<|#|>Person<|#|>Bo bakes bread."


def several(*parts: str, end: str = "<|COMPLETE|>") -> str:
    return "\n".join([*(f"excerpt<|#|>{n}\n{part}" for n, part in enumerate(parts, 1)), end])


async def test_several_excerpts_share_a_call_and_each_gets_its_own_facts(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies(several(ROWS.removesuffix("<|COMPLETE|>").strip(), BREAD_ROWS))
    language, bill = llm(calls, model, gleaning_threshold=9), UsageMeter()
    found = await language.extract_batch([EXCERPT, BREAD], bill)
    assert [[mention.name for mention in reading.mentions] for reading in found if reading] == [["Ada", "Mill"], ["Bo"]]
    assert len(server.requests) == len(bill.items) == 1
    asked = server.bodies()[0]["messages"][-1]["content"]
    assert (
        f'{{"number": 1, "under": "Town", "text": "{EXCERPT.text}"}}\n{{"number": 2, "text": "{BREAD.text}"}}' in asked
    )


async def test_in_json_several_excerpts_share_a_call_too(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    entity = {"name": "Bo", "type": "Person", "description": "Bo bakes."}
    told = {"excerpts": [{"number": 1, "entities": []}, {"number": 2, "entities": [entity]}]}
    server.replier = replies(json.dumps(told))
    found = await llm(calls, model, extraction_format="json").extract_batch([EXCERPT, BREAD], UsageMeter())
    assert found[1] == Extraction((Mention("Bo", "person", "Bo bakes."),))


@pytest.mark.parametrize(
    ("reply", "trusted"),
    [
        (several(ROWS.removesuffix("<|COMPLETE|>"), "entity<|#|>Bo<|#|>Per", end=""), [True, False]),
        (several(BREAD_ROWS, ""), [False, False]),
        (several(BREAD_ROWS, BREAD_ROWS), [False, False]),
        (ROWS, [False, False]),
        ("", [False, False]),
    ],
)
async def test_a_shared_reply_that_confuses_excerpts_is_not_trusted(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, reply: str, trusted: list[bool]
) -> None:
    server.replier = replies(reply)
    found = await llm(calls, model, gleaning_passes=0).extract_batch([EXCERPT, BREAD], UsageMeter())
    assert [reading is not None for reading in found] == trusted


async def test_a_model_that_confuses_excerpts_again_and_again_is_given_each_alone(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies(several(BREAD_ROWS, ""))
    language = llm(calls, model)
    for _ in range(MAX_MIXED_REPLIES):
        assert language.batch_token_limit > 0
        await language.extract_batch([EXCERPT, BREAD], UsageMeter())
    assert language.batch_token_limit == 0


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=400, message="maximum context length is 8192 tokens"),
        Fault(status=400, message="violates our content policy", code="content_policy_violation"),
    ],
)
async def test_a_shared_call_that_is_refused_leaves_each_excerpt_to_be_read_alone(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, fault: Fault
) -> None:
    server.faults.append(fault)
    assert await llm(calls, model).extract_batch([EXCERPT, BREAD], UsageMeter()) == [None, None]


async def test_only_an_excerpt_of_a_shared_call_in_which_much_was_found_is_looked_at_twice(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies(several(ROWS.removesuffix("<|COMPLETE|>").strip(), BREAD_ROWS), MORE)
    found = await llm(calls, model, gleaning_threshold=3).extract_batch([EXCERPT, BREAD], UsageMeter())
    assert [[mention.name for mention in reading.mentions] for reading in found if reading] == [
        ["Ada", "Mill", "River"],
        ["Bo"],
    ]
    _, second = server.bodies()
    assert EXCERPT.text in second["messages"][1]["content"]
    assert BREAD.text not in str(second["messages"])
    assert second["messages"][2]["content"] == ROWS


def shared(*rows: str) -> str:
    return "\n".join((*(f"summary<|#|>{row}" for row in rows), "<|COMPLETE|>"))


ADA, MILL = SummaryInput("Ada", ("She mills.", "She runs it.")), SummaryInput("Mill", ("It is old.", "It stands."))


async def test_several_names_share_a_call(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.replier = replies(shared("1<|#|>Ada mills.", "2<|#|>The mill is old."))
    bill = UsageMeter()
    assert await llm(calls, model).summarize([ADA, MILL], bill) == ["Ada mills.", "The mill is old."]
    assert len(server.requests) == len(bill.items) == 1
    asked = server.bodies()[0]["messages"][-1]["content"]
    assert '{"number": 2, "name": "Mill", "descriptions": ["It is old.", "It stands."]}' in asked


@pytest.mark.parametrize(
    "reply",
    [
        shared("1<|#|>Ada mills."),
        "summary<|#|>1<|#|>Ada mills.\nsummary<|#|>2<|#|>The mill is o",
        shared("1<|#|>Ada mills.", "2<|#|>"),
    ],
)
async def test_what_a_shared_reply_lacks_is_asked_for_alone(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, reply: str
) -> None:
    server.replier = replies(reply, "The mill is old.")
    assert await llm(calls, model).summarize([ADA, MILL], UsageMeter()) == ["Ada mills.", "The mill is old."]
    assert len(server.requests) == 2
    assert "Name: Mill" in server.bodies()[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=400, message="maximum context length is 8192 tokens"),
        Fault(status=400, message="violates our content policy", code="content_policy_violation"),
    ],
)
async def test_a_shared_call_that_is_refused_harms_none_of_its_names(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, fault: Fault
) -> None:
    server.replier = replies("A text.")
    server.faults.append(fault)
    assert await llm(calls, model).summarize([ADA, MILL], UsageMeter()) == ["A text.", "A text."]
    assert len(server.requests) == 3


async def test_a_model_that_is_too_slow_for_a_shared_call_is_asked_for_each_alone_from_then_on(
    server: OpenAIServer, patient: Callable[[CallTimeouts], ModelClient], model: ModelConfig
) -> None:
    server.replier = replies("A text.")
    server.faults.append(Fault("silence"))
    language = llm(patient(CallTimeouts(timeout=0.5, max_attempts=1)), model)
    for _ in range(2):
        assert await language.summarize([ADA, MILL], UsageMeter()) == ["A text.", "A text."]
    assert len(server.requests) == 1 + 2 + 2


async def test_a_summary_that_fails_alone_leaves_the_others(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies(shared("1<|#|>Ada mills."), "")
    assert await llm(calls, model).summarize([ADA, MILL], UsageMeter()) == ["Ada mills.", None]


async def test_a_reply_that_was_cut_off_is_used(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.replier = replies(ROWS[:140])
    server.faults.append(Fault("length"))
    reading = await llm(calls, model, gleaning_passes=0).extract(EXCERPT, UsageMeter())
    assert [mention.name for mention in reading.mentions][:1] == ["Ada"]


async def test_thoughts_are_no_rows(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.replier = replies(f"<think>\nentity<|#|>Ghost<|#|>Person<|#|>Thought.\n</think>\n{ROWS}")
    reading = await llm(calls, model, gleaning_passes=0).extract(EXCERPT, UsageMeter())
    assert [mention.name for mention in reading.mentions] == ["Ada", "Mill"]


async def test_reading_in_json(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    found = {"entities": [{"name": "Ada", "type": "Person", "description": "Ada runs it."}], "relationships": []}
    server.replier = replies(json.dumps(found))
    reading = await llm(calls, model, extraction_format="json").extract(EXCERPT, UsageMeter())
    assert reading.mentions == (Mention("Ada", "person", "Ada runs it."),)
    assert all(body["response_format"] == {"type": "json_object"} for body in server.bodies())


async def test_a_question_is_condensed(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    condensed = {"question": "Who runs the mill?", "high_level_keywords": ["work"], "low_level_keywords": ["mill"]}
    server.replier = replies(f"```json\n{json.dumps(condensed)}\n```")
    bill = UsageMeter()
    made = await llm(calls, model).rewrite_query("Who runs it?", (ChatTurn("user", "Is there a mill?"),), bill)
    assert made == SearchQuery("Who runs the mill?", ("work",), ("mill",))
    assert server.bodies()[0]["response_format"] == {"type": "json_object"}
    assert [usage.purpose for usage in bill.items] == ["condense"]


async def test_without_any_keyword_the_question_is_its_own(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies("I cannot do that.")
    assert await llm(calls, model).rewrite_query("Who?", (), UsageMeter()) == SearchQuery("Who?", (), ("Who?",))


async def test_a_refused_response_format_is_left_out_once_and_then_always(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies('{"high_level_keywords": ["work"], "low_level_keywords": []}')
    server.faults.append(Fault("no_response_format"))
    language = llm(calls, model)
    for _ in range(2):
        assert (await language.rewrite_query("Who?", (), UsageMeter())).high == ("work",)
    assert ["response_format" in body for body in server.bodies()] == [True, False, False]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=429, message="response_format"), RateLimited),
        (Fault(status=500, message="response_format"), ModelUnavailable),
        (Fault("cut"), ModelUnavailable),
    ],
)
async def test_other_failures_keep_the_response_format(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, fault: Fault, kind: type[ModelError]
) -> None:
    server.faults.extend([fault] * 3)
    with pytest.raises(kind):
        await llm(calls, model).rewrite_query("Who?", (), UsageMeter())
    assert ["response_format" in body for body in server.bodies()] == [True] * 3


async def test_descriptions_are_summarised_by_the_model_of_extraction(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies("<think>hm</think> Ada runs the mill.")
    bill = UsageMeter()
    language = llm(calls, model, extraction_model=model.with_model("small"))
    assert await language.summarize([SummaryInput("Ada", ("She mills.", "She runs it."))], bill) == [
        "Ada runs the mill."
    ]
    assert server.bodies()[0]["model"] == "small"
    assert [(usage.purpose, usage.model) for usage in bill.items] == [("summarise", "openai/small")]


async def test_half_characters_in_a_summary_are_replaced(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies("Ada \ud83d runs the mill \ud83d\ude00.")
    said = await llm(calls, model).summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter())
    assert said == ["Ada \ufffd runs the mill 😀."]


async def test_an_empty_summary_is_an_error(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.replier = replies("")
    with pytest.raises(ModelUnavailable):
        await llm(calls, model).summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter())


async def test_an_answer_comes_in_pieces_and_is_billed(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies("Ada runs the mill [1].")
    bill = UsageMeter()
    pieces = [piece async for piece in llm(calls, model).answer(asked(), bill)]
    assert len(pieces) > 1
    assert "".join(pieces) == "Ada runs the mill [1]."
    assert server.bodies()[0]["stream_options"] == {"include_usage": True}
    (usage,) = bill.items
    assert (usage.purpose, usage.model, usage.cost) == ("answer", "openai/stub", 0.0)
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0


@pytest.mark.parametrize("provider", ["openai/stub", "hosted_vllm/stub"])
@pytest.mark.parametrize(
    ("fault", "cut_off"), [(None, False), (Fault("length"), True), (Fault("unfinished", pieces=2), True)]
)
async def test_a_half_answer_is_billed_as_cut_off(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, provider: str, fault: Fault | None, *, cut_off: bool
) -> None:
    server.replier = replies("Ada runs the mill [1].")
    server.faults.extend([fault] if fault else [])
    bill = UsageMeter()
    said = await heard(llm(calls, ModelConfig(provider, model.api_base, "x")).answer(asked(), bill))
    assert said.startswith("Ada runs")
    assert [usage.cut_off for usage in bill.items] == [cut_off]


async def test_a_summary_tells_above_it_which_days_it_is_of(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies("Ada runs the mill [1].")
    days = Overview("summary", days="From 4 to 9 May 2026:")
    prompt = Prompt("Summarize this", Context(SearchQuery("Summarize this"), "mix", overview=days))
    assert (
        await heard(llm(calls, model).answer(prompt, UsageMeter())) == "From 4 to 9 May 2026:\n\nAda runs the mill [1]."
    )


async def test_an_answer_that_its_reader_left_is_not_cut_off(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies("Ada runs the mill [1].")
    bill = UsageMeter()
    answer = llm(calls, model).answer(asked(), bill)
    await anext(answer)
    await answer.aclose()
    assert [usage.cut_off for usage in bill.items] == [False]


@pytest.mark.parametrize("silent", ["", "<think>only thoughts</think>"])
async def test_an_answer_without_room_says_how_to_make_some(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, silent: str
) -> None:
    server.replier = replies(silent)
    server.faults.extend([Fault("length")] * 3)
    with pytest.raises(ModelUnavailable) as caught:
        await heard(llm(calls, model).answer(asked(), UsageMeter()))
    assert "THREADLORE_LLM_MAX_OUTPUT_TOKENS" in caught.value.hint


async def test_known_prices_are_on_the_bill(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.replier = replies("Ada.")
    language, bill = llm(calls, model.with_model("gpt-4o-mini")), UsageMeter()
    await heard(language.answer(asked(), bill))
    await language.summarize([SummaryInput("Ada", ("a", "b"))], bill)
    assert all(0 < usage.cost < 0.01 for usage in bill.items)


async def test_a_question_may_choose_its_model(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    await heard(llm(calls, model).answer(asked(model="openai/other"), UsageMeter()))
    assert server.bodies()[0]["model"] == "other"


def test_address_and_key_stay_with_their_provider() -> None:
    model = ModelConfig("openai/a", "http://here", "sk")
    assert model.with_model("b") == ModelConfig("openai/b", "http://here", "sk")
    assert model.with_model("anthropic/c") == ModelConfig("anthropic/c")
    assert model.with_model("") is model
    assert "sk" not in repr(model)


async def test_thoughts_are_not_streamed(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.replier = replies("<think>who might it be</think>\n\nAda runs it.")
    assert await heard(llm(calls, model).answer(asked(), UsageMeter())) == "Ada runs it."


@pytest.mark.parametrize("head", ["<think>", "", "  <think> hm "])
async def test_thoughts_and_blanks_without_end_in_the_text_are_given_up(model: ModelConfig, head: str) -> None:
    class Endless(LiteLLMProvider):
        async def preload(self) -> None:
            """Nothing is loaded."""

        async def stream(self, parameters: dict[str, Any]) -> AsyncGenerator[StreamDelta]:
            del parameters
            yield StreamDelta(head)
            while True:
                await asyncio.sleep(0.01)
                yield StreamDelta(" \n")

    calls = ModelClient(2, CallTimeouts(max_attempts=1, thinking=0.3), Endless())
    with pytest.raises(ModelTimeout, match="thought for more than"):
        async with asyncio.timeout(5):
            await heard(llm(calls, model).answer(asked(), UsageMeter()))


async def test_an_answer_of_nothing_is_an_error(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    for silent in ("", "<think>only thoughts</think>"):
        server.replier = replies(silent)
        with pytest.raises(ModelUnavailable):
            await heard(llm(calls, model).answer(asked(), UsageMeter()))


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=401, message="Incorrect API key provided"), InvalidApiKey),
        (Fault(status=403), InvalidApiKey),
        (Fault(status=400, message="maximum context length", code="context_length_exceeded"), PromptTooLong),
        (Fault(status=400, message="violates our content policy", code="content_policy_violation"), ModelRefused),
        (Fault(status=404, message="model not found"), ModelNotFound),
    ],
)
async def test_a_hopeless_failure_is_not_tried_again(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, fault: Fault, kind: type[ModelError]
) -> None:
    for provider in ("openai/stub", "hosted_vllm/stub"):
        server.requests.clear()
        server.faults.extend([fault] * 2)
        language = llm(calls, ModelConfig(provider, model.api_base, model.api_key))
        with pytest.raises(kind) as plain:
            await language.summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter())
        with pytest.raises(kind):
            await heard(language.answer(asked(), UsageMeter()))
        assert len(server.requests) == 2
        assert model.api_key not in str(plain.value)


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=503), Fault(status=429), Fault("cut", pieces=0)])
async def test_a_passing_failure_is_tried_again(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig, fault: Fault
) -> None:
    server.replier = replies("Ada runs it.")
    language = llm(calls, model)
    server.faults.append(fault)
    assert await language.summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter()) == ["Ada runs it."]
    server.faults.append(fault)
    assert await heard(language.answer(asked(), UsageMeter())) == "Ada runs it."
    assert len(server.requests) == 4


async def test_attempts_come_to_an_end(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    server.faults.extend([Fault(status=503)] * 9)
    with pytest.raises(ModelUnavailable):
        await llm(calls, model).summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter())
    assert len(server.requests) == 3


@pytest.mark.parametrize("provider", ["openai/stub", "hosted_vllm/stub"])
async def test_the_wait_that_is_asked_for_is_kept(
    server: OpenAIServer, patient: Callable[[CallTimeouts], ModelClient], model: ModelConfig, provider: str
) -> None:
    server.replier = replies("Ada.")
    server.faults.append(Fault(status=429, headers={"Retry-After": "0.3"}))
    calls = patient(CallTimeouts(initial_wait=0.001, max_wait=1.0, jitter=0.0))
    await calls.preload()
    loop = asyncio.get_running_loop()
    start = loop.time()
    language = llm(calls, ModelConfig(provider, model.api_base, "x"))
    assert await language.summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter()) == ["Ada."]
    assert loop.time() - start >= 0.3


async def test_a_wait_beyond_all_patience_is_raised_at_once(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.faults.extend([Fault(status=429, headers={"Retry-After": "3600"})] * 3)
    with pytest.raises(RateLimited):
        await llm(calls, model).summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter())
    assert len(server.requests) == 1


@pytest.mark.parametrize("provider", ["openai/stub", "hosted_vllm/stub"])
@pytest.mark.parametrize("kind", ["silence", "cut"])
async def test_a_stream_that_breaks_raises_after_what_was_delivered(
    server: OpenAIServer, patient: Callable[[CallTimeouts], ModelClient], model: ModelConfig, provider: str, kind: Any
) -> None:
    server.replier = replies("one two three four")
    server.faults.append(Fault(kind, pieces=2))
    language = llm(patient(CallTimeouts(idle_timeout=0.3)), ModelConfig(provider, model.api_base, "x"))
    bill = UsageMeter()
    answer = language.answer(asked(), bill)
    assert [(await anext(answer)).strip(), (await anext(answer)).strip()] == ["one", "two"]
    with pytest.raises(ModelUnavailable):
        await anext(answer)
    assert len(server.requests) == 1
    assert [usage.purpose for usage in bill.items] == ["answer"]


async def test_a_silent_server_is_given_up(
    server: OpenAIServer, patient: Callable[[CallTimeouts], ModelClient], model: ModelConfig
) -> None:
    server.faults.append(Fault("silence"))
    calls = patient(CallTimeouts(timeout=0.3, jitter=0.0))
    with pytest.raises(ModelUnavailable):
        await llm(calls, model).summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter())


async def test_a_server_that_is_not_there_is_unavailable(calls: ModelClient) -> None:
    for provider in ("openai/stub", "ollama_chat/stub"):
        nowhere = ModelConfig(provider, "http://127.0.0.1:9/v1", "x")
        told = rf"^Cannot reach the model {provider} at 127\.0\.0\.1:9: connection refused\.$"
        with pytest.raises(ModelUnreachable, match=told):
            await llm(calls, nowhere).summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter())
        with pytest.raises(ModelUnreachable, match=told):
            await heard(llm(calls, nowhere).answer(asked(), UsageMeter()))


class Nobody(LiteLLMProvider):
    """Whose models are never there."""

    sought = 0

    async def preload(self) -> None:
        pass

    async def chat(self, parameters: CallParameters) -> ChatReply:
        self.sought += 1
        raise ModelUnreachable(f"Nobody is {parameters['model']}.")


async def test_nobody_is_sought_more_often_than_twice() -> None:
    nobody = Nobody()
    calls = ModelClient(1, CallTimeouts(max_attempts=9, initial_wait=0.001, jitter=0.0), nobody)
    for times in (2, 4):
        with pytest.raises(ModelUnreachable):
            await calls.complete(ChatRequest(ModelConfig("m"), "answer", [LLMMessage("user", "?")]), UsageMeter())
        assert nobody.sought == times


async def test_no_key_at_all_is_a_bad_key(calls: ModelClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidApiKey):
        await llm(calls, ModelConfig("openai/stub", "http://127.0.0.1:9/v1")).summarize(
            [SummaryInput("Ada", ("a", "b"))], UsageMeter()
        )


async def test_background_work_leaves_a_place_for_a_question(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    server.replier = replies(ROWS)
    language = llm(calls, model, gleaning_passes=0)
    server.gate.clear()
    work = [asyncio.create_task(language.extract(Excerpt(f"text {n}"), UsageMeter())) for n in range(6)]
    await server.wait_for_requests(3)
    question = asyncio.create_task(language.rewrite_query("Who?", (), UsageMeter()))
    await server.wait_for_requests(4)
    assert "response_format" in server.requests[-1].body
    server.gate.set()
    await asyncio.gather(question, *work)
    assert server.most_at_once == 4


async def test_an_answer_left_early_gives_its_place_back(
    server: OpenAIServer, model: ModelConfig, patient: Callable[[CallTimeouts], ModelClient]
) -> None:
    server.replier = replies("one two three")
    calls = patient(CallTimeouts())
    language = llm(calls, model)
    for _ in range(6):
        answer = language.answer(asked(), UsageMeter())
        assert (await anext(answer)).strip() == "one"
        await answer.aclose()
    async with asyncio.timeout(5):
        assert await heard(language.answer(asked(), UsageMeter())) == "one two three"


async def test_a_prompt_that_cannot_fit_is_told_before_it_is_sent(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    language = llm(calls, model, context_window=ContextWindow(4096), gleaning_passes=0)
    long = "word " * 1000
    for work in (
        language.extract(Excerpt(long), UsageMeter()),
        language.rewrite_query(long, (), UsageMeter()),
        language.summarize([SummaryInput("Ada", (long, long))], UsageMeter()),
        heard(language.answer(asked(long), UsageMeter())),
    ):
        with pytest.raises(PromptTooLong, match="accepts 4,096"):
            await work
    assert not server.requests
    assert await language.extract_batch([Excerpt(long), BREAD], UsageMeter()) == [None, None]
    assert not server.requests


def test_shared_calls_are_as_small_as_the_context_wants(calls: ModelClient, model: ModelConfig) -> None:
    assert llm(calls, model).batch_token_limit == 1600
    assert 200 < llm(calls, model, context_window=ContextWindow(2048)).batch_token_limit < 1000


def test_only_ollama_is_told_the_context_that_it_gives_a_model() -> None:
    for name, told in (("ollama_chat/qwen3", True), ("ollama/qwen3", True), ("openai/stub", False)):
        assert (ModelConfig(name, num_ctx=8192).chat_parameters().get("num_ctx") == 8192) is told
        assert ModelConfig(name, num_ctx=8192).name == ModelConfig(name).name
    assert "num_ctx" not in ModelConfig("ollama/qwen3").chat_parameters()


async def test_settings_reach_the_provider(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    chosen = ModelConfig("openai/stub", model.api_base, "sk-1", 0.25, 77, {"seed": 5})
    await llm(calls, chosen).summarize([SummaryInput("Ada", ("a", "b"))], UsageMeter())
    (request,) = server.requests
    assert (request.body["temperature"], request.body["max_tokens"], request.body["seed"]) == (0.25, 77, 5)
    assert request.headers["Authorization"] == "Bearer sk-1"


def test_the_name_tells_what_replies_depend_on_and_no_key(calls: ModelClient) -> None:
    model = ModelConfig("openai/a", "http://here", "sk-secret")
    names = {
        llm(calls, chosen, **more).name
        for chosen, more in (
            (model, {}),
            (model.with_model("b"), {}),
            (ModelConfig("openai/a", "http://there"), {}),
            (ModelConfig("openai/a", "http://here", temperature=0.5), {}),
            (model, {"extraction_model": model.with_model("b")}),
            (model, {"query_model": model.with_model("b")}),
            (model, {"extraction_format": "json"}),
            (model, {"gleaning_passes": 0}),
        )
    }
    assert len(names) == 8
    assert not any("sk-secret" in name for name in names)
    other_key = ModelConfig("openai/a", "http://here", "sk-other")
    assert llm(calls, other_key).name == llm(calls, model).name


def test_a_reading_is_known_by_all_that_makes_it(calls: ModelClient) -> None:
    model = ModelConfig("openai/a")
    base = llm(calls, model)
    keys = {
        base.extraction_key(EXCERPT),
        base.extraction_key(Excerpt(EXCERPT.text + " ")),
        base.extraction_key(Excerpt(EXCERPT.text)),
        llm(calls, model, extraction_format="json").extraction_key(EXCERPT),
        llm(calls, model, gleaning_passes=0).extraction_key(EXCERPT),
        llm(calls, model, description_language="German").extraction_key(EXCERPT),
        llm(calls, model, entity_types=("Ship",)).extraction_key(EXCERPT),
        llm(calls, model.with_model("b")).extraction_key(EXCERPT),
    }
    assert len(keys) == 8
    same = llm(calls, model.with_model("b"), extraction_model=model, query_model=model.with_model("c"))
    assert same.extraction_key(EXCERPT) == base.extraction_key(EXCERPT)
    assert len(base.extraction_key(EXCERPT)) == 32
