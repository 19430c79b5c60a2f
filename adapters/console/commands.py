"""The words that begin with a slash."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rich.table import Table
from rich.text import Text

from bot.admin.requests import Forget, GetEntity, GetStatus, ListDocuments
from bot.cli.render import tables
from engine import RetrievalMode
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.cli.chat_session import ChatSession

    Command = Callable[[ChatSession, str], Awaitable[None]]

MODES: tuple[RetrievalMode, ...] = get_args(RetrievalMode)


async def show_help(dialogue: ChatSession, _: str) -> None:
    """List the commands."""
    table = Table.grid(padding=(0, 2))
    for name, (argument, about, _command) in COMMANDS.items():
        table.add_row(Text(f"/{name} {argument}".strip(), "cyan"), about)
    dialogue.screen.out.print(table)


async def set_mode(dialogue: ChatSession, word: str) -> None:
    """Search in another way from now on, or show the present one."""
    chosen = next((mode for mode in MODES if mode == word.lower()), None)
    if word and chosen is None:
        raise InvalidQuestion(f"“{word}” is no mode.", hint=f"Modes: {', '.join(MODES)}.")
    dialogue.mode = chosen or dialogue.mode
    dialogue.screen.out.print(f"Mode: {dialogue.mode}")


async def show_sources(dialogue: ChatSession, _: str) -> None:
    """Show the last sources in full."""
    if not dialogue.sources:
        raise InvalidQuestion("The last answer has no sources.", hint="Ask something first.")
    dialogue.screen.out.print(tables.render_sources(dialogue.sources, "whole"))


async def forget_document(dialogue: ChatSession, words: str) -> None:
    """Forget a document, and with it what was said so far, which may quote it."""
    document = _require_argument(words, "/forget needs the key, path or title of a document.")
    said = dialogue.history, dialogue.sources
    dialogue.reset()  # at once: it may be broken off after the document is gone
    try:
        await dialogue.screen.show(dialogue.service.perform(Forget(document, (dialogue.space,), str(Path.cwd()))))
    except (InvalidQuestion, NotFound):
        dialogue.history, dialogue.sources = said
        raise


async def show_graph(dialogue: ChatSession, words: str) -> None:
    """Show a name with its relations."""
    name = _require_argument(words, "/graph needs a name.")
    await dialogue.screen.show(dialogue.service.perform(GetEntity(name, (dialogue.space,))))


async def show_status(dialogue: ChatSession, _: str) -> None:
    """Show numbers."""
    await dialogue.screen.show(dialogue.service.perform(GetStatus((dialogue.space,))))


async def show_documents(dialogue: ChatSession, _: str) -> None:
    """List the documents."""
    await dialogue.screen.show(dialogue.service.perform(ListDocuments((dialogue.space,))))


async def start_new_chat(dialogue: ChatSession, _: str) -> None:
    """Begin another conversation."""
    dialogue.reset()
    dialogue.screen.out.print("A new conversation.")


def _require_argument(words: str, complaint: str) -> str:
    if not words:
        raise InvalidQuestion(complaint, hint="/help shows how.")
    return words


COMMANDS: Mapping[str, tuple[str, str, Command]] = {
    "mode": ("X", f"how to search: {', '.join(MODES)}", set_mode),
    "sources": ("", "the whole text of the last answer's sources", show_sources),
    "graph": ("NAME", "what is known of a name, and its relations", show_graph),
    "documents": ("", "all documents, with their keys", show_documents),
    "forget": ("DOCUMENT", "forget a document or chat: key, path or title", forget_document),
    "status": ("", "how much is known, and what is still worked on", show_status),
    "new": ("", "forget what was said so far", start_new_chat),
    "help": ("", "this list", show_help),
}
