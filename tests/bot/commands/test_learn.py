"""What somebody points at is learnt: files that come with the command, and messages by their menu."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.commands import learn
from bot.commands.context import CommandContext
from bot.commands.learn import (
    ADDRESSED_TO_BOT,
    ALREADY_INDEXED,
    AUTHOR_OPTED_OUT,
    BOT_MESSAGE,
    DIRECT_MESSAGE,
    MESSAGE_INDEXED,
    NOTHING_READABLE,
)
from bot.platform.events import CommandInvoked
from bot.store import ChannelSettings
from engine.errors import InvalidQuestion
from engine.models import Question
from tests.bot.commands.conftest import NOW

if TYPE_CHECKING:
    from bot.platform.models import Message, Upload
    from tests.bot.commands.conftest import Workspace


async def learnt(
    workspace: Workspace, *uploads: Upload, message: Message | None = None, person: str = "bob"
) -> list[str]:
    """What somebody sees who has files learnt, or a message."""
    called = CommandInvoked("c1", workspace.square, person, "learn", uploads=uploads, message=message)
    card = await learn.learn_command(CommandContext(workspace, called, NOW))  # type: ignore[arg-type]
    return card.text.splitlines()


async def found(workspace: Workspace, question: str) -> list[str]:
    """The texts that a question of Bob's finds."""
    await workspace.context.engine_context.engine.wait_until_indexed()
    scope = await workspace.context.audience.scope_for_person(workspace.square, "bob")
    context = await workspace.context.engine_context.engine.retrieve(
        Question(question, scope, mode="naive", threshold=-1.0)
    )
    return [each.text for each in context.sources]


async def test_files_that_come_with_the_command_are_read(workspace: Workspace) -> None:
    good = workspace.platform.add_file("roof.md", b"# Roof\n\nIt leaks.")
    bad = workspace.platform.add_file("photo.png", b"\x89PNG", kind="image/png")
    first, second = await learnt(workspace, good, bad)
    assert first == "I've indexed **roof.md**. You can ask me about it."
    assert second.startswith("I couldn't read photo.png: ")
    assert await workspace.known() == {"roof.md"}


async def test_who_learnt_a_file_can_have_it_forgotten(workspace: Workspace) -> None:
    await learnt(workspace, workspace.platform.add_file("roof.md", b"It leaks."))
    await workspace.command("bob", "forget roof.md")
    assert await workspace.known() == set()


async def test_the_words_of_a_message_are_found_once_it_was_added(workspace: Workspace) -> None:
    await workspace.context.store.channels.record_announced(workspace.square.room)
    said = workspace.platform.add_message(workspace.square, "ada", "Mina sells tickets.")
    assert await found(workspace, "Who sells tickets?") == []
    assert await learnt(workspace, message=said) == [MESSAGE_INDEXED]
    [text] = await found(workspace, "Who sells tickets?")
    assert "Mina sells tickets." in text
    assert await learnt(workspace, message=said) == [ALREADY_INDEXED]


async def test_in_a_channel_that_is_not_read_files_are_added_and_it_is_said_how_words_would_be(
    workspace: Workspace,
) -> None:
    await workspace.context.store.channel_settings.save(workspace.square.room, ChannelSettings(ingest=False))
    tiles = workspace.platform.add_file("tiles.txt", b"Red ones.")
    said = workspace.platform.add_message(workspace.square, "ada", "Look at these.", uploads=[tiles])
    files, words = await learnt(workspace, message=said)
    assert files == "I've indexed **tiles.txt**. You can ask me about it."
    assert "`/threadlore settings ingest on`" in words
    assert await workspace.known() == {"tiles.txt"}


async def test_a_file_that_was_added_with_its_message_is_its_authors(workspace: Workspace) -> None:
    tiles = workspace.platform.add_file("tiles.txt", b"Red ones.")
    said = workspace.platform.add_message(workspace.square, "bob", "", uploads=[tiles])
    await learnt(workspace, message=said, person="gus")
    [file] = await workspace.context.store.files.list_by_messages(workspace.square.room, [said.id])
    assert file.author == "bob"


async def test_what_somebody_wanted_forgotten_is_not_added_by_others(workspace: Workspace) -> None:
    await workspace.context.store.channels.record_announced(workspace.square.room)
    tiles = workspace.platform.add_file("tiles.txt", b"Red ones.")
    said = workspace.platform.add_message(workspace.square, "bob", "Look at these.", uploads=[tiles])
    await learnt(workspace, message=said)
    await workspace.command("bob", "forget tiles.txt")
    assert await learnt(workspace, message=said, person="ada") == [AUTHOR_OPTED_OUT]
    again = workspace.platform.add_message(workspace.square, "bob", "And at those.")
    await workspace.command("bob", "forget-me")
    assert await learnt(workspace, message=again, person="ada") == [AUTHOR_OPTED_OUT]
    assert await workspace.known() == set()


async def test_what_somebody_wrote_before_he_was_read_again_he_alone_can_add(workspace: Workspace) -> None:
    await workspace.context.store.channels.record_announced(workspace.square.room)
    tiles = workspace.platform.add_file("tiles.txt", b"Red ones.")
    said = workspace.platform.add_message(workspace.square, "bob", "Mina sells tickets.", uploads=[tiles])
    await workspace.command("bob", "forget-me")
    assert await learnt(workspace, message=said) == [AUTHOR_OPTED_OUT]
    await workspace.command("bob", "remember-me")
    assert await learnt(workspace, message=said, person="ada") == [AUTHOR_OPTED_OUT]
    assert await workspace.known() == set()
    assert await learnt(workspace, message=said) == [
        "I've indexed **tiles.txt**. You can ask me about it.",
        MESSAGE_INDEXED,
    ]


async def test_what_is_no_knowledge_is_not_added(workspace: Workspace) -> None:
    await workspace.context.store.channels.record_announced(workspace.square.room)
    say, square = workspace.platform.add_message, workspace.square
    assert await learnt(workspace, message=say(square, "feed", "News!", by_bot=True)) == [BOT_MESSAGE]
    assert await learnt(workspace, message=replace(say(square, "ada", "When?"), addressed=True)) == [ADDRESSED_TO_BOT]
    assert await learnt(workspace, message=say(square, "ada", " ")) == [NOTHING_READABLE]
    alone = workspace.platform.add_channel("ALONE", "bob", kind="direct")
    assert await learnt(workspace, message=say(alone, "bob", "A secret.")) == [DIRECT_MESSAGE]
    assert await workspace.known() == set()


async def test_what_is_too_old_to_be_kept_is_not_added(workspace: Workspace) -> None:
    await workspace.context.store.channels.record_announced(workspace.square.room)
    said = workspace.platform.add_message(workspace.square, "ada", "Mina sells tickets.")
    called = CommandInvoked(
        "c1", workspace.square, "bob", "learn", message=replace(said, time=NOW - timedelta(days=40))
    )
    settings = workspace.context.settings.model_copy(update={"retention_days": 30})
    workspace.context = replace(workspace.context, settings=settings)
    card = await learn.learn_command(CommandContext(workspace, called, NOW))  # type: ignore[arg-type]
    assert "older than 30 days" in card.text


async def test_nothing_to_learn_is_told(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion, match="no file"):
        await learnt(workspace)
