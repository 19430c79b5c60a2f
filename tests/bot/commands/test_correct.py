from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from bot.commands.table import run_command
from bot.errors import NotAllowed
from bot.platform.events import CommandInvoked
from engine.errors import InvalidQuestion, NotFound
from engine.models import Scope

if TYPE_CHECKING:
    from tests.bot.commands.conftest import Workspace


@pytest.fixture
async def workspace(workspace: Workspace) -> Workspace:
    """Its channels were told that they are read."""
    for place in (workspace.square, workspace.attic):
        await workspace.context.store.channels.record_announced(place.room)
    return workspace


async def names_around(workspace: Workspace, name: str, person: str = "ada") -> str:
    await workspace.context.engine_context.engine.wait_until_indexed()
    return (await workspace.command(person, f"graph {name}")).text


async def test_names_that_are_one_are_merged_until_they_are_parted(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    await workspace.say("ada", "Minna met Carla.")
    card = await workspace.command("ada", 'correct merge "Minna" “Mina”')
    assert card.text.startswith("“Minna” is now merged into “Mina”.")
    assert "Carla" in await names_around(workspace, "Mina")
    await workspace.command("ada", "correct unmerge Minna")
    assert "Carla" not in await names_around(workspace, "Mina")


async def test_a_description_is_pinned_and_taken_back(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    await workspace.command("ada", 'correct describe Mina "The captain."')
    assert "The captain." in await names_around(workspace, "Mina")
    await workspace.command("ada", "correct describe Mina")
    assert "The captain." not in await names_around(workspace, "Mina")


async def test_a_hidden_name_is_out_of_sight_until_it_is_shown_again(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    await workspace.command("ada", "correct hide Mina --with Otto")
    assert "**Otto**" not in await names_around(workspace, "Mina")
    await workspace.command("ada", "correct unhide Mina --with Otto")
    assert "**Otto**" in await names_around(workspace, "Mina")


async def test_what_is_corrected_in_a_channel_follows_it_into_another_space(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto. Minna saw Carla.")
    for line in ('describe Mina "The captain."', "hide Carla", "merge Minna Otto", 'add Mina "Keeps the zither."'):
        await workspace.command("ada", f"correct {line}")
    engine = workspace.context.engine_context.engine
    await engine.wait_until_indexed()
    home = await workspace.context.audience.get_home_space(workspace.square)
    await engine.move_room(workspace.square.room, "another space")

    async def corrected(space: str) -> set[str]:
        lines = [json.loads(line) async for line in engine.export("jsonl", Scope(frozenset({space}), frozenset()))]
        return {line["kind"] for line in lines} & {"pin", "hidden", "alias", "mention"}

    assert await corrected(home) == set()
    assert await corrected("another space") == {"pin", "hidden", "alias", "mention"}


async def test_what_somebody_states_is_known_as_his_until_he_has_it_forgotten(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    card = await workspace.command("bob", 'correct add Mina "Mina keeps bees." --with Bees --keywords keeper')
    assert "keeps bees" in await names_around(workspace, "Mina")
    taken_back = card.text.split("`")[1].removeprefix("/threadlore ")
    with pytest.raises(NotAllowed):
        await workspace.command("eve", taken_back)
    await workspace.command("bob", taken_back)
    assert "bees" not in await names_around(workspace, "Mina")


async def test_only_who_may_write_in_a_channel_can_state_something_there(workspace: Workspace) -> None:
    statement = 'correct add Mina "Mina keeps bees."'
    await workspace.say("ada", "Mina met Otto.")
    with pytest.raises(NotAllowed, match="can post"):
        await workspace.command("eve", statement)  # she reads it, but has not joined it
    called = CommandInvoked("c1", workspace.square, "bob", "correct", statement.partition(" ")[2], may_write=False)
    with pytest.raises(NotAllowed, match="can post"):
        await run_command(workspace, called)  # type: ignore[arg-type]
    assert "bees" not in await names_around(workspace, "Mina")


async def test_who_is_forgotten_takes_his_statements_along(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    await workspace.command("bob", 'correct add Mina "Mina keeps bees."')
    await workspace.command("bob", "forget me")
    assert "bees" not in await names_around(workspace, "Mina")
    with pytest.raises(InvalidQuestion, match="remember-me"):
        await workspace.command("bob", 'correct add Mina "Mina keeps bees."')


async def test_nothing_can_be_stated_where_nothing_is_read(workspace: Workspace) -> None:
    await workspace.command("ada", "settings ingest off")
    with pytest.raises(InvalidQuestion, match="turned off"):
        await workspace.command("bob", 'correct add Mina "Mina keeps bees."')


async def test_nothing_can_be_stated_in_a_channel_that_was_never_told_that_it_is_read(workspace: Workspace) -> None:
    hall = workspace.platform.add_channel("HALL", "ada", "bob")
    with pytest.raises(InvalidQuestion, match="not indexing") as caught:
        await workspace.command("bob", 'correct add Mina "Mina keeps bees."', hall)
    assert "Invite me" in caught.value.hint
    assert (
        await workspace.context.engine_context.engine.list_documents(
            await workspace.context.audience.scope_for_channel(hall)
        )
        == []
    )


@pytest.mark.parametrize(
    "line", ["merge Mina Otto", "unmerge Mina", "describe Mina Captain", "hide Mina", "unhide Mina"]
)
async def test_what_changes_everybodys_graph_is_for_managers(workspace: Workspace, line: str) -> None:
    await workspace.say("ada", "Mina met Otto.")
    with pytest.raises(NotAllowed):
        await workspace.command("bob", f"correct {line}")


async def test_a_correction_holds_for_the_space_of_its_channel_alone(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    await workspace.say("ada", "Mina met Treasure.", workspace.attic)
    await workspace.command("ada", "correct hide Mina", workspace.attic)
    assert "Otto" in await names_around(workspace, "Mina", "bob")


async def test_who_cannot_read_the_whole_space_of_a_channel_cannot_correct_it(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    with pytest.raises(NotAllowed):
        await workspace.command("gus", 'correct add Mina "Mina keeps bees."')


@pytest.mark.parametrize("line", ["", "burn Mina", "merge Mina", 'describe Mina a "b c"'])
async def test_a_correction_that_cannot_be_read_is_answered_with_examples(workspace: Workspace, line: str) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        await workspace.command("ada", f"correct {line}")
    assert "/threadlore correct merge" in caught.value.hint


async def test_an_unknown_name_cannot_be_hidden(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    with pytest.raises(NotFound):
        await workspace.command("ada", "correct hide Nobody")
