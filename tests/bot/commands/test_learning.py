from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.errors import BadQuestion

if TYPE_CHECKING:
    from tests.bot.commands.conftest import Workspace


async def test_files_that_come_with_the_command_are_read(workspace: Workspace) -> None:
    good = workspace.platform.upload("roof.md", b"# Roof\n\nIt leaks.")
    bad = workspace.platform.upload("photo.png", b"\x89PNG", kind="image/png")
    card = await workspace.command("bob", "learn", uploads=(good, bad))
    first, second = card.text.splitlines()
    assert first == "I have read **roof.md**: ask me about it."
    assert second.startswith("I could not read photo.png: ")
    assert await workspace.known() == {"roof.md"}


async def test_who_learnt_a_file_can_have_it_forgotten(workspace: Workspace) -> None:
    await workspace.command("bob", "learn", uploads=(workspace.platform.upload("roof.md", b"It leaks."),))
    await workspace.command("bob", "forget roof.md")
    assert await workspace.known() == set()


async def test_a_message_that_is_known_needs_no_learning(workspace: Workspace) -> None:
    said = await workspace.say("ada", "Mina sells tickets.")
    known = workspace.platform.link(workspace.square, said.id)
    assert (await workspace.command("bob", f"learn {known}")).text == "I know that message already."
    unknown = workspace.platform.link(workspace.square, "m99")
    assert "`/threadlore settings ingest on`" in (await workspace.command("bob", f"learn {unknown}")).text


async def test_nothing_to_learn_is_told(workspace: Workspace) -> None:
    with pytest.raises(BadQuestion, match="no file"):
        await workspace.command("bob", "learn")
