"""Where documents lie, in words for people: a channel, a folder, or what one person shared with the bot alone. Pure."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from bot.capabilities.documents.results import DocumentPlace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine import DocumentInfo

OWN, FILES = "own", "folder:"  # keys of places
OWN_NAME, FILES_NAME = "Only you", "Files"
_FILE_KEY = re.compile(r"file:(?:[^/]*:)?(/[^#]*)")


def list_places(documents: Sequence[DocumentInfo], names: Mapping[str, str]) -> dict[str, DocumentPlace]:
    """The place of each document by its key; `names`: of channels, by their rooms.

    Folders are named from the innermost one that has all files, so that none says where on the machine that is.
    """
    folders = {document.key: folder for document in documents if (folder := _find_folder(document.key))}
    root = os.path.commonpath(folders.values()) if folders else ""
    return {document.key: _find_place(document, names, folders.get(document.key, ""), root) for document in documents}


def count_places(places: Mapping[str, DocumentPlace]) -> tuple[tuple[DocumentPlace, int], ...]:
    """The places with the number of their documents, by name."""
    counts = dict[DocumentPlace, int]()
    for place in places.values():
        counts[place] = counts.get(place, 0) + 1
    return tuple(sorted(counts.items(), key=lambda item: item[0].name.casefold()))


def _find_folder(key: str) -> str:
    """The folder of a file of this machine; empty for other documents."""
    match = _FILE_KEY.match(key)
    return os.path.dirname(match[1]) if match else ""  # noqa: PTH120  - of a key, which names no file here


def _find_place(document: DocumentInfo, names: Mapping[str, str], folder: str, root: str) -> DocumentPlace:
    if folder:
        inner = os.path.relpath(folder, root)
        return DocumentPlace(FILES + inner, FILES_NAME if inner == "." else inner)
    if ":dm:" in document.space:
        return DocumentPlace(OWN, OWN_NAME)
    name = names.get(document.room) or document.room.rpartition(":")[2]
    is_channel = document.room in names or document.kind == "conversation"
    return DocumentPlace(document.room, f"#{name.lstrip('#')}" if is_channel else name.capitalize())
