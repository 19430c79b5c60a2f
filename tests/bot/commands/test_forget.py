from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.errors import NotAllowed
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from tests.bot.commands.conftest import Workspace


def link(workspace: Workspace, message: str, channel: str = "SQUARE") -> str:
    return workspace.platform.message_link(workspace.platform.place(channel), message)


async def test_who_shared_a_file_can_have_it_forgotten_by_its_title(workspace: Workspace) -> None:
    await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    card = await workspace.command("bob", "forget Minutes.pdf")
    assert card.text == "Forgotten: **minutes.pdf** (1 passage, #square)."
    assert await workspace.known() == set()


async def test_somebody_else_cannot_but_a_manager_can(workspace: Workspace) -> None:
    key = await workspace.share("cid", "minutes.pdf", "The roof leaks.")
    with pytest.raises(NotAllowed, match="isn't only yours"):
        await workspace.command("bob", f"forget {key}")
    await workspace.command("ada", f"forget {key}")
    assert await workspace.known() == set()


async def test_in_a_talk_with_the_bot_alone_nobody_may_more_than_elsewhere(workspace: Workspace) -> None:
    await workspace.share("ada", "minutes.pdf", "The roof leaks.")
    talk = workspace.platform.add_channel("DM", "bob", kind="direct")
    with pytest.raises(NotAllowed):
        await workspace.command("bob", "forget minutes.pdf", talk)


async def test_a_document_that_the_caller_cannot_read_does_not_exist_for_him(workspace: Workspace) -> None:
    key = await workspace.share("bob", "treasure.txt", "It lies under the mat.", workspace.attic)
    for words in ("treasure.txt", key):
        with pytest.raises(NotFound):
            await workspace.command("bob", f"forget {words}")
    assert await workspace.known() == {"treasure.txt"}


async def test_documents_of_one_title_are_told_apart_by_their_keys(workspace: Workspace) -> None:
    await workspace.share("ada", "minutes.pdf", "The roof leaks.")
    key = await workspace.share("ada", "minutes.pdf", "The roof is mended.", workspace.attic)
    with pytest.raises(InvalidQuestion, match="matches 2 documents") as caught:
        await workspace.command("ada", "forget minutes.pdf")
    assert key in caught.value.hint


async def test_a_message_is_forgotten_by_its_link(workspace: Workspace) -> None:
    said = await workspace.say("bob", "Mina sells tickets.")
    card = await workspace.command("bob", f"forget <{link(workspace, said.id)}>")
    assert card.text.startswith("Forgotten: the message of 2026-11-20 10:01 UTC")
    assert await workspace.known() == set()


async def test_only_its_author_or_a_manager_can_have_a_message_forgotten(workspace: Workspace) -> None:
    said = await workspace.say("cid", "Mina sells tickets.")
    with pytest.raises(NotAllowed):
        await workspace.command("bob", f"forget {link(workspace, said.id)}")
    await workspace.command("ada", f"forget {link(workspace, said.id)}")
    assert await workspace.known() == set()


async def test_a_message_of_a_channel_that_the_caller_is_not_in_is_not_found(workspace: Workspace) -> None:
    said = await workspace.say("bob", "Treasure!", workspace.attic)
    with pytest.raises(NotFound):
        await workspace.command("bob", f"forget {link(workspace, said.id, 'ATTIC')}")
    assert len(await workspace.known()) == 1


async def test_a_conversation_of_several_people_is_forgotten_by_managers_only(workspace: Workspace) -> None:
    said = await workspace.say("bob", "Mina sells tickets.")
    key = f"{said.location.room}:window:{said.id}"
    again = workspace.platform.add_message(workspace.square, "cid", "And cake.")
    spoken = await workspace.shelf.render_message(again)
    assert spoken is not None
    await workspace.shelf.add_run(workspace.run_of(key, spoken), workspace.square)
    with pytest.raises(NotAllowed):
        await workspace.command("bob", f"forget {key}")
    await workspace.command("ada", f"forget {key}")
    assert await workspace.known() == set()


@pytest.mark.parametrize("line", ["forget me", "forget-me"])
async def test_who_wants_to_be_forgotten_is(workspace: Workspace, line: str) -> None:
    await workspace.say("bob", "Mina sells tickets.")
    await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    await workspace.say("ada", "It rains.")
    await workspace.command("bob", line)
    assert len(await workspace.known()) == 1
    people = workspace.context.store.opt_outs
    assert await people.is_opted_out("slack", "T1", "bob")
    await workspace.command("bob", "remember-me")
    assert not await people.is_opted_out("slack", "T1", "bob")


async def test_nothing_to_forget_is_answered_with_an_example(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        await workspace.command("bob", "forget")
    assert "/threadlore forget minutes.pdf" in caught.value.hint


async def test_a_link_that_leads_nowhere_is_told(workspace: Workspace) -> None:
    for address in (link(workspace, "m99"), "https://elsewhere.example/x"):
        with pytest.raises(NotFound):
            await workspace.command("ada", f"forget {address}")
