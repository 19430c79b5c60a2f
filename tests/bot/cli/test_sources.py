"""Paths that are typed at the terminal mean the same file from every folder."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from bot.cli.sources import parse_option


def test_the_file_of_a_secret_is_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_option(" secret-file = wiki.secret") == ("secret-file", str(tmp_path / "wiki.secret"))
    assert parse_option("secret-file=/etc/wiki.secret") == ("secret-file", "/etc/wiki.secret")
    assert parse_option("secret-file=../wiki.secret") == ("secret-file", str(tmp_path.parent / "wiki.secret"))
    assert parse_option("secret-file=~/wiki.secret") == ("secret-file", str(Path.home() / "wiki.secret"))


def test_other_options_stay_as_they_are() -> None:
    assert parse_option("path=docs") == ("path", "docs")
    assert parse_option("since=a=b") == ("since", "a=b")
    assert parse_option("secret-file=") == ("secret-file", "")
    for text in ("path", "=docs", ""):
        with pytest.raises(typer.BadParameter):
            parse_option(text)
