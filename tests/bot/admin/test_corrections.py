from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.admin.document_lookup import LOCAL_SPACE
from bot.admin.operations import run_operation
from bot.admin.requests import AddFact, Forget, GetEntity, Hide, Merge, Reindex, SetDescription
from bot.admin.results import Completed, EntityResult
from engine.errors import ModelUnreachable, NotFound
from tests.support import echo_language
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bot.conftest import Perform

pytestmark = pytest.mark.usefixtures("taken_in")


async def look(perform: Perform, name: str) -> EntityResult:
    [seen] = await perform(GetEntity(name, (LOCAL_SPACE,)))
    assert isinstance(seen, EntityResult)
    return seen


def others(seen: EntityResult) -> set[str]:
    return {end for each in seen.relations for end in (each.source, each.target)} - {seen.entity.name}


async def test_a_name_is_shown_with_its_neighbours(perform: Perform) -> None:
    assert "Mina" in others(await look(perform, "gudgeon"))


async def test_an_unknown_name_is_an_error_with_names_that_are_alike(perform: Perform) -> None:
    with pytest.raises(NotFound, match="Gudrun") as caught:
        await look(perform, "Gudrun")
    assert "Gudgeon" in caught.value.hint


async def test_merged_names_are_one_until_they_are_parted(perform: Perform) -> None:
    assert "Kiosk" not in others(await look(perform, "Mina"))
    await perform(Merge(LOCAL_SPACE, "Mina", "Ada"))
    assert "Kiosk" in others(await look(perform, "Mina"))
    assert (await look(perform, "Mina")).entity == (await look(perform, "Ada")).entity
    await perform(Merge(LOCAL_SPACE, "Mina"))
    assert "Kiosk" not in others(await look(perform, "Mina"))


async def test_a_merge_with_a_name_that_was_not_read_yet_says_so(perform: Perform) -> None:
    *_, last = await perform(Merge(LOCAL_SPACE, "Minna", "Mina"))
    assert last == Completed("“Minna” is now merged into “Mina”. “Minna” does not occur yet. Check its spelling.")
    with pytest.raises(NotFound, match="Neither “Otto” nor “Emil”"):
        await perform(Merge(LOCAL_SPACE, "Otto", "Emil"))


async def test_a_correction_does_not_wait_for_a_model_that_is_away(tmp_path: Path) -> None:
    away = echo_language.EchoLanguage()
    away.failing["extract", "Carla"] = ModelUnreachable("Nobody is there.")
    async with echo_language.open_engine_context(tmp_path / "other", away) as desk, asyncio.timeout(20):
        await desk.engine.add(doc("a", "Ada met Bob.", space=LOCAL_SPACE))
        await desk.engine.wait_until_indexed()
        await desk.engine.add(doc("b", "Carla met Bob.", space=LOCAL_SPACE))
        *_, done = [event async for event in run_operation(desk, Merge(LOCAL_SPACE, "Bob", "Ada"))]
        assert done == Completed("“Bob” is now merged into “Ada”.")


async def test_a_pinned_description_stays_through_a_rebuild_and_can_be_taken_back(perform: Perform) -> None:
    await perform(SetDescription(LOCAL_SPACE, "Mina", "The captain."))
    await perform(Reindex())
    assert (await look(perform, "Mina")).entity.description == "The captain."
    await perform(SetDescription(LOCAL_SPACE, "Mina", ""))
    assert (await look(perform, "Mina")).entity.description != "The captain."


async def test_a_hidden_name_is_out_of_sight_until_it_is_shown_again(perform: Perform) -> None:
    await perform(Hide(LOCAL_SPACE, "Mina"))
    assert "Mina" not in others(await look(perform, "Gudgeon"))
    await perform(Hide(LOCAL_SPACE, "Mina", hidden=False))
    assert "Mina" in others(await look(perform, "Gudgeon"))


async def test_what_a_person_states_is_known_until_it_is_forgotten(perform: Perform) -> None:
    *_, done = await perform(AddFact(LOCAL_SPACE, "Gudgeon", "The Gudgeon belongs to Otto.", "Otto", keywords="owner"))
    assert "Otto" in others(await look(perform, "Gudgeon"))
    assert isinstance(done, Completed)
    key = done.text.split("`")[1].rpartition(" ")[2]
    await perform(Forget(key, (LOCAL_SPACE,)))
    assert "Otto" not in others(await look(perform, "Gudgeon"))


async def test_a_name_of_a_type_can_be_stated(perform: Perform) -> None:
    await perform(AddFact(LOCAL_SPACE, "Otto", "Owner of the Gudgeon.", type="Person"))
    seen = await look(perform, "Otto")
    assert (seen.entity.type, seen.entity.description) == ("person", "Owner of the Gudgeon.")
