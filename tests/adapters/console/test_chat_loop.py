from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent, DummyCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from adapters.console import converse
from adapters.console.chat_loop import ChatLoop
from adapters.console.commands import COMMANDS
from adapters.console.completion import ChatCompleter
from adapters.console.terminal_input import read_terminal
from bot.capabilities.requests import Ask, AtSpace, Forget, GetEntity, GetStatus, ListFilterNames, OperationRequest
from bot.capabilities.results import (
    AnswerDelta,
    AnswerEnd,
    Completed,
    EntityResult,
    FilterNames,
    OperationResult,
    StatusResult,
)
from bot.cli.chat.session import ChatSession
from bot.cli.render.console import Screen
from bot.plugins import load_adapter, load_conversation
from bot.settings import load_settings
from engine.clock import SYSTEM_CLOCK
from engine.errors import ModelUnavailable, NotFound
from engine.models import ChatTurn, CitedSource, ContextEntity, Source
from engine.storage.ledger.records.query_results import IndexStatus
from tests.support.patience import PATIENCE

QUESTION = "What is the fee?"
CITED = (CitedSource(1, "d", "p", "Rules"),)
HISTORY = (ChatTurn("user", QUESTION), ChatTurn("assistant", "Nine crowns [1].", CITED))
LONG = "The berth costs nine crowns a night. " * 8
SOURCE = Source(1, "d", "p", "Rules", "p. 3", "", "", None, LONG, "s", "r", "c")


class ScriptedService:
    """Answers every request at the space `s`, questions once `gate` is open, and records the requests."""

    def __init__(self) -> None:
        self.requests: list[OperationRequest] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        assert isinstance(request, AtSpace)
        assert request.space == "s"
        request = request.request
        self.requests.append(request)
        self.asked.set()
        if isinstance(request, Ask):
            if "error" in request.text:
                raise ModelUnavailable("The model is away.", hint="Wait.")
            yield AnswerDelta("Nine crowns [1].")
            await self.gate.wait()
            yield AnswerEnd((SOURCE,), ())
        elif isinstance(request, ListFilterNames):
            yield FilterNames(("harbour", "old harbour"), ("Ada Lovelace", "Bob"))
        elif isinstance(request, GetEntity):
            yield EntityResult(ContextEntity(request.name, "thing", "A berth."), ())
        elif isinstance(request, Forget):
            if request.document == "none.md":
                raise NotFound("There is no such document.")
            yield Completed(f"Forgotten: {request.document}")
        elif isinstance(request, GetStatus):
            yield StatusResult(IndexStatus({"indexed": 2}, 1, 1, 1, 1, 0, 0, 0))


class Chat:
    """A conversation on a screen that can be read."""

    def __init__(self, *, interruptible: bool = False) -> None:
        self.service = ScriptedService()
        self.file = io.StringIO()
        out, err = (Console(file=self.file, width=80, highlight=False) for _ in range(2))
        self.session = ChatSession(self.service, Screen(SYSTEM_CLOCK, out, err), "s", "mix")
        self.loop = ChatLoop(self.session, interruptible=interruptible)

    async def enter(self, *lines: str) -> str:
        """What the screen shows after the last line."""
        for line in lines:
            self.file.truncate(0)
            self.file.seek(0)
            assert await self.loop.handle_line(line)
        return self.file.getvalue()


@pytest.mark.parametrize(
    ("lines", "shown", "request_"),
    [
        pytest.param([f"{QUESTION}\n"], "Nine crowns [1].\n\n[1] Rules · p. 3\n", Ask(QUESTION, "mix"), id="question"),
        pytest.param([QUESTION, "For whom?"], "Nine crowns", Ask("For whom?", "mix", HISTORY), id="next question"),
        pytest.param([QUESTION, "/new", "For whom?"], "Nine crowns", Ask("For whom?", "mix"), id="new conversation"),
        pytest.param(["error?"], "The model is away.\nWait.\n", Ask("error?", "mix"), id="error"),
        pytest.param(["error?", QUESTION], "Nine crowns", Ask(QUESTION, "mix"), id="question after an error"),
        pytest.param(["/sources"], "Ask something first.", None, id="no sources yet"),
        pytest.param(["/mode local", QUESTION], "Nine crowns", Ask(QUESTION, mode="local"), id="mode"),
        pytest.param(["/mode local"], "Mode: local", None, id="mode shown"),
        pytest.param(["/mode deep"], "mix", None, id="wrong mode"),
        pytest.param(["/graph berth"], "berth (thing)", GetEntity("berth"), id="graph"),
        pytest.param(["/status"], "2 indexed", GetStatus(), id="status"),
        pytest.param(["/graph"], "/graph", None, id="graph of nothing"),
        pytest.param(["/forget"], "/forget", None, id="forget nothing"),
        pytest.param(["/dance"], "/dance", None, id="unknown command"),
        *(pytest.param([line], "/sources", None, id=line) for line in ("help", "Help!", "/help")),
        pytest.param(["help me find it"], "Nine crowns", Ask("help me find it", "mix"), id="like a command"),
    ],
)
async def test_a_line_is_a_question_or_a_command(
    lines: list[str], shown: str, request_: OperationRequest | None
) -> None:
    chat = Chat()
    assert shown in await chat.enter(*lines)
    assert chat.service.requests[-1:] == ([request_] if request_ else [])


