from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.admin.document_lookup import build_scope
from bot.store import AnswerSource, ChannelSettings
from bot.texts import MODEL_TROUBLE
from engine.errors import InvalidQuestion, ModelUnreachable, NotFound
from tests.support.echo_language import EchoLanguage
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from bot.platform.models import Message
    from tests.bot.commands.conftest import Workspace


def drawn(number: int, message: Message, space: str) -> AnswerSource:
    room = message.location.room
    document = f"{room}:window:{message.id}"
    return AnswerSource(
        number, f"#{number}", f"https://chat.example/{number}", "as shown", document, message.id, space, room
    )


async def test_status_counts_what_the_caller_may_read_and_nothing_else(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina sells tickets.")
    await workspace.say("ada", "Otto hides the treasure.", workspace.attic)
    bob, ada = await workspace.command("bob", "status"), await workspace.command("ada", "status")
    assert "- 1 document, 1 passage" in bob.text
    assert "- 2 documents, 2 passages" in ada.text


async def test_status_tells_of_trouble_with_the_model_and_not_where_it_lives(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina sells tickets.")
    engine = workspace.context.engine_context.engine
    language = engine._runtime.language
    assert isinstance(language, EchoLanguage)
    language.failing["extract", "Carla"] = ModelUnreachable("Cannot reach the model at 10.0.0.7:11434.")
    await engine.add(doc("news", "Carla met Bob.", space="slack:T1:open", room=workspace.square.room))
    async with asyncio.timeout(20):
        while not (await engine.get_status(build_scope(["slack:T1:open"]))).trouble:  # noqa: ASYNC110 - it comes by itself
            await asyncio.sleep(0.01)
    shown = (await workspace.command("bob", "status")).text
    assert MODEL_TROUBLE in shown
    assert "10.0.0.7" not in shown


async def test_status_tells_when_the_channel_was_last_heard(workspace: Workspace) -> None:
    assert "I have read no messages here yet" in (await workspace.command("bob", "status")).text
    await workspace.say("ada", "Mina sells tickets.")
    assert "**#square**\n- Last message: 1 day ago." in (await workspace.command("bob", "status")).text


async def test_status_tells_what_is_read_where_the_channel_is_not(workspace: Workspace) -> None:
    talk = workspace.platform.add_channel("DM", "bob", kind="direct")
    yard = workspace.platform.add_channel("YARD", "bob")
    assert "In direct messages" in (await workspace.command("bob", "status", talk)).text
    assert "I'm not indexing this channel." in (await workspace.command("bob", "status", yard)).text


async def test_sources_are_shown_with_their_texts(workspace: Workspace) -> None:
    said = await workspace.say("ada", "Mina sells tickets.")
    await workspace.answered("a1", drawn(1, said, "slack:T1:open"))
    card = await workspace.command("bob", "sources")
    assert card.text.startswith("**1** [#1](https://chat.example/1)\n> ")
    assert "Mina sells tickets." in card.text


async def test_a_source_that_the_caller_cannot_read_is_not_shown(workspace: Workspace) -> None:
    open_, secret = await workspace.say("ada", "Mina sells."), await workspace.say("ada", "Treasure!", workspace.attic)
    await workspace.answered(
        "a1", drawn(1, open_, "slack:T1:open"), drawn(2, secret, workspace.attic.room), asker="ada"
    )
    card = await workspace.command("bob", "sources")
    assert "Treasure" not in card.text
    assert "#2" not in card.text
    assert "1 further source that you can't read" in card.text


async def test_a_source_in_a_room_that_was_closed_since_is_not_shown(workspace: Workspace) -> None:
    moved = await workspace.say("ada", "Treasure!", workspace.attic)
    await workspace.answered("a1", drawn(1, moved, "slack:T1:open"))
    card = await workspace.command("bob", "sources")
    assert "Treasure" not in card.text
    assert "1 further source that you can't read" in card.text


async def test_another_ones_private_answer_has_no_sources_for_me(workspace: Workspace) -> None:
    said = await workspace.say("ada", "Mina sells tickets.")
    await workspace.answered("a1", drawn(1, said, "slack:T1:open"), asker="ada", private=True)
    for line in ("sources", "sources a1"):
        with pytest.raises(InvalidQuestion, match="I haven't answered anything here"):
            await workspace.command("bob", line)
    assert "Mina" in (await workspace.command("ada", "sources a1")).text


async def test_the_last_answer_of_a_channel_may_stand_in_a_thread(workspace: Workspace) -> None:
    said = await workspace.say("ada", "Mina sells tickets.")
    await workspace.answered("a1", drawn(1, said, "slack:T1:open"), thread="m7")
    assert "Mina" in (await workspace.command("bob", "sources")).text
    with pytest.raises(InvalidQuestion):
        await workspace.command("bob", "sources", workspace.platform.place("SQUARE", "m8"))


async def test_what_was_forgotten_is_no_source_any_more(workspace: Workspace) -> None:
    said = await workspace.say("ada", "Mina sells tickets.")
    await workspace.answered("a1", drawn(1, said, "slack:T1:open"))
    await workspace.ingest_service.forget_message(said.location, said.id)
    card = await workspace.command("bob", "sources")
    assert "forgotten since" in card.text
    assert "Mina" not in card.text


async def test_of_a_channel_that_is_not_read_it_is_told_what_changes_that(workspace: Workspace) -> None:
    await workspace.context.store.channel_settings.save(workspace.square.room, ChannelSettings(ingest=False))
    await workspace.share("ada", "tiles.txt", "Red ones.")
    told = (await workspace.command("bob", "status")).text
    assert "I'm not indexing this channel. A manager can run `/threadlore settings ingest on` to change that." in told
    assert "No message" not in told


async def test_a_graph_is_a_picture_with_its_weightiest_relations_in_words(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto. Otto met Carla.")
    card = await workspace.command("bob", "graph mina")
    assert card.text.startswith("**Mina** (")
    assert "- **Otto**: " in card.text
    assert "Mina met Otto." in card.text
    assert card.picture is not None
    assert card.picture.data.startswith(b"\x89PNG")
    assert "Carla" in card.picture.alt_text


async def test_a_graph_shows_nothing_of_a_channel_that_the_caller_is_not_in(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    await workspace.say("ada", "Mina met Treasure.", workspace.attic)
    bob, ada = await workspace.command("bob", "graph Mina"), await workspace.command("ada", "graph Mina")
    assert bob.picture is not None
    assert "Treasure" not in bob.text + bob.picture.alt_text
    assert "Treasure" in ada.text
    with pytest.raises(NotFound):
        await workspace.command("bob", "graph Treasure")


async def test_who_may_read_single_channels_only_is_told_that_there_is_no_picture(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina met Otto.")
    workspace.platform.failing["channel"] = NotFound("It is not known who reads here.")
    card = await workspace.command("bob", "graph Mina")
    assert card.picture is None
    assert "can't draw a graph" in card.text
    assert "Otto" not in card.text


async def test_graph_without_a_name_is_answered_with_an_example(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        await workspace.command("bob", "graph")
    assert "/threadlore graph Ada Lovelace" in caught.value.hint
