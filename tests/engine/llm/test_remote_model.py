from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from engine.errors import (
    InvalidReply,
    ModelUnavailable,
    NothingGiven,
    PromptTooLong,
)
from engine.llm.config import ModelConfig
from engine.llm.remote_model import MAX_MIXED_REPLIES, PartlyRuledModel
from engine.models import Excerpt, Extraction, Link, Mention, SummaryInput
from engine.options import ContextWindow
from engine.usage import UsageMeter
from tests.engine.llm.stub_provider import REFUSED, TOO_LONG, StubProvider, answer_text, make_prompt
from tests.support.clock import ManualClock
from tests.support.openai_server import Fault

END = "<|COMPLETE|>"
FACTS = """entity<|#|>Ada<|#|>Person<|#|>Ada runs the mill.
entity<|#|>Mill<|#|>Location<|#|>The mill stands by the river.
relation<|#|>Ada<|#|>Mill<|#|>management<|#|>Ada runs the mill."""
ROWS = f"{FACTS}\n{END}"
MORE = f"entity<|#|>River<|#|>Location<|#|>The river is long.\n{END}"
BREAD_ROWS = "entity<|#|>Bo<|#|>Person<|#|>Bo bakes bread."
EXCERPT, BREAD = Excerpt("Ada runs the mill by the river.", "Town"), Excerpt("Bo bakes bread.", "Town")
ADA, MILL = SummaryInput("Ada", ("She mills.", "She runs it.")), SummaryInput("Mill", ("It is old.", "It stands."))


def excerpts(*parts: str, end: str = END) -> str:
    return "\n".join([*(f"excerpt<|#|>{n}\n{part}" for n, part in enumerate(parts, 1)), end])


def summaries(*rows: str, end: str = END) -> str:
    return "\n".join((*(f"summary<|#|>{row}" for row in rows), end))


def names(found: Sequence[Extraction | None]) -> list[list[str] | None]:
    return [[mention.name for mention in extraction.mentions] if extraction else None for extraction in found]


async def test_an_excerpt_is_read_twice(stub: StubProvider) -> None:
    stub.reply(ROWS, MORE)
    extraction = await stub.language().extract(EXCERPT, meter := UsageMeter())
    assert names([extraction]) == [["Ada", "Mill", "River"]]
    assert extraction.mentions[0] == Mention("Ada", "person", "Ada runs the mill.")
    assert extraction.links == (Link("Ada", "Mill", "management", "Ada runs the mill."),)
    assert [message["role"] for message in stub.messages(1)] == ["system", "user", "assistant", "user"]
    assert stub.messages(1)[:2] == stub.messages(0)
    assert stub.messages(1)[2]["content"] == ROWS
    assert [(usage.purpose, usage.model, usage.calls) for usage in meter.items] == [("extract", "openai/stub", 1)] * 2
    assert all(usage.input_tokens > 0 and usage.output_tokens > 0 for usage in meter.items)


@pytest.mark.parametrize(
    ("config", "length", "calls"),
    [
        pytest.param({"gleaning": "off"}, 9, 1, id="no gleaning"),
        pytest.param({"gleaning_threshold": 4}, 9, 1, id="few facts"),
        pytest.param({"gleaning_threshold": 3}, 9, 2, id="many facts"),
        pytest.param({}, 9_000, 2, id="long"),
        pytest.param({}, 40_000, 1, id="too long"),
    ],
)
async def test_a_second_pass_depends_on_facts_and_length(
    stub: StubProvider, config: dict[str, Any], length: int, calls: int
) -> None:
    stub.reply(ROWS)
    await stub.language(**config).extract(Excerpt("a" * length), UsageMeter())
    assert stub.request_count == calls


@pytest.mark.parametrize(
    ("fault", "tries", "timeouts"),
    [
        (TOO_LONG, 1, {}),
        (REFUSED, 1, {}),
        (Fault(status=401), 1, {}),
        (Fault(status=500), 3, {}),
        (Fault(status=429), 3, {}),
        (Fault("cut"), 3, {}),
        (Fault("silence"), 1, {"timeout": 0.5, "max_attempts": 1}),
    ],
)
async def test_a_failing_second_pass_keeps_the_first(
    stub: StubProvider, fault: Fault, tries: int, timeouts: dict[str, Any]
) -> None:
    def reply(messages: Sequence[Mapping[str, Any]]) -> str:
        if len(messages) == 2:
            stub.fail(fault, tries)
        return ROWS

    stub.server.replier = reply
    extraction = await stub.language(client=stub.open_client(**timeouts)).extract(EXCERPT, UsageMeter())
    assert names([extraction]) == [["Ada", "Mill"]]
    assert stub.request_count == 1 + tries


