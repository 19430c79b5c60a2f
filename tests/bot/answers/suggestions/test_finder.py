"""Suggestions are shown below complete answers, found before within what the answer rests on, and kept with it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from bot.answers.question import request_from_message
from bot.answers.suggestions import finder
from bot.i18n import use_language
from bot.platform.models import SUGGESTION_ACTION, Button, Location
from engine import Context, Engine, Question
from engine.errors import ModelUnavailable
from engine.models import SearchQuery
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import ROOF
from tests.support.echo_language import EchoLanguage
from tests.support.fake_platform import RecordedReply

RULES = b"""# Harbour Rules

## Fees

A night at the pontoon costs fourteen euros for a boat of up to eight metres, and more for a longer one.

## Lost things

What is left on the pontoon goes to the office, where it is kept for thirty days before the museum gets it.

## Opening hours

The office opens at nine and closes at five, except on Sundays, when the harbour master is out on the water.
"""
ASKED = "What are the fees for a night at the pontoon?"
ANSWER = "A night at the pontoon costs fourteen euros [1]."
QUESTIONS = [f"What about “{heading}” in “Harbour Rules”?" for heading in ("Lost things", "Opening hours")]


@pytest.fixture(autouse=True)
async def _rules(bot: BotFixture, roof: Location) -> None:
    bot.language.reply = (ANSWER,)
    await bot.ingest_service.files.ingest_and_confirm(bot.share(roof, bot.platform.add_file("rules.md", RULES)))
    await bot.engine.wait_until_indexed()


def suggested(reply: RecordedReply) -> list[Button]:
    assert reply.closing is not None
    return [button for button in reply.closing.buttons if button.action == SUGGESTION_ACTION]


async def test_an_answer_suggests_two_questions_and_rests_on_what_they_find(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    stored = await bot.stored(reply)
    assert [each.label for each in suggested(reply)] == list(stored.suggestions) == QUESTIONS
    assert [each.value for each in suggested(reply)] == [f"{stored.id}:0:0", f"{stored.id}:0:1"]
    assert len(bot.language.prompts) == 1  # they cost no call of a model


async def test_they_are_in_the_language_of_the_answer(bot: BotFixture) -> None:
    await bot.save_settings(ROOF, language="German")
    with use_language("de"):
        labels = [each.label for each in suggested(await bot.ask(ROOF, "bob", ASKED))]
    assert labels == [
        "Was steht unter „Lost things“ in „Harbour Rules“?",
        "Was steht unter „Opening hours“ in „Harbour Rules“?",
    ]


@pytest.mark.parametrize("asked", [f"in:#roof {ASKED}", f"{ASKED} has:file", "Summarize this channel"])
async def test_narrowed_questions_and_overviews_get_none(bot: BotFixture, asked: str) -> None:
    assert suggested(await bot.ask(ROOF, "bob", asked)) == []


@pytest.mark.parametrize("reply", ["I do not know.", ""])
async def test_an_answer_without_sources_gets_none(bot: BotFixture, reply: str) -> None:
    bot.language.reply = (reply,)
    assert suggested(await bot.ask(ROOF, "bob", ASKED)) == []


async def test_a_failed_answer_and_an_overheard_question_get_none(bot: BotFixture) -> None:
    overheard = request_from_message(bot.platform.add_message(ROOF, "bob", ASKED), overheard=True)
    assert await bot.answer_service.answer(overheard)
    assert suggested(bot.last_reply) == []
    bot.language.reply = (ModelUnavailable("Away."),)
    assert suggested(await bot.ask(ROOF, "bob", f"Again: {ASKED}")) == []


async def test_a_question_that_was_asked_before_is_not_suggested(bot: BotFixture) -> None:
    bot.language.reply = ("It goes to the office [1].",)
    assert QUESTIONS[0] not in [each.label for each in suggested(await bot.ask(ROOF, "bob", QUESTIONS[0]))]


async def test_a_channel_can_have_none(bot: BotFixture) -> None:
    await bot.save_settings(ROOF, suggestions="off")
    assert suggested(await bot.ask(ROOF, "bob", ASKED)) == []


@with_settings(suggestions=False)
async def test_they_can_be_off_by_default_and_on_in_a_channel(bot: BotFixture) -> None:
    assert suggested(await bot.ask(ROOF, "bob", ASKED)) == []
    await bot.save_settings(ROOF, suggestions="on")
    assert len(suggested(await bot.ask(ROOF, "bob", ASKED))) == 2


def _retrieve(change: Callable[[Context], Context] | Exception) -> Callable[..., Coroutine[Any, Any, Context]]:
    original = Engine.retrieve

    async def retrieve(engine: Engine, question: Question) -> Context:
        if isinstance(change, Exception):
            raise change
        return change(await original(engine, question))

    return retrieve


@pytest.mark.parametrize(
    "change",
    [
        ModelUnavailable("Away."),
        lambda found: replace(found, sources=()),
        lambda found: replace(found, sources=tuple(replace(source, room="slack:T1:WAGES") for source in found.sources)),
    ],
    ids=["failure", "nothing", "another room"],
)
async def test_what_does_not_find_anything_for_the_readers_is_not_shown(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    monkeypatch.setattr(Engine, "retrieve", _retrieve(change))
    reply = await bot.ask(ROOF, "bob", ASKED)
    assert reply.text.startswith("A night at the pontoon")
    assert suggested(reply) == []


async def test_what_is_found_too_late_is_not_shown(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder, "TIME_LIMIT", 0.0)
    assert suggested(await bot.ask(ROOF, "bob", ASKED)) == []


async def test_a_removed_source_of_a_suggestion_takes_it_back(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    stored = await bot.stored(reply)
    [document] = stored.documents
    await bot.store.answers.redact([document])
    assert (await bot.stored(reply)).suggestions == ()


class BusySlots(contextlib.AbstractAsyncContextManager[None]):
    """Slots of which the last one was given away."""

    def locked(self) -> bool:
        return True

    async def __aexit__(self, *_: object) -> None:
        pass


async def test_while_many_questions_are_asked_an_answer_suggests_none(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.answer_service, "_query_slots", BusySlots())
    assert suggested(await bot.ask(ROOF, "bob", ASKED)) == []


async def test_no_model_is_called_for_keywords(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten = list[str]()
    original = EchoLanguage.rewrite_query

    async def rewrite(language: EchoLanguage, text: str, *others: Any, **more: Any) -> SearchQuery:
        rewritten.append(text)
        return await original(language, text, *others, **more)

    monkeypatch.setattr(EchoLanguage, "rewrite_query", rewrite)
    assert len(suggested(await bot.ask(ROOF, "bob", ASKED))) == 2
    assert rewritten == [ASKED]
