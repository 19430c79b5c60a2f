from __future__ import annotations

import asyncio
import json
import os
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.admin.backup import archive
from bot.admin.document_lookup import LOCAL_SPACE, build_scope
from bot.admin.operations import run_operation
from bot.admin.requests import Backup, Export, Forget, GetStatus, Ingest, ListDocuments, Reindex, Retry, Verify
from bot.admin.results import Completed, DocumentList, ExportLine, StatusResult, VerifyResult
from engine.errors import CorruptFile, DataDirInUse, DiskError, ModelUnavailable, NotFound, StoreError
from tests.support import echo_language
from tests.support.engine_fixture import doc
from tests.support.fake_embedder import HashEmbedder

if TYPE_CHECKING:
    from tests.bot.conftest import Perform

pytestmark = pytest.mark.usefixtures("taken_in")


async def lines(perform: Perform) -> list[str]:
    return [event.text for event in await perform(Export((LOCAL_SPACE,))) if isinstance(event, ExportLine)]


async def test_a_forgotten_document_is_gone_from_the_export(perform: Perform, town: Path) -> None:
    before = "\n".join(await lines(perform))
    *_, last = await perform(Forget("tea.txt", (LOCAL_SPACE,), str(town)))
    assert last == Completed(f"Forgotten: file:{town / 'tea.txt'}")
    after = "\n".join(await lines(perform))
    assert "Tea" in before
    assert "Tea" not in after
    assert "Gudgeon" in after


async def test_a_file_of_a_chat_is_forgotten_as_a_whole(perform: Perform, town: Path) -> None:
    (town / "harbour.jsonl").unlink()
    *_, last = await perform(Forget("harbour.jsonl", (LOCAL_SPACE,), str(town)))
    assert last == Completed("Forgotten: 2 conversations of harbour.jsonl")
    [found] = await perform(ListDocuments((LOCAL_SPACE,)))
    assert isinstance(found, DocumentList)
    assert [each.title for each in found.documents] == ["ferry.md", "tea.txt"]
    after = "\n".join(await lines(perform))
    assert "closed today" not in after
    assert "Tea" in after


async def test_forgetting_does_not_wait_for_what_others_had_taken_in(tmp_path: Path) -> None:
    slow = echo_language.EchoLanguage()
    async with echo_language.open_engine_context(tmp_path / "other", slow) as desk:
        await desk.engine.add(doc("old", "Ada met Bob."))
        await desk.engine.wait_until_indexed()
        slow.gate.clear()
        await desk.engine.add(doc("new", "Ada met Carla."))
        async with asyncio.timeout(10):
            *_, last = [event async for event in run_operation(desk, Forget("old", ("here",)))]
        assert last == Completed("Forgotten: old")