async def test_a_reply_that_was_cut_off_is_used(stub: StubProvider) -> None:
    stub.reply(ROWS[:140])
    stub.fail(Fault("length"))
    extraction = await stub.language(gleaning="off").extract(EXCERPT, UsageMeter())
    assert [mention.name for mention in extraction.mentions][:1] == ["Ada"]


async def test_facts_are_read_from_json(stub: StubProvider) -> None:
    entity = {"name": "Bo", "type": "Person", "description": "Bo bakes."}
    expected = Extraction((Mention("Bo", "person", "Bo bakes."),))
    stub.reply(json.dumps({"entities": [entity], "relationships": []}))
    assert await stub.language(extraction_format="json").extract(BREAD, UsageMeter()) == expected
    stub.reply(json.dumps({"excerpts": [{"number": 1, "entities": []}, {"number": 2, "entities": [entity]}]}))
    batch = await stub.language(extraction_format="json").extract_batch([EXCERPT, BREAD], UsageMeter())
    assert batch[1] == expected
    assert all(body["response_format"] == {"type": "json_object"} for body in stub.server.bodies())


async def test_excerpts_of_a_shared_call_get_their_own_facts(stub: StubProvider) -> None:
    stub.reply(excerpts(FACTS, BREAD_ROWS))
    found = await stub.language(gleaning_threshold=9).extract_batch([EXCERPT, BREAD], meter := UsageMeter())
    assert names(found) == [["Ada", "Mill"], ["Bo"]]
    assert stub.request_count == len(meter.items) == 1
    first = f'{{"number": 1, "under": "Town", "text": "{EXCERPT.text}"}}'
    assert f'{first}\n{{"number": 2, "text": "{BREAD.text}"}}' in stub.messages(0)[-1]["content"]


async def test_only_an_excerpt_with_many_facts_gets_a_second_pass(stub: StubProvider) -> None:
    stub.reply(excerpts(FACTS, BREAD_ROWS), MORE)
    found = await stub.language(shared_gleaning_threshold=3).extract_batch([EXCERPT, BREAD], UsageMeter())
    assert names(found) == [["Ada", "Mill", "River"], ["Bo"]]
    assert EXCERPT.text in stub.messages(1)[1]["content"]
    assert BREAD.text not in str(stub.messages(1))
    assert stub.messages(1)[2]["content"] == ROWS


async def test_an_excerpt_cut_off_in_a_shared_reply_is_left_out(stub: StubProvider) -> None:
    stub.reply(excerpts(ROWS, "entity<|#|>Bo<|#|>Per", end=""))
    found = await stub.language(gleaning="off").extract_batch([EXCERPT, BREAD], UsageMeter())
    assert names(found) == [["Ada", "Mill"], None]


async def test_a_model_that_keeps_confusing_excerpts_gets_each_alone(stub: StubProvider) -> None:
    stub.reply(excerpts(BREAD_ROWS, ""))
    language = stub.language()
    for _ in range(MAX_MIXED_REPLIES):
        assert language.batch_token_limit > 0
        assert await language.extract_batch([EXCERPT, BREAD], UsageMeter()) == [None, None]
    assert language.batch_token_limit == 0


@pytest.mark.parametrize("fault", [TOO_LONG, REFUSED])
async def test_a_refused_shared_call_harms_none_of_its_items(stub: StubProvider, fault: Fault) -> None:
    stub.reply("A text.")
    stub.fail(fault)
    assert await stub.language().extract_batch([EXCERPT, BREAD], UsageMeter()) == [None, None]
    stub.fail(fault)
    assert await stub.language().summarize([ADA, MILL], UsageMeter()) == ["A text.", "A text."]
    assert stub.request_count == 1 + 3


async def test_a_model_too_slow_for_shared_calls_gets_single_ones_for_some_hours(stub: StubProvider) -> None:
    stub.reply("A text.")
    await stub.language().summarize([ADA], UsageMeter())  # the first call of a process takes longer
    language = stub.language(client=stub.open_client(clock=(clock := ManualClock()), timeout=1.0, max_attempts=1))
    stub.fail(Fault("silence"))
    for _ in range(2):
        assert await language.summarize([ADA, MILL], UsageMeter()) == ["A text.", "A text."]
    assert stub.request_count == 1 + 1 + 2 + 2
    stub.fail(Fault("silence"))
    assert await language.extract_batch([EXCERPT, BREAD], UsageMeter()) == [None, None]
    assert language.batch_token_limit == 0
    clock.advance(3600)
    assert language.batch_token_limit > 0


