"""A synchronization reads what is new or changed, forgets what is gone, names the rest, and can be cut off anywhere."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from adapters.sources.folder import BELOW_MISSING, open_folder
from bot.errors import ItemClosed, ItemNotRead, SourceUnavailable
from bot.ingest.documents import ConversationDocuments
from bot.ingest.sources.removal import SourceRemoval
from bot.ingest.sources.sync import FORGOTTEN, SourceRemoved, build_item_key, is_too_much
from bot.platform.document_source import RemovedItem, ScanEnd, SourceItem
from engine import Scope
from engine.errors import InvalidDocument, ModelUnreachable
from tests.support.bot_fixture import BotFixture, run_before
from tests.support.memory_source import RECORD, MemorySource, synchronize
from tests.support.source_tools import build_tools

SCOPE = Scope.of("console:local")


async def list_keys(bot: BotFixture) -> list[str]:
    found = await bot.engine.documents.list(SCOPE)
    return sorted(each.key.removeprefix("source:s1:") for each in found)


async def list_unread(bot: BotFixture) -> dict[str, str]:
    return {each.name: each.reason for each in await bot.store.unread_files.list_newest(SCOPE)}


def build_source(*names: str) -> MemorySource:
    return MemorySource({name: f"The ferry {name} leaves at noon." for name in names})


def pack(files: dict[str, str]) -> bytes:
    """An archive of these files."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