@pytest.mark.parametrize(("document", "turns"), [("a b.md", 0), ("none.md", 2)])
async def test_a_conversation_that_may_quote_a_document_is_forgotten_with_it(document: str, turns: int) -> None:
    chat = Chat()
    shown = await chat.enter(QUESTION, f"/forget {document}")
    assert shown.startswith("Forgotten: a b.md") is not bool(turns)
    assert (len(chat.session.history), bool(chat.session.sources)) == (turns, bool(turns))


async def test_sources_are_shown_in_full_and_help_names_every_command() -> None:
    chat = Chat()
    assert (await chat.enter(QUESTION, "/sources")).count("nine crowns") == LONG.count("nine crowns")
    shown = await chat.enter("/help")
    assert all(f"/{name}" in shown for name in COMMANDS)


@pytest.mark.parametrize("line", ["/quit", "/exit\n", "quit", " Exit. ", "QUIT!"])
async def test_quit_ends_the_conversation(line: str) -> None:
    assert not await Chat().loop.handle_line(line)


async def test_ctrl_c_stops_the_answer_and_nothing_else() -> None:
    chat = Chat(interruptible=True)
    chat.service.gate.clear()
    before = signal.getsignal(signal.SIGINT)
    answering = asyncio.create_task(chat.enter(QUESTION))
    await chat.service.asked.wait()
    os.kill(os.getpid(), signal.SIGINT)
    assert "(stopped)" in await asyncio.wait_for(answering, PATIENCE)
    assert signal.getsignal(signal.SIGINT) == before
    chat.service.gate.set()
    await chat.enter(QUESTION)
    assert chat.service.requests[-1] == Ask(QUESTION, "mix")


async def test_a_pipe_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTION}\n\n/status\n"))
    service = ScriptedService()
    await converse(service, load_settings(space="s"), clock=SYSTEM_CLOCK, history=HISTORY)
    shown = capsys.readouterr().out
    assert f"› {QUESTION}\nNine crowns [1]." in shown
    assert "2 indexed" in shown
    asked = service.requests[0]
    assert isinstance(asked, Ask)
    assert replace(asked, zone="") == Ask(QUESTION, "mix", history=HISTORY)


async def test_typed_lines_have_a_history_that_is_never_written_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    greeted = asyncio.Event()

    async def greet() -> None:
        greeted.set()

    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text(f"What is\x03{QUESTION}\r\r/status\r\x04")
        assert [line async for line in read_terminal(greet, DummyCompleter())] == [QUESTION, "/status"]
    assert greeted.is_set()
    assert os.listdir(tmp_path) == []  # noqa: PTH208  - a glance, in a test


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("/sta", ["/status"]),
        ("What is new in:ol", ['in:#"old harbour"']),
        ("What is new in:", ["in:#harbour", 'in:#"old harbour"']),
        ("Who? from:@b", ["from:@Bob"]),
        ("Who? fr", ["from:"]),
        ("Who? has:f", ["has:file"]),
        ("Who? after:yest", ["after:yesterday"]),
        ("Who? at:", []),
        ("Who? ", []),
    ],
)
async def test_commands_and_filters_are_completed(typed: str, completed: list[str]) -> None:
    completer = ChatCompleter(Chat().session, SYSTEM_CLOCK)
    found = completer.get_completions_async(Document(typed), CompleteEvent())
    assert [completion.text async for completion in found] == completed


async def test_a_service_that_cannot_be_opened_ends_the_conversation() -> None:
    async def greet() -> None:
        raise NotFound("There is nothing.")

    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()), pytest.raises(NotFound):
        [line async for line in read_terminal(greet, DummyCompleter())]


async def test_the_greeting_shows_the_number_of_documents() -> None:
    chat = Chat()
    await chat.loop.greet()
    assert "2 documents here" in chat.file.getvalue()


def test_the_console_is_found_by_its_name() -> None:
    assert load_conversation("console") is converse
    with pytest.raises(NotFound):
        load_adapter("telegraph")
