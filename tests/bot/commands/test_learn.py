"""Files that come with the command, and messages that are picked by their menu, are indexed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

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
    PRIVATE_HINT,
)
from bot.platform.events import CommandInvoked
from bot.platform.models import Message, Upload
from bot.texts.overviews.readers import ALL_MEMBERS, ONLY_YOU
from engine.errors import InvalidQuestion
from engine.models import Question
from tests.bot.commands.conftest import NOW, Workspace
from tests.support.builders import ROOF

MEMBERS_ALONE = "Only the 2 members of #roof can find this, also in digests and catch-ups."
TILES_INDEXED = "I've indexed **tiles.txt**. You can ask me about it."
pytestmark = pytest.mark.usefixtures("announced")


async def learn_lines(
    workspace: Workspace, *uploads: Upload, message: Message | None = None, person: str = "bob", words: str = ""
) -> list[str]:
    """What a person sees who has files or a message indexed."""
    invoked = CommandInvoked("c1", ROOF, person, "learn", words, uploads=uploads, message=message)
    card = await learn.learn_command(CommandContext.of(workspace, invoked, NOW))  # type: ignore[arg-type]
    return card.text.splitlines()


async def found(workspace: Workspace, question: str) -> list[str]:
    """The passages that a question of Bob's finds."""
    await workspace.engine.wait_until_indexed()
    scope = await workspace.context.audience.scope_for_person(ROOF, "bob")
    context = await workspace.engine.retrieve(Question(question, scope, mode="naive", threshold=-1.0))
    return [source.text for source in context.sources]


@pytest.fixture
def tiles_message(workspace: Workspace) -> Message:
    """A message of Bob's with a file."""
    tiles = workspace.platform.add_file("tiles.txt", b"Red ones.")
    return workspace.bot.share(ROOF, tiles, author="bob", text="Mina sells tickets.")


async def test_files_of_the_command_are_indexed_and_can_be_forgotten(workspace: Workspace) -> None:
    good = workspace.platform.add_file("roof.md", b"# Roof\n\nIt leaks.")
    bad = workspace.platform.add_file("photo.png", b"\x89PNG", kind="image/png")
    first, second, _ = await learn_lines(workspace, good, bad)
    assert first == "I've indexed **roof.md**. You can ask me about it."
    assert second.startswith("I couldn't read photo.png: ")
    assert await workspace.titles() == {"roof.md"}
    await workspace.command("bob", "forget roof.md")
    assert await workspace.titles() == set()


@pytest.mark.parametrize(("kind", "readers"), [("open", ALL_MEMBERS), ("closed", MEMBERS_ALONE)])
async def test_it_says_who_can_find_a_file_and_how_it_stays_with_the_caller(
    workspace: Workspace, kind: Literal["open", "closed"], readers: str
) -> None:
    workspace.platform.change_channel("ROOF", kind=kind)
    _, said = await learn_lines(workspace, workspace.platform.add_file("tiles.txt", b"Red ones."))
    assert said == f"{readers} {PRIVATE_HINT}"


async def test_a_private_file_is_found_by_the_caller_alone_and_shows_in_no_channel(workspace: Workspace) -> None:
    upload = workspace.platform.add_file("tiles.txt", b"The tiles are red.")
    assert await learn_lines(workspace, upload, words="private") == [TILES_INDEXED, ONLY_YOU]
    assert any("tiles are red" in text for text in await found(workspace, "Which color are the tiles?"))
    others = await workspace.context.audience.scope_for_person(ROOF, "ada")
    channel = await workspace.context.audience.scope_for_channel(ROOF)
    for scope in (others, channel):
        assert await workspace.engine.documents.list(scope) == []
    assert "tiles" not in await workspace.text("ada", "catch-up 1d")
    assert "tiles" in await workspace.text("bob", "forget tiles.txt")


async def test_a_message_is_found_once_it_was_added(workspace: Workspace) -> None:
    message = workspace.platform.add_message(ROOF, "ada", "Mina sells tickets.")
    assert await found(workspace, "Who sells tickets?") == []
    assert await learn_lines(workspace, message=message) == [MESSAGE_INDEXED, ALL_MEMBERS]
    [text] = await found(workspace, "Who sells tickets?")
    assert "Mina sells tickets." in text
    assert await learn_lines(workspace, message=message) == [ALREADY_INDEXED, ALL_MEMBERS]


async def test_in_a_channel_that_is_not_indexed_files_are_added_and_it_says_how_words_would_be(
    workspace: Workspace, tiles_message: Message
) -> None:
    await workspace.bot.save_settings(ROOF, ingest=False)
    files, words, _ = await learn_lines(workspace, message=tiles_message, person="gus")
    assert files == TILES_INDEXED
    assert "`/threadlore settings ingest on`" in words
    assert await workspace.titles() == {"tiles.txt"}
    [file] = await workspace.context.store.files.list_by_messages(ROOF.room, [tiles_message.id])
    assert file.author == "bob"


async def test_what_its_author_had_forgotten_is_not_added_by_others(
    workspace: Workspace, tiles_message: Message
) -> None:
    await learn_lines(workspace, message=tiles_message)
    await workspace.command("bob", "forget tiles.txt")
    assert await learn_lines(workspace, message=tiles_message, person="ada") == [AUTHOR_OPTED_OUT]


async def test_what_a_person_wrote_before_being_read_again_they_alone_can_add(
    workspace: Workspace, tiles_message: Message
) -> None:
    await workspace.command("bob", "forget-me")
    assert await learn_lines(workspace, message=tiles_message) == [AUTHOR_OPTED_OUT]
    await workspace.command("bob", "remember-me")
    assert await learn_lines(workspace, message=tiles_message, person="ada") == [AUTHOR_OPTED_OUT]
    assert await workspace.titles() == set()
    assert await learn_lines(workspace, message=tiles_message) == [TILES_INDEXED, MESSAGE_INDEXED, ALL_MEMBERS]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"by_bot": True}, BOT_MESSAGE),
        ({"addressed": True, "text": "When do the tiles come?"}, ADDRESSED_TO_BOT),
        ({"text": " "}, NOTHING_READABLE),
        ({"location": replace(ROOF, channel="ALONE")}, DIRECT_MESSAGE),
        ({"time": NOW - timedelta(days=40)}, "older than 30 days"),
    ],
)
async def test_what_is_no_knowledge_or_too_old_is_not_added(
    workspace: Workspace, changes: dict[str, Any], line: str
) -> None:
    workspace.context = workspace.bot.with_settings(llm_model="openai/any", retention_days=30)
    workspace.platform.add_channel("ALONE", "ada", kind="direct")
    message = replace(workspace.platform.add_message(ROOF, "ada", "News!"), **changes)
    [shown] = await learn_lines(workspace, message=message)
    assert line in shown
    assert await workspace.titles() == set()


async def test_without_a_file_or_a_message_it_is_refused(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion, match="no file"):
        await learn_lines(workspace)
