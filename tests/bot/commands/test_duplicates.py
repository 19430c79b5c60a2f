from __future__ import annotations

import pytest

from bot.errors import NotAllowed
from bot.platform.models import Location
from engine.errors import InvalidQuestion
from tests.bot.commands.conftest import ATTIC, Workspace
from tests.support.builders import ROOF

pytestmark = pytest.mark.usefixtures("announced")
TEXTS = ("Otto saw Margarethenberg at the Harbor.", "Otto saw Margaretenberg at the Harbor.")


async def duplicates(workspace: Workspace, person: str = "ada", place: Location = ROOF) -> str:
    await workspace.engine.wait_until_indexed()
    while "still comparing" in (text := await workspace.text(person, "duplicates", place)):
        await workspace.engine._worker.wait_for_progress()
    return text


async def test_likely_duplicates_are_listed_with_evidence_until_they_are_separated(workspace: Workspace) -> None:
    assert await duplicates(workspace) == "I found no names that may mean the same."
    for text in TEXTS:
        await workspace.post("ada", text)
    shown = await duplicates(workspace)
    assert "**Margarethenberg** ~ **Margaretenberg**: spelling" in shown
    assert "2 common neighbors: " in shown
    assert TEXTS[0] in shown
    card = await workspace.command("ada", "correct separate Margarethenberg Margaretenberg")
    assert card.text.startswith("“Margarethenberg” and “Margaretenberg” are separate names")
    assert await duplicates(workspace) == "I found no names that may mean the same."


async def test_a_name_that_may_mean_two_things_is_listed_until_it_is_split(workspace: Workspace) -> None:
    for text, type_ in (
        ("sings", "person"),
        ("teaches", "person"),
        ("is old", "location"),
        ("has a bridge", "location"),
    ):
        await workspace.command("ada", f'correct add Avon "Avon {text}." --type {type_}')
    shown = await duplicates(workspace)
    assert "- **Avon**: location (2 sources); person (2 sources)" in shown
    assert 'correct split NAME "OTHER NAME" --type TYPE' in shown
    with pytest.raises(NotAllowed):
        await workspace.command("bob", 'correct split Avon "Avon (singer)" --type person')
    card = await workspace.command("ada", 'correct split Avon "Avon (singer)" --type person')
    assert card.text.startswith("“Avon (singer)” is now a name of its own, split from “Avon”.")
    assert await duplicates(workspace) == "I found no names that may mean the same."
    assert "sings" in await workspace.text("ada", "graph Avon (singer)")
    await workspace.command("ada", f"correct {card.buttons[0].value}")
    assert "**Avon**: location" in await duplicates(workspace)
    with pytest.raises(InvalidQuestion, match="don't know what belongs"):
        await workspace.command("ada", "correct split Avon River")


async def test_names_of_a_closed_channel_are_shown_only_to_its_readers(workspace: Workspace) -> None:
    for text in TEXTS:
        await workspace.post("ada", text, ATTIC)
    assert "Margarethenberg" in await duplicates(workspace, "ada", ATTIC)
    assert "Margarethenberg" not in await duplicates(workspace, "bob")


async def test_only_managers_separate_names(workspace: Workspace) -> None:
    await workspace.post("ada", TEXTS[0])
    with pytest.raises(NotAllowed):
        await workspace.command("bob", "correct separate Margarethenberg Otto")
