from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from engine.answers.query_rewriter import QueryRewriter
from engine.errors import InvalidReply, NothingGiven
from engine.llm.replies.texts import join_parts
from engine.models import Question, SummaryInput
from engine.usage import UsageMeter
from tests.engine.llm.stub_provider import StubProvider
from tests.support.clock import ManualClock
from tests.support.engine_fixture import HERE
from tests.support.openai_server import Fault

ASKED = Question("Who tends it?", HERE)
WEIR = SummaryInput("Weir", ("It is old.", "It leaks."))
QUERY = '{"question": "Who tends the weir?", "high_level_keywords": [], "low_level_keywords": ["weir"]}'
NO_TEXTS = ["Please provide the descriptions.", "I'm sorry, but I can't help with that.", "null", "<tool_call>x"]


@pytest.mark.parametrize("nothing", NO_TEXTS)
async def test_a_summary_that_gives_nothing_is_asked_for_again(stub: StubProvider, nothing: str) -> None:
    stub.reply(nothing, "The weir is old and leaks.")
    assert await stub.language().summarize([WEIR], UsageMeter()) == ["The weir is old and leaks."]
    stub.reply(nothing)
    with pytest.raises(NothingGiven, match="gave nothing"):
        await stub.language().summarize([WEIR], UsageMeter())


async def test_a_summary_that_was_cut_off_is_continued(stub: StubProvider) -> None:
    stub.reply("The weir is old and", "is old and leaks.")
    stub.fail(Fault("length"))
    assert await stub.language().summarize([WEIR], UsageMeter()) == ["The weir is old and leaks."]
    stub.server.outage = Fault("length")
    with pytest.raises(InvalidReply, match="did not come to the end"):
        await stub.language().summarize([WEIR], UsageMeter())


async def test_a_summary_in_an_object_is_its_text(stub: StubProvider) -> None:
    stub.reply('```json\n{"entity": "Weir", "summary": "It is old."}\n```', '{"weir": "old"}')
    assert await stub.language().summarize([WEIR], UsageMeter()) == ["It is old."]
    assert await stub.language().summarize([WEIR], UsageMeter()) == ['{"weir": "old"}']


async def test_a_question_that_was_not_rewritten_is_sent_again_once(stub: StubProvider) -> None:
    stub.reply("Sure, here are keywords!", QUERY)
    query = await stub.language().rewrite_query("Who tends it?", (), UsageMeter())
    assert (query.question, query.low) == ("Who tends the weir?", ("weir",))


@pytest.mark.parametrize("nothing", ["Sure, here are keywords!", '{"question": "", "low_level_keywords": []}', "{}"])
async def test_a_question_that_is_not_rewritten_twice_is_named_and_searched_as_it_is(
    stub: StubProvider, nothing: str
) -> None:
    stub.reply(nothing)
    with pytest.raises(NothingGiven, match="gave nothing"):
        await stub.language().rewrite_query("Who tends it?", (), UsageMeter())
    assert stub.request_count == 2
    with capture_logs() as lines:
        query = await QueryRewriter(stub.language(), ManualClock()).build_query(ASKED, UsageMeter())
    assert "nothing given: " in str(lines)
    assert "keywords" not in str(lines)
    assert (query.question, query.low, query.unrewritten) == ("Who tends it?", ("Who tends it?",), True)


async def test_half_a_question_is_asked_for_again(stub: StubProvider) -> None:
    stub.fail(Fault("length"))
    stub.reply('{"question": "Who ten', QUERY)
    query = await stub.language().rewrite_query("Who tends it?", (), UsageMeter())
    assert (query.question, stub.request_count) == ("Who tends the weir?", 2)
    stub.fail(Fault("length"))
    stub.reply(QUERY)
    assert (await stub.language().rewrite_query("Who tends it?", (), UsageMeter())).low == ("weir",)
    assert stub.request_count == 3


async def test_an_overheard_message_that_is_not_judged_is_ignored(stub: StubProvider) -> None:
    stub.reply("Sure, here are keywords!")
    with capture_logs() as lines:
        assert await stub.language().rewrite_unaddressed_query("Who tends it?", (), UsageMeter()) is None
    assert [line["error"] for line in lines] == ["nothing given: rowless"]


def test_a_continuation_repeats_nothing() -> None:
    assert join_parts("one two three four", "two three four five") == "one two three four five"
    assert join_parts("one ", "two") == "one two"
