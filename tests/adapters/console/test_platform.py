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


class RecordingBot:
    """Records events and is done with each at once, or `fails`."""

    def __init__(self, *, fails: bool = False) -> None:
        self.events: dict[str, PlatformEvent] = {}
        self.event_queue = self
        self.fails = fails

    def attach(self, platform: ConsolePlatform) -> None:
        assert platform.name == "console"

    def record_activity(self, platform: str) -> None:
        assert platform == "console"

    async def receive(self, event: PlatformEvent, key: str) -> bool:
        if self.fails:
            raise ZeroDivisionError
        self.events[key] = event
        return True

    async def wait_until_idle(self) -> None:
        """Do nothing: no event is in progress."""


@pytest.mark.parametrize("line", ["Who holds the key?", "/ask Who holds the key?", "  /ask  Who holds the key? "])
def test_a_question_may_have_a_command(line: str) -> None:
    event = parse_line(line, 1)
    assert isinstance(event, MessageReceived)
    assert (event.message.text, event.addressed) == ("Who holds the key?", True)


@pytest.mark.parametrize(
    ("line", "command", "words"), [("/forget notes.md", "forget", "notes.md"), ("/learn", "learn", "")]
)
def test_a_word_with_a_slash_is_a_command(line: str, command: str, words: str) -> None:
    event = parse_line(line, 1)
    assert isinstance(event, CommandInvoked)
    assert (event.command, event.words) == (command, words)


def test_a_path_is_shared_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("The key hangs by the door.")
    event = parse_line(f"/learn {tmp_path / 'notes.md'}", 1)
    assert isinstance(event, MessageReceived)
    assert ([each.name for each in event.message.uploads], event.addressed) == (["notes.md"], False)
    with pytest.raises(PlatformError, match="not found"):
        parse_line("/learn nowhere.md", 1)


async def test_lines_are_read_until_the_end_and_an_error_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("/status\n\nWho holds the key?\n/quit\n/help\n"))
    bot = RecordingBot()
    await run(bot, load_settings(), asyncio.Event())  # type: ignore[arg-type]
    assert [type(event) for event in bot.events.values()] == [CommandInvoked, MessageReceived]
    monkeypatch.setattr(sys, "stdin", io.StringIO("/status\n"))
    with pytest.raises(ZeroDivisionError):
        await run(RecordingBot(fails=True), load_settings(), asyncio.Event())  # type: ignore[arg-type]


def test_a_citation_is_shown_as_its_number() -> None:
    text = "It leaks [[1]](https://a.example/b), see [x](https://c.example)."
    assert strip_citation_links(text) == "It leaks [1], see [x](https://c.example)."
