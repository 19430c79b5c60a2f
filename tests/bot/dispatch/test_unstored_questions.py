"""A question that the database does not take is refused in a sentence, once, and not in silence."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.platform.events import MessageReceived
from engine.errors import DatabaseReadOnly
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF, make_message
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("tiles")


async def test_who_asks_is_told_once_and_asks_again(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: Any, **__: Any) -> bool:
        raise DatabaseReadOnly("The database takes no changes.")

    asked = MessageReceived(make_message("7", "<@bot> When do the tiles come?"), addressed=True)
    overheard = MessageReceived(make_message("8", "The tiles are here."), addressed=False)
    async with bot.run_bot() as running:
        with monkeypatch.context() as patch:
            patch.setattr(bot.store.event_queue, "enqueue", refuse)
            for event in (asked, overheard, asked):
                with pytest.raises(DatabaseReadOnly):
                    await running.receive(event, f"message:{event.message.id}")
            async with asyncio.timeout(PATIENCE):
                while not bot.platform.private_messages:  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(0.01)
        assert await running.receive(asked, "message:7")
    [(target, card)] = bot.platform.private_messages
    assert (target.message, target.person, target.location) == ("7", "ada", replace(ROOF, thread="7"))
    assert "takes no changes at the moment" in card.text
