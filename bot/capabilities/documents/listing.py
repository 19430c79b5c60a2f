"""Select and page documents of a list: the same at every door. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.results import DocumentList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.capabilities.documents.results import UnreadFileInfo
    from bot.capabilities.requests import ListDocuments
    from engine import DocumentInfo


def wants_unread(request: ListDocuments) -> bool:
    """Whether files that were not read are listed, too: with the first page of documents of any status."""
    return not (request.status or request.offset)


def has_words(document: DocumentInfo, words: str) -> bool:
    """Whether the title or the key of a document has these words."""
    sought = words.casefold().strip()
    return sought in document.title.casefold() or sought in document.key.casefold()


def select_documents(
    listed: Sequence[DocumentInfo], request: ListDocuments, unread: tuple[UnreadFileInfo, ...] = ()
) -> DocumentList:
    """The page of documents that a request asks for, of those with its status and its words in their title or key."""
    found = [each for each in listed if request.status in {"", each.status} and has_words(each, request.search)]
    end = request.offset + request.limit if request.limit else None
    return DocumentList(tuple(found[request.offset : end]), len(found), len(listed), unread)
