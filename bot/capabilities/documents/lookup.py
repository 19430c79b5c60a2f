"""Find documents by key, path or title, and build the keys of files."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from bot.text.document_match import choose_document, match_title
from engine import Scope
from engine.boundary import repair_surrogates
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.capabilities.deps import Deps
    from engine import DocumentInfo

LOCAL_SPACE = "console:local"
FILE_LINK = "file:"  # how links to files of this machine begin
# What the key of a part, an attachment or a file of an archive adds to that of its file.
_INNER_KEY = re.compile(r"#(?:part|attachment)-\d+(?:\.(?:part|attachment)-\d+)*")
NO_DOCUMENTS_HINT = "Run `threadlore ingest FILE_OR_FOLDER`, then ask again."
UNKNOWN_DOCUMENT_HINT = "`threadlore documents` lists keys and titles."


def build_scope(spaces: Iterable[str]) -> Scope:
    """A scope of whole spaces."""
    return Scope(frozenset(spaces), frozenset())


def file_key(path: Path, space: str) -> str:
    """The key of a file: its absolute path, with the space unless it is the local one, since keys are unique."""
    return repair_surrogates(f"file:{path}" if space == LOCAL_SPACE else f"file:{space}:{path}")


def public_key(key: str) -> str:
    """The key of a document for those who may not know the paths of this machine; unchanged if it holds no path."""
    if not (key.startswith("file:") and "/" in key):
        return key
    return f"file:{sha256(key.encode()).hexdigest()[:16]}:{key.rpartition('/')[2]}"


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


async def resolve_documents(
    deps: Deps, words: str, scope: Scope, here: str | None = None, *, of_chats: bool = True
) -> list[DocumentInfo]:
    """The documents in scope that are meant: by key, title or link, and by path if `here` is a folder.

    One document, or all conversations of one file. `of_chats` as in `match_documents`. Raises NotFound, and
    AmbiguousDocument if several could be meant.
    """
    return match_documents(words, await deps.engine.documents.list(scope), here, of_chats=of_chats)


def list_with_inner(key: str, documents: Iterable[DocumentInfo]) -> list[str]:
    """The key of a file, then those of its further parts, its attachments and the files within it."""
    inner = [document.key for document in documents if document.key.startswith(f"{key}#")]
    return [key, *(inner_key for inner_key in inner if _INNER_KEY.fullmatch(inner_key, len(key)))]


def match_documents(
    words: str, documents: Iterable[DocumentInfo], here: str | None = None, *, of_chats: bool = True
) -> list[DocumentInfo]:
    """The documents that the words mean; a key is preferred to a path, a path to a title.

    `here`: where relative paths start, None for those who may not know the paths of this machine. The path of a chat
    export means all its conversations. `of_chats`: whether the link of a conversation means it, and not its message.
    """
    candidates, words = list(documents), repair_surrogates(words)
    path = None if here is None else resolve_path(words, here)
    if found := choose_document(
        words,
        [candidate for candidate in candidates if words in {candidate.key, public_key(candidate.key)}],
        [candidate for candidate in candidates if path and candidate.key == file_key(path, candidate.space)],
    ):
        return [found]
    if path is not None and (exported := _list_exported(words, path, candidates)):
        return exported
    is_link = words and (path is not None or not words.startswith(FILE_LINK))
    linked = [candidate for candidate in candidates if of_chats or candidate.kind != "conversation"] if is_link else []
    by_link = [candidate for candidate in linked if candidate.link == words]
    if found := choose_document(
        words, {info.key: info for info in (*match_title(words, candidates), *by_link)}.values()
    ):
        return [found]
    raise NotFound(f"There is no document “{words}”.", hint=UNKNOWN_DOCUMENT_HINT)


def _list_exported(words: str, path: Path, documents: Iterable[DocumentInfo]) -> list[DocumentInfo]:
    """The conversations of a chat export."""
    address = words if words.startswith(FILE_LINK) else path.as_uri()
    return [document for document in documents if document.kind == "conversation" and document.link == address]
