"""What is said below an answer of where it comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.draft import Draft, below
from bot.answers.request import Request
from bot.platform.models import Channel, Place
from tests.bot.answers.test_footer import SOURCE
from tests.support.asking import Asking, asking
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HALL = Place("slack", "T1", "HALL")
OPEN = Channel(HALL, "hall", "open")
TALK = Channel(HALL, "", "direct", frozenset({"ada"}))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "home") as opened:
        await opened.house.store.hints.first("slack", "T1", "model")
        yield opened


def draft(channel: Channel | None, *, private: bool = False, sourced: bool = True, text: str = "So. [1]") -> Draft:
    request = Request("a1", HALL, "ada", "Who?", START, private=private)
    return Draft(request, channel, text=text, sources=(SOURCE,) if sourced else ())


@pytest.mark.parametrize(
    ("made", "note"),
    [
        (draft(OPEN), "Answered from what everyone in #hall can see."),
        (draft(TALK), "Answered from what you can read."),
        (draft(OPEN, private=True), "Only you see this. Answered from what you can read."),
        (draft(None), "Answered from what was said here."),
        (draft(TALK, sourced=False, text=texts.NOTHING_FOUND), "I looked through what you can read."),
    ],
)
async def test_it_says_for_whom_it_was_drawn_up(home: Asking, made: Draft, note: str) -> None:
    assert (await below(home.house, made)).note == note


async def test_below_its_first_quotations_a_workspace_is_told_once_how_a_model_is_set(home: Asking) -> None:
    other = Place("slack", "T2", "HALL")
    made = draft(OPEN)
    made.request = replace(made.request, place=other)
    assert texts.MODEL_HINT not in (await below(home.house, replace(made, sources=()))).note
    assert texts.MODEL_HINT in (await below(home.house, made)).note
    assert texts.MODEL_HINT not in (await below(home.house, made)).note


async def test_where_a_model_is_set_nothing_is_told(home: Asking) -> None:
    house = replace(home.house, settings=home.house.settings.model_copy(update={"model": "openai/some"}))
    made = draft(OPEN)
    made.request = replace(made.request, place=Place("slack", "T2", "HALL"))
    assert texts.MODEL_HINT not in (await below(house, made)).note


async def test_without_sources_it_says_so(home: Asking) -> None:
    assert texts.UNSUPPORTED in (await below(home.house, draft(OPEN, sourced=False))).note


async def test_an_answer_that_says_so_itself_needs_no_more(home: Asking) -> None:
    made = draft(OPEN, sourced=False, text=texts.nothing())
    assert texts.UNSUPPORTED not in (await below(home.house, made)).note


async def test_what_is_public_is_equal_whether_or_not_the_asker_may_read_more(home: Asking) -> None:
    hall = await home.joined("HALL", "ada", "bob")
    cellar = await home.joined("CELLAR", "ada", kind="closed")
    notes = set[str]()
    for person, said in (("ada", False), ("ada", True), ("bob", True)):
        if said and not await home.documents(cellar):
            await home.say(cellar, "ada", "The Key is under the Mat.")
            await home.learnt()
        reply = await home.ask(hall, person, "When do the Tiles come?")
        assert reply.text == texts.NOTHING_FOUND
        assert reply.closing is not None
        notes.add(reply.closing.note)
    assert len(notes) == 1
    assert texts.ask_alone("slack") in notes.pop()


async def test_who_reads_an_answer_alone_is_not_sent_elsewhere(home: Asking) -> None:
    for made in (draft(OPEN, private=True, sourced=False), draft(TALK, sourced=False)):
        assert texts.ask_alone("slack") not in (await below(home.house, made)).note


async def test_what_is_there_to_be_shared_has_sources(home: Asking) -> None:
    made = draft(OPEN, private=True, sourced=False, text=texts.NOTHING_FOUND)
    assert "share" not in {each.action for each in (await below(home.house, made)).buttons}


async def test_only_what_is_read_in_a_channel_can_be_shared_there(home: Asking) -> None:
    shared = (await below(home.house, draft(OPEN, private=True))).buttons
    alone = (await below(home.house, draft(TALK, private=True))).buttons
    assert "share" in {each.action for each in shared}
    assert "share" not in {each.action for each in alone}


async def test_below_a_failure_stands_nothing(home: Asking) -> None:
    made = draft(OPEN)
    made.failed = True
    closing = await below(home.house, made)
    assert (closing.answer, closing.sources, closing.note, closing.buttons) == ("a1", (), "", ())
