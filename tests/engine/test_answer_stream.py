"""Answers of models that write badly: half characters, nothing to be seen, far too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.errors import Unavailable
from engine.records import Question
from tests.fakes.answering import Scripted
from tests.fakes.engines import HERE, doc, light_engine

if TYPE_CHECKING:
    from pathlib import Path

FERRY = Question("What does the Ferry cost?", HERE)


async def answered(home: Path, language: Scripted, times: int = 1) -> list[str]:
    """The pieces of the last answer to the same question."""
    async with light_engine(home, language) as engine:
        await engine.add(doc("ferry", "The Ferry costs four crowns."))
        await engine.settled()
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
    pieces = await answered(tmp_path, Scripted(*deltas), times)
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
    language = Scripted(*deltas)
    shown = []
    async with light_engine(tmp_path, language) as engine:
        await engine.add(doc("ferry", "The Ferry costs four crowns."))
        await engine.settled()
        for calls in (1, 2):
            answer = await engine.ask(FERRY)
            with pytest.raises(Unavailable, match="replied with nothing"):
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
    assert "".join(await answered(tmp_path, Scripted(*deltas))) == "".join(deltas)


async def test_blanks_come_together_with_what_follows_them(tmp_path: Path) -> None:
    assert await answered(tmp_path, Scripted("\n", "\u200b", "Four", " crowns.")) == ["\n\u200bFour ", "crowns."]
