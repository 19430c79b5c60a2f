"""Answers of models that write badly: half characters, nothing visible, far too much."""

from __future__ import annotations

import asyncio
import time

import pytest

from engine.answers.answer_stream import AnswerFilter
from engine.answers.citations import CitationFilter
from engine.engine import Engine
from engine.errors import ModelUnavailable
from engine.models import Question
from engine.options import LONG_ANSWER, ContextWindow, EngineOptions
from tests.support.engine_fixture import HERE, doc
from tests.support.indexed_engine import OpenIndexed
from tests.support.scripted_language import ScriptedLanguage

FERRY = Question("What does the Ferry cost?", HERE)


async def open_ferry(
    indexed: OpenIndexed, *reply: str, options: EngineOptions | None = None
) -> tuple[Engine, ScriptedLanguage]:
    language = ScriptedLanguage(*reply)
    return await indexed(doc("ferry", "The Ferry costs four crowns."), language=language, options=options), language


async def pieces_of(engine: Engine) -> list[str]:
    return [piece async for piece in await engine.ask(FERRY)]


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        (["Four \ud800crowns [1]."], "Four \ufffdcrowns [1]."),
        (["Four crowns \ud83d", "\ude00 [1]."], "Four crowns 😀 [1]."),
        (["Four crowns \ud83d", "", "\ude00 [1]."], "Four crowns 😀 [1]."),
        (["Four \udfff", "crowns\ud83d", "\ud83d\ude00 [1]."], "Four \ufffdcrowns\ufffd😀 [1]."),
        (["Four crowns [1].\ud83d"], "Four crowns [1].\ufffd"),
        *(([text], text) for text in ("?", "👍")),
    ],
)
async def test_half_characters_are_joined_or_replaced_and_the_rest_is_shown(
    indexed: OpenIndexed, deltas: list[str], text: str
) -> None:
    engine, _ = await open_ferry(indexed, *deltas)
    for _ in range(2):  # the second answer comes from the cache
        pieces = await pieces_of(engine)
        assert "".join(pieces) == text
        for piece in pieces:
            piece.encode()


INVISIBLE = [[" \n "], ["\u200b", "\u2060\ufeff"], ["\u00ad\u200e\u3164\u2800"], ["```", "```"], ["```\n\n```\n"]]
INVISIBLE += [["```te", "xt\n", "\n``", "`"], ["```python\n```"], ["~~~\n~~~"], ["[99]"]]


@pytest.mark.share(3)
@pytest.mark.parametrize("deltas", INVISIBLE, ids=ascii)
async def test_a_reply_without_visible_text_is_no_answer(indexed: OpenIndexed, deltas: list[str]) -> None:
    engine, language = await open_ferry(indexed, *deltas)
    shown = list[str]()
    for calls in (1, 2):
        answer = await engine.ask(FERRY)
        with pytest.raises(ModelUnavailable, match="returned an empty reply"):
            shown += [piece async for piece in answer]
        assert (shown, language.calls["answer"]) == ([], calls)


async def test_blanks_come_together_with_the_text_after_them(indexed: OpenIndexed) -> None:
    engine, _ = await open_ferry(indexed, "\n", "\u200b", "Four", " crowns.")
    assert await pieces_of(engine) == ["\n\u200bFour ", "crowns."]


@pytest.mark.long
@pytest.mark.parametrize("delta", ["word " * 100, "word " * 30_000])
async def test_an_answer_without_end_is_cut_off_and_not_cached(indexed: OpenIndexed, delta: str) -> None:
    engine, language = await open_ferry(indexed, *[delta] * (200_000 // len(delta) + 1))
    for calls in (1, 2):
        answer = await engine.ask(FERRY)
        assert not answer.is_truncated
        assert LONG_ANSWER - 200 < len(await answer.collect_text()) <= LONG_ANSWER
        assert answer.is_truncated
        assert language.calls["answer"] == language.finished_count == calls


@pytest.mark.parametrize(
    ("window", "longest"),
    [
        (ContextWindow(), LONG_ANSWER),
        (ContextWindow(128_000), LONG_ANSWER),
        (ContextWindow(4096), 8192),
        (ContextWindow(128_000, 500), 4000),
        (ContextWindow(128_000, 500, 4000), 32_000),
        (ContextWindow(reply=20), 1000),
        (ContextWindow(reply=50_000), 100_000),
    ],
)
def test_an_answer_may_be_as_long_as_its_share_of_the_context(window: ContextWindow, longest: int) -> None:
    assert window.max_answer_characters == longest


async def test_an_answer_obeys_the_length_limit_of_its_engine(indexed: OpenIndexed) -> None:
    options = EngineOptions(context_window=ContextWindow(reply=20))
    engine, _ = await open_ferry(indexed, *["word "] * 2_000, options=options)
    answer = await engine.ask(FERRY)
    assert 800 < len(await answer.collect_text()) <= 1000
    assert answer.is_truncated


async def test_an_answer_of_the_maximum_length_is_whole(indexed: OpenIndexed) -> None:
    engine, _ = await open_ferry(indexed, "x" * (LONG_ANSWER - 5), " end.")
    answer = await engine.ask(FERRY)
    assert (await answer.collect_text()).endswith("x end.")
    assert not answer.is_truncated


async def filter_delta(delta: str) -> str:
    """An answer that comes in one delta, as it is shown."""
    filter_ = AnswerFilter(CitationFilter({1}, ["The Ferry costs four crowns."], "?"), 50_000)
    shown = [piece async for piece in filter_.feed(delta)]
    return "".join(shown + [piece async for piece in filter_.close()])


@pytest.mark.share(3)
@pytest.mark.parametrize("text", ["x" * 38_000, "word [1] " * 4_000, "```\n" + "x [1]\n" * 6_000 + "```"])
async def test_other_tasks_run_while_a_long_delta_is_filtered(text: str) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    other = asyncio.create_task(count_turns())
    assert await filter_delta(text)
    other.cancel()
    assert turns >= len(text) // 2_000 - 3


async def test_a_long_delta_is_filtered_in_linear_time() -> None:
    async def seconds(length: int) -> float:
        spent = []
        for _ in range(4):
            started = time.process_time()
            await filter_delta("x" * length)
            spent.append(time.process_time() - started)
        return min(spent)

    assert await seconds(38_000) < 9 * await seconds(9_500)  # four times as long; sixteen if it were quadratic


async def test_an_object_of_json_that_a_model_gave_as_its_answer_is_shown() -> None:
    assert await filter_delta('{"type": "text", "text": "Hi"}') == '{"type": "text", "text": "Hi"}'
