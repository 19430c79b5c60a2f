"""What is forgotten while the bot is away stays forgotten when it comes back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.admin import offline_forget
from bot.admin.offline_forget import forget
from bot.admin.operations import work_on
from bot.admin.requests import Ingest
from bot.answers.corrections import AnswerCorrector
from bot.store import Filed
from tests.support import parrot
from tests.support.asking import asking
from tests.support.engines import doc
from tests.support.household import household

if TYPE_CHECKING:
    from pathlib import Path

    from bot.engine_context import Desk


async def test_a_file_that_is_forgotten_while_the_bot_is_away_is_not_taken_in_again(tmp_path: Path) -> None:
    async with household(tmp_path / "home") as home:
        roof = await home.joined("ROOF", "ada")
        upload = home.platform.upload("tiles.txt", b"The tiles come on Monday.")
        message = await home.hear(home.platform.say(roof, "ada", "", uploads=[upload]))
        [filed] = await home.listening.filing.take(message)
        assert isinstance(filed, Filed)
        settings, platform = home.house.settings, home.platform
    async with parrot.desk(settings.root) as desk:
        assert await forget(desk, settings, filed.document)
        assert not await forget(desk, settings, filed.document)
    async with household(tmp_path / "home", platform) as home:
        await home.listening.filing.take(message)
        assert await home.documents(roof) == []


async def test_where_there_never_was_a_bot_the_engine_alone_forgets(tmp_path: Path) -> None:
    async with household(tmp_path / "home") as home:
        settings = home.house.settings.model_copy(update={"home": tmp_path / "other"})
    async with parrot.desk(settings.root) as desk:
        await desk.engine.add(doc("old", "Ada met Bob."))
        assert await forget(desk, settings, "old")
    assert not (settings.root / "bot.db").exists()


@pytest.mark.parametrize("beside", [True, False])
async def test_answers_from_a_file_that_was_ingested_anew_are_taken_back(tmp_path: Path, *, beside: bool) -> None:
    """`beside`: while the bot runs; else it is away."""
    notes = tmp_path / "notes.md"
    notes.write_text("The tiles come on Monday.")
    ingest = Ingest((str(notes),), "slack:T1:open")
    async with asking(tmp_path / "home") as home:
        await worked(home.house.desk, ingest)
        roof = await home.joined("ROOF", "ada")
        reply = await home.ask(roof, "ada", "When do the tiles come?")
        assert "Monday" in reply.text
        settings, platform = home.house.settings, home.platform
        notes.write_text("The tiles come on Thursday, after all.")
        if beside:
            await worked(replace(home.house.desk, replace=home.listening.replace_document), ingest)
    if not beside:
        async with parrot.desk(settings.root) as desk:
            await worked(replace(desk, replace=partial(offline_forget.replace, desk, settings)), ingest)
    async with asking(tmp_path / "home", platform=platform) as home:
        await AnswerCorrector(home.house).run()
        found = await home.house.store.answers.get(reply.target.answer)
        assert found is not None
        assert (found.text, found.question) == ("", "")
    assert reply.text == texts.SOURCE_REMOVED


async def test_a_kill_while_a_document_is_taken_in_anew_loses_no_redaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run finds it as the engine has it already."""

    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    async with asking(tmp_path / "home") as home:
        roof = await home.joined("ROOF", "ada")
        await home.house.desk.engine.add(doc("notes", "The tiles come on Monday.", space="slack:T1:open"))
        await home.learnt()
        reply = await home.ask(roof, "ada", "When do the tiles come?")
        assert "Monday" in reply.text
        changed = doc("notes", "The tiles come on Thursday, after all.", space="slack:T1:open")
        with monkeypatch.context() as patched:
            patched.setattr(home.house.store.answers, "blank", killed)
            with pytest.raises(KeyboardInterrupt):
                await home.listening.replace_document(changed)
        assert not await home.listening.replace_document(changed)
        assert not await home.house.store.redactions.all()
        found = await home.house.store.answers.get(reply.target.answer)
        assert found is not None
        assert found.text == ""


async def test_a_document_that_has_not_changed_redacts_nothing(tmp_path: Path) -> None:
    async with asking(tmp_path / "home") as home:
        roof = await home.joined("ROOF", "ada")
        notes = doc("notes", "The tiles come on Monday.", space="slack:T1:open")
        await home.house.desk.engine.add(notes)
        await home.learnt()
        reply = await home.ask(roof, "ada", "When do the tiles come?")
        assert not await home.listening.replace_document(notes)
        assert not await home.house.store.redactions.all()
        found = await home.house.store.answers.get(reply.target.answer)
        assert found is not None
        assert "Monday" in found.text


async def worked(desk: Desk, request: Ingest) -> None:
    async for _ in work_on(desk, request):
        pass