async def test_what_is_new_or_changed_is_read_and_what_is_gone_is_forgotten(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md", "c.md")
    report = await synchronize(bot, source)
    assert (report.known, report.changed, report.removed) == (3, 3, 0)
    assert await list_keys(bot) == ["a.md", "b.md", "c.md"]
    del source.texts["a.md"]
    source.texts |= {"b.md": "The ferry leaves at ten.", "d.md": "New."}
    report = await synchronize(bot, source)
    assert source.fetched == ["b.md", "d.md"]
    assert (report.known, report.changed, report.removed) == (3, 2, 1)
    assert await list_keys(bot) == ["b.md", "c.md", "d.md"]
    await synchronize(bot, source)
    assert source.fetched == []


async def test_one_document_that_cannot_be_read_is_named_and_stops_nothing(bot: BotFixture) -> None:
    source = build_source("a.md", "bad.md", "late.md")
    source.fails = {"bad.md": lambda: InvalidDocument("It is broken."), "late.md": lambda: OSError(5, "Busy")}
    report = await synchronize(bot, source)
    assert report.unread == {"bad.md": "It is broken.", "late.md": "Busy"}
    assert await list_unread(bot) == report.unread
    assert await list_keys(bot) == ["a.md"]
    source.fails = {}
    report = await synchronize(bot, source)
    assert source.fetched == ["late.md"]  # the other one is read when it changes
    source.texts["bad.md"] += " Again."
    report = await synchronize(bot, source)
    assert (report.unread, await list_unread(bot)) == ({}, {})
    assert await list_keys(bot) == ["a.md", "bad.md", "late.md"]


async def test_a_model_that_is_out_of_reach_is_asked_again(bot: BotFixture) -> None:
    source = build_source("a.md")
    source.fails = {"a.md": lambda: ModelUnreachable("No connection.")}
    assert (await synchronize(bot, source)).unread == {"a.md": "No connection."}
    source.fails = {}
    assert (await synchronize(bot, source)).unread == {}


async def test_a_version_that_cannot_be_read_leaves_the_earlier_one(bot: BotFixture) -> None:
    source = build_source("a.md")
    await synchronize(bot, source)
    source.texts["a.md"], source.fails = "torn", {"a.md": lambda: ItemNotRead("It is torn.")}
    await synchronize(bot, source)
    assert await list_keys(bot) == ["a.md"]
    assert await list_unread(bot) == {"a.md": "It is torn."}


async def test_what_may_not_be_read_any_more_is_forgotten_and_never_fetched(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    source.withheld = {"a.md": "Not everyone may read it."}
    report = await synchronize(bot, source)
    assert (await list_keys(bot), source.fetched) == (["b.md"], [])
    assert report.unread == await list_unread(bot) == source.withheld
    source.changes, source.end = [], ScanEnd("2", is_complete=False)
    await synchronize(bot, source)
    assert source.fetched == []
    source.withheld, source.changes, source.end = {}, None, ScanEnd()
    await synchronize(bot, source)
    assert await list_keys(bot) == ["a.md", "b.md"]


async def test_changes_since_a_cursor_leave_what_they_do_not_name(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md", "c.md")
    source.end, source.fails = ScanEnd("one"), {"c.md": lambda: OSError(5, "Busy")}
    await synchronize(bot, source)
    source.fails, source.end = {}, ScanEnd("two", is_complete=False)
    source.texts["a.md"] = "Changed."
    source.changes = [SourceItem("a.md", "2"), RemovedItem("b.md"), RemovedItem("unknown.md")]
    report = await synchronize(bot, source)
    assert source.cursors == ["", "one"]
    assert source.fetched == ["a.md", "c.md"]  # what failed is tried again
    assert (await list_keys(bot), report.removed) == (["a.md", "c.md"], 1)


async def test_a_source_that_is_away_deletes_nothing(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    source.scan_error = SourceUnavailable("It is away.")
    with pytest.raises(SourceUnavailable):
        await synchronize(bot, source)
    assert await list_keys(bot) == ["a.md", "b.md"]


async def test_much_that_is_gone_at_once_is_kept_until_somebody_confirms_it(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    texts, source.texts = source.texts, {}
    report = await synchronize(bot, source)
    assert (report.held, report.removed, await list_keys(bot)) == (2, 0, ["a.md", "b.md"])
    record = await bot.store.sources.get(RECORD.id)
    assert record is not None
    assert "2 of 2 documents are gone at once" in record.problem
    source.texts = texts
    assert (await synchronize(bot, source)).held == 0
    source.texts = {}
    report = await synchronize(bot, source, forget_missing=True)
    assert (report.held, report.removed, await list_keys(bot)) == (0, 2, [])


async def test_what_is_kept_is_kept_until_it_is_confirmed(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    source.end = ScanEnd("one")
    await synchronize(bot, source)
    source.changes, source.end = [RemovedItem("a.md"), RemovedItem("b.md")], ScanEnd("two", is_complete=False)
    for _ in range(3):
        assert (await synchronize(bot, source)).held == 2
    assert source.cursors == ["", "one", "one", "one"]
    report = await synchronize(bot, source, forget_missing=True)
    assert source.cursors[-2:] == ["one", ""]  # the changes are not all of it
    assert (report.held, report.removed, await list_keys(bot)) == (0, 2, [])


async def test_a_drive_that_is_not_mounted_loses_nothing_until_that_is_confirmed(
    bot: BotFixture, tmp_path: Path
) -> None:
    (tmp_path / "town").mkdir()
    for name in ("ferry.md", "mina.md"):
        (tmp_path / "town" / name).write_text(f"The {name} of the town.")
    folder = open_folder(str(tmp_path / "town"), {}, build_tools(tmp_path))
    await synchronize(bot, folder)
    record = await bot.store.sources.get(RECORD.id)
    assert record is not None
    mounted = f"{record.cursor} 987654321"
    await bot.store.sources.record_success(record, mounted, bot.clock.now())
    (tmp_path / "town" / "mina.md").unlink()
    for _ in range(2):
        report = await synchronize(bot, folder)
        assert (report.removed, report.problems) == (0, (BELOW_MISSING.format(path=folder.path),))
    assert await list_keys(bot) == ["ferry.md", "mina.md"]
    report = await synchronize(bot, folder, forget_missing=True)
    assert (report.removed, report.problems, await list_keys(bot)) == (1, (), ["ferry.md"])


async def test_what_is_named_and_not_read_is_no_document_that_is_left(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    source.texts, source.withheld = {"elsewhere": ""}, {"elsewhere": "It is on another host."}
    for _ in range(2):
        assert (await synchronize(bot, source)).held == 2
    assert await list_keys(bot) == ["a.md", "b.md"]
    source.texts = {"a.md": "The ferry leaves.", **dict.fromkeys(map(str, range(30)), "")}
    source.withheld = dict.fromkeys(map(str, range(30)), "It is on another host.")
    report = await synchronize(bot, source)
    assert (report.held, await list_keys(bot)) == (0, ["a.md"])
    source.texts = {"a.md": "The ferry leaves."}
    report = await synchronize(bot, source)
    assert (report.held, report.removed) == (0, 30)


async def test_a_source_that_is_sure_of_its_deletions_is_believed(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    source.texts, source.end = {}, ScanEnd(is_certain=True)
    assert (await synchronize(bot, source)).removed == 2


@pytest.mark.parametrize(
    ("gone", "known", "left"), [(0, 5, 5), (4, 8, 4), (10, 16, 6), (11, 20, 20), (11, 30, 19), (11, 20, 10)]
)
def test_some_of_a_source_may_be_gone(gone: int, known: int, left: int) -> None:
    assert not is_too_much(gone, known, left)


@pytest.mark.parametrize(("gone", "known", "left"), [(1, 1, 0), (11, 20, 9), (500, 500, 0)])
def test_all_or_most_of_a_source_may_not_be_gone(gone: int, known: int, left: int) -> None:
    assert is_too_much(gone, known, left)


async def test_a_listed_document_that_is_gone_is_forgotten(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    source.stamps = {"a.md": "2"}
    source.fails = {}
    source.texts = {"a.md": "", "b.md": source.texts["b.md"]}
    listed, source.texts = dict(source.texts), {"b.md": source.texts["b.md"]}
    source.changes = [SourceItem(each, source.stamps.get(each, text)) for each, text in listed.items()]
    assert (await synchronize(bot, source)).removed == 1
    assert await list_keys(bot) == ["b.md"]


async def test_a_document_that_is_closed_is_forgotten_named_and_tried_again(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    source.stamps = {"a.md": "2"}
    source.fails = {"a.md": lambda: ItemClosed("It is closed.")}
    for removed in (1, 0):
        report = await synchronize(bot, source)
        assert (report.removed, report.unread, source.fetched) == (removed, {"a.md": "It is closed."}, ["a.md"])
        assert await list_unread(bot) == {"a.md": "It is closed."}
        assert await list_keys(bot) == ["b.md"]
    source.fails = {}
    assert (await synchronize(bot, source)).unread == await list_unread(bot) == {}
    assert await list_keys(bot) == ["a.md", "b.md"]


async def test_a_source_that_closes_all_its_documents_is_kept_until_somebody_confirms_it(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    source.texts["c.md"] = "New."
    source.stamps = dict.fromkeys(source.texts, "2")
    source.fails = dict.fromkeys(source.texts, lambda: ItemClosed("It is closed."))
    for _ in range(2):
        report = await synchronize(bot, source)
        assert (report.held, report.removed, report.unread) == (2, 0, {"c.md": "It is closed."})
        assert await list_keys(bot) == ["a.md", "b.md"]
    assert (await synchronize(bot, source, forget_missing=True)).removed == 2
    assert await list_keys(bot) == []


async def test_a_source_that_is_removed_meanwhile_names_no_more_documents(bot: BotFixture) -> None:
    source = build_source("a.md")
    removal = SourceRemoval(bot.context, ConversationDocuments(bot.context))
    source.before = {"a.md": lambda: removal.remove(RECORD)}
    source.fails = {"a.md": lambda: ItemNotRead("It is torn.")}
    with pytest.raises(SourceRemoved):
        await synchronize(bot, source)
    assert await list_unread(bot) == {}


async def test_a_channel_that_becomes_private_meanwhile_shows_nothing_more_to_others(bot: BotFixture) -> None:
    roof = await bot.join("ROOF", "ada")
    record = replace(RECORD, space="slack:T1:open", room=roof.room)
    source = build_source("a.md", "b.md", "c.md")
    source.at_once = 1

    async def close() -> None:
        bot.change_channel(roof, kind="closed")
        await bot.reconcile()

    source.before = {"b.md": close}
    source.fails = {"b.md": lambda: ItemNotRead("It is torn.")}
    await synchronize(bot, source, configured=record)
    everyone, members = Scope.of(record.space), Scope.of(roof.room)
    assert not await bot.engine.documents.list(everyone)
    assert not await bot.store.unread_files.list_newest(everyone)
    assert len(await bot.engine.documents.list(members)) == 2
    assert [each.name for each in await bot.store.unread_files.list_newest(members)] == ["b.md"]


async def test_a_run_that_was_cut_off_is_repeated_with_the_same_result(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md", "c.md")
    source.fails = {"b.md": lambda: RuntimeError("killed")}  # nothing of the product expects it
    source.at_once = 1
    with pytest.raises(RuntimeError):
        await synchronize(bot, source)
    assert await list_keys(bot) == ["a.md"]
    source.fails = {}
    await synchronize(bot, source)
    assert source.fetched == ["b.md", "c.md"]
    assert await list_keys(bot) == ["a.md", "b.md", "c.md"]


async def test_a_document_of_which_nothing_else_was_stored_is_forgotten_with_the_next_change(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    await bot.store.sources.delete_items(RECORD.id, ["a.md"])
    del source.texts["a.md"]
    source.texts["b.md"] = "Changed."
    await synchronize(bot, source)
    assert await list_keys(bot) == ["b.md"]


async def test_what_a_person_had_forgotten_is_not_read_again(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    await bot.ingest_service.forget_document("source:s1:a.md")
    source.texts["a.md"] = "Changed."
    await synchronize(bot, source)
    assert (await list_keys(bot), source.fetched) == (["b.md"], [])


async def test_a_document_that_was_forgotten_as_a_whole_is_named(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    await bot.ingest_service.forget_document("source:s1:a.md")
    for _ in range(2):
        assert (await synchronize(bot, source)).unread == {"a.md": FORGOTTEN}
        assert (await list_unread(bot), source.fetched) == ({"a.md": FORGOTTEN}, [])
    source.changes, source.end = [], ScanEnd(is_complete=False)
    assert (await synchronize(bot, source)).unread == {"a.md": FORGOTTEN}
    assert source.fetched == []


async def test_of_an_archive_only_the_forgotten_file_stays_away(bot: BotFixture) -> None:
    source = build_source("a.zip")
    source.packed["a.zip"] = pack({"one.md": "The ferry leaves.", "two.md": "The mill is old."})
    await synchronize(bot, source)
    [two] = [document.key for document in await bot.engine.documents.list(SCOPE) if document.title.endswith("two.md")]
    await bot.ingest_service.forget_document(two)
    assert (await synchronize(bot, source)).unread == {}
    files = {"new.md": "A bridge.", "one.md": "The ferry leaves at ten.", "two.md": "The mill is new."}
    source.texts["a.zip"], source.packed["a.zip"] = "2", pack(files)  # the files have other numbers now
    await synchronize(bot, source)
    titles = sorted(document.title.rpartition("› ")[2] for document in await bot.engine.documents.list(SCOPE))
    assert titles == ["a.zip", "new.md", "one.md"]
    assert (await synchronize(bot, source)).unread == {}


async def test_what_was_forgotten_stays_away_when_it_comes_back(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    await synchronize(bot, source)
    await bot.ingest_service.forget_document("source:s1:a.md")
    text = source.texts.pop("a.md")
    await synchronize(bot, source)
    assert await list_unread(bot) == {}
    source.texts["a.md"] = text
    assert (await synchronize(bot, source)).unread == {"a.md": FORGOTTEN}
    assert await list_keys(bot) == ["b.md"]


async def test_a_document_that_is_forgotten_while_it_is_read_stays_away(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    source.at_once = 1

    async def forget() -> None:
        await bot.ingest_service.forget_document("source:s1:a.md")

    await bot.store.sources.insert(RECORD)
    run_before(source, "fetch", forget)
    assert (await synchronize(bot, source)).unread == {"a.md": FORGOTTEN}
    assert await list_keys(bot) == ["b.md"]


async def test_a_source_that_is_removed_while_it_is_read_gets_nothing_more(bot: BotFixture) -> None:
    source = build_source("a.md", "b.md")
    source.at_once = 1
    await bot.store.sources.insert(RECORD)

    async def remove() -> None:
        await bot.ingest_service.sources.remove(RECORD)

    run_before(source, "fetch", remove)
    with pytest.raises(SourceRemoved):
        await synchronize(bot, source)
    assert await list_keys(bot) == []


def test_no_two_items_share_a_key() -> None:
    names = ["a.md", "a.md#part-1", "a.md%23part-1", "x" * 900, "x" * 901, "a\nb", "a%0Ab", "\udcff"]
    assert len({build_item_key("s1", name) for name in names}) == len(names)
    assert all("#" not in build_item_key("s1", name) for name in names)
