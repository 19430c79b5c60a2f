"""What is forgotten while the bot does not run stays forgotten, also in its answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot import texts
from bot.bootstrap import LazyParts
from bot.capabilities.deps import Deps
from bot.capabilities.requests import ForgetWorkspace, Ingest
from bot.errors import NotAllowed
from bot.platform.models import Location
from bot.settings import Settings
from bot.store import FileRecord
from engine import Clock
from engine.errors import NotFound
from tests.bot.capabilities.conftest import run
from tests.support import echo_language
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.builders import ROOF
from tests.support.engine_fixture import doc, find_files_containing

NOTES = doc("notes", "The tiles come on Monday.", space="slack:T1:open")
CHANGED = doc("notes", "The tiles come on Thursday, after all.", space="slack:T1:open")
ASKED = "When do the tiles come?"


@asynccontextmanager
async def no_bot(settings: Settings, clock: Clock) -> AsyncIterator[Deps]:
    """The services of a process beside which no bot runs."""
    async with echo_language.open_engine_context(settings.data_path, clock=clock) as context:
        parts = LazyParts(context, settings)
        yield Deps(context, parts)
        await parts.close()


async def test_a_file_that_is_forgotten_while_the_bot_is_away_is_not_indexed_again(tmp_path: Path) -> None:
    async with open_bot(tmp_path / "home") as bot:
        roof = await bot.join("ROOF", "ada")
        message = await bot.receive(bot.share(roof, bot.platform.add_file("tiles.txt", b"The tiles come on Monday.")))
        [filed] = await bot.ingest_service.files.ingest(message)
        assert isinstance(filed, FileRecord)
    settings = bot.context.settings
    async with no_bot(settings, bot.clock) as deps:
        assert [await deps.forget_document(filed.document) for _ in range(2)] == [True, False]
    async with open_bot(tmp_path / "home", bot.platform) as bot:
        await bot.ingest_service.files.ingest(message)
        assert await bot.list_documents(roof) == []


async def test_where_there_never_was_a_bot_the_engine_alone_forgets(bot: BotFixture, tmp_path: Path) -> None:
    settings = bot.context.settings.model_copy(update={"data_dir": tmp_path / "other"})
    async with no_bot(settings, bot.clock) as deps:
        await deps.engine.documents.add(doc("old", "Ada met Bob."))
        assert await deps.forget_document("old")
        assert not (settings.data_path / "bot.db").exists()
        with pytest.raises(NotFound, match="slack:T1"):
            await run(deps, ForgetWorkspace("slack", "T1"))


@pytest.mark.parametrize("running", [True, False])
async def test_a_workspace_that_the_bot_left_is_forgotten_as_a_whole(tmp_path: Path, *, running: bool) -> None:
    async with open_bot(tmp_path / "home") as bot:
        settings, roof = bot.context.settings, await bot.join("ROOF", "ada")
        await bot.post(roof, "ada", "The tiles come on Monday.")
        bot.platform.listable_workspaces = {"T1"}
        with pytest.raises(NotAllowed, match="still in"):
            await bot.ingest_service.forget_workspace("slack", "T1")
        bot.platform.listable_workspaces = set()
        with pytest.raises(NotFound, match="slack:T2"):
            await bot.ingest_service.forget_workspace("slack", "T2")
        if running:
            assert await bot.ingest_service.forget_workspace("slack", "T1") == 1
    if not running:
        async with no_bot(settings, bot.clock) as deps:
            await run(deps, ForgetWorkspace("slack", "T1"))
    assert find_files_containing(tmp_path / "home", "Monday") == []
    async with open_bot(tmp_path / "home", bot.platform) as again:
        assert await again.store.channels.list_joined("slack") == []


@pytest.mark.parametrize("running", [True, False])
async def test_answers_from_a_file_that_was_ingested_again_are_replaced(tmp_path: Path, *, running: bool) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("The tiles come on Monday.")
    ingest = Ingest((str(notes),), "slack:T1:open")
    async with open_bot(tmp_path / "home") as bot:
        settings = bot.context.settings
        await run(bot.context.engine_context, ingest)
        reply = await bot.ask(await bot.join("ROOF", "ada"), "ada", ASKED)
        assert "Monday" in reply.text
        notes.write_text("The tiles come on Thursday, after all.")
        if running:
            await run(bot.deps, ingest)
    if not running:
        async with no_bot(settings, bot.clock) as deps:
            await run(deps, ingest)
    async with open_bot(tmp_path / "home", bot.platform) as bot:
        await bot.correct_answers()
        stored = await bot.stored(reply)
        assert (stored.text, stored.question) == ("", "")
    assert reply.text == texts.SOURCE_REMOVED


async def test_only_a_changed_document_redacts_and_a_kill_in_between_loses_nothing(
    bot: BotFixture, roof: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the kill the engine has the document already."""

    async def kill(*_: object) -> None:
        raise KeyboardInterrupt

    await bot.engine.documents.add(NOTES)
    await bot.engine.wait_until_indexed()
    reply = await bot.ask(ROOF, "ada", ASKED)
    assert not await bot.ingest_service.replace_document(NOTES)
    assert not await bot.store.pending_redactions.list_abandoned()
    assert "Monday" in (await bot.stored(reply)).text
    with monkeypatch.context() as patched:
        patched.setattr(bot.store.answers, "redact", kill)
        with pytest.raises(KeyboardInterrupt):
            await bot.ingest_service.replace_document(CHANGED)
    assert not await bot.ingest_service.replace_document(CHANGED)
    assert not await bot.store.pending_redactions.list_abandoned()
    assert (await bot.stored(reply)).text == ""
