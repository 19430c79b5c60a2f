"""Introduce the bot to whoever asks what it can do, with three questions about what they can read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.markdown import escape_markdown
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine import Engine, Scope

MAX_NAMES, MAX_FILES = 12, 200  # of what the person can read
MIN_NAME_LENGTH = 3  # characters

EXAMPLES_HEADING = N_("You could ask me:")
ABOUT_NAME = N_("What do we know about {name}?")
ABOUT_FILE = N_("What does “{title}” say?")
ABOUT_WEEK = N_("What was decided last week?")


async def build_introduction(
    engine: Engine, scope: Scope, reading: str, nothing_read: str, further: Iterable[str]
) -> str:
    """What the bot reads, questions about what is in scope, or that there is nothing, and further lines."""
    examples = list[str]()
    with suppress(EngineError):  # an introduction without examples is better than none
        examples = await list_examples(engine, scope)
    listed = [gettext(EXAMPLES_HEADING), *(f"- {example}" for example in examples)] if examples else [nothing_read]
    return "\n".join([reading, "", *listed, "", *further])


async def list_examples(engine: Engine, scope: Scope) -> list[str]:
    """Three questions about what is in scope; fewer if there is less."""
    documents = await engine.documents.list(scope)
    if not documents:
        return []
    names = [name for name in await engine.graph.find_names("", scope, MAX_NAMES) if len(name) >= MIN_NAME_LENGTH]
    files = [document.title for document in documents[:MAX_FILES] if document.kind == "file"]
    about_names = [gettext(ABOUT_NAME).format(name=escape_markdown(name)) for name in names[:2]]
    about_files = [gettext(ABOUT_FILE).format(title=escape_markdown(file)) for file in files[:1]]
    return [*about_names[: 2 - len(about_files)], *about_files, gettext(ABOUT_WEEK)]