async def test_names_of_a_shared_call_get_their_own_summaries(stub: StubProvider) -> None:
    stub.reply(summaries("1<|#|>Ada mills.", "2<|#|>The mill is old."))
    assert await stub.language().summarize([ADA, MILL], meter := UsageMeter()) == ["Ada mills.", "The mill is old."]
    assert stub.request_count == len(meter.items) == 1
    mill = '{"number": 2, "name": "Mill", "descriptions": ["It is old.", "It stands."]}'
    assert mill in stub.messages(0)[-1]["content"]


async def test_a_summary_missing_from_a_shared_reply_gets_its_own_call(stub: StubProvider) -> None:
    stub.reply(summaries("1<|#|>Ada mills.", "2<|#|>The mill is o", end=""), "The mill is old.")
    assert await stub.language().summarize([ADA, MILL], UsageMeter()) == ["Ada mills.", "The mill is old."]
    assert stub.request_count == 2
    assert "Name: Mill" in stub.messages(1)[-1]["content"]


async def test_a_summary_that_fails_alone_leaves_the_others(stub: StubProvider) -> None:
    stub.reply(summaries("1<|#|>Ada mills."), "")
    assert await stub.language().summarize([ADA, MILL], UsageMeter()) == ["Ada mills.", None]


async def test_summaries_are_made_by_the_extraction_model(stub: StubProvider) -> None:
    stub.reply("<think>hm</think> Ada \ud83d runs the mill \ud83d\ude00.")
    language = stub.language(extraction_model=stub.model.with_model("small"))
    assert await language.summarize([ADA], meter := UsageMeter()) == ["Ada \ufffd runs the mill 😀."]
    assert stub.server.bodies()[0]["model"] == "small"
    assert [(usage.purpose, usage.model) for usage in meter.items] == [("summarize", "openai/small")]


@pytest.mark.parametrize("reply", ["", "<think>only thoughts</think>"])
async def test_an_empty_summary_or_extraction_is_an_error_of_its_text(stub: StubProvider, reply: str) -> None:
    stub.reply(reply)
    with pytest.raises(InvalidReply):
        await stub.language().summarize([ADA], UsageMeter())
    assert stub.request_count == 2
    with pytest.raises(NothingGiven, match="empty"):
        await stub.language().extract(EXCERPT, UsageMeter())
    assert stub.request_count == 5
    assert await stub.language().extract_batch([EXCERPT, BREAD], UsageMeter()) == [None, None]


async def test_one_text_that_the_server_cannot_summarize_does_not_hold_back_the_others(stub: StubProvider) -> None:
    def reply(messages: Sequence[Mapping[str, Any]]) -> str:
        if any("Bob fails" in str(message) for message in messages):
            raise web.HTTPInternalServerError
        return "She mills."

    stub.server.replier, clock = reply, ManualClock()
    language = stub.language(client=stub.open_client(clock=clock))

    async def summarize() -> list[str | None]:
        clock.advance(600)
        return await language.summarize([ADA, SummaryInput("Bob", ("Bob fails.", "He does."))], UsageMeter())

    with pytest.raises(ModelUnavailable):
        await summarize()
    assert [await summarize() for _ in range(2)] == [["She mills.", None]] * 2
    stub.reply("They mill.")
    assert [await summarize() for _ in range(2)] == [["They mill.", None], ["They mill.", "They mill."]]
    stub.reply(summaries("1<|#|>Ada mills.", "2<|#|>Bob is well."))
    spent = stub.request_count
    assert await summarize() == ["Ada mills.", "Bob is well."]
    assert stub.request_count == spent + 1, "what succeeded shares a call again"


async def test_a_prompt_that_cannot_fit_is_refused_before_it_is_sent(stub: StubProvider) -> None:
    language, long = stub.language(context_window=ContextWindow(4096), gleaning="off"), "word " * 1000
    for call in (
        language.extract(Excerpt(long), UsageMeter()),
        language.rewrite_query(long, (), UsageMeter()),
        language.summarize([SummaryInput("Ada", (long, long))], UsageMeter()),
        answer_text(language, make_prompt(long)),
    ):
        with pytest.raises(PromptTooLong, match="accepts 4,096"):
            await call
    assert await language.extract_batch([Excerpt(long), BREAD], UsageMeter()) == [None, None]
    assert stub.request_count == 0


