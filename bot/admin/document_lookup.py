"""Find documents by key, path or title, and build the keys of files."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from engine import Scope, repair_surrogates
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.engine_context import EngineContext
    from engine import DocumentInfo

LOCAL_SPACE = "console:local"
MAX_LISTED = 5


def build_scope(spaces: Iterable[str]) -> Scope:
    """A scope of whole spaces."""
    return Scope(frozenset(spaces), frozenset())


def file_key(path: Path, space: str) -> str:
    """The key of a file: its absolute path, with the space unless it is the local one, since keys are unique."""
    return repair_surrogates(f"file:{path}" if space == LOCAL_SPACE else f"file:{space}:{path}")


def chat_key(path: Path, space: str, conversation: str) -> str:
    """The key of a conversation in an exported channel; the path distinguishes exports of equal names."""
    room = path.stem if space == LOCAL_SPACE else f"{space}:{path.stem}"
    return repair_surrogates(f"chat:{room}:{path_hash(path)}:{conversation}")


def path_hash(path: Path) -> str:
    """Eight hexadecimal digits of a path's hash."""
    return sha256(os.fsencode(path)).hexdigest()[:8]


def resolve_path(path: str | Path, here: str) -> Path:
    """A normalized absolute path; relative paths start at the working directory. Symbolic links are not resolved."""
    at_home = os.path.expanduser(path)  # noqa: PTH111  - a title may begin with "~" and be nobody's home
    return Path(os.path.normpath(Path(here, at_home)))


async def resolve_documents(engine_context: EngineContext, words: str, here: str, scope: Scope) -> list[str]:
    """The keys of the documents in scope that are meant: by key, by path (from `here`), by title or by a link to it.

    One document, or all conversations of one file. Raises NotFound, and InvalidQuestion if several could be meant.
    """
    return match_documents(words, here, await engine_context.engine.list_documents(scope))


def match_documents(words: str, here: str, documents: Iterable[DocumentInfo]) -> list[str]:
    """The keys that the words mean; a key is preferred to a path, a path to a title.

    The path of an exported room means all its conversations.
    """
    there = list(documents)
    path, words = resolve_path(words, here), repair_surrogates(words)
    address = words if words.startswith("file://") else path.as_uri()
    for meant in (
        [each for each in there if each.key == words],
        [each for each in there if each.key == file_key(path, each.space)],
        exported := [each for each in there if each.kind == "conversation" and each.link == address],
        [each for each in there if each.title.casefold() == words.casefold() or (words and each.link == words)],
    ):
        if len(meant) == 1 or (meant and meant is exported):
            return [each.key for each in meant]
        if meant:
            raise InvalidQuestion(f"“{words}” is ambiguous: {_format_keys(meant)}.", hint="Use one of these keys.")
    raise NotFound(f"There is no document “{words}”.", hint="`threadlore documents` lists keys and titles.")


def _format_keys(documents: list[DocumentInfo]) -> str:
    keys = [each.key for each in documents]
    more = f" and {len(keys) - MAX_LISTED} more" if len(keys) > MAX_LISTED else ""
    return ", ".join(keys[:MAX_LISTED]) + more
