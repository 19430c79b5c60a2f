"""A watched folder: what is read of it, what never is, and what a drive that is not mounted looks like."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.sources.folder import BELOW_MISSING, CHANGED_MOUNT, FolderSource, open_folder
from adapters.sources.inner_files import LEFT_OUT, SEPARATE
from bot.errors import BadSetting, ItemGone, ItemNotRead, ItemNotReadNow, SourceUnavailable
from bot.platform.document_source import SourceItem
from tests.support.source_tools import MAX_SIZE, build_tools, read, scan


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A folder with two notes; outside of it lies a secret."""
    folder = tmp_path / "town"
    (folder / "quay").mkdir(parents=True)
    (folder / "ferry.md").write_text("The ferry leaves at noon.")
    (folder / "quay" / "mina.txt").write_text("Mina sells tickets.")
    (tmp_path / "secret.txt").write_text("agate")
    return folder


def open_source(town: Path, **options: str) -> FolderSource:
    return open_folder(str(town), options, build_tools(town.parent))


async def test_the_files_of_all_folders_are_listed_and_read(town: Path) -> None:
    source = open_source(town, link="https://drive.example/town/")
    found, end = await scan(source)
    assert list(found) == ["ferry.md", "quay/mina.txt"]
    assert (end.is_complete, end.is_certain, end.problems) == (True, True, ())
    fetched = await source.fetch(found["quay/mina.txt"], "")
    assert fetched is not None
    assert (fetched.name, fetched.data) == ("mina.txt", b"Mina sells tickets.")
    assert fetched.link == "https://drive.example/town/quay/mina.txt"
    assert await source.fetch(found["quay/mina.txt"], fetched.validator) is None


async def test_a_stamp_changes_with_the_file_alone(town: Path) -> None:
    before, _ = await scan(open_source(town))
    (town / "ferry.md").write_text("The ferry leaves at ten.")
    after, _ = await scan(open_source(town))
    assert before["quay/mina.txt"] == after["quay/mina.txt"]
    assert before["ferry.md"].stamp != after["ferry.md"].stamp


async def test_hidden_files_are_left_out_and_secrets_are_named(town: Path) -> None:
    for name in (".env", ".hidden.md", "quay/.env.local"):
        (town / name).write_text("agate")
    (town / ".git-like").mkdir()
    (town / ".git-like" / "note.md").write_text("agate")
    for name in ("live.env", "quay/server.key", "id_rsa"):
        (town / name).write_text("agate")
    found, _ = await scan(open_source(town))
    assert list(found) == ["ferry.md", "id_rsa", "live.env", "quay/mina.txt", "quay/server.key"]
    assert {name for name, each in found.items() if each.withheld} == {"id_rsa", "live.env", "quay/server.key"}


async def test_links_that_leave_the_folder_are_not_followed(town: Path) -> None:
    (town / "out.txt").symlink_to(town.parent / "secret.txt")
    (town / "up").symlink_to(town.parent)
    (town / "quay" / "round").symlink_to(town)
    (town / "broken.txt").symlink_to(town / "nowhere")
    (town / ".env").write_text("agate")
    (town / "env.txt").symlink_to(town / ".env")
    (town / "same.md").symlink_to("ferry.md")
    os.mkfifo(town / "pipe.txt")
    source = open_source(town)
    found, _ = await scan(source)
    assert list(found) == ["ferry.md", "quay/mina.txt", "same.md"]
    assert await read(source, found["same.md"]) == b"The ferry leaves at noon."


async def test_a_link_to_a_file_with_secrets_is_named_and_never_read(town: Path) -> None:
    (town / "quay" / "server.key").write_text("agate")
    (town / "notes.txt").symlink_to("quay/server.key")
    source = open_source(town)
    found, _ = await scan(source)
    assert found["notes.txt"].withheld == LEFT_OUT
    with pytest.raises(ItemNotRead, match="may hold secrets"):
        await source.fetch(found["notes.txt"], "")


async def test_a_link_that_is_made_after_the_scan_leads_nowhere(town: Path) -> None:
    source = open_source(town)
    found, _ = await scan(source)
    (town / "ferry.md").unlink()
    (town / "ferry.md").symlink_to(town.parent / "secret.txt")
    with pytest.raises(ItemNotRead, match="leaves the folder"):
        await source.fetch(found["ferry.md"], "")
    shutil.rmtree(town / "quay")
    (town.parent / "mina.txt").write_text("agate")
    (town / "quay").symlink_to(town.parent)
    with pytest.raises(ItemNotRead, match="leaves the folder"):
        await source.fetch(found["quay/mina.txt"], "")
    (town / "quay").unlink()
    (town / "data").mkdir()
    (town / "data" / "mina.txt").write_text("agate")
    (town / "quay").symlink_to("data")
    with pytest.raises(ItemNotRead, match="a file that is not read"):
        await source.fetch(found["quay/mina.txt"], "")
    for text in ("../secret.txt", "/etc/passwd"):
        with pytest.raises(ItemNotRead):
            await source.fetch(SourceItem(text), "")


