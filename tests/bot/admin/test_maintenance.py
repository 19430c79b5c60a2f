from __future__ import annotations

import asyncio
import json
import os
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.admin.backup import archive
from bot.admin.document_lookup import LOCAL, scope_of
from bot.admin.operations import work_on
from bot.admin.requests import Backup, Catalogue, Export, Forget, Ingest, Rebuild, Retry, Tell, Verify
from bot.admin.results import Catalogued, Compared, Done, Line, Told
from engine.errors import Broken, DiskTrouble, FolderInUse, NotFound, StoreError, Unavailable
from tests.support import parrot
from tests.support.embedder import HashEmbedder
from tests.support.engines import doc

if TYPE_CHECKING:
    from tests.bot.conftest import Perform

pytestmark = pytest.mark.usefixtures("taken_in")


async def lines(perform: Perform) -> list[str]:
    return [event.text for event in await perform(Export((LOCAL,))) if isinstance(event, Line)]


async def test_a_forgotten_document_is_gone_from_the_export(perform: Perform, town: Path) -> None:
    before = "\n".join(await lines(perform))
    *_, last = await perform(Forget("tea.txt", (LOCAL,), str(town)))
    assert last == Done(f"Forgotten: file:{town / 'tea.txt'}")
    after = "\n".join(await lines(perform))
    assert "Tea" in before
    assert "Tea" not in after
    assert "Gudgeon" in after


async def test_a_file_of_a_chat_is_forgotten_as_a_whole(perform: Perform, town: Path) -> None:
    (town / "harbour.jsonl").unlink()
    *_, last = await perform(Forget("harbour.jsonl", (LOCAL,), str(town)))
    assert last == Done("Forgotten: 2 conversations of harbour.jsonl")
    [found] = await perform(Catalogue((LOCAL,)))
    assert isinstance(found, Catalogued)
    assert [each.title for each in found.documents] == ["ferry.md", "tea.txt"]
    after = "\n".join(await lines(perform))
    assert "closed today" not in after
    assert "Tea" in after


async def test_forgetting_does_not_wait_for_what_others_had_taken_in(tmp_path: Path) -> None:
    slow = parrot.Parrot()
    async with parrot.desk(tmp_path / "other", slow) as desk:
        await desk.engine.add(doc("old", "Ada met Bob."))
        await desk.engine.settled()
        slow.gate.clear()
        await desk.engine.add(doc("new", "Ada met Carla."))
        async with asyncio.timeout(10):
            *_, last = [event async for event in work_on(desk, Forget("old", ("here",)))]
        assert last == Done("Forgotten: old")


