from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from adapters.console import converse
from adapters.console.chat_loop import ChatLoop
from adapters.console.commands import COMMANDS
from adapters.console.terminal_input import read_terminal
from bot.admin.requests import Ask, Forget, GetEntity, GetStatus, OperationRequest
from bot.admin.results import AnswerDelta, AnswerEnd, Completed, EntityResult, RetrievalSummary, StatusResult
from bot.cli.chat_session import ChatSession
from bot.cli.render.console import Screen
from bot.plugins import load_adapter, load_conversation
from bot.settings import load_settings
from engine.errors import ModelUnavailable, NotFound
from engine.models import ChatTurn, ContextEntity, Source
from engine.storage.ledger.records.query_results import IndexStatus

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.admin.results import OperationResult

LONG = "The berth costs nine crowns a night. " * 8
SOURCE = Source(1, "d", "p", "Rules", "p. 3", "", "", None, LONG, "s", "r", "c")


class Desk:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.heard: list[OperationRequest] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        self.heard.append(request)
        self.asked.set()
        if isinstance(request, Ask):
            if "error" in request.text:
                raise ModelUnavailable("The model is away.", hint="Wait.")
            yield RetrievalSummary(0, 0, 1)
            yield AnswerDelta("Nine crowns [1].")
            await self.gate.wait()
            yield AnswerEnd((SOURCE,), ())
        elif isinstance(request, GetEntity):
            yield EntityResult(ContextEntity(request.name, "thing", "A berth."), ())
        elif isinstance(request, Forget):
            if request.document == "none.md":
                raise NotFound("There is no such document.")
            yield Completed(f"Forgotten: {request.document}")
        elif isinstance(request, GetStatus):
            yield StatusResult(IndexStatus({"indexed": 2}, 1, 1, 1, 1, 0, 0, 0))


class Place:
    """A conversation at a screen that can be read."""

    def __init__(self, *, interruptible: bool = False) -> None:
        self.desk = Desk()
        self.file = io.StringIO()
        out, err = (Console(file=self.file, width=80, highlight=False) for _ in range(2))
        screen = Screen(out, err)
        self.dialogue = ChatSession(self.desk, screen, "s", "mix")
        self.conversation = ChatLoop(self.dialogue, interruptible=interruptible)

    async def said(self, line: str) -> str:
        self.file.truncate(0)
        self.file.seek(0)
        assert await self.conversation.handle_line(line)
        return self.file.getvalue()


@pytest.fixture
def place() -> Place:
    return Place()


async def test_a_line_is_a_question_and_its_answer_has_sources(place: Place) -> None:
    shown = await place.said("What is the fee?\n")
    assert shown.startswith("Nine crowns [1].\n\n[1] Rules · p. 3\n")
    assert place.desk.heard == [Ask("What is the fee?", ("s",))]


async def test_the_next_question_knows_what_was_said_without_the_old_numbers(place: Place) -> None:
    await place.said("What is the fee?")
    await place.said("For whom?")
    second = place.desk.heard[1]
    assert isinstance(second, Ask)
    assert second.history == (ChatTurn("user", "What is the fee?"), ChatTurn("assistant", "Nine crowns."))


async def test_new_forgets_what_was_said(place: Place) -> None:
    await place.said("What is the fee?")
    await place.said("/new")
    await place.said("For whom?")
    second = place.desk.heard[1]
    assert isinstance(second, Ask)
    assert second.history == ()


@pytest.mark.parametrize(("document", "turns"), [("tea.md", 0), ("none.md", 2)])
async def test_what_was_said_may_quote_a_document_and_is_forgotten_with_it(
    place: Place, document: str, turns: int
) -> None:
    await place.said("What is the fee?")
    await place.said(f"/forget {document}")
    assert len(place.dialogue.history) == turns
    assert bool(place.dialogue.sources) is bool(turns)


async def test_sources_shows_them_whole(place: Place) -> None:
    assert "Ask something first." in await place.said("/sources")
    await place.said("What is the fee?")
    assert (await place.said("/sources")).count("nine crowns") == LONG.count("nine crowns")


