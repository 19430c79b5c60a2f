"""Select and page documents of a list, and name their places: the same at every door. Pure."""

from __future__ import annotations

import math
import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from bot.capabilities.documents.requests import DocumentPlace
from bot.capabilities.results import DocumentList

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bot.capabilities.documents.requests import UnreadFileInfo
    from bot.capabilities.requests import ListDocuments
    from engine import DocumentInfo


PARTIAL = "partial"  # the status of documents of which something was not read
NO_NAMES: Mapping[str, str] = MappingProxyType({})
OWN, FILES = "own", "folder:"  # keys of places
OWN_NAME, FILES_NAME = "Only you", "Files"
_FILE_KEY = re.compile(r"file:(?:[^/]*:)?(/[^#]*)")


def wants_unread(request: ListDocuments) -> bool:
    """Whether files that were not read are listed, too: first, unless others are chosen than those read in part."""
    return not (request.offset or request.place or request.status not in {"", PARTIAL})


def has_words(document: DocumentInfo, words: str) -> bool:
    """Whether the title or the key of a document has these words."""
    sought = words.casefold().strip()
    return sought in document.title.casefold() or sought in document.key.casefold()


def select_documents(
    listed: Sequence[DocumentInfo],
    request: ListDocuments,
    unread: tuple[UnreadFileInfo, ...] = (),
    names: Mapping[str, str] = NO_NAMES,
) -> DocumentList:
    """The page of documents that a request asks for, of those with its status and its words in their title or key.

    `names`: of channels, by their rooms.
    """
    places = list_places(listed, names)
    found = [info for info in listed if _is_chosen(info, request, places[info.key])]
    if request.sort:
        found.sort(key=_SORT_KEYS[request.sort])
    end = request.offset + request.limit if request.limit else None
    shown = tuple(found[request.offset : end])
    located = tuple(places[info.key] for info in shown)
    return DocumentList(shown, len(found), len(listed), unread, located, count_places(places))


def _is_chosen(document: DocumentInfo, request: ListDocuments, place: DocumentPlace) -> bool:
    is_status = bool(document.omissions) if request.status == PARTIAL else request.status in {"", document.status}
    return is_status and request.place in {"", place.place} and has_words(document, request.search)


def _get_time(document: DocumentInfo) -> float:
    return document.time.timestamp() if document.time else 0.0


_SORT_KEYS: Mapping[str, Callable[[DocumentInfo], tuple[float, str]]] = {
    "newest": lambda each: (-_get_time(each), each.title.casefold()),
    "oldest": lambda each: (_get_time(each) or math.inf, each.title.casefold()),
    "title": lambda each: (0.0, each.title.casefold()),
    "length": lambda each: (-float(each.passages), each.title.casefold()),
}


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
