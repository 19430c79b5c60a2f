"""Parse files in a pool of worker processes, never in this process: start, call, kill and replace the workers."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Self

import structlog

from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument, InvalidDocument, SandboxIncomplete
from engine.models import Omission
from engine.parsers.base import ParserLimits, word_reason
from engine.parsers.converted.own_findings import OwnFindings, rename, source_of
from engine.parsers.sandbox import protocol
from engine.parsers.sandbox.origins import OriginLimit
from engine.parsers.scans.descriptions import MAX_DESCRIBED_PICTURES, add_descriptions
from engine.process import LENGTH_PREFIX_BYTES, child_python_path, encode_frame

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable
    from types import TracebackType

    from engine.models import ConvertedDocument
    from engine.parsers.base import DocumentConverter, ParsedFile, PictureDescriber
    from engine.parsers.sandbox.state import SandboxState

log = structlog.get_logger(__name__)

# A worker is replaced after this many files, which limits memory leaks of parsers.
_MAX_FILES_PER_PROCESS = 200
# Messages of a failed allocation in Rust, C++ or Python.
_OUT_OF_MEMORY = (b"memory allocation of", b"bad_alloc", b"MemoryError", b"out of memory", b"Cannot allocate memory")
# Upper bound of the JSON size of one character, including its share of the passage's fields.
_BYTES_PER_CHARACTER = 12
_STDERR_TAIL = 4096
_WRITE_SIZE = 2**20  # bytes of a file in the buffer of the pipe


class FileParser:
    """`async with FileParser(limits) as parser`: a few worker processes, each started on first use.

    `describer` describes pictures; without one they are read by OCR, or refused. `converter` turns some files into
    Markdown, which is parsed in their place; if it fails, they are parsed as without it. `sandbox` is what bounds the
    process that was started last, None before the first one. Files of one origin leave a worker to the others, if
    there are several.
    """

    def __init__(
        self,
        limits: ParserLimits | None = None,
        describer: PictureDescriber | None = None,
        converter: DocumentConverter | None = None,
    ) -> None:
        self.limits = replace(limits or ParserLimits(), describes_pictures=describer is not None)
        self.sandbox: SandboxState | None = None
        self._describer = describer
        self._converter = converter
        self._origins = OriginLimit(max(1, self.limits.workers - 1))
        self._processes: list[ParserProcess] = []
        self._idle: asyncio.LifoQueue[ParserProcess] = asyncio.LifoQueue()

    async def __aenter__(self) -> Self:
        self._processes = [ParserProcess(self.limits, self._note_sandbox) for _ in range(self.limits.workers)]
        for process in self._processes:
            self._idle.put_nowait(process)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            await process.close()

    def _note_sandbox(self, state: SandboxState) -> None:
        """Keep the state of a worker that starts, and warn once of what it lacks."""
        if not (state.is_complete or self.sandbox):
            log.warning("parsers.sandbox_incomplete", missing=state.missing)
        self.sandbox = state

    async def parse(self, name: str, data: bytes, *, origin: str = "") -> ParsedFile:
        """Parse a file into one document, without its attachments; there is at least one passage.

        Raises as `stream` does.
        """
        async with aclosing(self.stream(name, data, origin=origin)) as documents:
            parts = {
                document.key: document async for document in documents if not document.key.startswith("attachment")
            }
        passages = tuple(passage for part in parts.values() for passage in part.passages)
        return replace(next(iter(parts.values())), passages=passages)

    async def stream(self, name: str, data: bytes, *, origin: str = "") -> AsyncGenerator[ParsedFile]:
        """Parse a file into documents with different keys: itself, the further parts of a long file, its attachments.

        The passages are in the order of their positions; each document has at least one. Those with pictures to be
        described come last. The file itself comes once
        more, in place of the first time, if it was noticed later that something was not read. The parser waits while a
        document is handled. `origin`: who sent it, such as a channel,
        among whom the workers are shared. Raises an InvalidDocument: UnsupportedFormat, EmptyDocument, EncryptedFile,
        CorruptFile (also if its parser crashes), DocumentTooLarge (bytes, time, memory, unpacked size, or text beyond
        the limits) or SandboxIncomplete; and a ModelError if a picture could not be described now. Most files that fail
        do so before their first document.
        """
        if len(data) > self.limits.max_file_size:
            raise DocumentTooLarge(
                f"{name} has {len(data) / 2**20:.0f} MiB; {self.limits.max_file_size / 2**20:.0f} are allowed."
            )
        with_pictures: dict[str, ParsedFile] = {}
        whole: ParsedFile | None = None  # the file itself
        async with aclosing(self._stream_converted(name, data, origin)) as documents:
            async for document in documents:
                whole = whole if document.key else document
                others = sum(len(each.pictures) for key, each in with_pictures.items() if key != document.key)
                if document.pictures and others + len(document.pictures) <= MAX_DESCRIBED_PICTURES:
                    with_pictures[document.key] = document
                elif document.passages:
                    yield replace(document, pictures=())
        failed = list[Omission]()
        async with aclosing(self._describe_all(with_pictures.values(), failed)) as described:
            async for document in described:
                whole = whole if document.key else document
                yield document
        if failed and whole is not None:
            yield replace(whole, pictures=(), omissions=(*whole.omissions, *failed))

    async def _describe_all(
        self, documents: Iterable[ParsedFile], failed: list[Omission]
    ) -> AsyncGenerator[ParsedFile]:
        """Describe the pictures of documents; `failed` receives those that hold nothing else and cannot be described.

        A model may take minutes, in which the process parses other files.
        """
        if (describer := self._describer) is None:
            return
        for document in documents:
            try:
                yield await add_descriptions(document, describer)
            except EmptyDocument as error:
                if not document.key:
                    raise
                failed.append(Omission(document.title, word_reason(error)))

    async def _stream_converted(self, name: str, data: bytes, origin: str) -> AsyncGenerator[ParsedFile]:
        """Parse a file, or what the converter makes of it; its problem is named with the file itself."""
        extension = PurePath(name.lower()).suffix[1:]
        if self._converter is None or extension not in self._converter.extensions:
            stream = self._stream_from_worker(name, data, origin)
        else:
            stream = self._stream_both(name, data, await self._converter.convert(name, data), origin)
        async with aclosing(stream) as documents:
            async for document in documents:
                yield document

    async def _stream_both(
        self, name: str, data: bytes, converted: ConvertedDocument, origin: str
    ) -> AsyncGenerator[ParsedFile]:
        """Parse what a service made of a file, with what only the own readers find; or the file, if it made nothing."""
        notes = (Omission("parser service", converted.problem),) if converted.problem else ()
        source = source_of(name, converted) or (name, data)
        beside = OwnFindings()
        if source[0] != name:
            with suppress(InvalidDocument):
                async with aclosing(self._stream_from_worker(name, data, origin)) as documents:
                    async for document in documents:
                        beside.take(document)
        async with aclosing(self._stream_from_worker(*source, origin)) as documents:
            async for document in documents:
                named = replace(document, title=rename(document.title, source[0], name))
                yield named if named.key else beside.add_to(replace(named, omissions=(*named.omissions, *notes)))
        for document in beside.attachments:
            yield document

    async def _stream_from_worker(self, name: str, data: bytes, origin: str) -> AsyncGenerator[ParsedFile]:
        """Parse a file in the next idle worker."""
        async with self._origins.enter(origin):
            process = await self._idle.get()
            try:
                async with aclosing(process.stream(name, data)) as documents:
                    async for document in documents:
                        yield document
            finally:
                self._idle.put_nowait(process)


class ParserProcess:
    """One worker, started on first use and restarted after a crash. Parses one file at a time.

    `note_sandbox` receives what bounds it, at each start.
    """

    def __init__(self, limits: ParserLimits, note_sandbox: Callable[[SandboxState], None]) -> None:
        self._limits = limits
        self._note_sandbox = note_sandbox
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

    async def start(self) -> None:
        """Start the worker, unless it runs. Raises SandboxIncomplete if a required sandbox lacks something."""
        if self._process is not None and self._process.returncode is None:
            return
        await self.kill()
        self._process = await self._start_process()
        state = protocol.decode_state(await self._receive())
        self._note_sandbox(state)
        if self._limits.requires_sandbox and not state.is_complete:
            await self.kill()
            raise SandboxIncomplete(f"Files are not read, because their parser lacks {' and '.join(state.missing)}.")

    async def _send(self, name: str, data: bytes) -> None:
        await self.start()
        pipe = self._process.stdin if self._process else None
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
            "OPENSSL_CONF": os.devnull,  # the settings of the system are out of reach
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
        if process is not None:
            _kill_group(process)  # also when the worker alone ended: the program that recognizes text goes on
        status = await process.wait() if process and process.returncode is not None else await self.kill()
        await self.kill()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_TAIL))
        stderr = self._stderr.read()
        if any(message in stderr for message in _OUT_OF_MEMORY):
            return DocumentTooLarge(f"{name} needs more memory than the limit for one file.")
        if status is not None and sys.platform != "win32" and status == -signal.SIGXCPU:
            return DocumentTooLarge(f"{name} took too long to read for its size.")
        return CorruptFile(f"The parser crashed on {name}.")


def _kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a worker, and the program that recognizes text for it, which would go on."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
