"""Select and page documents of a list: the same at every door. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.results import DocumentList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.capabilities.requests import ListDocuments
    from engine import DocumentInfo


def select_documents(listed: Sequence[DocumentInfo], request: ListDocuments) -> DocumentList:
    """The page of documents that a request asks for, of those with its status and its words in their title or key."""
    words = request.search.casefold().strip()
    found = [
        each
        for each in listed
        if request.status in {"", each.status} and (words in each.title.casefold() or words in each.key.casefold())
    ]
    end = request.offset + request.limit if request.limit else None
    return DocumentList(tuple(found[request.offset : end]), len(found), len(listed))
