"""Commands as they come from a platform: through the bot's inbox, and back to the caller alone."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.request import started_answer_id
from bot.bot import Bot
from bot.errors import PlatformError
from bot.platform.events import ButtonPressed, CommandInvoked, MessageReceived
from bot.store import StoredAnswer
from tests.bot.commands.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.platform.events import PlatformEvent
    from tests.bot.commands.conftest import Workspace


@asynccontextmanager
async def running(workspace: Workspace) -> AsyncIterator[Bot]:
    house = workspace.context
    async with Bot.open(house.engine_context, house.store, house.settings) as bot:
        bot.attach(workspace.platform)
        yield bot


async def told(workspace: Workspace, *happenings: PlatformEvent) -> list[str]:
    async with running(workspace) as bot:
        for happening in happenings:
            await bot.receive(happening, f"slack:{happening!r}")
            await bot.event_queue.wait_until_idle()
    assert workspace.platform.posts == []
    return [card.text for _, card in workspace.platform.private_messages]


async def test_the_caller_alone_is_told(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina sells tickets.")
    [text] = await told(workspace, CommandInvoked("c1", workspace.square, "bob", "status", handle="h"))
    assert "1 document" in text
    [(target, _)] = workspace.platform.private_messages
    assert (target.person, target.location, target.handle) == ("bob", workspace.square, "h")


async def test_who_says_no_more_than_help_is_told_what_there_is(workspace: Workspace) -> None:
    said = workspace.platform.add_message(workspace.square, "bob", "<@BOT> Help!")
    [text] = await told(workspace, MessageReceived(said, addressed=True))
    assert "`/threadlore sources`" in text
    [(target, _)] = workspace.platform.private_messages
    assert (target.person, target.location.thread) == ("bob", said.id)
    assert workspace.platform.replies == []


async def test_what_somebody_may_not_is_told_in_words(workspace: Workspace) -> None:
    [text] = await told(workspace, CommandInvoked("c1", workspace.square, "bob", "settings", "ingest off"))
    assert text.startswith("Only managers of this workspace can see or change settings. Ask one of them.")


async def test_an_answer_that_a_command_or_a_button_began_in_vain_is_no_last_answer(workspace: Workspace) -> None:
    answers = workspace.context.store.answers
    await workspace.answered("a1", private=True)
    for given in (
        CommandInvoked("c1", workspace.square, "bob", "catch-up", "3 days"),
        ButtonPressed("k1", workspace.square, "bob", "share", "a1"),
    ):
        vain = StoredAnswer(
            started_answer_id(given), workspace.square, "bob", "What?", NOW, private=isinstance(given, CommandInvoked)
        )
        await answers.begin(vain)
        async with running(workspace) as bot:
            await bot.dispatcher.handle_failure(given, PlatformError("Down."))
        assert workspace.platform.private_messages.pop()[1].text == texts.describe_error(PlatformError("Down."))
        assert (await workspace.command("bob", "sources")).text == "The last answer here has no sources."


async def test_the_button_of_the_page_forgets_who_presses_it(workspace: Workspace) -> None:
    await workspace.say("bob", "Mina sells tickets.")
    [text] = await told(workspace, ButtonPressed("k1", workspace.square, "bob", "forget", "me"))
    assert text.startswith("Done. ")
    assert await workspace.known() == set()


async def test_a_repeated_command_does_no_harm(workspace: Workspace) -> None:
    key = await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    first, second = await told(
        workspace,
        CommandInvoked("c1", workspace.square, "bob", "forget", key),
        CommandInvoked("c2", workspace.square, "bob", "forget", key),
    )
    assert first.startswith("Forgotten")
    assert second.startswith("I found no ")
