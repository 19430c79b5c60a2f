"""Find files in folders, read them, and build documents with keys, channels and times."""

from __future__ import annotations

import os
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.documents.lookup import chat_key, file_key
from engine import Document
from engine.errors import EmptyDocument, NotFound
from engine.parsers.chat_export import group_conversations, has_chat_messages, parse_messages
from engine.parsers.dates import plausible_time

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable
    from datetime import datetime

    from engine import FileParser

CHAT_SUFFIXES = frozenset({".jsonl", ".ndjson"})


@dataclass(frozen=True, slots=True)
class IngestTarget:
    """Space and channel of ingested documents."""

    space: str
    room: str


def find_files(paths: Iterable[str]) -> list[Path]:
    """List files; folders are searched in name order, without hidden files. A folder that cannot be listed is one.

    Raises NotFound if a path leads nowhere.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            found |= dict.fromkeys(_walk_directory(path))
        elif path.exists():
            found[path] = None
        else:
            raise NotFound(f"There is no file or folder {path}.", hint="Check the path.")
    return list(found)


def _walk_directory(folder: Path) -> Iterable[Path]:
    unlisted = list[Path]()
    for parent, folders, names in os.walk(folder, onerror=lambda error: unlisted.append(Path(error.filename))):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(names) if not name.startswith("."))
    yield from unlisted


def require_listed(path: Path) -> None:
    """Raise OSError if a path is a folder that cannot be listed."""
    if path.is_dir():
        os.scandir(path).close()


def is_chat(path: Path, data: bytes) -> bool:
    """Whether the file contains chat messages."""
    return path.suffix.lower() in CHAT_SUFFIXES and has_chat_messages(data)


async def build_documents(
    path: Path, data: bytes, place: IngestTarget, parser: FileParser, now: datetime
) -> AsyncGenerator[Document]:
    """The file as a document, followed by its further parts and its attachments, dated if it states a date.

    The time of a copy's last change says nothing: a checkout or an unpacked archive makes every file new.
    Raises InvalidDocument.
    """
    key = file_key(path, place.space)
    async with aclosing(parser.stream(path.name, data)) as documents:
        async for parsed in documents:
            yield Document(
                key=f"{key}#{parsed.key}" if parsed.key else key,
                space=place.space,
                room=place.room,
                title=parsed.title or path.name,
                passages=parsed.passages,
                time=plausible_time(parsed.time, now, parsed.day),
                link=path.as_uri(),
                omissions=parsed.omissions,
                coverage=parsed.coverage,
            )


def build_conversations(path: Path, data: bytes, place: IngestTarget, count: Callable[[str], int]) -> list[Document]:
    """Group the messages of a chat export into documents; the room has the file's name. Raises InvalidDocument."""
    found = group_conversations(parse_messages(data), count)
    if not found:
        raise EmptyDocument(
            f"No message of {path.name} has any text.", hint="Export the channel again, with message texts."
        )
    return [
        Document(
            key=chat_key(path, place.space, conversation.key),
            space=place.space,
            room=path.stem,
            title=f"#{path.stem}: {conversation.title}",
            passages=conversation.passages,
            time=conversation.time,
            link=path.as_uri(),
            kind="conversation",
        )
        for conversation in found
    ]
