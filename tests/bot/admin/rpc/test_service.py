from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from bot import bootstrap
from bot.admin.requests import Catalogue, Forget
from bot.admin.results import Catalogued, Done
from bot.admin.rpc import service, socket
from bot.admin.rpc.service import Local, reach, reach_meanwhile
from bot.admin.rpc.socket import Remote
from bot.platform.models import Place
from bot.settings import load
from bot.store import Outcome, Store, Stored
from engine.data_dir import Folder
from engine.errors import FolderInUse, NotFound
from tests.bot.conftest import NOON
from tests.support import parrot
from tests.support.engines import doc

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.bootstrap import Skills
    from bot.engine_context import Desk
    from bot.settings import Settings

ALL = Catalogue(("s",))


@pytest.fixture(autouse=True)
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Desks without the heavy stores."""

    @asynccontextmanager
    async def desk(settings: Settings, able: Skills, *, replace_embedder: bool = False) -> AsyncIterator[Desk]:
        async with parrot.desk(settings.root) as made:
            yield made

    monkeypatch.setattr(bootstrap, "desk", desk)


async def test_the_first_opens_the_folder_and_the_second_is_answered_by_it() -> None:
    async with reach(load()) as first, reach(load()) as second:
        assert isinstance(first, Local)
        assert isinstance(second, Remote)
        assert [event async for event in second.perform(ALL)] == [Catalogued(())]


async def test_who_comes_while_the_first_is_still_starting_waits_for_it() -> None:
    settings = load()
    async with parrot.desk(settings.root) as desk:
        coming = asyncio.create_task(_first(settings))
        await asyncio.sleep(0)
        async with socket.served(settings.root, Local(desk).perform):
            assert await coming == [Catalogued(())]


async def _first(settings: Settings) -> list[object]:
    async with reach(settings) as reached:
        return [event async for event in reached.perform(ALL)]


async def test_what_is_forgotten_without_the_bot_is_said_by_none_of_its_answers() -> None:
    settings = load()
    async with parrot.desk(settings.root) as desk, Store.open(settings.root / "bot.db") as store:
        await desk.engine.add(doc("old", "Ada met Bob."))
        await store.answers.begin(Stored("a1", Place("slack", "T1", "ROOF"), "ada", "Whom?", NOON))
        await store.answers.finish("a1", Outcome("Ada met Bob.", documents=frozenset({"old"})))
    async with reach(settings) as service:
        assert Done("Forgotten: old") in [event async for event in service.perform(Forget("old", ("here",)))]
    async with Store.open(settings.root / "bot.db") as store:
        stored = await store.answers.get("a1")
        assert stored is not None
        assert (stored.state, stored.text) == ("blanked", "")


async def test_a_program_that_holds_the_folder_and_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "PATIENCE", 0.0)
    settings = load()
    with Folder(settings.root).owned(), pytest.raises(FolderInUse):
        async with reach(settings):
            pass


async def test_a_service_that_is_reached_meanwhile_opens_with_its_first_request() -> None:
    settings = load()
    async with reach_meanwhile(settings) as coming:
        assert not settings.root.exists()
        assert [event async for event in coming.perform(ALL)] == [Catalogued(())]
    assert await socket.connected(settings.root) is None


async def test_nothing_is_opened_for_who_asks_nothing() -> None:
    settings = load()
    async with reach_meanwhile(settings):
        pass
    assert not settings.root.exists()


async def test_what_keeps_a_service_from_opening_is_raised_by_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def broken(settings: Settings, able: Skills, *, replace_embedder: bool = False) -> AsyncIterator[Desk]:
        raise NotFound("There is no disk.")
        yield

    monkeypatch.setattr(bootstrap, "desk", broken)
    async with reach_meanwhile(load()) as coming:
        for _ in range(2):
            with pytest.raises(NotFound, match="no disk"):
                [event async for event in coming.perform(ALL)]
