"""Read a multipart upload from the network into a file, piece by piece."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from adapters.web.admission import to_token_key
from adapters.web.operations import get_result, perform
from bot.capabilities.documents.requests import AddUpload, PrepareUpload, UploadPlace
from bot.capabilities.results import ProgressUpdate
from bot.errors import TooManyRequests, file_write_error
from bot.listeners.admission import Admission, Budget
from engine.errors import DocumentTooLarge, InvalidDocument
from engine.storage.journal import create_upload

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from io import FileIO

    from fastapi import Request
    from python_multipart.multipart import MultipartCallbacks

    from adapters.web.operations import Access
    from bot.capabilities.results import OperationResult

FIELD = "file"  # the part of the form that is the file
UPLOAD_BUDGET = Budget(total=4, share=2)  # at once, of this process
MAX_OVERHEAD_BYTES = 64 * 1024  # of headers and other parts


class UploadGate:
    """Counts the uploads that are received or read now; one token, or all who need none, has half of the places."""

    def __init__(self, budget: Budget = UPLOAD_BUDGET) -> None:
        self._admission = Admission[object](budget)

    @property
    def running(self) -> int:
        """The number of uploads."""
        return len(self._admission)

    @asynccontextmanager
    async def enter(self, access: Access) -> AsyncIterator[None]:
        """Count an upload. Raises TooManyRequests."""
        upload = object()
        if self._admission.enter(upload, to_token_key(access)) is not None:
            raise TooManyRequests("Too many files are uploaded at once.", hint="Try again in a moment.")
        self._admission.work(upload)
        try:
            yield
        finally:
            self._admission.leave(upload)


async def add_upload(http: Request, access: Access) -> AsyncGenerator[OperationResult]:
    """Receive the file of a request, then yield the results of adding it. Raises EngineError."""
    gate: UploadGate = http.app.state.uploads
    async with AsyncExitStack() as slot:
        await slot.enter_async_context(gate.enter(access))
        place = await get_result(http, access, PrepareUpload(), UploadPlace)  # before anything is received
        async with receive_file(http, place) as (path, name):
            results = perform(http, access, AddUpload(str(path), name))
            try:
                async for result in results:
                    if isinstance(result, ProgressUpdate) and result.stage == "indexing":
                        await slot.aclose()  # it has been read; a model that is away may keep it waiting for long
                    yield result
            finally:
                await results.aclose()


@asynccontextmanager
async def receive_file(http: Request, place: UploadPlace) -> AsyncIterator[tuple[Path, str]]:
    """The path and the name of the file of a multipart request; the file is deleted at the end.

    Raises InvalidDocument, DocumentTooLarge, and DiskError.
    """
    kind, options = parse_options_header(http.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidDocument("The body is not an upload.", hint=f"Send multipart/form-data with the part “{FIELD}”.")
    number, path = await asyncio.to_thread(_create_file, Path(place.folder))
    try:
        with os.fdopen(number, "wb", buffering=0) as file:  # open to the end, or it would count as a leftover
            yield path, await _read_parts(http, boundary, file, path, place.max_bytes)
    finally:
        await asyncio.to_thread(path.unlink, missing_ok=True)


def _create_file(folder: Path) -> tuple[int, Path]:
    """The descriptor and the path of a new file. Raises DiskError."""
    try:
        return create_upload(folder)
    except OSError as error:
        raise file_write_error(folder / "upload", error) from error


def write_all(file: FileIO, path: Path, data: bytes) -> None:
    """Write bytes to an unbuffered file, which is at this path. Raises DiskError."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError as error:
        raise file_write_error(path, error) from error


async def _read_parts(http: Request, boundary: bytes, file: FileIO, path: Path, max_bytes: int) -> str:
    """Write the part FIELD into a file; returns its name."""
    parts = _Parts(max_bytes)
    try:
        parser = MultipartParser(boundary, parts.list_callbacks())
        async for piece in http.stream():
            parser.write(piece)
            if parts.pieces:
                await asyncio.to_thread(write_all, file, path, b"".join(parts.pieces))
                parts.pieces.clear()
        parser.finalize()
    except (MultipartParseError, ClientDisconnect) as error:
        raise InvalidDocument("The upload is incomplete or broken.", hint="Upload the file again.") from error
    if not parts.is_complete:
        raise InvalidDocument("The upload holds no complete file.", hint=f"Send one part “{FIELD}” with a file name.")
    return parts.name


@dataclass(slots=True)
class _Parts:
    """What was parsed so far. `pieces`: bytes of the file that are not written yet."""

    max_bytes: int
    pieces: list[bytes] = field(default_factory=list)
    name: str = ""
    size: int = 0
    overhead: int = 0
    is_complete: bool = False
    _is_file: bool = False
    _has_file: bool = False
    _header: bytes = b""
    _value: bytes = b""
    _disposition: bytes = b""

    def list_callbacks(self) -> MultipartCallbacks:
        """What the parser calls."""
        return {
            "on_part_begin": self._begin_part,
            "on_header_field": self._add_header,
            "on_header_value": self._add_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._begin_data,
            "on_part_data": self._add_data,
            "on_part_end": self._end_part,
        }

    def _begin_part(self) -> None:
        self._disposition, self._is_file = b"", False

    def _add_header(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        self._header += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        self._value += data[start:end]

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _begin_data(self) -> None:
        _, options = parse_options_header(self._disposition)
        if options.get(b"name") != FIELD.encode() or b"filename" not in options:
            return
        if self._has_file:
            raise InvalidDocument("The upload holds several files.", hint="Upload them one by one.")
        self._is_file = self._has_file = True
        self.name = options[b"filename"].decode("utf-8", "replace")

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        if not self._is_file:
            self._count(end - start)
            return
        self.size += end - start
        if self.size > self.max_bytes:
            raise DocumentTooLarge(f"The file has more than {self.max_bytes / 2**20:.0f} MiB.")
        self.pieces.append(data[start:end])

    def _end_part(self) -> None:
        self.is_complete |= self._is_file

    def _count(self, size: int) -> None:
        self.overhead += size
        if self.overhead > MAX_OVERHEAD_BYTES:
            raise DocumentTooLarge(f"The form around the file has more than {MAX_OVERHEAD_BYTES} bytes.")