async def test_what_is_forgotten_leaves_the_files_though_the_embedder_is_away(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = Unavailable("No embedder.")
    async with parrot.desk(tmp_path / "other", embedder=embedder) as desk:
        await desk.engine.add(doc("old", "Ada met Bob."))
        await desk.engine.add(doc("new", "Ada met Carla."))
        *_, last = [event async for event in work_on(desk, Forget("old", ("here",)))]
        assert last == Done("Forgotten: old")
        assert [each.key for each in await desk.engine.documents(scope_of(["here"]))] == ["new"]


async def test_what_is_not_there_cannot_be_forgotten(perform: Perform) -> None:
    with pytest.raises(NotFound):
        await perform(Forget("none.md", (LOCAL,)))


async def test_a_document_of_another_space_cannot_be_forgotten(perform: Perform, town: Path) -> None:
    with pytest.raises(NotFound):
        await perform(Forget(str(town / "tea.txt"), ("elsewhere",)))


async def test_a_rebuild_changes_nothing_that_can_be_seen(perform: Perform) -> None:
    before = await lines(perform)
    *_, last = await perform(Rebuild())
    assert isinstance(last, Done)
    assert await lines(perform) == before
    assert [each for each in await perform(Verify()) if isinstance(each, Compared)] == [Compared(())]


async def test_an_export_is_json_lines_or_graphml(perform: Perform) -> None:
    assert all(json.loads(line)["kind"] for line in await lines(perform))
    graph = [event.text for event in await perform(Export((LOCAL,), "graphml")) if isinstance(event, Line)]
    assert "graphml" in "".join(graph[:2])


async def test_there_is_nothing_to_retry_where_nothing_failed(perform: Perform) -> None:
    assert await perform(Retry((LOCAL,))) == [Done("Nothing had failed.")]


async def test_what_failed_is_tried_again(perform: Perform, town: Path) -> None:
    (town / "odd.txt").write_text(f"This is {parrot.UNREADABLE}.")
    await perform(Ingest((str(town),), LOCAL))
    *_, again, last = await perform(Retry((LOCAL,)))
    assert again == Done("“odd.txt” failed again: The parrot does not say that.")
    assert last == Done("Tried again: 1 document.")


async def test_a_backup_is_one_file_from_which_everything_comes_back(
    perform: Perform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await lines(perform)
    await perform(Backup(str(tmp_path / "b.tar.gz")))
    assert (tmp_path / "b.tar.gz").stat().st_mode & 0o077 == 0
    assert sorted(os.listdir(tmp_path)) == ["b.tar.gz", "home", "town"]  # noqa: PTH208  - a glance, in a test
    archive.unpack(tmp_path / "b.tar.gz", tmp_path / "other")
    async with parrot.desk(tmp_path / "other") as other:
        async with aclosing(work_on(other, Rebuild())) as events:
            assert [event async for event in events]
        async with aclosing(work_on(other, Export((LOCAL,)))) as events:
            assert [event.text async for event in events if isinstance(event, Line)] == before
        async with aclosing(work_on(other, Verify())) as events:
            assert [event async for event in events][-1] == Compared(())


async def test_a_backup_does_not_overwrite_a_folder_unless_told_to(perform: Perform, tmp_path: Path) -> None:
    await perform(Backup(str(tmp_path / "b.tar.gz")))
    archive.unpack(tmp_path / "b.tar.gz", tmp_path / "other")
    with pytest.raises(StoreError, match="already") as caught:
        archive.unpack(tmp_path / "b.tar.gz", tmp_path / "other")
    assert "--force" in caught.value.hint
    archive.unpack(tmp_path / "b.tar.gz", tmp_path / "other", force=True)


@pytest.mark.parametrize("step", ["replace", "_remove_projections"])
async def test_a_restore_that_breaks_off_leaves_one_ledger_or_the_other(
    perform: Perform, tmp_path: Path, town: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    other = tmp_path / "other"
    await perform(Backup(str(tmp_path / "full.tar.gz")))
    full = await lines(perform)
    archive.unpack(tmp_path / "full.tar.gz", other)
    async with parrot.desk(other) as desk:
        await desk.engine.settled()
    await perform(Forget("tea.txt", (LOCAL,), str(town)))
    less = await lines(perform)
    await perform(Backup(str(tmp_path / "less.tar.gz")))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path if step == "replace" else archive, step, killed)
        with pytest.raises(KeyboardInterrupt):
            archive.unpack(tmp_path / "less.tar.gz", other, force=True)
    async with parrot.desk(other) as desk:
        await desk.engine.settled()
        async with aclosing(work_on(desk, Export((LOCAL,)))) as events:
            shown = [event.text async for event in events if isinstance(event, Line)]
        assert shown == (full if step == "replace" else less)
        async with aclosing(work_on(desk, Verify())) as events:
            # A new ledger makes graph and vectors anew by itself; those of the fakes do not outlive their engine.
            assert step == "replace" or [event async for event in events][-1] == Compared(())


async def test_a_folder_that_is_in_use_is_not_replaced(perform: Perform, tmp_path: Path) -> None:
    await perform(Backup(str(tmp_path / "b.tar.gz")))
    with pytest.raises(FolderInUse):
        archive.unpack(tmp_path / "b.tar.gz", tmp_path / "home", force=True)
    [told] = await perform(Tell((LOCAL,)))
    assert isinstance(told, Told)
    assert told.status.documents == {"indexed": 4}


async def test_a_file_that_is_no_backup_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "b.tar.gz").write_text("no backup")
    with pytest.raises(Broken, match=r"b\.tar\.gz"):
        archive.unpack(tmp_path / "b.tar.gz", tmp_path / "other")
    with pytest.raises(NotFound, match=r"There is no file .*none"):
        archive.unpack(tmp_path / "none", tmp_path / "other")
    assert not (tmp_path / "other" / "ledger.db").exists()


async def test_a_backup_to_nowhere_is_an_error(perform: Perform, tmp_path: Path) -> None:
    with pytest.raises(DiskTrouble, match="nowhere does not exist") as caught:
        await perform(Backup(str(tmp_path / "nowhere" / "b.tar.gz")))
    assert caught.value.hint == "Make the folder first, or name another."
    with pytest.raises(DiskTrouble, match="is a folder"):
        await perform(Backup(str(tmp_path)))
    assert await perform(Catalogue((LOCAL,)))
