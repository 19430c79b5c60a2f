"""Sources are added, listed, read and removed by those who may, after it was said who finds what and what goes."""

from __future__ import annotations

import shutil
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from bot.capabilities.caller import Caller
from bot.capabilities.requests import AtSpace
from bot.capabilities.results import Completed, Listing, SourceReport
from bot.capabilities.run import run, run_for_person
from bot.capabilities.sources.requests import AddSource, ListSources, RemoveSource, SyncSource
from bot.errors import BadSetting, NotPermitted, SourceUnavailable
from bot.ingest.sources.service import FIRST_RETRY_SECONDS
from bot.platform.events import ChannelRemoved, WorkspaceLeft
from bot.platform.models import Location, Person
from bot.store import Subject
from engine import Scope
from engine.errors import NotFound
from tests.support.bot_fixture import BotFixture, with_settings

LOCAL = "console:local"
OPEN = "slack:T1:open"


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A folder with two notes."""
    folder = tmp_path / "town"
    folder.mkdir()
    (folder / "ferry.md").write_text("The ferry Gudgeon leaves at noon.")
    (folder / "mina.txt").write_text("Mina sells tickets at the quay.")
    return folder


@pytest.fixture
async def roof(bot: BotFixture) -> Location:
    bot.platform.people |= {"ada": Person("ada", "Ada", is_manager=True), "bob": Person("bob", "Bob")}
    return await bot.join("ROOF", "ada", "bob")


async def own(bot: BotFixture, request: Any) -> list[Any]:
    """What the owner gets at the terminal."""
    async with aclosing(run(bot.deps, AtSpace(LOCAL, request))) as results:
        return [result async for result in results if isinstance(result, Completed | Listing | SourceReport)]


async def manage(bot: BotFixture, place: Location, request: Any, person: str = "ada") -> list[Any]:
    """What a person gets in a channel."""
    scope = await bot.context.audience.scope_for_person(place, person)
    caller = Caller("person", Subject("slack", "T1", person), scope, place)
    async with aclosing(run_for_person(bot.deps, caller, request)) as results:
        return [result async for result in results if isinstance(result, Completed | Listing | SourceReport)]


async def list_titles(bot: BotFixture, space: str) -> list[str]:
    return sorted(each.key.rpartition(":")[2] for each in await bot.engine.documents.list(Scope.of(space)))


@pytest.mark.long
async def test_who_finds_how_much_is_said_before_anything_is_read(bot: BotFixture, town: Path) -> None:
    [said] = await own(bot, AddSource(str(town)))
    assert said.text == f"Whoever uses the space {LOCAL} can find what is in {town} (2 files)."
    assert await own(bot, ListSources()) == [Listing((await own(bot, ListSources()))[0].columns, ())]
    said, report = await own(bot, AddSource(str(town), confirmed=True))
    assert said.text.endswith("(2 files). It is called town.")
    assert (report.documents, report.changed, report.unread, report.trouble) == ("2 files", 2, (), "")
    assert await list_titles(bot, LOCAL) == ["ferry.md", "mina.txt"]
    [listing] = await own(bot, ListSources())
    [row] = listing.rows
    assert row[:6] == ("town", "folder", str(town), f"Whoever uses the space {LOCAL}", "2", "0")


@pytest.mark.long
async def test_a_source_of_a_channel_is_read_by_its_readers_and_moves_with_it(
    bot: BotFixture, roof: Location, town: Path
) -> None:
    said, _ = await own(bot, AddSource(str(town), roof.room, confirmed=True))
    assert said.text.startswith("Every full member of the workspace and everyone in #roof can find what is in ")
    assert await list_titles(bot, OPEN) == ["ferry.md", "mina.txt"]
    found = await bot.engine.documents.list(Scope.of(OPEN))
    assert {each.link for each in found} == {""}  # nobody there learns of the paths of this computer
    bot.change_channel(roof, kind="closed")
    await bot.reconcile()
    assert (await list_titles(bot, OPEN), await list_titles(bot, roof.room)) == ([], ["ferry.md", "mina.txt"])
    (town / "new.md").write_text("The new note.")
    await own(bot, SyncSource("town"))
    assert (await list_titles(bot, OPEN), len(await list_titles(bot, roof.room))) == ([], 3)


@pytest.mark.long
async def test_who_finds_the_documents_of_a_channel_is_said_as_it_is_now(
    bot: BotFixture, roof: Location, town: Path
) -> None:
    changes: list[tuple[dict[str, Any], str]] = [
        ({"adult": True}, "Every full member who can see age-restricted channels and everyone in #roof can find "),
        ({"adult": False, "shared": True}, "Everyone in #roof, including people from other organizations, can find "),
        ({"shared": False, "kind": "closed"}, "Everyone in #roof can find "),
    ]
    for change, words in changes:
        bot.change_channel(roof, **change)
        [said] = await own(bot, AddSource(str(town), roof.room))
        assert said.text.startswith(words)
    location = Location("slack", "T1", "AWAY")
    await bot.store.channels.upsert(location, "away")
    [said] = await own(bot, AddSource(str(town), location.room))
    assert said.text.startswith("Everyone in #away and, if that is an open channel, every full member of the workspace")


@pytest.mark.long
async def test_a_source_for_the_workspace_is_read_by_all_of_its_members(
    bot: BotFixture, roof: Location, town: Path
) -> None:
    said, _ = await own(bot, AddSource(str(town), "slack:T1", confirmed=True))
    assert said.text.startswith("Every full member of the workspace slack:T1 can find what is in ")
    assert await list_titles(bot, OPEN) == ["ferry.md", "mina.txt"]
    [document, _] = await bot.engine.documents.list(Scope.of(OPEN))
    assert await bot.context.audience.get_home_space(Location.from_room(document.room)) == OPEN
    await bot.engine.wait_until_indexed()
    reply = await bot.ask(roof, "bob", "When does the Gudgeon leave?")
    assert (await bot.stored(reply)).sources[0].title.startswith("ferry.md")


async def test_a_channel_that_is_forgotten_takes_its_sources_along(bot: BotFixture, roof: Location, town: Path) -> None:
    await own(bot, AddSource(str(town), roof.room, confirmed=True))
    await own(bot, AddSource(str(town), "slack:T1", "all", confirmed=True))
    await bot.ingest_service.handle(ChannelRemoved(roof))
    assert [source.name for source in await bot.store.sources.list_all()] == ["all"]
    assert len(await list_titles(bot, OPEN)) == 2


@pytest.mark.long
@with_settings(delete_data_on_uninstall=True)
async def test_a_workspace_that_is_forgotten_takes_its_sources_along(
    bot: BotFixture, roof: Location, town: Path
) -> None:
    await own(bot, AddSource(str(town), roof.room, confirmed=True))
    await own(bot, AddSource(str(town), "slack:T1", "all", confirmed=True))
    await own(bot, AddSource(str(town), name="own", confirmed=True))
    await bot.ingest_service.handle(WorkspaceLeft("slack", "T1", "removed"))
    assert [source.name for source in await bot.store.sources.list_all()] == ["own"]
    assert (await list_titles(bot, OPEN), len(await list_titles(bot, LOCAL))) == ([], 2)


async def test_a_removal_is_rehearsed_and_then_exact(bot: BotFixture, town: Path) -> None:
    await own(bot, AddSource(str(town), confirmed=True))
    await own(bot, AddSource(str(town), name="twice", confirmed=True))
    [said] = await own(bot, RemoveSource("town"))
    assert said.text.startswith("This removes the source town and forgets what was read of it: 2 documents. “")
    assert len(await list_titles(bot, LOCAL)) == 4
    [said] = await own(bot, RemoveSource("town", confirmed=True))
    assert said.text == "Removed: town. Forgotten: 2 documents."
    assert len(await list_titles(bot, LOCAL)) == 2
    assert [source.name for source in await bot.store.sources.list_all()] == ["twice"]
    with pytest.raises(NotFound):
        await own(bot, RemoveSource("town"))


@pytest.mark.long
async def test_a_removal_that_was_cut_off_is_finished_by_the_clock(bot: BotFixture, town: Path) -> None:
    await own(bot, AddSource(str(town), confirmed=True))
    [record] = await bot.store.sources.list_all()
    await bot.store.sources.mark_removed(record.id)
    assert await list_titles(bot, LOCAL) == ["ferry.md", "mina.txt"]
    await bot.ingest_service.sources.run_due()
    assert await list_titles(bot, LOCAL) == []
    assert await bot.store.sources.list_removed() == []


@pytest.mark.long
async def test_sources_are_read_again_when_their_time_has_come(bot: BotFixture, town: Path) -> None:
    await own(bot, AddSource(str(town), minutes=5, confirmed=True))
    (town / "new.md").write_text("The new note.")
    await bot.ingest_service.sources.run_due()
    assert len(await list_titles(bot, LOCAL)) == 2
    bot.platform.advance(301)
    await bot.ingest_service.sources.run_due()
    assert len(await list_titles(bot, LOCAL)) == 3


@pytest.mark.long
async def test_a_folder_that_vanished_is_a_problem_and_loses_nothing(bot: BotFixture, town: Path) -> None:
    await own(bot, AddSource(str(town), confirmed=True))
    shutil.move(town, town.parent / "away")
    bot.platform.advance(3600)
    await bot.ingest_service.sources.run_due()
    assert await list_titles(bot, LOCAL) == ["ferry.md", "mina.txt"]
    [problem] = await bot.ingest_service.sources.list_problems()
    assert problem.startswith(f"Source town: There is no folder {town} now.")
    [record] = await bot.store.sources.list_all()
    assert record.due_at == pytest.approx(bot.clock.time() + FIRST_RETRY_SECONDS, abs=30)
    with pytest.raises(SourceUnavailable):
        await own(bot, SyncSource("town"))
    shutil.move(town.parent / "away", town)
    [report] = await own(bot, SyncSource("town"))
    assert (report.changed, report.removed, report.trouble) == (0, 0, "")
    assert await bot.ingest_service.sources.list_problems() == []


@pytest.mark.long
async def test_what_is_not_read_is_named_with_its_reason(bot: BotFixture, town: Path) -> None:
    (town / "photo.png").write_bytes(b"\x89PNG\r\n")
    (town / "live.env").write_text("agate")
    _, report = await own(bot, AddSource(str(town), confirmed=True))
    assert [each.what for each in report.unread] == ["live.env", "photo.png"]
    unread = await bot.store.unread_files.list_newest(Scope.of(LOCAL))
    assert sorted(each.name for each in unread) == ["live.env", "photo.png"]
    (town / "photo.png").unlink()
    await own(bot, SyncSource())
    assert [each.name for each in await bot.store.unread_files.list_newest(Scope.of(LOCAL))] == ["live.env"]
    await own(bot, RemoveSource("town", confirmed=True))
    assert await bot.store.unread_files.list_newest(Scope.of(LOCAL)) == []


async def test_nobody_but_the_owner_names_folders(bot: BotFixture, roof: Location, town: Path) -> None:
    for request in (
        AddSource(str(town), confirmed=True),
        AddSource("https://git.example/notes.git", confirmed=True),
        AddSource("https://town.example/", source_kind="folder", confirmed=True),
    ):
        with pytest.raises((NotPermitted, NotFound)):
            await manage(bot, roof, request)
    assert await bot.store.sources.list_all() == []


@pytest.mark.long
async def test_managers_see_sources_of_what_they_read_without_paths(
    bot: BotFixture, roof: Location, town: Path
) -> None:
    attic = await bot.join("ATTIC", "bob", kind="closed")
    await own(bot, AddSource(str(town), roof.room, confirmed=True))
    await own(bot, AddSource(str(town), attic.room, "secret", confirmed=True))
    [listing] = await manage(bot, roof, ListSources())
    assert [(row[0], row[2], row[3]) for row in listing.rows] == [
        ("town", "", "Every full member of the workspace and everyone in #roof")
    ]
    with pytest.raises(NotFound):
        await manage(bot, roof, RemoveSource("secret", confirmed=True))
    [said] = await manage(bot, roof, RemoveSource("town", confirmed=True))
    assert said.text == "Removed: town. Forgotten: 2 documents."


async def test_a_manager_is_told_what_is_read_anew_and_confirms_no_losses(
    bot: BotFixture, roof: Location, town: Path
) -> None:
    [said] = await manage(bot, roof, SyncSource())
    assert said.text == "I read no website or other source outside of the chat that you can see."
    await own(bot, AddSource(str(town), roof.room, confirmed=True))
    for name in ("", "town"):
        [said] = await manage(bot, roof, SyncSource(name))
        assert said.text.startswith("I'm reading it now")
        with pytest.raises(NotPermitted, match="most of a source is gone") as refused:
            await manage(bot, roof, SyncSource(name, forget_missing=True))
        assert "--forget-missing" in refused.value.hint


@pytest.mark.parametrize(
    "request_",
    [
        AddSource("/nowhere/at/all"),
        AddSource("/tmp", "slack"),
        AddSource("/tmp", "slack:T1:open"),
        AddSource("/tmp", "slack:T1:NOWHERE"),
        AddSource("/tmp", options=(("color", "red"),)),
        AddSource("file:///etc", source_kind="repository"),
        AddSource("what is this?"),
        AddSource("/tmp", source_kind="unknown"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_a_sentence(bot: BotFixture, request_: AddSource) -> None:
    with pytest.raises((BadSetting, NotFound, SourceUnavailable)) as failure:
        await own(bot, request_)
    assert str(failure.value).endswith((".", "?”.", "”."))
    assert await bot.store.sources.list_all() == []
