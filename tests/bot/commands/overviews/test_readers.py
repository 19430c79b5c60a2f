"""Who could find something, asked in the chat."""

from __future__ import annotations

import pytest

from engine.errors import NotFound
from tests.bot.commands.conftest import Workspace


@pytest.mark.parametrize("words", ["#roof", "#ROOF", "<#ROOF|roof>", "<#ROOF>", ""])
async def test_a_channel_is_named_as_people_name_it(workspace: Workspace, words: str) -> None:
    assert (
        await workspace.command("bob", f"readers {words}")
    ).text == "Every full member of this workspace can find this."
    assert (await workspace.command("ada", "readers #attic")).text.startswith("Only people who can read #attic")


async def test_a_channel_that_the_caller_may_not_read_is_as_unknown_as_none(workspace: Workspace) -> None:
    said = []
    for name in ("attic", "cellar"):
        with pytest.raises(NotFound) as refused:
            await workspace.command("bob", f"readers #{name}")
        said.append(str(refused.value).replace(name, "…"))
        assert not refused.value.hint
    assert said[0] == said[1]


async def test_an_unknown_document_is_refused_in_words_of_the_chat(workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="I found no “minutes") as refused:
        await workspace.command("bob", "readers minutes.pdf")
    assert "link" in refused.value.hint
