"""Streams of a provider that sends strange pieces, and one whose thoughts take long."""

from __future__ import annotations

import asyncio
from itertools import count, cycle
from typing import TYPE_CHECKING

import pytest

from engine.errors import LanguageError, TooSlow
from engine.llm.client.client import Ask, Calls
from engine.llm.client.litellm import Direct
from engine.llm.client.protocol import Piece
from engine.llm.config import ModelSettings, Patience
from engine.models import Message
from engine.usage import Bill

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from engine.llm.client.protocol import Parameters

ASK = Ask(ModelSettings("openai/stub"), "answer", [Message("user", "Who?")])
BRIEF = Patience(timeout=0.2, silence=0.2, attempts=1)
THOUGHTLESS = Patience(timeout=2.0, silence=2.0, attempts=1, thinking=0.3)


class Pieces(Direct):
    """A provider that streams these pieces, with a short pause before each."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        super().__init__()
        self.pieces = pieces

    async def ready(self) -> None:
        """Nothing is loaded."""

    async def stream(self, parameters: Parameters) -> AsyncGenerator[Piece]:
        del parameters
        for piece in self.pieces:
            await asyncio.sleep(0.01)
            yield piece


async def heard(pieces: Iterable[Piece], bill: Bill | None = None, patience: Patience = BRIEF) -> str:
    """The text of a stream, within a few seconds."""
    async with asyncio.timeout(5):
        return "".join([text async for text in Calls(2, patience, Pieces(pieces)).stream(ASK, bill or Bill())])


async def test_pieces_without_anything_in_them_are_no_sign_of_life() -> None:
    with pytest.raises(TooSlow):
        await heard(cycle([Piece()]))


async def test_pieces_without_anything_in_them_are_none_after_the_first_text_either() -> None:
    with pytest.raises(LanguageError):
        await heard(Piece("Ada") if number == 0 else Piece() for number in count())


async def test_thoughts_are_a_sign_of_life() -> None:
    thoughts = [Piece(thought=True)] * 40
    assert await heard([*thoughts, Piece("Ada")]) == "Ada"


async def test_thoughts_without_end_are_given_up() -> None:
    with pytest.raises(TooSlow, match="thought for more than") as caught:
        await heard(cycle([Piece(thought=True)]), patience=THOUGHTLESS)
    assert "THREADLORE_THINKING" in caught.value.hint


async def test_thoughts_between_texts_are_counted_together() -> None:
    with pytest.raises(TooSlow):
        await heard(cycle([Piece("Ada "), Piece(thought=True)]), patience=THOUGHTLESS)


async def test_a_long_answer_between_thoughts_is_no_thinking() -> None:
    pieces = [Piece(thought=True), *[Piece("Ada ")] * 60, Piece(thought=True), Piece("Bob")]
    assert (await heard(pieces, patience=THOUGHTLESS)).endswith("Bob")


@pytest.mark.parametrize(("finish", "filtered"), [("content_filter", True), ("length", False)])
async def test_a_filter_that_ends_a_reply_is_on_the_bill(finish: str, *, filtered: bool) -> None:
    assert await heard([Piece("Ada"), Piece(finish=finish)], bill := Bill()) == "Ada"
    assert [(usage.cut_off, usage.filtered) for usage in bill.items] == [(True, filtered)]
