from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.capabilities.deps import Deps
from bot.capabilities.documents.lookup import LOCAL_SPACE, build_scope
from bot.capabilities.ingest import progress
from bot.capabilities.ingest.progress_text import describe_progress
from bot.capabilities.maintenance import archive, archive_format
from bot.capabilities.maintenance.archive import _compress as compress
from bot.capabilities.maintenance.archive_key import create_key_file, load_key_file
from bot.capabilities.requests import (
    AtSpace,
    Backup,
    Export,
    Forget,
    GetStatus,
    Ingest,
    ListDocuments,
    Reindex,
    Retry,
    Verify,
)
from bot.capabilities.results import (
    Completed,
    DocumentList,
    EstimateResult,
    ExportLine,
    ProgressUpdate,
    StatusResult,
    VerifyResult,
)
from bot.context import EngineContext
from bot.errors import file_write_error
from engine.errors import CorruptFile, DataDirInUse, DiskError, DiskFull, ModelUnavailable, NotFound, StoreError
from engine.storage.disk import format_bytes
from engine.usage import UsageMeter
from tests.bot.capabilities.conftest import NoParts, Perform, last, of_kind, run
from tests.support.echo_language import UNREADABLE, EchoLanguage, open_engine_context
from tests.support.engine_fixture import doc
from tests.support.fake_embedder import HashEmbedder

ingested = pytest.mark.usefixtures("ingested")


async def export(context: EngineContext) -> list[str]:
    return [event.text for event in of_kind(await run(context, Export()), ExportLine)]


async def titles(perform: Perform) -> list[str]:
    return [document.title for document in last(await perform(ListDocuments()), DocumentList).documents]


@ingested
async def test_a_forgotten_file_is_gone_from_the_export(
    perform: Perform, engine_context: EngineContext, town: Path
) -> None:
    assert "Tea" in str(await export(engine_context))
    done = last(await perform(Forget("tea.txt", str(town))), Completed)
    assert done.text == f"Forgotten: file:{town / 'tea.txt'}"
    after = str(await export(engine_context))
    assert ("Tea" in after, "Gudgeon" in after) == (False, True)


@ingested
async def test_a_process_that_stays_says_when_the_bytes_are_gone(engine_context: EngineContext, town: Path) -> None:
    deps = Deps(replace(engine_context, erasing_seconds=61.0), NoParts())
    done = last(await run(deps, Forget("tea.txt")), Completed)
    assert done.text.endswith("/tea.txt. Its bytes leave the disk within 2 minutes.")


@ingested
async def test_the_file_of_a_chat_is_forgotten_as_a_whole(
    perform: Perform, engine_context: EngineContext, town: Path
) -> None:
    (town / "harbour.jsonl").unlink()
    done = last(await perform(Forget("harbour.jsonl", str(town))), Completed)
    assert done.text == "Forgotten: 2 conversations of harbour.jsonl"
    assert await titles(perform) == ["ferry.md", "tea.txt"]
    after = str(await export(engine_context))
    assert ("closed today" in after, "Tea" in after) == (False, True)


async def test_forgetting_waits_neither_for_other_documents_nor_for_the_embedder(tmp_path: Path) -> None:
    slow, embedder = EchoLanguage(), HashEmbedder()
    async with open_engine_context(tmp_path / "other", slow, embedder) as context:
        await context.engine.documents.add(doc("old", "Ada met Bob."))
        await context.engine.wait_until_indexed()
        slow.gate.clear()
        embedder.failing[""] = ModelUnavailable("No embedder.")
        await context.engine.documents.add(doc("new", "Ada met Carla."))
        done = last(await run(context, Forget("old"), "here"), Completed)
        assert done.text == "Forgotten: old"
        assert [text.key for text in await context.engine.documents.list(build_scope(["here"]))] == ["new"]


@ingested
@pytest.mark.parametrize("space", [LOCAL_SPACE, "elsewhere"])
async def test_what_is_not_in_the_space_cannot_be_forgotten(perform: Perform, town: Path, space: str) -> None:
    with pytest.raises(NotFound):
        await perform(AtSpace(space, Forget(str(town / ("none.md" if space == LOCAL_SPACE else "tea.txt")))))


