"""What a line on a terminal means to the bot that is hosted there."""

from __future__ import annotations

import asyncio
import io
import sys
from typing import TYPE_CHECKING

import pytest

from adapters.console.platform import parse_line, strip_citation_links
from adapters.console.run_bot import run
from bot.errors import PlatformError
from bot.platform.events import CommandInvoked, MessageReceived
from bot.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.console.platform import ConsolePlatform
    from bot.platform.events import PlatformEvent


class Ear:
    """A bot that only listens, and is done with everything at once; `broken`: it fails."""

    def __init__(self) -> None:
        self.heard: list[tuple[PlatformEvent, str]] = []
        self.event_queue = self
        self.broken = False

    def attach(self, platform: ConsolePlatform) -> None:
        assert platform.name == "console"

    def record_activity(self, platform: str) -> None:
        assert platform == "console"

    async def receive(self, happening: PlatformEvent, key: str) -> bool:
        if self.broken:
            raise ZeroDivisionError
        self.heard.append((happening, key))
        return True

    async def wait_until_idle(self) -> None:
        """Nothing is under way."""


@pytest.mark.parametrize("line", ["Who holds the key?", "/ask Who holds the key?", "  /ask  Who holds the key? "])
def test_a_question_needs_no_command_but_may_have_one(line: str) -> None:
    heard = parse_line(line, 1)
    assert isinstance(heard, MessageReceived)
    assert (heard.message.text, heard.addressed) == ("Who holds the key?", True)


def test_another_word_with_a_slash_is_a_command() -> None:
    called = parse_line("/forget notes.md", 1)
    assert isinstance(called, CommandInvoked)
    assert (called.command, called.words) == ("forget", "notes.md")


def test_a_path_is_shared_and_not_asked(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("The key hangs by the door.")
    heard = parse_line(f"/learn {tmp_path / 'notes.md'}", 1)
    assert isinstance(heard, MessageReceived)
    assert ([each.name for each in heard.message.uploads], heard.addressed) == (["notes.md"], False)
    with pytest.raises(PlatformError, match="not found"):
        parse_line("/learn nowhere.md", 1)
    assert isinstance(parse_line("/learn", 1), CommandInvoked)  # which says what it wants


async def test_lines_are_heard_one_after_another_until_the_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("/status\n\nWho holds the key?\n/quit\n/help\n"))
    ear = Ear()
    await run(ear, load_settings(), asyncio.Event())  # type: ignore[arg-type]
    assert [type(each) for each, _ in ear.heard] == [CommandInvoked, MessageReceived]
    assert len({key for _, key in ear.heard}) == 2


async def test_what_breaks_a_conversation_off_is_not_kept_from_whoever_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("/status\n"))
    ear = Ear()
    ear.broken = True
    with pytest.raises(ZeroDivisionError):
        await run(ear, load_settings(), asyncio.Event())  # type: ignore[arg-type]


def test_a_citation_is_a_mere_number() -> None:
    assert strip_citation_links("It leaks [[1]](https://a.example/b), see [x](https://c.example).") == (
        "It leaks [1], see [x](https://c.example)."
    )
