"""Requests for one document, for summaries, and for uploads, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time
from typing import Literal

from engine import DocumentInfo, Passage  # noqa: TC001  - the socket reads the fields' types at run time


@dataclass(frozen=True, slots=True)
class GetDocument:
    """Get a document in scope by its key, title or link, with `limit` of its passages from number `offset` on.

    `passage`: the key of one that the page is to have.
    """

    key: str
    offset: int = 0
    limit: int = 50
    passage: str = ""


@dataclass(frozen=True, slots=True)
class PrepareUpload:
    """Get the folder and the limit of an upload, if the caller may add files."""


@dataclass(frozen=True, slots=True)
class AddUpload:
    """Add an uploaded file (a path within the folder of uploads) under its name, to what the caller alone reads.

    A file with the same name replaces the earlier upload.
    """

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Summarize:
    """Summarize a channel (a room or its name), a document (a key, title or link; also a thread), or all in scope.

    `overview`: a "digest" has sections; a "summary" goes by topic.
    """

    channel: str = ""
    document: str = ""
    since: datetime | None = None
    until: datetime | None = None
    overview: Literal["summary", "digest"] = "summary"


DocumentRequest = GetDocument | Summarize | PrepareUpload | AddUpload


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """A document with some of its passages, in their order, from number `offset` on.

    `why`: by which rule a person may read it, in one sentence; empty for other readers, or if that is unknown now.
    """

    document: DocumentInfo
    passages: tuple[Passage, ...]
    offset: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """Where documents lie: a channel or a folder."""

    place: str
    name: str


@dataclass(frozen=True, slots=True)
class UnreadFileInfo:
    """A file that was shared and not read, or only its beginning.

    `author`: their id on the platform. `family`: as in bot/ingest/shared_file.py. `reason`: a sentence in English.
    """

    name: str
    channel: str
    author: str
    time: datetime
    family: str
    reason: str


@dataclass(frozen=True, slots=True)
class UploadPlace:
    """The folder in which an upload is stored until it is added, and how large it may be."""

    folder: str
    max_bytes: int


@dataclass(frozen=True, slots=True)
class UploadResult:
    """An added file: its documents, of which the first is the file itself, and whether anything changed."""

    documents: tuple[DocumentInfo, ...]
    changed: bool


DocumentResults = DocumentResult | UploadPlace | UploadResult
