"""What is said below an answer of where it comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.draft import AnswerDraft, build_draft_footer
from bot.answers.request import AnswerRequest
from bot.platform.models import Channel, Location
from tests.bot.answers.test_footer import SOURCE
from tests.support.answering_fixture import AnsweringFixture, open_answering_bot
from tests.support.fake_platform import START, TRAITS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HALL = Location("slack", "T1", "HALL")
OPEN = Channel(HALL, "hall", "open")
TALK = Channel(HALL, "", "direct", frozenset({"ada"}))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home") as opened:
        await opened.context.store.hints.record_if_new("slack", "T1", "model")
        yield opened


def draft(
    channel: Channel | None, *, private: bool = False, sourced: bool = True, text: str = "So. [1]"
) -> AnswerDraft:
    request = AnswerRequest("a1", HALL, "ada", "Who?", START, private=private)
    return AnswerDraft(request, channel, text=text, sources=(SOURCE,) if sourced else ())


@pytest.mark.parametrize(
    ("made", "note"),
    [
        (draft(OPEN), "Answered from what everyone in #hall can see."),
        (draft(TALK), "Answered from what you can read."),
        (draft(OPEN, private=True), "Only you can see this. Answered from what you can read."),
        (draft(None), "Answered from what was said here."),
        (draft(TALK, sourced=False, text=texts.NOTHING_FOUND), "I looked through what you can read."),
    ],
)
async def test_it_says_for_whom_it_was_drawn_up(home: AnsweringFixture, made: AnswerDraft, note: str) -> None:
    assert (await build_draft_footer(home.context, made)).notice == note


async def test_below_its_first_quotations_a_workspace_is_told_once_how_a_model_is_set(home: AnsweringFixture) -> None:
    other = Location("slack", "T2", "HALL")
    made = draft(OPEN)
    made.request = replace(made.request, location=other)
    assert texts.MODEL_HINT not in (await build_draft_footer(home.context, replace(made, sources=()))).notice
    assert texts.MODEL_HINT in (await build_draft_footer(home.context, made)).notice
    assert texts.MODEL_HINT not in (await build_draft_footer(home.context, made)).notice


async def test_where_a_model_is_set_nothing_is_told(home: AnsweringFixture) -> None:
    house = replace(home.context, settings=home.context.settings.model_copy(update={"llm_model": "openai/some"}))
    made = draft(OPEN)
    made.request = replace(made.request, location=Location("slack", "T2", "HALL"))
    assert texts.MODEL_HINT not in (await build_draft_footer(house, made)).notice


async def test_without_sources_it_says_so(home: AnsweringFixture) -> None:
    assert texts.NO_SOURCE_FOUND in (await build_draft_footer(home.context, draft(OPEN, sourced=False))).notice


async def test_an_answer_that_says_so_itself_needs_no_more(home: AnsweringFixture) -> None:
    made = draft(OPEN, sourced=False, text=texts.nothing_found())
    assert texts.NO_SOURCE_FOUND not in (await build_draft_footer(home.context, made)).notice


async def test_what_is_public_is_equal_whether_or_not_the_asker_may_read_more(home: AnsweringFixture) -> None:
    hall = await home.join_channel("HALL", "ada", "bob")
    cellar = await home.join_channel("CELLAR", "ada", kind="closed")
    notes = set[str]()
    for person, said in (("ada", False), ("ada", True), ("bob", True)):
        if said and not await home.list_documents(cellar):
            await home.post(cellar, "ada", "The Key is under the Mat.")
            await home.wait_until_indexed()
        reply = await home.ask(hall, person, "When do the Tiles come?")
        assert reply.text == texts.NOTHING_FOUND
        assert reply.closing is not None
        notes.add(reply.closing.notice)
    assert len(notes) == 1
    assert texts.ask_privately_hint(TRAITS["slack"]) in notes.pop()


async def test_who_reads_an_answer_alone_is_not_sent_elsewhere(home: AnsweringFixture) -> None:
    for made in (draft(OPEN, private=True, sourced=False), draft(TALK, sourced=False)):
        assert texts.ask_privately_hint(TRAITS["slack"]) not in (await build_draft_footer(home.context, made)).notice


async def test_what_is_there_to_be_shared_has_sources(home: AnsweringFixture) -> None:
    made = draft(OPEN, private=True, sourced=False, text=texts.NOTHING_FOUND)
    assert "share" not in {each.action for each in (await build_draft_footer(home.context, made)).buttons}


async def test_only_what_is_read_in_a_channel_can_be_shared_there(home: AnsweringFixture) -> None:
    shared = (await build_draft_footer(home.context, draft(OPEN, private=True))).buttons
    alone = (await build_draft_footer(home.context, draft(TALK, private=True))).buttons
    assert "share" in {each.action for each in shared}
    assert "share" not in {each.action for each in alone}


async def test_below_a_failure_stands_nothing(home: AnsweringFixture) -> None:
    made = draft(OPEN)
    made.failed = True
    closing = await build_draft_footer(home.context, made)
    assert (closing.answer, closing.sources, closing.notice, closing.buttons) == ("a1", (), "", ())
