"""A shared mailbox is read over TLS, without a trace in it, and its deletions are followed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import pytest

from adapters.sources.imap import encode_folder
from adapters.sources.mailbox import MAILBOX, MailboxSource, open_mailbox
from bot.errors import BadSetting, ItemGone, ItemNotRead, SourceUnavailable
from bot.platform.document_source import SourceItem
from tests.support.imap_server import PASSWORD, USER, ImapFolder, ImapServer, build_mail, open_imap_server
from tests.support.source_tools import MAX_SIZE, build_tools, read, scan


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ImapServer]:
    async with open_imap_server(tmp_path / "imap") as running:
        monkeypatch.setenv("SSL_CERT_FILE", str(running.certificate.file))
        running.folders["INBOX"] = ImapFolder(
            {3: build_mail("Ferry", "The ferry leaves at noon."), 7: build_mail("Quay", "Mina sells tickets.")}
        )
        yield running


class Opener(Protocol):
    """Opens the mailbox of the server; it is closed when the test ends."""

    def __call__(self, secret: str = PASSWORD, **options: str) -> MailboxSource: ...


@pytest.fixture
async def open_source(server: ImapServer, tmp_path: Path) -> AsyncIterator[Opener]:
    opened: list[MailboxSource] = []

    def open_one(secret: str = PASSWORD, **options: str) -> MailboxSource:
        tools = build_tools(tmp_path, secret=secret)
        opened.append(open_mailbox(f"imaps://localhost:{server.port}", {"user": USER, **options}, tools))
        return opened[-1]

    yield open_one
    for source in opened:
        await source.close()


async def test_the_messages_of_a_folder_are_listed_and_read_without_a_trace(
    server: ImapServer, open_source: Opener
) -> None:
    source = open_source()
    found, end = await scan(source)
    assert list(found) == ["1/3/INBOX", "1/7/INBOX"]
    assert (end.is_complete, end.is_certain) == (True, False)
    fetched = await source.fetch(found["1/7/INBOX"], "")
    assert fetched is not None
    assert (fetched.name, fetched.data) == ("message-7.eml", server.folders["INBOX"].messages[7])
    assert await source.fetch(found["1/7/INBOX"], fetched.validator) is None
    await source.close()
    assert not any(command.startswith(("SELECT", "UID STORE")) for command in server.commands)
    assert server.commands[-1] == "LOGOUT"


async def test_deleted_messages_and_new_numbers_are_followed(server: ImapServer, open_source: Opener) -> None:
    server.folders["INBOX"].deleted = {3}
    found, _ = await scan(source := open_source())
    assert list(found) == ["1/7/INBOX"]
    del server.folders["INBOX"].messages[7]
    with pytest.raises(ItemGone):
        await source.fetch(found["1/7/INBOX"], "")
    server.folders["INBOX"] = ImapFolder({7: build_mail("Other", "Another message.")}, validity=2)
    with pytest.raises(ItemGone):
        await open_source().fetch(SourceItem("1/7/INBOX"), "")
    assert list((await scan(open_source()))[0]) == ["2/7/INBOX"]


async def test_folders_are_named_or_all_but_those_nobody_reads(server: ImapServer, open_source: Opener) -> None:
    server.folders |= {
        "Archive": ImapFolder({1: build_mail("Old", "An old message.")}),
        "&AMQ-ste": ImapFolder({2: build_mail("Branch", "A branch.")}),
        "Junk": ImapFolder({1: b"x"}, flags="\\HasNoChildren \\Junk"),
        "Parent": ImapFolder(flags="\\Noselect"),
    }
    found, _ = await scan(open_source(folders="*"))
    assert list(found) == ["1/2/&AMQ-ste", "1/1/Archive", "1/3/INBOX", "1/7/INBOX"]
    source = open_source(folders="Äste, Archive")
    found, end = await scan(source)
    assert (list(found), end.is_complete) == (["1/2/&AMQ-ste", "1/1/Archive"], True)
    assert b"An old message." in await read(source, found["1/1/Archive"])
    found, end = await scan(open_source(folders="INBOX,Gone"))
    assert (len(found), end.is_complete, end.problems) == (2, False, ("There is no folder Gone.",))


async def test_only_newer_messages_are_asked_for(server: ImapServer, open_source: Opener) -> None:
    await scan(open_source(since="2026-03-05"))
    assert "UID SEARCH UNDELETED SINCE 5-Mar-2026" in server.commands


async def test_a_server_without_the_mechanism_is_logged_in_to(server: ImapServer, open_source: Opener) -> None:
    server.capabilities = "IMAP4rev1"
    found, _ = await scan(open_source("plain", user="mina"))
    assert len(found) == 2


async def test_a_wrong_secret_is_told_without_it(server: ImapServer, open_source: Opener) -> None:
    with pytest.raises(SourceUnavailable, match=f"refuses the login of {USER}") as failure:
        await scan(open_source("agate"))
    assert "agate" not in repr(failure.value) + repr(failure.value.__cause__)


async def test_a_certificate_that_nobody_trusts_ends_it(
    server: ImapServer, open_source: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(SourceUnavailable, match="is not trusted"):
        await scan(open_source())
    assert server.commands == []


async def test_messages_that_are_too_large_are_named(server: ImapServer, open_source: Opener) -> None:
    server.folders["INBOX"].messages[7] = b"x" * (MAX_SIZE + 1)
    with pytest.raises(ItemNotRead, match="allowed"):
        await open_source().fetch(SourceItem("1/7/INBOX"), "")


async def test_a_server_that_never_ends_is_left(server: ImapServer, open_source: Opener) -> None:
    server.literal_size = 10**12
    with pytest.raises(SourceUnavailable, match="too much"):
        await open_source().fetch(SourceItem("1/7/INBOX"), "")


async def test_a_server_that_is_away_is_no_empty_one(tmp_path: Path) -> None:
    tools = build_tools(tmp_path, secret="agate")
    with pytest.raises(SourceUnavailable, match="cannot be read now"):
        await scan(open_mailbox("imaps://localhost:1", {"user": USER}, tools))


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("imap://imap.example", {"user": "a"}),
        ("imaps://", {"user": "a"}),
        ("imaps://imap.example:x", {"user": "a"}),
        ("imaps://a:b@imap.example", {}),
        ("imaps://imap.example", {}),
        ("imaps://imap.example", {"user": "a\r\nx LOGOUT"}),
        ("imaps://imap.example", {"user": "a", "folders": "INBOX\r\nx LOGOUT"}),
        ("imaps://imap.example", {"user": "a", "folders": ","}),
        ("imaps://imap.example", {"user": "a", "since": "yesterday"}),
        ("imaps://imap.example/x?y", {"user": "a"}),
    ],
)
def test_what_is_no_mailbox_is_refused(address: str, options: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        open_mailbox(address, options, build_tools(tmp_path, secret="agate"))


def test_a_mailbox_needs_a_secret(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="secret"):
        open_mailbox("imaps://imap.example", {"user": "a"}, build_tools(tmp_path))


@pytest.mark.parametrize(
    ("name", "encoded"),
    [("INBOX", "INBOX"), ("R&D", "R&-D"), ("台北", "&U,BTFw-"), ("~peter/日本語", "~peter/&ZeVnLIqe-")],
)
def test_names_of_folders_are_encoded(name: str, encoded: str) -> None:
    assert encode_folder(name) == encoded


def test_an_address_tells_what_it_is() -> None:
    assert MAILBOX.matches("imaps://imap.example")
    assert not MAILBOX.matches("https://imap.example")