async def test_what_is_forgotten_leaves_the_files_though_the_embedder_is_away(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = ModelUnavailable("No embedder.")
    async with echo_language.open_engine_context(tmp_path / "other", embedder=embedder) as desk:
        await desk.engine.add(doc("old", "Ada met Bob."))
        await desk.engine.add(doc("new", "Ada met Carla."))
        *_, last = [event async for event in run_operation(desk, Forget("old", ("here",)))]
        assert last == Completed("Forgotten: old")
        assert [each.key for each in await desk.engine.list_documents(build_scope(["here"]))] == ["new"]


async def test_what_is_not_there_cannot_be_forgotten(perform: Perform) -> None:
    with pytest.raises(NotFound):
        await perform(Forget("none.md", (LOCAL_SPACE,)))


async def test_a_document_of_another_space_cannot_be_forgotten(perform: Perform, town: Path) -> None:
    with pytest.raises(NotFound):
        await perform(Forget(str(town / "tea.txt"), ("elsewhere",)))


async def test_a_rebuild_changes_nothing_that_can_be_seen(perform: Perform) -> None:
    before = await lines(perform)
    *_, last = await perform(Reindex())
    assert isinstance(last, Completed)
    assert await lines(perform) == before
    assert [each for each in await perform(Verify()) if isinstance(each, VerifyResult)] == [VerifyResult(())]


async def test_an_export_is_json_lines_or_graphml(perform: Perform) -> None:
    assert all(json.loads(line)["kind"] for line in await lines(perform))
    graph = [event.text for event in await perform(Export((LOCAL_SPACE,), "graphml")) if isinstance(event, ExportLine)]
    assert "graphml" in "".join(graph[:2])


async def test_there_is_nothing_to_retry_where_nothing_failed(perform: Perform) -> None:
    assert await perform(Retry((LOCAL_SPACE,))) == [Completed("There were no failed documents.")]


async def test_what_failed_is_tried_again(perform: Perform, town: Path) -> None:
    (town / "odd.txt").write_text(f"This is {echo_language.UNREADABLE}.")
    await perform(Ingest((str(town),), LOCAL_SPACE))
    *_, again, last = await perform(Retry((LOCAL_SPACE,)))
    assert again == Completed("“odd.txt” failed again: The parrot does not say that.")
    assert last == Completed("Retried: 1 document.")


async def test_a_backup_is_one_file_from_which_everything_comes_back(
    perform: Perform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await lines(perform)
    await perform(Backup(str(tmp_path / "b.tar.gz")))
    assert (tmp_path / "b.tar.gz").stat().st_mode & 0o077 == 0
    assert sorted(os.listdir(tmp_path)) == ["b.tar.gz", "home", "town"]  # noqa: PTH208  - a glance, in a test
    archive.restore_backup(tmp_path / "b.tar.gz", tmp_path / "other")
    async with echo_language.open_engine_context(tmp_path / "other") as other:
        async with aclosing(run_operation(other, Reindex())) as events:
            assert [event async for event in events]
        async with aclosing(run_operation(other, Export((LOCAL_SPACE,)))) as events:
            assert [event.text async for event in events if isinstance(event, ExportLine)] == before
        async with aclosing(run_operation(other, Verify())) as events:
            assert [event async for event in events][-1] == VerifyResult(())


async def test_a_backup_does_not_overwrite_a_folder_unless_told_to(perform: Perform, tmp_path: Path) -> None:
    await perform(Backup(str(tmp_path / "b.tar.gz")))
    archive.restore_backup(tmp_path / "b.tar.gz", tmp_path / "other")
    with pytest.raises(StoreError, match="already") as caught:
        archive.restore_backup(tmp_path / "b.tar.gz", tmp_path / "other")
    assert "--force" in caught.value.hint
    archive.restore_backup(tmp_path / "b.tar.gz", tmp_path / "other", force=True)


@pytest.mark.parametrize("step", ["replace", "_remove_projections"])
async def test_a_restore_that_breaks_off_leaves_one_ledger_or_the_other(
    perform: Perform, tmp_path: Path, town: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    other = tmp_path / "other"
    await perform(Backup(str(tmp_path / "full.tar.gz")))
    full = await lines(perform)
    archive.restore_backup(tmp_path / "full.tar.gz", other)
    async with echo_language.open_engine_context(other) as desk:
        await desk.engine.wait_until_indexed()
    await perform(Forget("tea.txt", (LOCAL_SPACE,), str(town)))
    less = await lines(perform)
    await perform(Backup(str(tmp_path / "less.tar.gz")))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path if step == "replace" else archive, step, killed)
        with pytest.raises(KeyboardInterrupt):
            archive.restore_backup(tmp_path / "less.tar.gz", other, force=True)
    async with echo_language.open_engine_context(other) as desk:
        await desk.engine.wait_until_indexed()
        async with aclosing(run_operation(desk, Export((LOCAL_SPACE,)))) as events:
            shown = [event.text async for event in events if isinstance(event, ExportLine)]
        assert shown == (full if step == "replace" else less)
        async with aclosing(run_operation(desk, Verify())) as events:
            # A new ledger makes graph and vectors anew by itself; those of the fakes do not outlive their engine.
            assert step == "replace" or [event async for event in events][-1] == VerifyResult(())


async def test_a_folder_that_is_in_use_is_not_replaced(perform: Perform, tmp_path: Path) -> None:
    await perform(Backup(str(tmp_path / "b.tar.gz")))
    with pytest.raises(DataDirInUse):
        archive.restore_backup(tmp_path / "b.tar.gz", tmp_path / "home", force=True)
    [told] = await perform(GetStatus((LOCAL_SPACE,)))
    assert isinstance(told, StatusResult)
    assert told.status.documents == {"indexed": 4}


async def test_a_file_that_is_no_backup_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "b.tar.gz").write_text("no backup")
    with pytest.raises(CorruptFile, match=r"b\.tar\.gz"):
        archive.restore_backup(tmp_path / "b.tar.gz", tmp_path / "other")
    with pytest.raises(NotFound, match=r"There is no file .*none"):
        archive.restore_backup(tmp_path / "none", tmp_path / "other")
    assert not (tmp_path / "other" / "ledger.db").exists()


async def test_a_backup_to_nowhere_is_an_error(perform: Perform, tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="nowhere does not exist") as caught:
        await perform(Backup(str(tmp_path / "nowhere" / "b.tar.gz")))
    assert caught.value.hint == "Create the folder first, or choose another one."
    with pytest.raises(DiskError, match="is a folder"):
        await perform(Backup(str(tmp_path)))
    assert await perform(ListDocuments((LOCAL_SPACE,)))
