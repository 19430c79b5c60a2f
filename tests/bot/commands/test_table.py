"""Commands as they come from a platform: through the event queue, and back to the caller alone."""

from __future__ import annotations

from bot import texts
from bot.answers.question import started_answer_id
from bot.errors import PlatformError
from bot.platform.events import ButtonPressed, CommandInvoked, MessageReceived, PlatformEvent
from tests.bot.commands.conftest import NOW, Workspace
from tests.support.builders import ROOF, make_answer


async def shown(workspace: Workspace, *events: PlatformEvent) -> list[str]:
    """The private messages that come of these events."""
    async with workspace.bot.run_bot() as bot:
        for event in events:
            await bot.receive(event, f"slack:{event!r}")
            await bot.event_queue.wait_until_idle()
    assert workspace.platform.posts == []
    return [card.text for _, card in workspace.platform.private_messages]


def command(name: str, words: str = "", id_: str = "c1") -> CommandInvoked:
    return CommandInvoked(id_, ROOF, "bob", name, words, handle="h")


async def test_the_caller_alone_is_answered(workspace: Workspace) -> None:
    await workspace.post("ada", "Mina sells tickets.")
    [text] = await shown(workspace, command("status"))
    assert "1 document" in text
    [(target, _)] = workspace.platform.private_messages
    assert (target.person, target.location, target.handle) == ("bob", ROOF, "h")


async def test_a_mention_that_only_asks_for_help_lists_the_commands(workspace: Workspace) -> None:
    message = workspace.platform.add_message(ROOF, "bob", "<@BOT> Help!")
    [text] = await shown(workspace, MessageReceived(message, addressed=True))
    assert "`/threadlore sources`" in text
    [(target, _)] = workspace.platform.private_messages
    assert (target.person, target.location.thread) == ("bob", message.id)
    assert workspace.platform.replies == []


async def test_a_command_that_is_not_allowed_is_refused_in_words(workspace: Workspace) -> None:
    [text] = await shown(workspace, command("settings", "ingest off"))
    assert text.startswith("Only managers of this workspace can see or change settings. Ask one of them.")


async def test_an_answer_that_a_command_or_a_button_began_in_vain_is_no_last_answer(workspace: Workspace) -> None:
    await workspace.answer("a1", private=True)
    catch_up = CommandInvoked("c1", ROOF, "bob", "catch-up", "3 days")
    for event in (catch_up, ButtonPressed("k1", ROOF, "bob", "share", "a1")):
        begun = make_answer(started_answer_id(event), asker="bob", time=NOW, private=event is catch_up)
        await workspace.context.store.answers.begin(begun)
        async with workspace.bot.run_bot() as bot:
            await bot.dispatcher.handle_failure(event, PlatformError("Down."))
        assert workspace.platform.private_messages.pop()[1].text == texts.describe_error(PlatformError("Down."))
        assert await workspace.text("bob", "sources") == "The last answer here has no sources."


async def test_the_button_of_the_home_page_forgets_who_presses_it(workspace: Workspace) -> None:
    await workspace.post("bob", "Mina sells tickets.")
    [text] = await shown(workspace, ButtonPressed("k1", ROOF, "bob", "forget", "me"))
    assert text.startswith("Done. ")
    assert await workspace.titles() == set()


async def test_a_repeated_command_does_no_harm(workspace: Workspace) -> None:
    key = await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    first, second = await shown(workspace, command("forget", key), command("forget", key, "c2"))
    assert first.startswith("Forgotten")
    assert second.startswith("I found no ")
