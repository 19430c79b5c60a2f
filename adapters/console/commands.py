"""Slash commands of the terminal chat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rich.table import Table
from rich.text import Text

from bot.capabilities.requests import Forget, GetEntity, GetStatus, ListDocuments
from bot.cli.render import tables
from engine import RetrievalMode
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.cli.chat.session import ChatSession

    Command = Callable[[ChatSession, str], Awaitable[None]]

MODES: tuple[RetrievalMode, ...] = get_args(RetrievalMode)


async def show_help(session: ChatSession, _: str) -> None:
    """List the commands."""
    table = Table.grid(padding=(0, 2))
    for name, (argument, summary, _command) in COMMANDS.items():
        table.add_row(Text(f"/{name} {argument}".strip(), "cyan"), summary)
    session.screen.out.print(table)


async def set_mode(session: ChatSession, name: str) -> None:
    """Set the retrieval mode, or show the current one."""
    new_mode = next((mode for mode in MODES if mode == name.lower()), None)
    if name and new_mode is None:
        raise InvalidQuestion(f"“{name}” is not a mode.", hint=f"Modes: {', '.join(MODES)}.")
    session.mode = new_mode or session.mode
    session.screen.out.print(f"Mode: {session.mode}")


async def show_sources(session: ChatSession, _: str) -> None:
    """Show the full text of the last answer's sources."""
    if not session.sources:
        raise InvalidQuestion("The last answer has no sources.", hint="Ask something first.")
    session.screen.out.print(tables.render_sources(session.sources, "whole"))


async def forget_document(session: ChatSession, words: str) -> None:
    """Delete a document, and clear the chat history, which may quote it."""
    document = _require_argument(words, "/forget needs the key, path or title of a document.")
    previous = session.history, session.sources
    session.reset()  # first: Ctrl-C may interrupt after the document was deleted
    try:
        await session.screen.show(session.perform(Forget(document, str(Path.cwd()))))
    except (InvalidQuestion, NotFound):
        session.history, session.sources = previous
        raise


async def show_graph(session: ChatSession, words: str) -> None:
    """Show an entity and its relations."""
    name = _require_argument(words, "/graph needs a name.")
    await session.screen.show(session.perform(GetEntity(name)))


async def show_status(session: ChatSession, _: str) -> None:
    """Show the index status."""
    await session.screen.show(session.perform(GetStatus()))


async def show_documents(session: ChatSession, _: str) -> None:
    """List the documents."""
    await session.screen.show(session.perform(ListDocuments()))


async def start_new_chat(session: ChatSession, _: str) -> None:
    """Forget the questions and answers so far, so that the next question is about none of them."""
    session.reset()
    session.screen.out.print("Started a new conversation.")


def _require_argument(words: str, complaint: str) -> str:
    if not words:
        raise InvalidQuestion(complaint, hint="See /help.")
    return words


COMMANDS: Mapping[str, tuple[str, str, Command]] = {
    "mode": ("X", f"retrieval mode: {', '.join(MODES)}", set_mode),
    "sources": ("", "the full text of the last answer's sources", show_sources),
    "graph": ("NAME", "an entity and its relations", show_graph),
    "documents": ("", "all documents, with their keys", show_documents),
    "forget": ("DOCUMENT", "delete a document or chat by key, path or title", forget_document),
    "status": ("", "what is indexed and what is still in progress", show_status),
    "new": ("", "start a new conversation", start_new_chat),
    "help": ("", "list these commands", show_help),
}
