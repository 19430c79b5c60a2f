"""Rewritten questions and answers of a remote model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace
from datetime import date

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import InvalidReply, ModelError, ModelTimeout, ModelUnavailable
from engine.llm.base import EventRequest, RewriteRequest
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import CallParameters, StreamDelta
from engine.llm.config import ModelConfig
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.models import ChatTurn, Overview, ProposedFilters, SearchQuery, SummaryInput
from engine.usage import UsageMeter
from tests.engine.llm.stub_provider import PROVIDERS, StubProvider, answer_text, make_prompt
from tests.support.builders import make_source
from tests.support.clock import ManualClock
from tests.support.openai_server import Fault
from tests.support.patience import PATIENCE

ADA = SummaryInput("Ada", ("She mills.", "She runs it."))


async def test_a_question_is_rewritten(stub: StubProvider) -> None:
    rewritten = {"question": "Who runs the mill?", "high_level_keywords": ["work"], "low_level_keywords": ["mill"]}
    stub.reply(f"```json\n{json.dumps(rewritten)}\n```")
    history = (ChatTurn("user", "Is there a mill?"),)
    query = await stub.language().rewrite_query("Who runs it?", history, meter := UsageMeter())
    assert query == SearchQuery("Who runs the mill?", ("work",), ("mill",))
    assert stub.server.bodies()[0]["response_format"] == {"type": "json_object"}
    assert [usage.purpose for usage in meter.items] == ["condense"]


async def test_the_call_that_rewrites_a_question_proposes_filters(stub: StubProvider) -> None:
    dates = {"words": "in May", "since": "2026-05-01", "until": "2026-05-31"}
    filters = {"channels": ["#roof"], "authors": ["Ada", "Ada"], "dates": dates, "files": None}
    stub.reply(json.dumps({"low_level_keywords": ["mill"], "filters": filters}))
    request = RewriteRequest("What did Ada say in #roof in May?", (), date(2026, 11, 21), "Bob")
    query = await stub.language().rewrite_query_with_filters(request, meter := UsageMeter())
    assert (query.question, query.low) == (request.text, ("mill",))
    assert query.proposed == ProposedFilters(("#roof",), ("Ada",), "2026-05-01", "2026-05-31", "in May")
    system = stub.server.bodies()[0]["messages"][0]["content"]
    assert all(words in system for words in ("Saturday, 2026-11-21, where the person asking is.", '"Bob"'))
    assert [usage.purpose for usage in meter.items] == ["condense"]


@pytest.mark.parametrize(("for_you", "query"), [(True, SearchQuery("Who?", (), ("mill",))), (False, None)])
async def test_an_unaddressed_message_is_a_question_only_if_the_model_says_so(
    stub: StubProvider, *, for_you: bool, query: SearchQuery | None
) -> None:
    stub.reply(json.dumps({"for_you": for_you, "low_level_keywords": ["mill"]}))
    assert await stub.language().rewrite_unaddressed_query("Who?", (), UsageMeter()) == query


@pytest.mark.parametrize(
    ("reply", "brings"),
    [('{"brings_it": false}', False), ('{"brings_it": "no"}', False), ('{"brings_it": true}', True)],
)
async def test_a_message_brings_what_is_awaited_unless_the_model_denies_it(
    stub: StubProvider, reply: str, *, brings: bool
) -> None:
    stub.reply(reply)
    request = EventRequest("a decision about the mill", [make_source(text="Shall we?"), make_source(text="Agreed.")])
    assert await stub.language().judge_event(request, meter := UsageMeter()) is brings
    [body] = stub.server.bodies()
    asked = body["messages"][-1]["content"]
    assert asked.index("a decision about the mill") < asked.index("Shall we?") < asked.index("Agreed.")
    assert [usage.purpose for usage in meter.items] == ["condense"]


async def test_a_rejected_response_format_is_left_out_for_some_hours(stub: StubProvider) -> None:
    stub.reply('{"high_level_keywords": ["work"], "low_level_keywords": []}')
    stub.fail(Fault("no_response_format"))
    language = stub.language(client=stub.open_client(clock=(clock := ManualClock())))
    for seconds in (0, 3599, 1):
        clock.advance(seconds)
        assert (await language.rewrite_query("Who?", (), UsageMeter())).high == ("work",)
    assert ["response_format" in body for body in stub.server.bodies()] == [True, False, False, True]


async def test_other_failures_keep_the_response_format(stub: StubProvider) -> None:
    stub.fail(Fault(status=500, message="response_format"), times=3)
    with pytest.raises(ModelUnavailable):
        await stub.language().rewrite_query("Who?", (), UsageMeter())
    assert ["response_format" in body for body in stub.server.bodies()] == [True] * 3


async def test_an_answer_comes_in_pieces_and_is_recorded(stub: StubProvider) -> None:
    stub.reply("<think>who might it be</think>\n\nAda runs the mill [1].")
    meter = UsageMeter()
    pieces = [piece async for piece in stub.language().answer(make_prompt(), meter)]
    assert len(pieces) > 1
    assert "".join(pieces) == "Ada runs the mill [1]."
    assert stub.server.bodies()[0]["stream_options"] == {"include_usage": True}
    (usage,) = meter.items
    assert (usage.purpose, usage.model, usage.cost) == ("answer", "openai/stub", 0.0)
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_thoughts_without_an_opening_mark_are_hidden_and_remembered(stub: StubProvider, provider: str) -> None:
    stub.reply("Let me read [2].\n</think>\n\nAda runs the mill [1].")
    language = stub.unknown_language(provider)
    assert [await answer_text(language) for _ in range(2)] == ["Ada runs the mill [1]."] * 2
    assert await language.summarize([ADA], UsageMeter()) == ["Ada runs the mill [1]."]


async def test_only_the_first_answer_of_an_unknown_model_is_held_back(stub: StubProvider) -> None:
    stub.reply("Ada runs the mill [1].")
    language = stub.unknown_language()
    counts = [len([piece async for piece in language.answer(make_prompt(), UsageMeter())]) for _ in range(2)]
    assert counts[0] == 1 < counts[1]


async def test_a_summary_tells_that_a_model_does_not_think(stub: StubProvider) -> None:
    stub.reply("Ada runs the mill [1].")
    language = stub.unknown_language()
    await language.summarize([ADA], UsageMeter())
    assert len([piece async for piece in language.answer(make_prompt(), UsageMeter())]) > 1


async def test_marks_of_turns_and_what_follows_them_are_not_shown(stub: StubProvider) -> None:
    stub.reply("<|im_start|>assistant\nAda runs it [1].<|im_end|>\n<|im_start|>user\nWho else?")
    assert await answer_text(stub.language()) == "Ada runs it [1]."
    assert await stub.language().summarize([ADA], UsageMeter()) == ["Ada runs it [1]."]


async def test_thoughts_in_an_object_of_json_are_not_shown(stub: StubProvider) -> None:
    stub.reply('{"thinking": "Who runs it? Source 2 says it.", "answer": "Ada runs it [2]."}')
    assert await answer_text(stub.language()) == "Ada runs it [2]."
    stub.reply('{"thinking": "Who runs it? Source 2 says something about that, and source 3 too."}')
    with pytest.raises(InvalidReply, match="without an answer"):
        await answer_text(stub.language())


async def test_a_thinking_model_that_is_cut_off_shows_none_of_its_thoughts(stub: StubProvider) -> None:
    stub.reply("Let me read the first source, and then the second one.")
    stub.fail(Fault("length"))
    with pytest.raises(InvalidReply, match="ended its thinking") as caught:
        await answer_text(stub.unknown_language("openai/qwq-32b"))
    assert "THREADLORE_LLM_MAX_OUTPUT_TOKENS" in caught.value.hint


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("fault", "cut_off"), [(None, False), (Fault("length"), True), (Fault("unfinished", pieces=2), True)]
)
async def test_an_incomplete_answer_is_recorded_as_cut_off(
    stub: StubProvider, provider: str, fault: Fault | None, *, cut_off: bool
) -> None:
    stub.reply("Ada runs the mill [1].")
    stub.server.faults.extend([fault] if fault else [])
    assert (await answer_text(stub.language(provider), meter=(meter := UsageMeter()))).startswith("Ada runs")
    assert [usage.cut_off for usage in meter.items] == [cut_off]


async def test_an_answer_that_its_reader_left_is_not_cut_off(stub: StubProvider) -> None:
    stub.reply("Ada runs the mill [1].")
    answer = stub.language().answer(make_prompt(), meter := UsageMeter())
    await anext(answer)
    await answer.aclose()
    assert [usage.cut_off for usage in meter.items] == [False]


async def test_a_summary_begins_with_the_days_that_it_covers(stub: StubProvider) -> None:
    stub.reply("Ada runs the mill [1].")
    prompt = make_prompt("Summarize this")
    prompt = replace(
        prompt, context=replace(prompt.context, overview=Overview("summary", days="From 4 to 9 May 2026:"))
    )
    assert await answer_text(stub.language(), prompt) == "From 4 to 9 May 2026:\n\nAda runs the mill [1]."


async def test_a_web_page_instead_of_an_answer_points_to_the_address(stub: StubProvider) -> None:
    stub.fail(Fault("page", status=200), times=6)
    with pytest.raises(ModelUnavailable) as answered:
        await answer_text(stub.language())
    with pytest.raises(ModelUnavailable) as rewritten:
        await stub.language().rewrite_query("Who?", (), UsageMeter())
    assert all("THREADLORE_LLM_API_BASE" in each.value.hint for each in (answered, rewritten))


@pytest.mark.parametrize("reply", ["", "<think>only thoughts</think>"])
async def test_an_empty_answer_is_an_error_of_its_text_and_names_a_length_limit(stub: StubProvider, reply: str) -> None:
    stub.reply(reply)
    with pytest.raises(InvalidReply):
        await answer_text(stub.language())
    stub.fail(Fault("length"))
    with pytest.raises(InvalidReply) as caught:
        await answer_text(stub.language())
    assert "THREADLORE_LLM_MAX_OUTPUT_TOKENS" in caught.value.hint
    assert stub.request_count == 2
    stub.reply("She mills.")
    assert await stub.language().summarize([ADA], UsageMeter()) == ["She mills."], "others are not held back"


async def test_known_prices_are_recorded(stub: StubProvider) -> None:
    stub.reply("Ada.")
    language, meter = stub.language("openai/gpt-4o-mini"), UsageMeter()
    await answer_text(language, meter=meter)
    await language.summarize([ADA], meter)
    assert [0 < usage.cost < 0.01 for usage in meter.items] == [True, True]


async def test_a_question_may_choose_its_model(stub: StubProvider) -> None:
    await answer_text(stub.language(), make_prompt(model="openai/other"))
    assert stub.server.bodies()[0]["model"] == "other"


class SlowProvider(LiteLLMProvider):
    """Streams texts, each after some seconds of the clock, and then fails if it is to."""

    def __init__(self, clock: ManualClock, texts: Iterable[str], failure: ModelError | None = None) -> None:
        super().__init__(clock)
        self.time, self.texts, self.failure = clock, texts, failure

    async def preload(self) -> None:
        """Load nothing."""

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        for text in self.texts:
            self.time.advance(5)
            yield StreamDelta(text)
        if self.failure:
            raise self.failure
        yield StreamDelta("", "stop")


@pytest.mark.parametrize("texts", [["The mill ", *["turns "] * 20], ["<think>hm</think>", *["turns ", "<"] * 20]])
async def test_text_that_is_held_back_is_no_thinking(stub: StubProvider, texts: list[str]) -> None:
    client = stub.open_client(SlowProvider(clock := ManualClock(), texts), clock, max_attempts=1, thinking=50.0)
    language = LiteLLMModel(LLMConfig(ModelConfig("ollama_chat/own")), client, len)
    assert (await answer_text(language)).endswith("turns <" if "<" in texts else "turns ")


@pytest.mark.parametrize(("name", "shown"), [("own", "The mill turns "), ("own-thinking", "")])
async def test_a_stream_that_breaks_shows_the_text_that_it_held_back(stub: StubProvider, name: str, shown: str) -> None:
    provider = SlowProvider(clock := ManualClock(), ["The mill ", "turns "], ModelUnavailable("It broke."))
    language = LiteLLMModel(
        LLMConfig(ModelConfig(f"ollama_chat/{name}")), stub.open_client(provider, clock, max_attempts=1), len
    )
    answer = language.answer(make_prompt(), UsageMeter())
    if shown:
        assert await anext(answer) == shown
    with pytest.raises(ModelUnavailable):
        await anext(answer)


@pytest.mark.parametrize("head", ["<think>", "", "  <think> hm "])
async def test_thinking_and_blanks_without_end_are_given_up(stub: StubProvider, head: str) -> None:
    class Endless(LiteLLMProvider):
        async def preload(self) -> None:
            """Load nothing."""

        async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
            yield StreamDelta(head)
            while True:
                await asyncio.sleep(0.01)
                yield StreamDelta(" \n")

    client = stub.open_client(Endless(SYSTEM_CLOCK), max_attempts=1, thinking=0.1)
    with pytest.raises(ModelTimeout, match="thought for more than"):
        async with asyncio.timeout(PATIENCE):
            await answer_text(stub.language(client=client))
