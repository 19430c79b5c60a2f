"""What an address of a source is: found by its form, or refused with what is read."""

from __future__ import annotations

import pytest

from bot.errors import BadSetting
from bot.platform.document_source import find_source_kind, find_start
from engine.errors import NotFound


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/srv/notes", "folder"),
        ("https://git.example/notes.git", "repository"),
        ("git@git.example:notes", "repository"),
        ("https://wiki.example/", "website"),
        ("imaps://imap.example", "mailbox"),
    ],
)
def test_an_address_tells_its_kind(address: str, kind: str) -> None:
    assert find_source_kind(address) == kind


@pytest.mark.parametrize(
    ("address", "start"),
    [
        ("ext::sh -c whoami", "ext::"),
        ("fd::17", "fd::"),
        ("file:///etc", "file://"),
        ("ftp://host/x", "ftp://"),
        ("git://host/x.git", "git://"),
        ("git+ssh://host/x", "git+ssh://"),
        ("mailto:mina@town.example", "mailto:"),
    ],
)
def test_an_address_that_no_kind_reads_is_refused_with_those_that_are_read(address: str, start: str) -> None:
    with pytest.raises(BadSetting, match=f"“{start}”".replace("+", r"\+")) as error:
        find_source_kind(address)
    assert {"/PATH", "https://HOST/PATH.git", "USER@HOST:PATH", "imaps://HOST"} <= set(
        error.value.hint.removeprefix("These are: ").rstrip(".").split(", ")
    )


def test_what_may_be_of_several_kinds_is_asked_for() -> None:
    with pytest.raises(NotFound, match="not clear"):
        find_source_kind("http://git.example/notes.git")


def test_paths_and_short_addresses_begin_with_nothing_special() -> None:
    assert [find_start(each) for each in ("/srv/notes", "notes", "git@host:notes", "C:\\notes", "")] == [""] * 5