async def test_a_file_that_is_gone_or_too_large_says_so(town: Path) -> None:
    source = open_source(town)
    found, _ = await scan(source)
    (town / "ferry.md").unlink()
    with pytest.raises(ItemGone):
        await source.fetch(found["ferry.md"], "")
    (town / "quay" / "mina.txt").write_text("x" * (MAX_SIZE + 1))
    with pytest.raises(ItemNotRead, match="allowed"):
        await source.fetch(found["quay/mina.txt"], "")


async def test_a_file_that_changes_while_it_is_read_is_tried_again(town: Path) -> None:
    source = open_source(town)
    found, _ = await scan(source)
    (town / "ferry.md").write_text("The ferry lea")
    with pytest.raises(ItemNotReadNow, match="written while it was read"):
        await source.fetch(found["ferry.md"], "")
    again, _ = await scan(source)
    assert await read(source, again["ferry.md"]) == b"The ferry lea"


async def test_a_folder_that_is_not_there_is_no_empty_folder(town: Path) -> None:
    _, end = await scan(open_source(town))
    shutil.move(town, town.parent / "away")
    with pytest.raises(SourceUnavailable, match="Nothing was forgotten"):
        await scan(open_source(town), end.cursor)
    os.mkdir(town)  # noqa: PTH102 - in an asynchronous test
    assert (await scan(open_source(town), end.cursor))[1].is_certain  # the same drive: somebody emptied it
    with pytest.raises(SourceUnavailable, match="may not be mounted"):
        await scan(open_source(town), f"{end.cursor} 987654321")
    assert "{path}" in CHANGED_MOUNT


async def test_a_drive_below_the_folder_that_is_gone_makes_the_list_incomplete(town: Path) -> None:
    mounted = f"{(await scan(open_source(town)))[1].cursor} 987654321"
    for _ in range(2):
        found, end = await scan(open_source(town), mounted)
        assert list(found) == ["ferry.md", "quay/mina.txt"]
        assert (end.is_complete, end.is_certain) == (False, False)
        assert end.problems == (BELOW_MISSING.format(path=town),)
        assert sorted(end.cursor.split()) == sorted(mounted.split())
        mounted = end.cursor


async def test_a_drive_that_is_mounted_anew_with_another_number_is_no_missing_one(town: Path) -> None:
    (_, now), (_, end) = await scan(open_source(town)), await scan(open_source(town), "987654321")
    assert (end.is_complete, end.is_certain, end.problems) == (True, False, ())
    assert end.cursor == now.cursor


@pytest.mark.skipif(os.getuid() == 0, reason="root lists every folder")
async def test_a_folder_that_cannot_be_listed_is_named_and_its_files_are_kept(town: Path) -> None:
    (town / "quay").chmod(0)
    try:
        found, end = await scan(open_source(town))
    finally:
        (town / "quay").chmod(0o755)
    assert list(found) == ["ferry.md"]
    assert not end.is_complete
    assert end.problems == ("quay cannot be listed: Permission denied.",)


async def test_one_file_is_a_source_too(town: Path) -> None:
    source = open_source(town / "ferry.md")
    found, _ = await scan(source)
    assert list(found) == ["ferry.md"]
    assert await read(source, found["ferry.md"]) == b"The ferry leaves at noon."


async def test_names_that_are_no_text_are_read(town: Path) -> None:
    (town / os.fsdecode(b"quay-\xff.md")).write_text("A strange name.")
    source = open_source(town)
    found, _ = await scan(source)
    assert "quay-\\xff.md" in found
    assert await read(source, found["quay-\\xff.md"]) == b"A strange name."


