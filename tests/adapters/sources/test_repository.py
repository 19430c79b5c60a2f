"""A git repository over https: its files are read from the newest commit, and nothing in it is run."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.sources.git_program import GitRepository
from adapters.sources.inner_files import SEPARATE
from adapters.sources.repository import REPOSITORY, RepositorySource, check_address, open_repository
from bot.errors import BadSetting, SourceUnavailable
from tests.support.git_server import GitServer, open_git_server, run_git
from tests.support.source_tools import build_tools, read, scan


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[GitServer]:
    async with open_git_server(tmp_path / "server") as running:
        monkeypatch.setenv("GIT_SSL_CAINFO", str(running.certificate.file))
        (running.work / "ferry.md").write_text("The ferry leaves at noon.")
        (running.work / "quay").mkdir()
        (running.work / "quay" / "mina.txt").write_text("Mina sells tickets.")
        running.commit()
        yield running


def open_source(server: GitServer, home: Path, secret: str = "", **options: str) -> RepositorySource:
    return open_repository(server.url, options, build_tools(home, secret=secret))


@pytest.mark.long
async def test_files_are_read_from_the_newest_commit_and_renames_are_followed(
    server: GitServer, tmp_path: Path
) -> None:
    source = open_source(server, tmp_path, link="https://git.example/notes/blob/main")
    before, end = await scan(source)
    assert list(before) == ["ferry.md", "quay/mina.txt"]
    fetched = await source.fetch(before["quay/mina.txt"], "")
    assert fetched is not None
    assert (fetched.name, fetched.data) == ("mina.txt", b"Mina sells tickets.")
    assert fetched.link == "https://git.example/notes/blob/main/quay/mina.txt"
    assert await source.fetch(before["quay/mina.txt"], fetched.validator) is None
    (server.work / "ferry.md").rename(server.work / "boat.md")
    commit = server.commit()
    after, end = await scan(open_source(server, tmp_path), end.cursor)
    assert list(after) == ["boat.md", "quay/mina.txt"]
    assert after["boat.md"].stamp == before["ferry.md"].stamp
    assert (end.cursor, end.is_complete, end.is_certain) == (commit, True, True)


async def test_links_hidden_files_and_submodules_are_no_files(server: GitServer, tmp_path: Path) -> None:
    (server.work / "out.txt").symlink_to("/etc/passwd")
    (server.work / ".env").write_text("agate")
    (server.work / "live.env").write_text("agate")
    (server.work / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = file:///etc\n')
    (server.work / "large.txt").write_text("x" * 20_000)
    server.commit()
    found, _ = await scan(open_source(server, tmp_path))
    assert list(found) == ["ferry.md", "large.txt", "live.env", "quay/mina.txt"]
    assert {name for name, each in found.items() if each.withheld} == {"large.txt", "live.env"}


async def test_submodules_are_named(server: GitServer, tmp_path: Path) -> None:
    (server.work / "boat").mkdir()
    run_git(server.work / "boat", "init", "--quiet")
    run_git(server.work / "boat", "commit", "--quiet", "--allow-empty", "-m", "a boat")
    server.commit()
    source = open_source(server, tmp_path)
    found, _ = await scan(source)
    assert list(found) == ["boat", "ferry.md", "quay/mina.txt"]
    assert found["boat"].withheld == SEPARATE


@pytest.mark.long
async def test_history_that_was_rewritten_is_followed(server: GitServer, tmp_path: Path) -> None:
    await scan(open_source(server, tmp_path))
    (server.work / "new.md").write_text("New.")
    server.commit()
    found, _ = await scan(open_source(server, tmp_path, path="/quay/"))
    assert list(found) == ["quay/mina.txt"]


@pytest.mark.long
async def test_a_folder_that_is_renamed_is_no_empty_folder(server: GitServer, tmp_path: Path) -> None:
    source = open_source(server, tmp_path, path="quay")
    await scan(source)
    (server.work / "quay").rename(server.work / "harbor")
    server.commit()
    with pytest.raises(SourceUnavailable, match="no folder quay"):
        await scan(source)


@pytest.mark.long
async def test_nothing_stays_of_a_version_that_is_not_the_newest(server: GitServer, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "repository.git"
    (server.work / "wages.md").write_text("agate")
    server.commit()
    found, _ = await scan(open_source(server, tmp_path))
    former = found["wages.md"].stamp
    (folder / "objects" / "pack" / "tmp_pack_x").write_bytes(b"agate")  # of an attempt that was cut off
    [pack] = folder.glob("objects/pack/*.pack")
    pack.with_suffix(".keep").touch()
    (server.work / "wages.md").unlink()
    server.commit()
    source = open_source(server, tmp_path)
    found, _ = await scan(source)
    assert await read(source, found["ferry.md"]) == b"The ferry leaves at noon."
    with pytest.raises(SourceUnavailable):
        await source.repository.read(former)
    assert len([path for path in folder.glob("objects/**/*") if path.is_file()]) <= 4  # one pack
    assert not list(folder.glob("objects/pack/tmp_*"))


@pytest.mark.long
async def test_a_repository_that_is_rewritten_does_not_grow(server: GitServer, tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "small.git", {}, max_size=1_500_000)
    for _ in range(3):
        (server.work / "noise.bin").write_bytes(os.urandom(1_000_000))
        commit = server.commit()
        assert await repository.fetch(server.url, "") == commit


async def test_a_secret_goes_to_its_server_alone_and_never_into_an_argument(server: GitServer, tmp_path: Path) -> None:
    server.required = f"Basic {b64encode(b'oauth2:agate').decode()}"
    with pytest.raises(SourceUnavailable, match="git failed"):
        await scan(open_source(server, tmp_path))
    found, _ = await scan(open_source(server, tmp_path, secret="agate"))
    assert list(found) == ["ferry.md", "quay/mina.txt"]
    assert "agate" not in (tmp_path / "cache" / "repository.git" / "config").read_text()


async def test_a_branch_that_is_not_there_is_named(server: GitServer, tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="git failed"):
        await scan(open_source(server, tmp_path, branch="nowhere"))
    source = open_source(server, tmp_path, branch="main")
    found, _ = await scan(source)
    assert await read(source, found["ferry.md"]) == b"The ferry leaves at noon."


async def test_a_server_without_a_known_certificate_is_refused(
    server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIT_SSL_CAINFO")
    with pytest.raises(SourceUnavailable, match="certificate"):
        await scan(open_source(server, tmp_path))


async def test_settings_of_the_environment_run_nothing(
    server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "ran"
    for name in ("GIT_ASKPASS", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND"):
        monkeypatch.setenv(name, f"touch {mark}")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    await scan(open_source(server, tmp_path))
    assert not mark.exists()


@pytest.mark.long
async def test_a_repository_that_grows_too_large_is_ended(server: GitServer, tmp_path: Path) -> None:
    (server.work / "noise.bin").write_bytes(os.urandom(3_000_000))
    server.commit()
    repository = GitRepository(tmp_path / "small.git", {}, max_size=1_000_000)
    with pytest.raises(SourceUnavailable, match="has more than"):
        await repository.fetch(server.url, "")


async def test_a_repository_that_takes_too_long_is_ended(server: GitServer, tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "slow.git", {}, fetch_seconds=0.001)
    with pytest.raises(SourceUnavailable, match="took more than"):
        await repository.fetch(server.url, "")


GOOD = [
    *("https://git.example/team/notes.git", "https://git.example:8443/notes", "ssh://git@git.example/notes"),
    *("ssh://git.example:2222/~mina/notes", "git@git.example:team/notes.git", "https://[2001:db8::1]/notes"),
]
BAD = [
    *("ext::sh -c touch% /tmp/x", "ext::sh", "file:///etc", "/etc", "../notes", "http://git.example/notes", ""),
    *("git://git.example/notes", "-uxyz", "--upload-pack=touch", "https::git.example", "fd::17", "ftp://git.example/x"),
    *("ssh://-oProxyCommand=touch/x", "-oProxyCommand=x@host:path", "a@-oProxyCommand=x:path", "git@host:-x"),
    *("ssh://git@-host/x", "ssh://-u@host/x", "https://git.example", "https://git.example/", "https:///notes"),
    *("https://mina:agate@git.example/x", "https://agate@git.example/x", "ssh://a:b@git.example/x"),
    *("https://git.example/x\n--upload-pack=y", "https://git.example/a b", "https://git.example/x?y", "HTTPS://a.b/c"),
    *("transport::https://git.example/x", "https://git.example:0/x", "https://git.example:x/x", "https://[::/x"),
    *("https://git.example\\@evil.example/x", "a@b@c:d", "file::/etc", "https://gi\u200bt.example/x"),
]


@pytest.mark.parametrize("address", GOOD)
def test_addresses_of_https_and_ssh_are_accepted(address: str) -> None:
    assert check_address(address) == address


@pytest.mark.parametrize("address", BAD)
def test_other_addresses_are_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        open_repository(address, {}, build_tools(tmp_path))


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("ext::sh -c whoami", "“ext::” names a program"),
        ("fd::17", "“fd::” names a program"),
        ("transport::https://git.example/x", "“transport::” names a program"),
        ("file:///srv/notes", "not read over “file://”"),
        ("git://git.example/notes", "not read over “git://”"),
        ("http://git.example/notes.git", "not read over “http://”"),
        ("-uxyz", "would be an option of git"),
        ("--upload-pack=touch", "would be an option of git"),
        ("-oProxyCommand=x@host:path", "would be an option of git"),
        ("a@-oProxyCommand=x:path", "would be an option of git"),
        ("git@host:-x", "would be an option of git"),
        ("ssh://-oProxyCommand=touch/x", "would be an option of git"),
        ("ssh://-u@host/x", "would be an option of git"),
        ("../notes", "This is a path"),
        ("https://git.example/x?y", "no address of a repository"),
    ],
)
def test_a_refusal_names_the_kind_of_address_and_what_is_accepted(address: str, named: str) -> None:
    with pytest.raises(BadSetting, match=named) as error:
        check_address(address)
    assert "https://HOST/PATH, ssh://USER@HOST/PATH or USER@HOST:PATH" in error.value.hint


@pytest.mark.parametrize("branch", ["-x", "--upload-pack=x", "a..b", "a b", "x.lock", "a/", ":main", "+main", "a~1"])
def test_what_is_no_name_of_a_branch_is_refused(branch: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="branch"):
        open_repository(GOOD[0], {"branch": branch}, build_tools(tmp_path))


def test_an_address_tells_what_it_is() -> None:
    assert [REPOSITORY.matches(each) for each in GOOD] == [True, False, True, True, True, False]
    assert not any(REPOSITORY.matches(text) for text in ("https://wiki.example/", "/srv/notes", "imaps://host/"))


def test_files_of_well_known_servers_have_links(tmp_path: Path) -> None:
    view = open_repository("https://github.com/town/notes.git", {}, build_tools(tmp_path)).view
    assert view == "https://github.com/town/notes/blob/HEAD"
    assert not open_repository("https://git.example/town/notes.git", {}, build_tools(tmp_path)).view
