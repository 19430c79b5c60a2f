"""The footer of an answer: what it was drawn from, and for whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot import texts
from bot.answers.draft import NO_HISTORY, AnswerDraft, AskedQuestion, FoundEvidence, WrittenText, build_draft_footer
from bot.platform.models import Channel
from bot.store.models import ANSWER_KINDS, CLOSEST_KEY, UNSEARCHED_KEY
from engine.llm.offline.quoting.notices import CLOSEST
from engine.models import Context, SearchQuery
from tests.support.bot_fixture import BotFixture
from tests.support.builders import HALL, make_question, make_source
from tests.support.fake_platform import TRAITS

OPEN = Channel(HALL, "hall", "open")
DIRECT = Channel(HALL, "", "direct", frozenset({"ada"}))
PRIVACY_HINT = texts.ask_privately_hint(TRAITS["slack"])


def draft(
    channel: Channel | None = OPEN, text: str = "So. [1]", *, private: bool = False, sourced: bool = True, **more: Any
) -> AnswerDraft:
    sources = (make_source(),) if sourced else ()
    asked = AskedQuestion(make_question(private=private, **more), channel)
    return AnswerDraft(asked, FoundEvidence(sources=sources), WrittenText(text))


@pytest.mark.parametrize(
    ("made", "notice"),
    [
        (draft(), "Answered from what everyone in #hall can see."),
        (draft(DIRECT), "Answered from what you can read."),
        (draft(private=True), "Only you can see this. Answered from what you can read."),
        (draft(None), "Answered from what was said here."),
        (draft(DIRECT, texts.NOTHING_FOUND, sourced=False), "I looked through what you can read."),
    ],
)
async def test_it_says_for_whom_it_was_written(bot: BotFixture, made: AnswerDraft, notice: str) -> None:
    assert (await build_draft_footer(bot.context, made)).notice == notice


@pytest.mark.parametrize(
    ("made", "text", "present"),
    [
        (draft(sourced=False), texts.NO_SOURCE_FOUND, True),
        (draft(text=texts.nothing_found(), sourced=False), texts.NO_SOURCE_FOUND, False),
        (draft(private=True, sourced=False), PRIVACY_HINT, False),
        (draft(DIRECT, sourced=False), PRIVACY_HINT, False),
    ],
)
async def test_a_missing_source_is_mentioned_once_and_privacy_offered_in_public(
    bot: BotFixture, made: AnswerDraft, text: str, *, present: bool
) -> None:
    assert (text in (await build_draft_footer(bot.context, made)).notice) is present


async def test_a_workspace_is_told_once_how_a_model_is_set_below_its_first_quotations(bot: BotFixture) -> None:
    made = draft(location=replace(HALL, workspace="T2"))
    with_model = bot.with_settings(llm_model="openai/some")
    hinted = [
        texts.MODEL_HINT in (await build_draft_footer(context, each)).notice
        for context, each in (
            (bot.context, replace(made, found=FoundEvidence())),
            (with_model, made),
            (bot.context, made),
            (bot.context, made),
        )
    ]
    assert hinted == [False, False, True, False]


async def test_a_public_notice_does_not_depend_on_what_the_asker_may_read(bot: BotFixture) -> None:
    hall, cellar = await bot.join("HALL", "ada", "bob"), await bot.join("CELLAR", "ada", kind="closed")
    notices = list[str]()
    for person, secret in (("ada", ""), ("ada", "The Key is under the Mat."), ("bob", "")):
        if secret:
            await bot.post_indexed(cellar, "ada", secret)
        reply = await bot.ask(hall, person, "When do the Tiles come?")
        assert reply.text == texts.NOTHING_FOUND
        assert reply.closing is not None
        notices.append(reply.closing.notice)
    assert [PRIVACY_HINT in notice for notice in notices] == [True, False, False]  # the advice comes once a day
    assert notices[1] == notices[2]
    bot.platform.clock.advance(24 * 3600)
    reply = await bot.ask(hall, "bob", "When do the Tiles come?")
    assert reply.closing is not None
    assert PRIVACY_HINT in reply.closing.notice


async def test_the_closest_passages_are_no_answer(bot: BotFixture) -> None:
    made = draft(text=f"{CLOSEST}\n“So.” [1]")
    assert not made.is_supported
    assert CLOSEST_KEY in made.used_source_keys
    footer = await build_draft_footer(bot.context, made)
    assert footer.sources
    assert footer.notice.startswith("I looked through what everyone in #hall can see.")
    assert texts.NO_SOURCE_FOUND not in footer.notice
    assert not {"verify", "correct-answer"} & {button.action for button in footer.buttons}
    assert CLOSEST_KEY not in draft().used_source_keys


def test_an_answer_says_of_itself_what_kind_it_is_and_not_of_those_before_it() -> None:
    context = Context(SearchQuery(""), "bypass")
    made = draft(text="So.")
    history = replace(NO_HISTORY, shown_keys=ANSWER_KINDS | {"roof.md"})
    asked = replace(made.asked, history=history, request=replace(made.request, question_keys=ANSWER_KINDS))
    made = replace(made, asked=asked, found=FoundEvidence(context))
    assert made.used_source_keys & ANSWER_KINDS == {UNSEARCHED_KEY}
    assert made.used_source_keys | made.shown_source_keys == {UNSEARCHED_KEY, "roof.md"}


@pytest.mark.parametrize(
    ("made", "shareable"),
    [
        (draft(private=True), True),
        (draft(DIRECT, private=True), False),
        (draft(text=texts.NOTHING_FOUND, private=True, sourced=False), False),
    ],
    ids=["in a channel", "in a direct message", "without sources"],
)
async def test_a_private_answer_with_sources_can_be_shared_in_its_channel(
    bot: BotFixture, made: AnswerDraft, *, shareable: bool
) -> None:
    buttons = (await build_draft_footer(bot.context, made)).buttons
    assert ("share" in {button.action for button in buttons}) is shareable


async def test_a_failure_can_only_be_tried_again(bot: BotFixture) -> None:
    footer = await build_draft_footer(bot.context, replace(draft(), written=WrittenText("It broke.", failed=True)))
    assert (footer.answer, footer.sources, footer.notice) == ("a1", (), "")
    assert [(button.action, button.value) for button in footer.buttons] == [("again", "a1:0")]