async def test_the_data_of_the_program_is_not_read(town: Path) -> None:
    (town / "data").mkdir()
    (town / "data" / "ledger.txt").write_text("agate")
    tools = replace(build_tools(town), data_dir=town / "data")
    found, _ = await scan(open_folder(str(town), {}, tools))
    assert list(found) == ["ferry.md", "quay/mina.txt"]
    run_git(town, "init", "--quiet")
    found, _ = await scan(open_folder(str(town), {}, tools))
    assert list(found) == ["ferry.md", "quay/mina.txt"]
    (town / "door").symlink_to(town / "data")
    by_link = replace(tools, data_dir=town / "door")
    assert list((await scan(open_folder(str(town), {}, by_link)))[0]) == ["ferry.md", "quay/mina.txt"]
    shutil.rmtree(town / ".git")
    assert list((await scan(open_folder(str(town), {}, by_link)))[0]) == ["ferry.md", "quay/mina.txt"]
    for address in (str(town / "data"), str(town / "data" / "x"), str(town / "door"), "town"):
        with pytest.raises(BadSetting):
            open_folder(address, {}, tools)


async def test_links_name_paths_to_those_alone_who_use_this_computer(town: Path) -> None:
    for is_local, link in ((True, (town / "ferry.md").as_uri()), (False, "")):
        source = open_folder(str(town), {}, build_tools(town.parent, is_local=is_local))
        found, _ = await scan(source)
        fetched = await source.fetch(found["ferry.md"], "")
        assert fetched is not None
        assert fetched.link == link


def run_git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Mina", "-c", "user.email=mina@town.example")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


async def test_of_a_working_tree_nothing_is_read_that_git_ignores(town: Path) -> None:
    run_git(town, "init", "--quiet")
    (town / ".gitignore").write_text("built/\n")
    (town / "built").mkdir()
    (town / "built" / "page.md").write_text("built")
    (town / "gone.md").write_text("gone")
    run_git(town, "add", ".")
    (town / "gone.md").unlink()
    (town / "out.txt").symlink_to(town.parent / "secret.txt")
    (town / "new.md").write_text("not added yet")
    mark = town.parent / "ran"
    for hook in ("core.fsmonitor", "core.sshCommand", "core.pager"):
        run_git(town, "config", hook, f"touch {mark}")
    found, _ = await scan(open_source(town))
    assert list(found) == ["ferry.md", "new.md", "quay/mina.txt"]
    assert not mark.exists()


@pytest.fixture
def tree(town: Path) -> Path:
    """A working tree of which git ignores a table."""
    run_git(town, "init", "--quiet")
    (town / ".gitignore").write_text("private/\n")
    (town / "private").mkdir()
    (town / "private" / "wages.csv").write_text("agate")
    return town


@pytest.mark.usefixtures("tree")
async def test_without_git_no_working_tree_is_read(town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for folder in (town, town / "quay"):
        with pytest.raises(SourceUnavailable, match="git is not installed"):
            await scan(open_source(folder))
    found, end = await scan(open_source(town.parent))
    assert list(found) == ["secret.txt"]
    assert not end.is_complete
    assert "git is not installed" in end.problems[0]


async def test_what_git_ignores_is_left_out_below_and_above_the_first_folder_of_a_working_tree(tree: Path) -> None:
    (tree / "quay" / ".gitignore").write_text("draft.md\n")
    (tree / "quay" / "draft.md").write_text("agate")
    assert list((await scan(open_source(tree / "quay")))[0]) == ["mina.txt"]
    above, _ = await scan(open_folder(str(tree.parent), {}, build_tools(tree)))
    assert list(above) == ["secret.txt", "town/ferry.md", "town/quay/mina.txt"]
    assert list((await scan(open_source(tree / "private")))[0]) == ["wages.csv"]  # who names it wants it


async def test_a_link_to_what_git_ignores_is_not_followed(tree: Path) -> None:
    (tree / "wages.csv").symlink_to("private/wages.csv")
    shutil.rmtree(tree / "quay")
    (tree / "quay").symlink_to("private")
    run_git(tree, "add", "--all", ".")
    assert list((await scan(open_source(tree)))[0]) == ["ferry.md"]


async def test_repositories_within_a_working_tree_are_named(town: Path) -> None:
    for each in (town, town / "quay", town / "boat"):
        each.mkdir(exist_ok=True)
        run_git(each, "init", "--quiet")
        (each / "note.md").write_text("agate")
        run_git(each, "add", "note.md")
        run_git(each, "commit", "--quiet", "--message", "a note")
    run_git(town, "add", "boat")
    found, end = await scan(open_source(town))
    assert {name: each.withheld for name, each in found.items()} == {
        "ferry.md": "",
        "note.md": "",
        "boat": SEPARATE,
        "quay": SEPARATE,
    }
    assert (end.is_complete, end.problems) == (True, ())


async def test_a_broken_working_tree_is_named(town: Path) -> None:
    (town / ".git").write_text("gitdir: /nowhere\n")
    with pytest.raises(SourceUnavailable, match="git cannot list"):
        await scan(open_source(town))
