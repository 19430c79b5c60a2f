from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bot import bootstrap
from bot.admin.requests import Forget, ListDocuments
from bot.admin.results import Completed, DocumentList
from bot.admin.rpc import service, socket
from bot.admin.rpc.service import LocalService, connect_lazily, connect_or_open
from bot.admin.rpc.socket import RemoteService
from bot.platform.models import Location
from bot.settings import load_settings
from bot.store import AnswerResult, BotStore, StoredAnswer
from engine.data_dir import DataDir
from engine.errors import DataDirInUse, NotFound
from tests.bot.conftest import NOON
from tests.support import echo_language
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.bootstrap import EngineModels
    from bot.engine_context import EngineContext
    from bot.settings import Settings

ALL = ListDocuments(("s",))


@pytest.fixture(autouse=True)
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Desks without the heavy stores."""

    @asynccontextmanager
    async def desk(
        settings: Settings, able: EngineModels, *, replace_embedder: bool = False
    ) -> AsyncIterator[EngineContext]:
        async with echo_language.open_engine_context(settings.data_path) as made:
            yield made

    monkeypatch.setattr(bootstrap, "open_engine", desk)


async def test_the_first_opens_the_folder_and_the_second_is_answered_by_it() -> None:
    async with connect_or_open(load_settings()) as first, connect_or_open(load_settings()) as second:
        assert isinstance(first, LocalService)
        assert isinstance(second, RemoteService)
        assert [event async for event in second.perform(ALL)] == [DocumentList(())]


async def test_who_comes_while_the_first_is_still_starting_waits_for_it() -> None:
    settings = load_settings()
    async with echo_language.open_engine_context(settings.data_path) as desk:
        coming = asyncio.create_task(_first(settings))
        await asyncio.sleep(0)
        async with socket.serve_socket(settings.data_path, LocalService(desk).perform):
            assert await coming == [DocumentList(())]


async def _first(settings: Settings) -> list[object]:
    async with connect_or_open(settings) as reached:
        return [event async for event in reached.perform(ALL)]


async def test_what_is_forgotten_without_the_bot_is_said_by_none_of_its_answers() -> None:
    settings = load_settings()
    async with (
        echo_language.open_engine_context(settings.data_path) as desk,
        BotStore.open(settings.data_path / "bot.db") as store,
    ):
        await desk.engine.add(doc("old", "Ada met Bob."))
        await store.answers.begin(StoredAnswer("a1", Location("slack", "T1", "ROOF"), "ada", "Whom?", NOON))
        await store.answers.finish("a1", AnswerResult("Ada met Bob.", documents=frozenset({"old"})))
    async with connect_or_open(settings) as service:
        assert Completed("Forgotten: old") in [event async for event in service.perform(Forget("old", ("here",)))]
    async with BotStore.open(settings.data_path / "bot.db") as store:
        stored = await store.answers.get("a1")
        assert stored is not None
        assert (stored.state, stored.text) == ("redacted", "")


async def test_a_program_that_holds_the_folder_and_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "START_TIMEOUT_SECONDS", 0.0)
    settings = load_settings()
    with DataDir(settings.data_path).acquire_lock(), pytest.raises(DataDirInUse):
        async with connect_or_open(settings):
            pass


async def test_a_service_that_is_reached_meanwhile_opens_with_its_first_request() -> None:
    settings = load_settings()
    async with connect_lazily(settings) as coming:
        assert not settings.data_path.exists()
        assert [event async for event in coming.perform(ALL)] == [DocumentList(())]
    assert await socket.find_service(settings.data_path) is None


async def test_nothing_is_opened_for_who_asks_nothing() -> None:
    settings = load_settings()
    async with connect_lazily(settings):
        pass
    assert not settings.data_path.exists()


async def test_what_keeps_a_service_from_opening_is_raised_by_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def broken(
        settings: Settings, able: EngineModels, *, replace_embedder: bool = False
    ) -> AsyncIterator[EngineContext]:
        raise NotFound("There is no disk.")
        yield

    monkeypatch.setattr(bootstrap, "open_engine", broken)
    async with connect_lazily(load_settings()) as coming:
        for _ in range(2):
            with pytest.raises(NotFound, match="no disk"):
                [event async for event in coming.perform(ALL)]
