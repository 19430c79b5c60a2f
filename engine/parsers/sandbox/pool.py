"""Parse files in a pool of worker processes, never in this process: start, call, kill and replace the workers."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument, InvalidDocument
from engine.parsers.base import ParserLimits
from engine.parsers.sandbox import protocol
from engine.parsers.scans.descriptions import add_descriptions
from engine.process import LENGTH_PREFIX_BYTES, child_python_path, encode_frame

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from types import TracebackType

    from engine.parsers.base import ParsedFile, PictureDescriber

# A worker is replaced after this many files, which limits memory leaks of parsers.
_MAX_FILES_PER_PROCESS = 200
# Messages of a failed allocation in Rust, C++ or Python.
_OUT_OF_MEMORY = (b"memory allocation of", b"bad_alloc", b"MemoryError", b"out of memory", b"Cannot allocate memory")
# Upper bound of the JSON size of one character, including its share of the passage's fields.
_BYTES_PER_CHARACTER = 12
_STDERR_TAIL = 4096
MAX_DESCRIBED_PICTURES = 50  # of a file with all its attachments: each is a call of a model
_WRITE_SIZE = 2**20  # bytes of a file in the buffer of the pipe


class FileParser:
    """`async with FileParser(limits) as parser`: a few worker processes, each started on first use.

    `describer` describes pictures; without one they are read by OCR, or refused.
    """

    def __init__(self, limits: ParserLimits | None = None, describer: PictureDescriber | None = None) -> None:
        self.limits = replace(limits or ParserLimits(), describes_pictures=describer is not None)
        self._describer = describer
        self._processes: list[ParserProcess] = []
        self._idle: asyncio.LifoQueue[ParserProcess] = asyncio.LifoQueue()

    async def __aenter__(self) -> Self:
        self._processes = [ParserProcess(self.limits) for _ in range(self.limits.workers)]
        for process in self._processes:
            self._idle.put_nowait(process)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            await process.close()

    async def parse(self, name: str, data: bytes) -> ParsedFile:
        """Parse a file into one document, without its attachments; there is at least one passage.

        Raises as `stream` does.
        """
        async with aclosing(self.stream(name, data)) as documents:
            parts = [each async for each in documents if not each.key.startswith("attachment")]
        return replace(parts[0], passages=tuple(passage for part in parts for passage in part.passages))

    async def stream(self, name: str, data: bytes) -> AsyncGenerator[ParsedFile]:
        """Parse a file into documents with different keys: itself, the further parts of a long file, its attachments.

        The passages are in the order of their positions; each document has at least one. Those with pictures to be
        described come last. The parser waits while a document is handled. Raises an InvalidDocument: UnsupportedFormat,
        EmptyDocument, EncryptedFile, CorruptFile (also if its parser crashes) or DocumentTooLarge (bytes, time, memory,
        unpacked size, or text beyond the limits); and a ModelError if a picture could not be described now. Most files
        that fail do so before their first document.
        """
        if len(data) > self.limits.max_file_size:
            raise DocumentTooLarge(
                f"{name} has {len(data) / 2**20:.0f} MiB; {self.limits.max_file_size / 2**20:.0f} are allowed."
            )
        process = await self._idle.get()
        with_pictures: list[ParsedFile] = []
        described = 0
        try:
            async with aclosing(process.stream(name, data)) as documents:
                async for document in documents:
                    described += len(document.pictures)
                    if document.pictures and described <= MAX_DESCRIBED_PICTURES:
                        with_pictures.append(document)
                    elif document.passages:
                        yield replace(document, pictures=())
        finally:
            self._idle.put_nowait(process)
        for document in with_pictures:  # a model may take minutes, in which the process parses other files
            if self._describer is not None:
                try:
                    yield await add_descriptions(document, self._describer)
                except EmptyDocument:
                    if not document.key:  # the file itself; its further parts and attachments may lack descriptions
                        raise


class ParserProcess:
    """One worker, started on first use and restarted after a crash. Parses one file at a time."""

    def __init__(self, limits: ParserLimits) -> None:
        self._limits = limits
        self._process: asyncio.subprocess.Process | None = None
        self._file_count = 0
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  - closed with the worker

    @property
    def pid(self) -> int | None:
        """Process id while one runs."""
        return self._process.pid if self._process else None

    async def stream(self, name: str, data: bytes) -> AsyncGenerator[ParsedFile]:
        """Parse the file into its documents.

        Raises the worker's error, DocumentTooLarge beyond time (for one document) or memory, CorruptFile on a crash.
        """
        is_complete = False
        try:
            document = await self._next_document(name, data)
            while document is not None:
                yield document
                document = await self._next_document(name)
            is_complete = True
        except InvalidDocument:
            is_complete = True
            raise
        finally:
            # Otherwise the next request would receive the rest of this result.
            if not is_complete or self._file_count >= _MAX_FILES_PER_PROCESS:
                await self.kill()

    async def _next_document(self, name: str, data: bytes | None = None) -> ParsedFile | None:
        """The next document of the file, None at its end; `data` begins a file."""
        try:
            async with asyncio.timeout(self._limits.timeout_seconds):
                if data is not None:
                    await self._send(name, data)
                payload = await self._receive()
        except TimeoutError as error:
            await self.kill()
            raise DocumentTooLarge(
                f"{name} took longer than {self._limits.timeout_seconds:g} seconds to read."
            ) from error
        except (EOFError, ConnectionError) as error:
            raise await self._crash_error(name) from error
        try:
            return protocol.decode_result(payload)
        except (ValueError, KeyError, TypeError) as error:  # the parser is compromised, or its memory is corrupt
            await self.kill()
            raise CorruptFile(f"The parser of {name} returned an invalid result.") from error

    async def kill(self) -> int | None:
        """End the process and its children at once. Returns its exit status, None if there was none."""
        process, self._process, self._file_count = self._process, None, 0
        if process is None:
            return None
        if process.returncode is None:
            _kill_group(process)
        if process.stdin:
            process.stdin.close()
        return await process.wait()

    async def close(self) -> None:
        """End the process and close its files."""
        await self.kill()
        self._stderr.close()

    async def _send(self, name: str, data: bytes) -> None:
        if self._process is None or self._process.returncode is not None:
            await self.kill()
            self._process = await self._start_process()
        pipe = self._process.stdin
        if pipe is None:
            raise ConnectionError("the worker has no pipes")
        self._file_count += 1
        pipe.write(encode_frame(name.encode("utf-8", "replace")))
        pipe.write(len(data).to_bytes(LENGTH_PREFIX_BYTES, "big"))
        for start in range(0, len(data), _WRITE_SIZE):
            pipe.write(data[start : start + _WRITE_SIZE])
            await pipe.drain()

    async def _receive(self) -> bytes:
        pipe = self._process.stdout if self._process else None
        if pipe is None:
            raise ConnectionError("the worker has no pipes")
        size = int.from_bytes(await pipe.readexactly(LENGTH_PREFIX_BYTES), "big")
        if size > _BYTES_PER_CHARACTER * self._limits.max_text_length + _STDERR_TAIL * _STDERR_TAIL:
            raise ConnectionError("the worker sent an unexpected frame")
        return await pipe.readexactly(size)

    async def _start_process(self) -> asyncio.subprocess.Process:
        """Start a worker with a minimal environment: parsers must not see our keys."""
        self._stderr.seek(0)
        self._stderr.truncate()
        environment = {
            "PYTHONPATH": child_python_path(),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MALLOC_ARENA_MAX": "2",
            "RAYON_NUM_THREADS": "2",
            "OMP_NUM_THREADS": "1",
        }
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "engine.parsers.sandbox.worker", protocol.encode_limits(self._limits)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
            cwd=os.sep,
            start_new_session=True,
        )

    async def _crash_error(self, name: str) -> InvalidDocument:
        """The error for a worker that died over this file."""
        process = self._process
        status = await process.wait() if process and process.returncode is not None else await self.kill()
        await self.kill()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_TAIL))
        stderr = self._stderr.read()
        if any(message in stderr for message in _OUT_OF_MEMORY):
            return DocumentTooLarge(f"{name} needs more memory than the limit for one file.")
        if status is not None and sys.platform != "win32" and status == -signal.SIGXCPU:
            return DocumentTooLarge(f"{name} took too long to read.")
        return CorruptFile(f"The parser crashed on {name}.")


def _kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a worker, and the program that recognizes text for it, which would go on."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