async def test_mode_is_kept_and_a_wrong_one_is_refused_with_the_right_ones(place: Place) -> None:
    assert "Mode: local" in await place.said("/mode local")
    assert "mix" in await place.said("/mode deep")
    await place.said("What is the fee?")
    assert place.desk.heard == [Ask("What is the fee?", ("s",), mode="local")]


async def test_graph_forget_and_status_are_asked_of_the_service(place: Place) -> None:
    assert "berth (thing)" in await place.said("/graph berth")
    assert "Forgotten: a b.md" in await place.said("/forget a b.md")
    assert "2 indexed" in await place.said("/status")


async def test_help_names_every_command(place: Place) -> None:
    shown = await place.said("/help")
    assert all(f"/{name}" in shown for name in COMMANDS)


@pytest.mark.parametrize("line", ["/graph", "/forget", "/dance"])
async def test_a_command_that_is_not_complete_is_explained(place: Place, line: str) -> None:
    assert await place.said(line)
    assert place.desk.heard == []


async def test_an_error_is_told_and_the_conversation_goes_on_without_it(place: Place) -> None:
    assert await place.said("error?") == "The model is away.\nWait.\n"
    await place.said("What is the fee?")
    second = place.desk.heard[1]
    assert isinstance(second, Ask)
    assert second.history == ()


@pytest.mark.parametrize("line", ["/quit", "/exit\n", "quit", " Exit. ", "QUIT!"])
async def test_quit_leaves(place: Place, line: str) -> None:
    assert not await place.conversation.handle_line(line)


@pytest.mark.parametrize("line", ["help", "Help!", "/help"])
async def test_help_is_shown_and_not_asked_about(place: Place, line: str) -> None:
    assert "/sources" in await place.said(line)
    assert place.desk.heard == []


async def test_a_question_that_begins_like_a_command_is_a_question(place: Place) -> None:
    await place.said("help me find the exit")
    assert [each.text for each in place.desk.heard if isinstance(each, Ask)] == ["help me find the exit"]


async def test_ctrl_c_stops_the_answer_and_nothing_else() -> None:
    place = Place(interruptible=True)
    place.desk.gate.clear()
    before = signal.getsignal(signal.SIGINT)
    answering = asyncio.create_task(place.said("What is the fee?"))
    await place.desk.asked.wait()
    os.kill(os.getpid(), signal.SIGINT)
    assert "(stopped)" in await asyncio.wait_for(answering, 5)
    assert signal.getsignal(signal.SIGINT) == before
    place.desk.gate.set()
    await place.said("What is the fee?")
    last = place.desk.heard[-1]
    assert isinstance(last, Ask)
    assert last.history == ()


async def test_a_pipe_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("What is the fee?\n\n/status\n"))
    desk = Desk()
    await converse(desk, load_settings(space="s"), history=(ChatTurn("user", "Hello"), ChatTurn("assistant", "Hm.")))
    shown = capsys.readouterr().out
    assert "› What is the fee?\nNine crowns [1]." in shown
    assert "2 indexed" in shown
    assert desk.heard[0] == Ask(
        "What is the fee?", ("s",), history=(ChatTurn("user", "Hello"), ChatTurn("assistant", "Hm."))
    )


async def test_lines_are_typed_with_a_history_that_is_never_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    greeted = asyncio.Event()

    async def greet() -> None:
        greeted.set()

    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("What is\x03What is the fee?\r\r/status\r\x04")
        assert [line async for line in read_terminal(greet)] == ["What is the fee?", "/status"]
    assert greeted.is_set()
    assert os.listdir(tmp_path) == []  # noqa: PTH208  - a glance, in a test


async def test_what_keeps_the_service_from_opening_ends_the_conversation() -> None:
    async def greet() -> None:
        raise NotFound("There is nothing.")

    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()), pytest.raises(NotFound):
        [line async for line in read_terminal(greet)]


async def test_the_greeting_says_how_much_is_known(place: Place) -> None:
    await place.conversation.greet()
    assert "2 documents here" in place.file.getvalue()


def test_the_console_is_found_by_its_name() -> None:
    assert load_conversation("console") is converse
    with pytest.raises(NotFound):
        load_adapter("telegraph")
