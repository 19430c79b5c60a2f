"""Answers of models that write badly: half characters, nothing to be seen, far too much."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from engine.answers.answer_stream import AnswerFilter
from engine.answers.citations import CitationFilter
from engine.errors import ModelUnavailable
from engine.models import Question
from engine.options import LONG_ANSWER, ContextWindow, EngineOptions
from tests.support.engine_fixture import HERE, doc, open_memory_engine
from tests.support.scripted_language import ScriptedLanguage

if TYPE_CHECKING:
    from pathlib import Path

FERRY = Question("What does the Ferry cost?", HERE)


async def answered(home: Path, language: ScriptedLanguage, times: int = 1) -> list[str]:
    """The pieces of the last answer to the same question."""
    async with open_memory_engine(home, language) as engine:
        await engine.add(doc("ferry", "The Ferry costs four crowns."))
        await engine.wait_until_indexed()
        for _ in range(times):
            pieces = [piece async for piece in await engine.ask(FERRY)]
    return pieces


@pytest.mark.parametrize(
    ("deltas", "said"),
    [
        (("Four \ud800crowns [1].",), "Four \ufffdcrowns [1]."),
        (("Four crowns \ud83d", "\ude00 [1]."), "Four crowns 😀 [1]."),
        (("Four crowns \ud83d", "", "\ude00 [1]."), "Four crowns 😀 [1]."),
        (("Four \udfff", "crowns\ud83d", "\ud83d\ude00 [1]."), "Four \ufffdcrowns\ufffd😀 [1]."),
        (("Four crowns [1].\ud83d",), "Four crowns [1].\ufffd"),
    ],
)
@pytest.mark.parametrize("times", [1, 2])
async def test_half_characters_are_joined_or_replaced(
    tmp_path: Path, deltas: tuple[str, ...], said: str, times: int
) -> None:
    pieces = await answered(tmp_path, ScriptedLanguage(*deltas), times)
    assert "".join(pieces) == said
    for piece in pieces:
        piece.encode()


@pytest.mark.parametrize(
    "deltas",
    [
        (" \n ",),
        ("\u200b", "\u2060\ufeff"),
        ("\u00ad\u200e\u3164\u2800",),
        ("```", "```"),
        ("```\n\n```\n",),
        ("```te", "xt\n", "\n``", "`"),
        ("```python\n```",),
        ("~~~\n~~~",),
        ("[99]",),
    ],
)
async def test_a_reply_in_which_nothing_can_be_seen_is_no_answer(tmp_path: Path, deltas: tuple[str, ...]) -> None:
    language = ScriptedLanguage(*deltas)
    shown = []
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("ferry", "The Ferry costs four crowns."))
        await engine.wait_until_indexed()
        for calls in (1, 2):
            answer = await engine.ask(FERRY)
            with pytest.raises(ModelUnavailable, match="returned an empty reply"):
                shown += [piece async for piece in answer]
            assert language.calls["answer"] == calls
    assert not shown


@pytest.mark.parametrize(
    "deltas",
    [
        ("?",),
        ("👍",),
        ("\n", "``", "`\n", "x = 1\n```"),
        ("```", "python", "\nx", "\n```"),
        ("`", "a", "`"),
        ("```a b",),
    ],
)
async def test_what_can_be_seen_is_an_answer_with_all_that_stands_before_it(
    tmp_path: Path, deltas: tuple[str, ...]
) -> None:
    assert "".join(await answered(tmp_path, ScriptedLanguage(*deltas))) == "".join(deltas)


async def test_blanks_come_together_with_what_follows_them(tmp_path: Path) -> None:
    assert await answered(tmp_path, ScriptedLanguage("\n", "\u200b", "Four", " crowns.")) == [
        "\n\u200bFour ",
        "crowns.",
    ]


@pytest.mark.parametrize("delta", ["word " * 100, "word " * 30_000])
async def test_an_answer_that_never_ends_is_cut_off(tmp_path: Path, delta: str) -> None:
    language = ScriptedLanguage(*[delta] * (200_000 // len(delta) + 1))
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("ferry", "The Ferry costs four crowns."))
        await engine.wait_until_indexed()
        for calls in (1, 2):  # it is not remembered
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
async def test_an_answer_may_be_as_long_as_its_share_of_the_context(
    tmp_path: Path, window: ContextWindow, longest: int
) -> None:
    async with open_memory_engine(
        tmp_path, ScriptedLanguage(*["word "] * 25_000), options=EngineOptions(context_window=window)
    ) as engine:
        await engine.add(doc("ferry", "The Ferry costs four crowns."))
        await engine.wait_until_indexed()
        answer = await engine.ask(FERRY)
        assert longest - 200 < len(await answer.collect_text()) <= longest
        assert answer.is_truncated


async def test_an_answer_of_the_greatest_length_is_whole(tmp_path: Path) -> None:
    language = ScriptedLanguage("x" * (LONG_ANSWER - 5), " end.")
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("ferry", "The Ferry costs four crowns."))
        await engine.wait_until_indexed()
        answer = await engine.ask(FERRY)
        assert (await answer.collect_text()).endswith("x end.")
        assert not answer.is_truncated


async def shown(delta: str) -> str:
    """What is shown of an answer in one delta."""
    text = AnswerFilter(CitationFilter({1}, ["The Ferry costs four crowns."], "?"), 50_000)
    said = "".join([piece async for piece in text.feed(delta)])
    return said + "".join([piece async for piece in text.close()])


@pytest.mark.parametrize("text", ["x" * 38_000, "word [1] " * 4_000, "```\n" + "x [1]\n" * 6_000 + "```"])
async def test_others_get_their_turn_while_a_reply_in_one_delta_is_cited(text: str) -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    working = asyncio.create_task(others())
    assert await shown(text)
    working.cancel()
    assert turns >= len(text) // 2_000 - 3


async def test_a_reply_in_one_delta_takes_no_more_than_its_length() -> None:
    async def seconds(length: int) -> float:
        taken = []
        for _ in range(4):
            begun = time.process_time()
            await shown("x" * length)
            taken.append(time.process_time() - begun)
        return min(taken)

    assert await seconds(38_000) < 9 * await seconds(9_500)  # four times as long; sixteen if it were quadratic
