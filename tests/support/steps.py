"""What happens in the roof channel, as steps of a table; messages are named by their numbers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

from bot.platform.events import ChannelRemoved, MessageEdited, MessagesDeleted, VisibilityChanged
from bot.platform.models import Message
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF

Step = Callable[[BotFixture], Awaitable[object]]

DAY = 86400.0  # seconds


async def run_steps(bot: BotFixture, steps: Iterable[Step]) -> None:
    for step in steps:
        await step(bot)


def find(bot: BotFixture, number: int) -> Message:
    """A message as it was posted first, also if it was deleted."""
    return bot.platform.posted[f"m{number}"]


def say(author: str, text: str, *, thread: int = 0, **facts: Any) -> Step:
    """Somebody posts a message, and the bot receives it."""
    return lambda bot: bot.post(replace(ROOF, thread=f"m{thread}" if thread else ""), author, text, **facts)


def write(author: str, text: str, *, thread: int = 0, **facts: Any) -> Step:
    """Somebody posts a message that the bot does not receive yet."""

    async def step(bot: BotFixture) -> None:
        bot.platform.add_message(replace(ROOF, thread=f"m{thread}" if thread else ""), author, text, **facts)

    return step


def receive(number: int, *, addressed: bool = False, **changes: Any) -> Step:
    return lambda bot: bot.receive(replace(find(bot, number), **changes), addressed=addressed)


def edit(number: int, text: str) -> Step:
    return lambda bot: bot.edit(find(bot, number), text)


def edit_event(number: int, **changes: Any) -> Step:
    """An event of an edit with these facts."""
    return lambda bot: bot.ingest_service.handle(
        MessageEdited(replace(find(bot, number), **{"edited": "+", **changes}))
    )


def delete(*numbers: int) -> Step:
    return lambda bot: bot.delete(*(find(bot, number) for number in numbers))


def edit_away(number: int, text: str) -> Step:
    """An edit that the bot is not told of."""

    async def step(bot: BotFixture) -> None:
        bot.platform.edit_message(find(bot, number), text)

    return step


def delete_away(*numbers: int) -> Step:
    """Deletions that the bot is not told of."""

    async def step(bot: BotFixture) -> None:
        for number in numbers:
            bot.platform.delete_message(find(bot, number))

    return step


def reconcile(later: float = 300.0) -> Step:
    return lambda bot: bot.reconcile(later)


def backfill(days: int = 3650) -> Step:
    return lambda bot: bot.backfill(ROOF, days)


def save_settings(**settings: Any) -> Step:
    return lambda bot: bot.save_settings(ROOF, **settings)


def forget_person(person: str) -> Step:
    return lambda bot: bot.forget_person(person)


def opt_in(person: str) -> Step:
    """The person is read again from the next second on."""
    return lambda bot: bot.store.opt_outs.opt_in(
        "slack", "T1", person, bot.platform.current_time() + timedelta(seconds=1)
    )


def forget_message(number: int) -> Step:
    return lambda bot: bot.ingest_service.forget_message(ROOF, f"m{number}")


def forget_document(name: str) -> Step:
    return lambda bot: bot.ingest_service.forget_document(f"{ROOF.room}:{name}")


def leave_and_rejoin() -> Step:
    async def step(bot: BotFixture) -> None:
        await bot.ingest_service.handle(ChannelRemoved(ROOF))
        await bot.rejoin(ROOF)

    return step


def remove_thread(number: int) -> Step:
    return lambda bot: bot.ingest_service.handle(ChannelRemoved(replace(ROOF, thread=f"m{number}")))


def set_kind(kind: Literal["open", "closed"]) -> Step:
    """The channel is opened or closed, and the bot is told."""

    async def step(bot: BotFixture) -> None:
        bot.platform.change_channel("ROOF", kind=kind)
        await bot.ingest_service.handle(VisibilityChanged(ROOF))

    return step


def leave() -> Step:
    return lambda bot: bot.ingest_service.handle(ChannelRemoved(ROOF))


def fail(call: str, error: Exception) -> Step:
    """The platform fails these calls until `recover`."""

    async def step(bot: BotFixture) -> None:
        bot.platform.failing[call] = error

    return step


def recover() -> Step:
    async def step(bot: BotFixture) -> None:
        bot.platform.failing.clear()

    return step


def list_only(*numbers: int) -> Step:
    """The lists of the platform show these messages only."""

    async def step(bot: BotFixture) -> None:
        bot.platform.listed_messages = [find(bot, number) for number in numbers]

    return step


def list_all() -> Step:
    async def step(bot: BotFixture) -> None:
        bot.platform.listed_messages = None

    return step


FOUR = (say("ada", "One."), say("ada", "Two."), say("ada", "Three."), say("bob", "Four.", thread=3))


def restore(*numbers: int) -> Step:
    """Messages that were deleted are there again."""

    async def step(bot: BotFixture) -> None:
        bot.platform.messages = [find(bot, number) for number in numbers] + bot.platform.messages

    return step


def delete_event(*numbers: int) -> Step:
    """The bot is told of deletions; the history of the platform stays."""
    event = MessagesDeleted(ROOF, tuple(f"m{number}" for number in numbers))
    return lambda bot: bot.ingest_service.handle(event)
