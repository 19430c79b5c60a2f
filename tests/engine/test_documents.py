from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import Engine, FileParser, Scope
from engine.errors import EmptyDocument, NotFound, UnsupportedFormat
from engine.ingest.worker import IngestWorker
from tests.engine.parsers.scans.test_tesseract import picture
from tests.support.clock import ManualClock
from tests.support.engine_fixture import open_memory_engine
from tests.support.fake_describer import Eyes

HERE = Scope.of("here")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with open_memory_engine(tmp_path / "data") as opened:
        yield opened


async def test_a_text_replaces_that_of_its_title_and_space_unless_it_has_a_key(engine: Engine) -> None:
    texts = ("The ferry leaves at noon.", "The ferry leaves at noon.", "The ferry leaves at one.")
    assert [await engine.documents.add_text("Ferry", text, space="here") for text in texts] == [True, False, True]
    [document] = await engine.documents.list(HERE)
    assert document.key == "text:here:Ferry"
    [passage] = (await engine.documents.get(document.key, HERE)).passages
    assert (passage.text, passage.label) == ("The ferry leaves at one.", "line 1")
    await engine.documents.add_text("Ferry", "Two.", space="there")
    assert len(await engine.documents.list(Scope.of("here", "there"))) == 2
    await engine.documents.add_text("Ferry", "Noon.", space="here", key="ferry", room="harbor")
    document_of_key = await engine.documents.get("ferry", HERE)
    assert (document_of_key.title, document_of_key.room) == ("Ferry", "harbor")
    assert len(await engine.documents.list(HERE)) == 2


@pytest.mark.parametrize("changed", [True, False])
async def test_only_a_write_that_changes_something_wakes_the_indexing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, *, changed: bool
) -> None:
    async def write() -> bool:
        return changed

    await engine.wait_until_indexed()
    woken = list[str]()
    monkeypatch.setattr(IngestWorker, "wake", lambda _: woken.append("now"))
    assert await engine._worker.wake_if_changed(write()) is changed
    assert woken == ["now"] * changed


async def test_a_file_is_parsed_and_linked(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "ferry.md"
    path.write_text("# The ferry\n\nIt leaves at noon.\n")
    assert await engine.documents.add_file(str(path), space="here")
    [document] = await engine.documents.list(HERE)
    assert (document.key, document.title, document.link) == (f"file:here:{path}", "The ferry", path.as_uri())


async def test_a_date_that_is_still_to_come_is_not_that_of_a_file(tmp_path: Path) -> None:
    clock, mail = ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC)), tmp_path / "ferry.eml"
    mail.write_text("Date: Tue, 03 Mar 2026 12:00:00 +0000\nSubject: Ferry\n\nIt leaves at noon.\n")
    async with open_memory_engine(tmp_path / "data", clock=clock) as engine:
        for days, expected in ((0, None), (1, datetime(2026, 3, 3, 12, tzinfo=UTC))):
            clock.advance(days * 86_400)
            await engine.documents.add_file(mail, space="here")
            assert (await engine.documents.get(f"file:here:{mail}", HERE)).time == expected


async def test_a_given_parser_describes_the_pictures_of_a_file(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "board.png"
    path.write_bytes(picture("Ferry"))
    with pytest.raises(EmptyDocument, match="picture"):
        await engine.documents.add_file(path, space="here")
    async with FileParser(describer=Eyes("A board about the ferry.")) as parser:
        assert await engine.documents.add_file(path, space="here", parser=parser)
    [passage] = (await engine.documents.get(f"file:here:{path}", HERE)).passages
    assert (passage.label, passage.text) == ("picture", "A board about the ferry.")


async def test_a_file_name_that_is_no_unicode_is_opened_as_it_is(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text("It opens at noon.")
    assert await engine.documents.add_file(str(path), space="here")
    [document] = await engine.documents.list(HERE)
    assert (document.key, document.title) == (f"file:here:{tmp_path}/caf\\xe9.txt", "caf\ufffd.txt")
    with pytest.raises(NotFound, match=r"gone\\xe9"):
        await engine.documents.add_file(tmp_path / os.fsdecode(b"gone\xe9"), space="here")


async def test_an_empty_text_a_missing_file_and_a_folder_are_errors(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(EmptyDocument):
        await engine.documents.add_text("Ferry", " ", space="here")
    with pytest.raises(NotFound):
        await engine.documents.add_file(tmp_path / "nowhere.txt", space="here")
    with pytest.raises(UnsupportedFormat):
        await engine.documents.add_file(tmp_path, space="here")


async def test_a_title_that_goes_on_and_on_is_shortened(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text(f"<title>{'港' * 5_000}</title><p>The harbor opens at nine.</p>", encoding="utf-8")
    await engine.documents.add_file(file, space="here")
    [document] = await engine.documents.list(Scope.of("here"))
    assert document.title == "港" * 400
