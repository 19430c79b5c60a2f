"""What is forgotten while the bot is away stays forgotten when it comes back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.admin import offline_forget
from bot.admin.offline_forget import forget
from bot.admin.operations import run_operation
from bot.admin.requests import Ingest
from bot.answers.corrections import AnswerCorrector
from bot.store import FileRecord
from tests.support import echo_language
from tests.support.answering_fixture import open_answering_bot
from tests.support.bot_fixture import open_bot_fixture
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from pathlib import Path

    from bot.engine_context import EngineContext


async def test_a_file_that_is_forgotten_while_the_bot_is_away_is_not_taken_in_again(tmp_path: Path) -> None:
    async with open_bot_fixture(tmp_path / "home") as home:
        roof = await home.join_channel("ROOF", "ada")
        upload = home.platform.add_file("tiles.txt", b"The tiles come on Monday.")
        message = await home.receive(home.platform.add_message(roof, "ada", "", uploads=[upload]))
        [filed] = await home.ingest_service.files.ingest(message)
        assert isinstance(filed, FileRecord)
        settings, platform = home.context.settings, home.platform
    async with echo_language.open_engine_context(settings.data_path) as desk:
        assert await forget(desk, settings, filed.document)
        assert not await forget(desk, settings, filed.document)
    async with open_bot_fixture(tmp_path / "home", platform) as home:
        await home.ingest_service.files.ingest(message)
        assert await home.list_documents(roof) == []


async def test_where_there_never_was_a_bot_the_engine_alone_forgets(tmp_path: Path) -> None:
    async with open_bot_fixture(tmp_path / "home") as home:
        settings = home.context.settings.model_copy(update={"data_dir": tmp_path / "other"})
    async with echo_language.open_engine_context(settings.data_path) as desk:
        await desk.engine.add(doc("old", "Ada met Bob."))
        assert await forget(desk, settings, "old")
    assert not (settings.data_path / "bot.db").exists()


@pytest.mark.parametrize("beside", [True, False])
async def test_answers_from_a_file_that_was_ingested_anew_are_taken_back(tmp_path: Path, *, beside: bool) -> None:
    """`beside`: while the bot runs; else it is away."""
    notes = tmp_path / "notes.md"
    notes.write_text("The tiles come on Monday.")
    ingest = Ingest((str(notes),), "slack:T1:open")
    async with open_answering_bot(tmp_path / "home") as home:
        await worked(home.context.engine_context, ingest)
        roof = await home.join_channel("ROOF", "ada")
        reply = await home.ask(roof, "ada", "When do the tiles come?")
        assert "Monday" in reply.text
        settings, platform = home.context.settings, home.platform
        notes.write_text("The tiles come on Thursday, after all.")
        if beside:
            await worked(
                replace(home.context.engine_context, replace_document=home.ingest_service.replace_document), ingest
            )
    if not beside:
        async with echo_language.open_engine_context(settings.data_path) as desk:
            await worked(replace(desk, replace_document=partial(offline_forget.replace, desk, settings)), ingest)
    async with open_answering_bot(tmp_path / "home", platform=platform) as home:
        await AnswerCorrector(home.context).process_due()
        found = await home.context.store.answers.get(reply.target.answer)
        assert found is not None
        assert (found.text, found.question) == ("", "")
    assert reply.text == texts.SOURCE_REMOVED


async def test_a_kill_while_a_document_is_taken_in_anew_loses_no_redaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run finds it as the engine has it already."""

    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    async with open_answering_bot(tmp_path / "home") as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.context.engine_context.engine.add(doc("notes", "The tiles come on Monday.", space="slack:T1:open"))
        await home.wait_until_indexed()
        reply = await home.ask(roof, "ada", "When do the tiles come?")
        assert "Monday" in reply.text
        changed = doc("notes", "The tiles come on Thursday, after all.", space="slack:T1:open")
        with monkeypatch.context() as patched:
            patched.setattr(home.context.store.answers, "redact", killed)
            with pytest.raises(KeyboardInterrupt):
                await home.ingest_service.replace_document(changed)
        assert not await home.ingest_service.replace_document(changed)
        assert not await home.context.store.pending_redactions.list_all()
        found = await home.context.store.answers.get(reply.target.answer)
        assert found is not None
        assert found.text == ""


async def test_a_document_that_has_not_changed_redacts_nothing(tmp_path: Path) -> None:
    async with open_answering_bot(tmp_path / "home") as home:
        roof = await home.join_channel("ROOF", "ada")
        notes = doc("notes", "The tiles come on Monday.", space="slack:T1:open")
        await home.context.engine_context.engine.add(notes)
        await home.wait_until_indexed()
        reply = await home.ask(roof, "ada", "When do the tiles come?")
        assert not await home.ingest_service.replace_document(notes)
        assert not await home.context.store.pending_redactions.list_all()
        found = await home.context.store.answers.get(reply.target.answer)
        assert found is not None
        assert "Monday" in found.text


async def worked(desk: EngineContext, request: Ingest) -> None:
    async for _ in run_operation(desk, request):
        pass
