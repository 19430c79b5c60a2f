"""Experts: named by managers, mentioned only when a person asks for it, and never in a channel they cannot read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.answers.control.buttons import AnswerButtons
from bot.errors import NotAllowed, PlatformError
from bot.platform.events import ButtonPressed
from bot.store import AnswerResult
from bot.store.review.experts import MAX_PER_ASKER
from bot.texts import review as review_texts
from engine.errors import InvalidQuestion, NotFound
from tests.bot.commands.conftest import ATTIC, Workspace
from tests.support.builders import ROOF, make_answer


async def ask(workspace: Workspace, id_: str = "a1", question: str = "Who repairs the roof?", **facts: object) -> None:
    """A question of Bob's that found nothing."""
    store = workspace.context.store.answers
    await store.begin(make_answer(id_, **{"asker": "bob", "question": question, **facts}))
    await store.finish(id_, AnswerResult("I found nothing."))


async def press(workspace: Workspace, action: str, value: str, person: str = "bob") -> str:
    """What the person who presses a button is shown."""
    shown = workspace.platform.private_messages
    before = len(shown)
    pressed = ButtonPressed("k1", ROOF, person, action, value, "h")
    await AnswerButtons(workspace.context, workspace.bot.metrics).handle(pressed)
    return " ".join(card.text for _, card in shown[before:])


async def test_managers_name_experts_and_everyone_sees_those_they_can_read_of(workspace: Workspace) -> None:
    for person in ("bob", "gus"):
        with pytest.raises(NotAllowed):
            await workspace.text(person, "expert add <@bob> roofing")
    assert "“roofing”" in await workspace.text("ada", "expert add <@bob|bob> Roofing ")
    await workspace.text("ada", "expert add <@ada> gold", ATTIC)
    assert await workspace.text("eve", "expert") == "**Experts**\n- **Bob**: roofing"
    assert "gold" in await workspace.text("ada", "expert list", ATTIC)
    assert "gold" not in await workspace.text("eve", "expert list", ATTIC)
    with pytest.raises(NotAllowed):
        await workspace.text("eve", "expert remove <@bob>")
    assert "won't be asked" in await workspace.text("bob", "expert remove <@bob> roofing")
    with pytest.raises(NotFound):
        await workspace.text("ada", "expert remove <@bob>")
    assert "Nobody" in await workspace.text("eve", "expert")


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("expert add Bob roofing", ROOF),
        ("expert add <@bob>", ROOF),
        ("expert add <@&admins> roofing", ROOF),
        (f"expert add <@bob> {'x' * 61}", ROOF),
        ("expert add <@bob> gold", ATTIC),
        ("expert promote <@bob>", ROOF),
    ],
)
async def test_what_cannot_be_an_expert_is_refused(workspace: Workspace, line: str, place: object) -> None:
    with pytest.raises(InvalidQuestion):
        await workspace.text("ada", line, place)  # type: ignore[arg-type]
    await workspace.bot.forget_person("bob")
    with pytest.raises(InvalidQuestion):
        await workspace.text("ada", "expert add <@bob> roofing")


async def test_the_expert_of_the_topic_is_mentioned_once(workspace: Workspace) -> None:
    await ask(workspace, question="<@BOT> Who repairs the *roof*, <!channel>?")
    assert await press(workspace, "expert", "a1") == review_texts.NO_EXPERT
    await workspace.text("ada", "expert add <@eve> roof")
    await workspace.text("ada", "expert add <@ada> wine")
    assert workspace.platform.posts == [], "naming them mentions nobody"
    assert await press(workspace, "expert", "a1") == review_texts.EXPERT_ASKED.format(name="Eve")
    [(place, card)] = workspace.platform.posts
    assert place == ROOF
    assert card.mentions == ("eve",)
    assert card.text.startswith("Bob asks you as an expert:\n> Who repairs the *roof*")
    assert "<!channel>" not in card.text
    assert await press(workspace, "expert", "a1") == review_texts.EXPERT_REQUEST_REFUSED["repeated"]
    assert len(workspace.platform.posts) == 1


async def test_without_a_clear_topic_the_person_chooses(workspace: Workspace) -> None:
    await ask(workspace)
    for person, topic in (("eve", "wine"), ("ada", "gold"), ("bob", "bees")):
        await workspace.text("ada", f"expert add <@{person}> {topic}")
    assert await press(workspace, "expert", "a1") == review_texts.CHOOSE_EXPERT
    buttons = workspace.platform.private_messages[-1][1].buttons
    assert {(button.action, button.value) for button in buttons} == {("ask-expert", "a1:eve"), ("ask-expert", "a1:ada")}
    assert workspace.platform.posts == []
    await press(workspace, "ask-expert", "a1:eve")
    assert workspace.platform.posts[-1][1].mentions == ("eve",)


async def test_nobody_is_mentioned_who_is_no_expert_or_cannot_read_it(workspace: Workspace) -> None:
    """Values of buttons are checked again: a forged or an old one mentions nobody."""
    await ask(workspace, "a1", location=ATTIC)
    await ask(workspace, "a2", private=True)
    await ask(workspace, "a3")
    await workspace.text("ada", "expert add <@eve> roof")
    await workspace.text("ada", "expert add <@bob> roof")
    for value, person in (
        ("a1:eve", "ada"),
        ("a1:bob", "bob"),
        ("a2:eve", "bob"),
        ("a3:gus", "bob"),
        ("a3:bob", "bob"),
    ):
        assert await press(workspace, "ask-expert", value, person)
    assert await press(workspace, "ask-expert", "a3:eve", "gus"), "a guest who is not in the channel"
    assert workspace.platform.posts == []
    await workspace.bot.forget_person("eve")
    await press(workspace, "ask-expert", "a3:eve")
    assert workspace.platform.posts == []


async def test_nobody_is_asked_whose_account_is_closed(workspace: Workspace) -> None:
    await ask(workspace)
    await workspace.text("ada", "expert add <@eve> roof")
    workspace.platform.people["eve"] = replace(workspace.platform.people["eve"], is_deactivated=True)
    workspace.context.audience.invalidate(ROOF)
    assert await press(workspace, "expert", "a1") == review_texts.NO_EXPERT
    assert workspace.platform.posts == []


async def test_mentions_are_limited_and_one_that_failed_does_not_count(workspace: Workspace) -> None:
    await workspace.text("ada", "expert add <@eve> roof")
    for number in range(MAX_PER_ASKER + 1):
        await ask(workspace, f"a{number}")
    workspace.platform.failing["post"] = PlatformError("It is down.")
    with pytest.raises(PlatformError):
        await press(workspace, "expert", "a0")
    workspace.platform.failing.clear()
    for number in range(MAX_PER_ASKER):
        assert await press(workspace, "expert", f"a{number}") == review_texts.EXPERT_ASKED.format(name="Eve")
    assert await press(workspace, "expert", f"a{MAX_PER_ASKER}") == review_texts.EXPERT_REQUEST_REFUSED["asker"]
    assert len(workspace.platform.posts) == MAX_PER_ASKER


async def test_a_command_asks_about_the_last_question_here(workspace: Workspace) -> None:
    await workspace.text("ada", "expert add <@eve> roof")
    with pytest.raises(InvalidQuestion):
        await workspace.text("bob", "expert ask")
    await ask(workspace)
    with pytest.raises(InvalidQuestion):
        await workspace.text("bob", "expert ask anything else")
    assert await workspace.text("bob", "expert ask") == review_texts.EXPERT_ASKED.format(name="Eve")
