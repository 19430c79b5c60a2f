"""The name of an uploaded file leads nowhere, and only files of the folder of uploads are read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.capabilities.caller import Caller
from bot.capabilities.deps import Deps
from bot.capabilities.documents.lookup import build_scope
from bot.capabilities.documents.requests import (
    AddUpload,
    DocumentResult,
    GetDocument,
    PrepareUpload,
    UploadPlace,
    UploadResult,
)
from bot.capabilities.documents.uploads import MAX_NAME_LENGTH, clean_name
from bot.capabilities.requests import Forget
from bot.errors import NotConnected, NotPermitted
from bot.store import Subject
from engine import FileParser, Scope
from engine.errors import InvalidDocument
from engine.parsers.base import ParsedFile
from engine.storage.journal import create_upload
from tests.bot.capabilities.conftest import last, run, run_as
from tests.engine.parsers.samples import archive

SHED = "shed"


async def upload(deps: Deps, text: str | bytes, name: str = "tiles.txt", space: str = SHED) -> UploadResult:
    place = last(await run(deps, PrepareUpload(), space), UploadPlace)
    path = Path(place.folder, "x")
    await asyncio.to_thread(path.write_bytes, text if isinstance(text, bytes) else text.encode())
    return last(await run(deps, AddUpload(str(path), name), space), UploadResult)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\tiles.txt", "tiles.txt"),
        ("/absolute.md", "absolute.md"),
        ("a\x00b\n\u202ec.txt", "abc.txt"),
        ("dir/..txt", "..txt"),
        (f"{'x' * 500}.pdf", f"{'x' * (MAX_NAME_LENGTH - 4)}.pdf"),
    ],
)
def test_a_name_is_its_last_part_without_what_cannot_be_shown(given: str, shown: str) -> None:
    assert clean_name(given) == shown


@pytest.mark.parametrize("name", ["", "..", "a/", "/", ".", "\x00", " ", "..\\.."])
def test_a_name_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(InvalidDocument):
        clean_name(name)


async def test_an_upload_is_a_document_that_the_same_file_leaves_and_another_replaces(deps: Deps) -> None:
    first, again = await upload(deps, "Tiles come on Monday."), await upload(deps, "Tiles come on Monday.")
    changed = await upload(deps, "Tiles come on Tuesday.")
    assert [each.changed for each in (first, again, changed)] == [True, False, True]
    [info] = changed.documents
    assert (info.key, info.space, info.title) == ("upload:shed:tiles.txt", "shed", "tiles.txt")
    assert info.status in {"searchable", "indexed"}
    found = last(await run(deps, GetDocument(info.key), SHED), DocumentResult)
    assert [passage.text for passage in found.passages] == ["Tiles come on Tuesday."]


async def test_an_archive_and_its_files_come_and_go_as_a_whole(deps: Deps) -> None:
    async def upload_archive(files: dict[str, bytes]) -> tuple[bool, list[str]]:
        done = await upload(deps, archive(files), "roof.zip")
        listed = await deps.engine.documents.list(build_scope([SHED]))
        assert {text.key for text in listed} == {document.key for document in done.documents}
        return done.changed, [document.title for document in done.documents]

    files = {"a/tiles.txt": b"Tiles come on Monday.", "b/slates.md": b"# Slates"}
    titles = ["roof.zip", "roof.zip › a/tiles.txt", "roof.zip › b/slates.md"]
    assert await upload_archive(files) == (True, titles)
    assert await upload_archive(files) == (False, titles)
    assert await upload_archive({"a/tiles.txt": b"Tiles come on Tuesday."}) == (True, titles[:2])
    await run(deps, Forget("roof.zip"), SHED)
    assert await deps.engine.documents.list(build_scope([SHED])) == []


class RecordedOrigins(FileParser):
    """Records who sent the files."""

    origins: tuple[str, ...] = ()

    def stream(self, name: str, data: bytes, *, origin: str = "") -> AsyncGenerator[ParsedFile]:
        self.origins += (origin,)
        return super().stream(name, data, origin=origin)


async def test_uploads_are_read_by_the_parser_of_the_process_which_learns_their_space(deps: Deps) -> None:
    async with RecordedOrigins(deps.context.parser_limits) as parser:
        shared = replace(deps, context=replace(deps.context, parser=parser))
        await upload(shared, "Tiles come on Monday.")
        await upload(shared, "The ferry leaves at nine.", space="harbor")
    assert parser.origins == ("shed", "harbor")


async def test_no_name_replaces_another_file_or_one_of_another_space(deps: Deps) -> None:
    places = [
        ("shed", "tiles.txt"),
        ("shed", "tiles.txt#1.txt"),
        ("shed", "a:tiles.txt"),
        ("shed:a", "tiles.txt"),
        ("console:local", "shed:tiles.txt"),
        ("console:local", "shed:a:tiles.txt"),
    ]
    for space, name in (*places, places[0]):
        await upload(deps, f"{name} of {space}", name, space)
    listed = await deps.engine.documents.list(Scope.of("shed", "shed:a", "console:local"))
    assert sorted((each.space, each.title) for each in listed) == sorted(places)


async def test_no_other_file_of_the_machine_is_read(deps: Deps, tmp_path: Path) -> None:
    place = last(await run(deps, PrepareUpload(), SHED), UploadPlace)
    secret, link = tmp_path / "secret.txt", Path(place.folder, "link")
    secret.write_text("zircon")
    await asyncio.to_thread(link.symlink_to, secret)
    for path in (str(secret), f"{place.folder}/../secret.txt", str(link), place.folder, f"{place.folder}/absent"):
        with pytest.raises(NotPermitted):
            await run(deps, AddUpload(path, "a.txt"), SHED)


async def test_what_an_ended_program_left_is_deleted(deps: Deps) -> None:
    folder = Path(last(await run(deps, PrepareUpload(), SHED), UploadPlace).folder)
    (folder / "left").touch()
    descriptor, running = create_upload(folder)
    await run(deps, PrepareUpload(), SHED)
    assert await asyncio.to_thread(lambda: [*folder.iterdir()]) == [running]
    os.close(descriptor)


async def test_a_person_adds_nothing_where_no_bot_runs(deps: Deps) -> None:
    with pytest.raises(NotConnected):
        await run_as(deps, Caller("person", Subject("slack", "T1", "ada")), PrepareUpload())
