"""Forms that the bot opens, and what it makes of submissions, which anybody may have forged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.commands.forms import table
from bot.commands.forms.table import FormKind, build_form, check_form, submit_form
from bot.errors import NotAllowed
from bot.platform.events import ButtonPressed, FormSubmitted
from bot.platform.forms import Form, FormField
from bot.platform.models import Card, Location
from bot.platform.traits import PlatformTraits
from bot.store import AnswerResult, AnswerSource
from engine.errors import EngineError, InvalidQuestion, NotFound
from tests.bot.commands.conftest import ATTIC, NOW, Workspace
from tests.support.builders import ROOF

SOURCE = AnswerSource(1, "#roof", "https://x", "Monday", f"{ROOF.room}:file:f:1", "1", "slack:T1:open", ROOF.room)
SECRET = replace(SOURCE, space=ATTIC.room, room=ATTIC.room)
ELSEWHERE = Location("slack", "T2", "ROOF")


def pressed(person: str, action: str, value: str = "a1", place: Location = ROOF) -> ButtonPressed:
    return ButtonPressed("k1", place, person, action, value, "h")


def submitted(person: str, form: str, place: Location = ROOF, part: int = 1, **answers: str) -> FormSubmitted:
    return FormSubmitted("f1", place, person, form, "a1", tuple(answers.items()), NOW, "h", part, 2 if part > 1 else 1)


async def opens(workspace: Workspace, event: ButtonPressed) -> bool:
    return await build_form(workspace, event) is not None  # type: ignore[arg-type]


async def submit(workspace: Workspace, event: FormSubmitted) -> Card | None:
    return await submit_form(workspace, event)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("person", "action", "place", "shown"),
    [
        ("ada", "correct-answer", ROOF, True),
        ("bob", "correct-answer", ROOF, False),
        ("ada", "correct-answer", ELSEWHERE, False),
        ("bob", "down", ROOF, True),
        ("gus", "down", ROOF, False),
        ("bob", "down", ELSEWHERE, False),
        ("bob", "up", ROOF, False),
    ],
)
async def test_a_form_opens_for_those_who_may_submit_it(
    workspace: Workspace, person: str, action: str, place: Location, *, shown: bool
) -> None:
    await workspace.answer("a1", SOURCE)
    assert await opens(workspace, pressed(person, action, place=place)) is shown


async def test_no_form_opens_where_there_are_none_or_for_a_private_answer(workspace: Workspace) -> None:
    await workspace.answer("a1", SOURCE, private=True)
    assert not await opens(workspace, pressed("bob", "down"))
    await workspace.answer("a2", SOURCE)
    workspace.platform.traits = PlatformTraits()
    assert not await opens(workspace, pressed("bob", "down", "a2"))


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (submitted("ada", "correction", ELSEWHERE, text="Onyx."), NotFound),
        (submitted("bob", "correction", text="Onyx."), NotAllowed),
        (submitted("ada", "correction"), InvalidQuestion),
        (submitted("ada", "correction", text=" "), InvalidQuestion),
        (submitted("ada", "correction", text="x" * 4001), InvalidQuestion),
        (submitted("bob", "reason", ELSEWHERE, reason="wrong"), NotFound),
        (submitted("gus", "reason", reason="wrong"), NotFound),
        (submitted("bob", "reason", reason="<!channel>"), InvalidQuestion),
        (submitted("bob", "reason", comment="x" * 501), InvalidQuestion),
        (submitted("ada", "question", question=""), InvalidQuestion),
        (submitted("ada", "everything"), NotFound),
    ],
)
async def test_a_submission_is_checked_again(
    workspace: Workspace, event: FormSubmitted, error: type[EngineError]
) -> None:
    await workspace.answer("a1", SOURCE, question="When do the tiles come?")
    with pytest.raises(error):
        await submit(workspace, event)
    assert await workspace.context.store.feedback.list_reasons({"a1"}) == []
    assert await workspace.context.store.verified_answers.list_in_room(ROOF.room) == []


async def test_a_reason_needs_the_sources_of_the_answer_too(workspace: Workspace) -> None:
    await workspace.answer("a1", SECRET)
    with pytest.raises(NotFound):
        await submit(workspace, submitted("bob", "reason", comment="It is not beryl."))


async def test_an_answer_that_was_not_changed_keeps_its_words(workspace: Workspace) -> None:
    await workspace.answer("a1", SOURCE, question="When do the tiles come?", result="On Monday [1].")
    await submit(workspace, submitted("ada", "correction", text="On Monday [1]. "))
    [kept] = await workspace.context.store.verified_answers.list_in_room(ROOF.room)
    assert (kept.text, kept.author) == ("On Monday [1].", "")
    await submit(workspace, submitted("ada", "correction", text="On Friday [1]."))
    [changed] = await workspace.context.store.verified_answers.list_in_room(ROOF.room)
    assert (changed.text, changed.author) == ("On Friday [1].", "ada")


async def test_a_form_is_for_one_of_several_answers(workspace: Workspace) -> None:
    """Its words stand for the sources of that answer; those of the next one may be read by other people."""
    store = workspace.context.store
    await workspace.answer("a1", SOURCE, question="When do the tiles come?", result="On Monday [1].")
    again = [pressed("ada", "correct-answer", "a1:1"), pressed("ada", "down", "a1:1")]
    assert [await opens(workspace, each) for each in again] == [False, False]
    assert await store.answer_repeats.begin("a1", 0, "k1", 0.0)
    assert await store.answers.finish("a1", AnswerResult("On Friday [1].", (SOURCE,), frozenset({SOURCE.document})))
    for old in (submitted("ada", "correction", text="On Monday [1]."), submitted("ada", "reason", reason="wrong")):
        with pytest.raises(NotFound, match="newer answer"):
            await submit(workspace, old)
    assert await store.verified_answers.list_in_room(ROOF.room) == []
    assert await store.feedback.list_reasons({"a1"}) == []
    opened = [await build_form(workspace, each) for each in again]  # type: ignore[arg-type]
    assert [each and each.value for each in opened] == ["a1:1", "a1:1"]
    sent = replace(submitted("ada", "correction", text="On Friday [1]."), value="a1:1")
    await submit(workspace, sent)
    [kept] = await store.verified_answers.list_in_room(ROOF.room)
    assert (kept.text, kept.author) == ("On Friday [1].", "")


async def test_a_question_is_asked_for_the_person_alone(workspace: Workspace) -> None:
    assert await submit(workspace, submitted("bob", "question", question=" Who has the key? ")) is None
    [asked] = workspace.asked
    assert (asked.person, asked.text, asked.private, asked.handle) == ("bob", "Who has the key?", True, "h")


async def test_a_long_form_goes_on_with_a_button(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    async def build(_: Any) -> Form:
        return Form("long", "Long", tuple(FormField(f"f{number}", "F") for number in range(7)), "a1")

    async def save(_: Any, answers: Any) -> Card:
        return Card(" ".join(answers))

    monkeypatch.setitem(table.FORMS, "long", FormKind(build, save))
    monkeypatch.setitem(table.OPENED_BY, "open-long", "long")
    workspace.platform.traits = replace(workspace.platform.traits, max_form_fields=5)
    first = await build_form(workspace, pressed("ada", "open-long"))  # type: ignore[arg-type]
    assert first is not None
    assert (first.part, first.parts, len(first.fields)) == (1, 2, 5)
    sent = replace(submitted("ada", "long", f0="x"), parts=2)
    assert check_form(sent) == {}
    card = await submit(workspace, sent)
    assert card is not None
    [button] = card.buttons
    second = await build_form(workspace, pressed("ada", button.action, button.value))  # type: ignore[arg-type]
    assert second is not None
    assert (second.part, len(second.fields), second.value) == (2, 2, "a1")
    last = await submit(workspace, submitted("ada", "long", part=2, f5="x"))
    assert last == Card("f5")