async def test_shared_calls_are_as_small_as_the_context_requires(stub: StubProvider) -> None:
    assert stub.language().batch_token_limit == 1600
    assert 200 < stub.language(context_window=ContextWindow(2048)).batch_token_limit < 1000


MODEL, OTHER = ModelConfig("openai/a", "http://here", "sk-secret"), ModelConfig("openai/b", "http://here", "sk-secret")
LATER = ModelConfig("openai/c")


async def test_the_name_holds_all_that_replies_depend_on_and_no_key(stub: StubProvider) -> None:
    configs: list[dict[str, Any]] = [
        *({"answer_model": model} for model in (MODEL, OTHER, replace(MODEL, api_base="http://there"))),
        {"answer_model": replace(MODEL, temperature=0.5)},
        *({"answer_model": MODEL, **more} for more in ({"extraction_model": OTHER}, {"query_model": OTHER})),
        *({"answer_model": MODEL, **more} for more in ({"extraction_format": "json"}, {"gleaning": "off"})),
    ]
    names = {stub.language(**config).name for config in configs}
    assert len(names) == len(configs)
    assert not any("sk-secret" in name for name in names)
    assert stub.language(answer_model=replace(MODEL, api_key="sk-other")).name in names


async def test_an_extraction_key_holds_all_that_the_extraction_depends_on(stub: StubProvider) -> None:
    base = stub.language(answer_model=MODEL)
    configs: list[dict[str, Any]] = [{"extraction_format": "json"}, {"gleaning": "off"}, {"answer_model": OTHER}]
    configs += [{"description_language": "German"}, {"entity_types": ("Ship",)}]
    keys = {stub.language(**{"answer_model": MODEL, **config}).extraction_key(EXCERPT) for config in configs}
    keys |= {base.extraction_key(each) for each in (EXCERPT, Excerpt(EXCERPT.text + " "), Excerpt(EXCERPT.text))}
    assert len(keys) == len(configs) + 3
    same = stub.language(answer_model=OTHER, extraction_model=MODEL, query_model=LATER)
    assert same.extraction_key(EXCERPT) == base.extraction_key(EXCERPT)
    assert len(base.extraction_key(EXCERPT)) == 32


async def test_cached_summaries_depend_on_the_model_that_summarizes_alone(stub: StubProvider) -> None:
    base = stub.language(answer_model=MODEL, extraction_model=LATER)
    configs: list[dict[str, Any]] = [{"answer_model": OTHER}, {"query_model": OTHER}, {"extraction_format": "json"}]
    for config in configs:
        other = stub.language(**{"answer_model": MODEL, "extraction_model": LATER, **config})
        assert other.name != base.name
        assert other.summary_model == base.summary_model
    assert stub.language(answer_model=MODEL, extraction_model=OTHER).summary_model != base.summary_model


async def test_rules_read_conversations_and_the_model_the_other_texts(stub: StubProvider) -> None:
    stub.reply(ROWS)
    config = replace(stub.language().config, rules_extract="conversations", gleaning="off")
    language, talk = PartlyRuledModel(config, stub.client, len), replace(EXCERPT, is_conversation=True)
    assert "Ada" in [mention.name for mention in (await language.extract(talk, UsageMeter())).mentions]
    assert stub.request_count == 0
    assert names([await language.extract(EXCERPT, UsageMeter())]) == [["Ada", "Mill"]]
    assert stub.request_count == 1
    assert language.extraction_key(talk) != language.extraction_key(EXCERPT)
    assert language.extraction_key(EXCERPT) == stub.language(gleaning="off").extraction_key(EXCERPT)
    assert language.name != stub.language(gleaning="off").name


async def test_a_shared_call_has_no_text_that_rules_read(stub: StubProvider) -> None:
    stub.reply(excerpts(FACTS, BREAD_ROWS))
    config = replace(stub.language().config, rules_extract="conversations", gleaning="off")
    language, talk = PartlyRuledModel(config, stub.client, len), replace(EXCERPT, is_conversation=True)
    found = await language.extract_batch([EXCERPT, talk, BREAD], UsageMeter())
    assert names(found) == [["Ada", "Mill"], None, ["Bo"]]
    assert await language.extract_batch([talk, BREAD], UsageMeter()) == [None, None]
    assert stub.request_count == 1
    everything = PartlyRuledModel(replace(config, rules_extract="everything"), stub.client, len)
    assert not everything.batch_token_limit
    await everything.extract(EXCERPT, UsageMeter())
    assert stub.request_count == 1