@ingested
async def test_a_reindex_changes_nothing_and_an_export_is_json_lines_or_graphml(
    perform: Perform, engine_context: EngineContext
) -> None:
    before = await export(engine_context)
    last(await perform(Reindex()), Completed)
    assert await export(engine_context) == before
    assert of_kind(await perform(Verify()), VerifyResult) == [VerifyResult(())]
    assert all(json.loads(line)["kind"] for line in before)
    graph = of_kind(await perform(Export("graphml")), ExportLine)
    assert "graphml" in "".join(kind.text for kind in graph[:2])


@ingested
async def test_a_reindex_says_how_much_of_it_is_done(perform: Perform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "MIN_POLL_SECONDS", 0.0)
    monkeypatch.setattr(progress, "POLL_COST_FACTOR", 0.0)
    embed, is_polled = HashEmbedder.embed, asyncio.Event()

    async def embed_once_polled(embedder: HashEmbedder, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        await is_polled.wait()
        return await embed(embedder, texts, meter)

    def update(stage: str, done: int = 0, total: int = 0, *more: Any) -> ProgressUpdate:
        if total:
            is_polled.set()
        return ProgressUpdate(stage, done, total, *more)

    monkeypatch.setattr(HashEmbedder, "embed", embed_once_polled)
    monkeypatch.setattr(progress, "ProgressUpdate", update)
    steps = [step for step in of_kind(await perform(Reindex()), ProgressUpdate) if step.total]
    assert describe_progress("reindexing", 0, steps[0].total).startswith("rebuilding 0 of ")
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert {step.total for step in steps} == {steps[-1].total}


@ingested
async def test_only_failed_documents_are_tried_again(perform: Perform, town: Path) -> None:
    assert await perform(Retry()) == [Completed("There were no failed documents.")]
    (town / "odd.txt").write_text(f"This is {UNREADABLE}.")
    await perform(Ingest((str(town),), LOCAL_SPACE))
    *_, again, end = await perform(Retry())
    assert again == Completed("“odd.txt” failed again: The parrot does not say that.")
    assert end == Completed("Retried: 1 document.")


async def test_what_another_choice_read_is_shown_estimated_and_read_again(tmp_path: Path) -> None:
    async with open_engine_context(tmp_path) as context:
        await context.engine.documents.add(doc("ferry", "Ada met Bob.", space=LOCAL_SPACE))
        assert last(await run(context, Retry(changed=True)), Completed).text.startswith("No chunk was read with other")
    other = EchoLanguage()
    other.name = "owl"
    async with open_engine_context(tmp_path, other) as context:
        assert last(await run(context, Retry(changed=True, estimate=True)), EstimateResult).chunks == 1
        assert last(await run(context, GetStatus()), StatusResult).status.outdated == 1
        assert last(await run(context, Retry(changed=True)), Completed).text == "Read again: 1 chunk."
        assert (other.calls["extract"], last(await run(context, GetStatus()), StatusResult).status.outdated) == (1, 0)


@pytest.mark.long
@ingested
async def test_a_backup_is_one_private_file_from_which_everything_comes_back(
    perform: Perform, engine_context: EngineContext, tmp_path: Path
) -> None:
    backup, other = tmp_path / "b.tar.gz", tmp_path / "other"
    await perform(Backup(str(backup)))
    assert backup.stat().st_mode & 0o077 == 0
    assert sorted(os.listdir(tmp_path)) == ["b.tar.gz", "home", "town"]  # noqa: PTH208 - a glance, in a test
    archive.restore_backup(backup, other)
    with pytest.raises(StoreError, match="already") as caught:
        archive.restore_backup(backup, other)
    assert "--force" in caught.value.hint
    archive.restore_backup(backup, other, force=True)
    async with open_engine_context(other) as context:
        await run(context, Reindex())
        assert await export(context) == await export(engine_context)
        assert last(await run(context, Verify()), VerifyResult) == VerifyResult(())


@ingested
async def test_a_backup_for_which_the_disk_lacks_space_writes_nothing(
    perform: Perform, engine_context: EngineContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = archive_format.database_size(engine_context.engine.data_dir.ledger_path)
    needed, asked = 2 * size + archive_format.RESERVED_SPACE, list[Path]()

    def free(folder: Path) -> int:
        asked.append(folder)
        return needed - 1

    monkeypatch.setattr(archive_format, "free_space", free)
    with pytest.raises(DiskFull) as caught:
        await perform(Backup(str(tmp_path / "b.tar.gz")))
    assert f"b.tar.gz needs {format_bytes(needed)}; the disk at " in str(caught.value)
    assert set(asked) == {tmp_path}  # that of the backup, not that of the data
    assert sorted(os.listdir(tmp_path)) == ["home", "town"]  # noqa: PTH208 - a glance, in a test


@ingested
async def test_a_folder_that_is_in_use_is_not_replaced(perform: Perform, tmp_path: Path) -> None:
    await perform(Backup(str(tmp_path / "b.tar.gz")))
    with pytest.raises(DataDirInUse):
        archive.restore_backup(tmp_path / "b.tar.gz", tmp_path / "home", force=True)
    assert last(await perform(GetStatus()), StatusResult).status.documents == {"indexed": 4}


def test_a_file_that_is_no_backup_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "b.tar.gz").write_text("no backup")
    for name, error, words in (("b.tar.gz", CorruptFile, r"b\.tar\.gz"), ("none", NotFound, "There is no file .*none")):
        with pytest.raises(error, match=words):
            archive.restore_backup(tmp_path / name, tmp_path / "other")
    assert not (tmp_path / "other" / "ledger.db").exists()


async def test_a_backup_to_nowhere_is_an_error(perform: Perform, tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="nowhere does not exist") as caught:
        await perform(Backup(str(tmp_path / "nowhere" / "b.tar.gz")))
    assert caught.value.hint == "Create the folder first, or choose another one."
    with pytest.raises(DiskError, match="is a folder"):
        await perform(Backup(str(tmp_path)))
    assert await titles(perform) == []


def test_an_error_of_writing_names_what_is_in_the_way(tmp_path: Path) -> None:
    folder, note, path = tmp_path / "folder", tmp_path / "note", tmp_path / "b"
    folder.mkdir()
    note.touch()
    with pytest.raises(OSError, match="directory") as caught:
        (note / "b").touch()
    assert str(file_write_error(note / "b", caught.value)).endswith("note is not a folder.")
    with pytest.raises(OSError, match="directory") as caught:
        note.replace(folder)
    assert str(file_write_error(folder, caught.value)) == f"{folder} is a folder."
    full = file_write_error(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert "is full" in str(full)
    assert full.hint.startswith("Free some space")
    forbidden = file_write_error(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    assert "may not be used (Permission denied)" in str(forbidden)
    assert "the right to read and write" in forbidden.hint


@ingested
async def test_verify_names_the_first_broken_entry_of_the_audit_log(deps: Deps) -> None:
    for _ in range(2):
        await run(deps, Export())
    assert last(await run(deps, Verify()), VerifyResult) == VerifyResult((), audit_entries=4)
    audit = (await deps.parts.open()).store.audit
    await audit._database.execute("UPDATE audit_entry SET actor = 'nobody' WHERE number = 3")
    assert last(await run(deps, Verify()), VerifyResult).audit_problem == "entry 3 was changed"
    assert last(await run(deps, Verify(repair=True)), VerifyResult).audit_problem == "entry 3 was changed"


@ingested
async def test_an_encrypted_backup_comes_back_with_its_key_alone(
    perform: Perform, engine_context: EngineContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, key_file, other = tmp_path / "shelf", tmp_path / "key.txt", tmp_path / "other"
    shelf.mkdir()
    create_key_file(key_file)
    written = list[str]()

    def watch(folder: Path) -> None:
        written.append(str(folder))
        compress(folder)

    monkeypatch.setattr(archive, "_compress", watch)
    done = last(await perform(Backup(str(shelf / "b.age"), str(key_file))), Completed)
    assert "encrypted" in done.text
    assert [path.name for path in shelf.iterdir()] == ["b.age"]
    assert written[0].startswith(str(engine_context.engine.data_dir.path)), "copies stay on the disk of the data"
    with pytest.raises(StoreError, match="is encrypted"):
        archive.restore_backup(shelf / "b.age", other)
    assert not other.exists()
    key = load_key_file(key_file)
    archive.restore_backup(shelf / "b.age", other, key=key)
    async with open_engine_context(other) as context:
        await run(context, Reindex())
        assert await export(context) == await export(engine_context)
    content = bytearray((shelf / "b.age").read_bytes())
    content[-20] ^= 1
    (shelf / "b.age").write_bytes(content)
    with pytest.raises(CorruptFile, match="changed or cut off"):
        archive.restore_backup(shelf / "b.age", tmp_path / "third", key=key)
    assert not (tmp_path / "third").exists()
