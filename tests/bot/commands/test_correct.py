from __future__ import annotations

import json

import pytest

from bot.errors import NotAllowed
from bot.graph_image.model import GraphModel
from bot.graph_image.render import RenderedGraph
from bot.platform.models import Picture
from engine.errors import CorrectionChanged, InvalidQuestion, NotFound
from engine.models import Scope
from tests.bot.commands.conftest import ATTIC, OPEN, Workspace
from tests.support.builders import ROOF

BEES = 'correct add Mina "Mina keeps bees."'
pytestmark = pytest.mark.usefixtures("announced")


@pytest.fixture(autouse=True)
def _without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    async def draw(_: GraphModel) -> RenderedGraph:
        return RenderedGraph(Picture("graph.png", b"", ""), {})

    monkeypatch.setattr("bot.commands.status.render_graph", draw)


async def graph(workspace: Workspace, name: str = "Mina", person: str = "ada") -> str:
    await workspace.engine.wait_until_indexed()
    return await workspace.text(person, f"graph {name}")


@pytest.mark.parametrize(
    ("correction", "undo", "words", "before"),
    [
        ('correct merge "Minna" “Mina”', "correct unmerge Minna", "Carla", False),
        ('correct describe Mina "The captain."', "correct describe Mina", "The captain.", False),
        ("correct hide Mina --with Otto", "correct unhide Mina --with Otto", "**Otto**", True),
    ],
)
async def test_a_correction_holds_until_it_is_undone(
    workspace: Workspace, correction: str, undo: str, words: str, *, before: bool
) -> None:
    await workspace.post("ada", "Mina met Otto.")
    await workspace.post("ada", "Minna met Carla.")
    assert (words in await graph(workspace)) is before
    card = await workspace.command("ada", correction)
    assert "merge" not in correction or card.text.startswith("“Minna” is now merged into “Mina”.")
    assert (words in await graph(workspace)) is not before
    await workspace.command("ada", undo)
    assert (words in await graph(workspace)) is before


async def test_undoing_what_is_unknown_says_where_the_id_stands(workspace: Workspace) -> None:
    with pytest.raises(NotFound) as caught:
        await workspace.command("ada", "correct undo abc123")
    assert caught.value.hint.startswith("The id stands below what was corrected.")


async def test_the_button_of_a_correction_undoes_it_and_nothing_that_was_done_since(workspace: Workspace) -> None:
    await workspace.post("ada", "Mina met Otto. Minna saw Carla.")
    card = await workspace.command("ada", 'correct describe Mina "The captain."')
    [button] = card.buttons
    assert (button.action, f"/threadlore correct {button.value}" in card.text) == ("correct", True)
    with pytest.raises(NotAllowed):
        await workspace.command("bob", f"correct {button.value}")
    with pytest.raises(NotFound):  # of another space
        await workspace.command("ada", f"correct {button.value}", ATTIC)
    await workspace.command("ada", 'correct describe Mina "The cook."')
    with pytest.raises(CorrectionChanged):
        await workspace.command("ada", f"correct {button.value}")
    assert "The cook." in await graph(workspace)
    [later] = (await workspace.command("ada", 'correct describe Mina "The owl."')).buttons
    undone = await workspace.command("ada", f"correct {later.value}")
    assert "The cook." in await graph(workspace)
    await workspace.command("ada", f"correct {undone.buttons[0].value}")
    assert "The owl." in await graph(workspace)


async def test_corrections_follow_their_channel_into_another_space(workspace: Workspace) -> None:
    await workspace.post("ada", "Mina met Otto. Minna saw Carla.")
    for line in ('describe Mina "The captain."', "hide Carla", "merge Minna Otto", 'add Mina "Keeps the zither."'):
        await workspace.command("ada", f"correct {line}")
    await workspace.engine.wait_until_indexed()
    await workspace.engine.documents.move_room(ROOF.room, "another space")
    found = {}
    for space in (OPEN, "another space"):
        scope = Scope(frozenset({space}), frozenset())
        lines = [json.loads(line) async for line in workspace.engine.maintenance.export("jsonl", scope)]
        found[space] = {line["kind"] for line in lines} & {"pin", "hidden", "alias", "mention"}
    assert found == {OPEN: set(), "another space": {"pin", "hidden", "alias", "mention"}}


async def test_an_added_fact_is_its_author_s_until_they_forget_it(workspace: Workspace) -> None:
    await workspace.post("ada", "Mina met Otto.")
    card = await workspace.command("bob", f"{BEES} --with Bees --keywords keeper")
    assert "keeps bees" in await graph(workspace)
    undo = card.text.split("`")[1].removeprefix("/threadlore ")
    with pytest.raises(NotAllowed):
        await workspace.command("eve", undo)
    await workspace.command("bob", undo)
    assert "bees" not in await graph(workspace)
    assert "Nobody" not in await graph(workspace)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("person", "line", "error", "words"),
    [
        ("eve", BEES, NotAllowed, "can post"),  # she reads the channel, but has not joined it
        ("gus", BEES, NotAllowed, None),
        *(
            ("bob", f"correct {line}", NotAllowed, None)
            for line in ("merge Mina Otto", "unmerge Mina", "describe Mina Captain", "hide Mina", "unhide Mina")
        ),
        ("ada", "correct hide Nobody", NotFound, None),
        ("ada", "correct merge Nobody Mina", NotFound, "“Nobody” is not known here"),
        ("ada", "correct merge Mina Nobody", NotFound, "“Nobody” is not known here"),
        ("ada", "correct separate Mina Nobody", NotFound, "“Nobody” is not known here"),
    ],
)
async def test_who_may_not_correct_is_refused(
    workspace: Workspace, person: str, line: str, error: type[Exception], words: str | None
) -> None:
    await workspace.post("ada", "Mina met Otto.")
    with pytest.raises(error, match=words):
        await workspace.command(person, line)
    assert "bees" not in await graph(workspace)


async def test_who_may_not_write_in_the_channel_adds_no_fact(workspace: Workspace) -> None:
    with pytest.raises(NotAllowed, match="can post"):
        await workspace.run("bob", BEES, may_write=False)


@pytest.mark.parametrize("known", [True, False], ids=["turned off", "never joined"])
async def test_no_fact_is_added_where_nothing_is_indexed(workspace: Workspace, *, known: bool) -> None:
    place = ROOF if known else workspace.platform.add_channel("HALL", "ada", "bob")
    if known:
        await workspace.command("ada", "settings ingest off")
    with pytest.raises(InvalidQuestion, match="turned off" if known else "not indexing") as caught:
        await workspace.command("bob", BEES, place)
    assert known or "Invite me" in caught.value.hint
    assert await workspace.titles() == set()


async def test_a_correction_holds_in_the_space_of_its_channel_alone(workspace: Workspace) -> None:
    await workspace.post("ada", "Mina met Otto.")
    await workspace.post("ada", "Mina met Treasure.", ATTIC)
    await workspace.command("ada", "correct hide Mina", ATTIC)
    assert "Otto" in await graph(workspace, person="bob")


@pytest.mark.parametrize("line", ["", "burn Mina", "merge Mina", 'describe Mina a "b c"'])
async def test_a_correction_that_cannot_be_parsed_is_answered_with_examples(workspace: Workspace, line: str) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        await workspace.command("ada", f"correct {line}")
    assert "/threadlore correct merge" in caught.value.hint
