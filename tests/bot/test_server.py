"""The bot and the commands beside it share one data folder: what one forgets, the other does not say again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.admin.requests import Forget
from bot.admin.results import Completed
from bot.admin.rpc import socket
from bot.platform.models import Location
from bot.server import running_bot
from bot.settings import load_settings
from bot.store import AnswerResult, AnswerSource, StoredAnswer
from tests.support import echo_language
from tests.support.engine_fixture import doc
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from bot.bot import Bot

SOURCE = AnswerSource(1, "old", "", "Ada met Bob.", "old", "1", "here", "here")


async def answered(bot: Bot) -> None:
    """The bot said something that it had from a document."""
    await bot.store.answers.begin(StoredAnswer("a1", Location("slack", "T1", "ROOF"), "ada", "Whom?", START))
    await bot.store.answers.finish("a1", AnswerResult("Ada met Bob. [1]", (SOURCE,), frozenset({"old"})))


async def test_what_a_command_forgets_beside_the_bot_is_said_by_none_of_its_answers() -> None:
    settings = load_settings()
    async with echo_language.open_engine_context(settings.data_path) as desk, running_bot(desk, settings) as bot:
        await desk.engine.add(doc("old", "Ada met Bob."))
        await desk.engine.wait_until_indexed()
        await answered(bot)
        remote = await socket.find_service(settings.data_path)
        assert remote is not None
        *_, last = [event async for event in remote.perform(Forget("old", ("here",)))]
        assert last == Completed("Forgotten: old")
        stored = await bot.store.answers.get("a1")
        assert stored is not None
        assert (stored.state, stored.text, stored.sources) == ("redacted", "", ())


async def test_commands_are_worked_on_as_long_as_the_bot_is_there() -> None:
    settings = load_settings()
    async with echo_language.open_engine_context(settings.data_path) as desk, running_bot(desk, settings):
        assert await socket.find_service(settings.data_path) is not None
    assert await socket.find_service(settings.data_path) is None
