"""Commands as they come from a platform: through the bot's inbox, and back to the caller alone."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.request import begun
from bot.bot import Bot
from bot.errors import PlatformError
from bot.platform.events import Called, Clicked, Heard
from bot.store import Stored
from tests.bot.commands.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.platform.events import Happening
    from tests.bot.commands.conftest import Workspace


@asynccontextmanager
async def running(workspace: Workspace) -> AsyncIterator[Bot]:
    house = workspace.house
    async with Bot.open(house.desk, house.store, house.settings) as bot:
        bot.attach(workspace.platform)
        yield bot


async def told(workspace: Workspace, *happenings: Happening) -> list[str]:
    async with running(workspace) as bot:
        for happening in happenings:
            await bot.hear(happening, f"slack:{happening!r}")
            await bot.inbox.idle()
    assert workspace.platform.posts == []
    return [card.text for _, card in workspace.platform.whispers]


async def test_the_caller_alone_is_told(workspace: Workspace) -> None:
    await workspace.say("ada", "Mina sells tickets.")
    [text] = await told(workspace, Called("c1", workspace.square, "bob", "status", handle="h"))
    assert "1 document" in text
    [(target, _)] = workspace.platform.whispers
    assert (target.person, target.place, target.handle) == ("bob", workspace.square, "h")


async def test_who_says_no_more_than_help_is_told_what_there_is(workspace: Workspace) -> None:
    said = workspace.platform.say(workspace.square, "bob", "<@BOT> Help!")
    [text] = await told(workspace, Heard(said, addressed=True))
    assert "`/threadlore sources`" in text
    [(target, _)] = workspace.platform.whispers
    assert (target.person, target.place.thread) == ("bob", said.id)
    assert workspace.platform.replies == []


async def test_what_somebody_may_not_is_told_in_words(workspace: Workspace) -> None:
    [text] = await told(workspace, Called("c1", workspace.square, "bob", "settings", "ingest off"))
    assert text.startswith("Only managers of this workspace can see or change settings. Ask one of them.")


async def test_an_answer_that_a_command_or_a_button_began_in_vain_is_no_last_answer(workspace: Workspace) -> None:
    answers = workspace.house.store.answers
    await workspace.answered("a1", private=True)
    for given in (
        Called("c1", workspace.square, "bob", "missed", "3 days"),
        Clicked("k1", workspace.square, "bob", "share", "a1"),
    ):
        vain = Stored(begun(given), workspace.square, "bob", "What?", NOW, private=isinstance(given, Called))
        await answers.begin(vain)
        async with running(workspace) as bot:
            await bot.give_up(given, PlatformError("Down."))
        assert workspace.platform.whispers.pop()[1].text == texts.failure(PlatformError("Down."))
        assert (await workspace.command("bob", "sources")).text == "The last answer here has no sources."


async def test_the_button_of_the_page_forgets_who_presses_it(workspace: Workspace) -> None:
    await workspace.say("bob", "Mina sells tickets.")
    [text] = await told(workspace, Clicked("k1", workspace.square, "bob", "forget", "me"))
    assert text.startswith("Done: ")
    assert await workspace.known() == set()


async def test_a_repeated_command_does_no_harm(workspace: Workspace) -> None:
    key = await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    first, second = await told(
        workspace,
        Called("c1", workspace.square, "bob", "forget", key),
        Called("c2", workspace.square, "bob", "forget", key),
    )
    assert first.startswith("Forgotten")
    assert second.startswith("There is no ")
