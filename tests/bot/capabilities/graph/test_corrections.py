from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.capabilities.deps import Deps
from bot.capabilities.documents.lookup import LOCAL_SPACE
from bot.capabilities.requests import (
    AddFact,
    AtSpace,
    Forget,
    GetEntity,
    Hide,
    Merge,
    OperationRequest,
    Reindex,
    Separate,
    SetDescription,
    Split,
    UndoCorrection,
    WithoutLogin,
)
from bot.capabilities.results import Completed, Corrected, EntityResult, FactAdded
from engine import CorrectionChange, ManualCorrection
from engine.errors import CorrectionChanged, InvalidQuestion, ModelUnreachable, NotFound
from tests.bot.capabilities.conftest import Perform, last, run
from tests.support.echo_language import EchoLanguage, open_engine_context
from tests.support.engine_fixture import doc
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("ingested")
HERE = LOCAL_SPACE


async def get(perform: Perform, name: str) -> EntityResult:
    return last(await perform(GetEntity(name)), EntityResult)


async def known(perform: Perform, name: str) -> set[str]:
    """The description of a name, and the names that it is related to."""
    found = await get(perform, name)
    ends = {end for relation in found.relations for end in (relation.source, relation.target)}
    return {found.entity.description, *ends} - {found.entity.name}


@pytest.mark.parametrize(
    ("correction", "undo", "name", "words", "before"),
    [
        (Merge("Mina", "Ada"), Merge("Mina"), "Mina", "Kiosk", False),
        (SetDescription("Mina", "The boss."), SetDescription("Mina", ""), "Mina", "The boss.", False),
        (Hide("Mina"), Hide("Mina", hidden=False), "gudgeon", "Mina", True),
    ],
)
async def test_a_correction_holds_through_a_reindex_until_it_is_undone(
    perform: Perform, correction: OperationRequest, undo: OperationRequest, name: str, words: str, *, before: bool
) -> None:
    assert (words in await known(perform, name)) is before
    await perform(correction)
    await perform(Reindex())
    assert (words in await known(perform, name)) is not before
    assert (
        not isinstance(correction, Merge) or (await get(perform, "Mina")).entity == (await get(perform, "Ada")).entity
    )
    await perform(undo)
    assert (words in await known(perform, name)) is before


async def test_an_unknown_name_is_an_error_with_similar_names(perform: Perform) -> None:
    with pytest.raises(NotFound, match="Gudrun") as caught:
        await get(perform, "Gudrun")
    assert "Gudgeon" in caught.value.hint


async def test_a_merge_with_an_unknown_name_says_so(perform: Perform) -> None:
    assert last(await perform(Merge("Minna", "Mina")), Completed).text == (
        "“Minna” is now merged into “Mina”. “Minna” does not occur yet. Check its spelling."
    )
    with pytest.raises(NotFound, match="Neither “Otto” nor “Emil”"):
        await perform(Merge("Otto", "Emil"))


async def test_the_owner_alone_separates_a_name_that_does_not_occur_yet(perform: Perform) -> None:
    with pytest.raises(NotFound, match="“Minna” is not known here"):
        await perform(WithoutLogin(HERE, Separate("Mina", "Minna")))
    assert last(await perform(Separate("Mina", "Minna")), Corrected).change.made


async def test_what_a_correction_changed_is_undone_by_its_id_where_it_was_made(deps: Deps, perform: Perform) -> None:
    made = last(await run(deps, Merge("Mina", "Ada")), Corrected)
    assert "Kiosk" in await known(perform, "Mina")
    with pytest.raises(NotFound):
        await run(deps, WithoutLogin("elsewhere", UndoCorrection(id=made.undo)))
    last(await run(deps, AtSpace("elsewhere", UndoCorrection(id=made.undo))), Corrected)
    assert "Kiosk" not in await known(perform, "Mina")
    with pytest.raises(CorrectionChanged):
        await run(deps, UndoCorrection(id=made.undo))
    with pytest.raises(NotFound):
        await run(deps, UndoCorrection(id="none"))
    assert last(await run(deps, Hide("Mina", hidden=False)), Corrected).undo == ""  # nothing was hidden


async def test_a_name_is_split_by_type_and_by_document_and_given_back(perform: Perform) -> None:
    for fact in (AddFact("Avon", "Avon sings.", type="person"), AddFact("Avon", "Avon is old.", type="location")):
        key = last(await perform(fact), FactAdded).key
    done = last(await perform(Split("Avon", "Avon (singer)", type="Person")), Corrected)
    assert done.text == (
        "“Avon (singer)” is now a name of its own, split from “Avon”. Later texts in which it has the type “Person” go"
        " there, too; all others stay with “Avon”."
    )
    assert await known(perform, "Avon (singer)") == {"Avon sings."}
    assert await known(perform, "Avon") == {"Avon is old."}
    await perform(Split("Avon (singer)"))
    assert await known(perform, "Avon") == {"Avon is old.\nAvon sings."}
    done = last(await perform(Split("Avon", "Avon (town)", document=key)), Corrected)
    assert await known(perform, "Avon (town)") == {"Avon is old."}
    await perform(UndoCorrection(done.change))
    with pytest.raises(NotFound):
        await get(perform, "Avon (town)")


def made_split(part: str, rule: str = "type place") -> ManualCorrection:
    return ManualCorrection("split", HERE, "Mina", part, rule)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (Split("Mina", "Mina (boat)"), InvalidQuestion),
        (Split("Mina", "Mina (boat)", type="starship"), NotFound),
        (Split("Mina", type="place"), InvalidQuestion),
        (Split("Mina", document="nothing"), NotFound),
        (UndoCorrection(CorrectionChange(removed=(made_split(""),))), InvalidQuestion),
        (UndoCorrection(CorrectionChange(removed=(made_split("Mina (boat)", "color red"),))), InvalidQuestion),
        (Split("Mina", "Mina (boat)", document="nothing"), NotFound),
        (Split("Nobody", "Somebody", type="person"), NotFound),
    ],
)
async def test_a_split_needs_a_known_name_and_something_of_it(
    perform: Perform, request_: Split | UndoCorrection, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await perform(request_)


async def test_a_correction_does_not_wait_for_an_unreachable_model(tmp_path: Path) -> None:
    away = EchoLanguage()
    away.failing["extract", "Carla"] = ModelUnreachable("Nobody is there.")
    async with open_engine_context(tmp_path / "other", away) as context, asyncio.timeout(PATIENCE):
        await context.engine.documents.add(doc("a", "Ada met Bob.", space=HERE))
        await context.engine.wait_until_indexed()
        await context.engine.documents.add(doc("b", "Carla met Bob.", space=HERE))
        done = last(await run(context, Merge("Bob", "Ada")), Completed)
        assert done.text == "“Bob” is now merged into “Ada”."


async def test_an_added_fact_is_known_until_it_is_forgotten(perform: Perform) -> None:
    fact = AddFact("Gudgeon", "The Gudgeon belongs to Otto.", "Otto", keywords="owner")
    done = last(await perform(fact), Completed)
    assert "Otto" in await known(perform, "Gudgeon")
    await perform(Forget(done.text.split("`")[1].rpartition(" ")[2]))
    assert "Otto" not in await known(perform, "Gudgeon")
    await perform(AddFact("Otto", "Owner of the Gudgeon.", type="Person"))
    entity = (await get(perform, "Otto")).entity
    assert (entity.type, entity.description) == ("person", "Owner of the Gudgeon.")
