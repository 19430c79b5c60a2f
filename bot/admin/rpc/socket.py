"""The local socket, over which the running process executes commands. Only the owner of the data directory can connect.

A request is one line of JSON, and so is each event that comes back; the connection ends with the work, and who closes
it earlier ends the work.
"""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import tempfile
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from bot.admin.rpc import codec
from engine import child_task
from engine.errors import DiskError, EngineError, StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from bot.admin.requests import OperationRequest
    from bot.admin.results import OperationResult

    Perform = Callable[[OperationRequest], AsyncGenerator[OperationResult]]

log = structlog.get_logger(__name__)

SOCKET_NAME = "threadlore.sock"
MAX_PATH_BYTES = 100  # of a socket path that every system accepts
PRIVATE_UMASK = 0o077  # no access for group and others


def socket_path(home: Path) -> Path:
    """Path of the socket: in the data directory, or in a private temporary directory if that path is too long."""
    inside = home / SOCKET_NAME
    if len(os.fsencode(inside)) <= MAX_PATH_BYTES:
        return inside
    digest = sha256(os.fsencode(home)).hexdigest()[:16]
    return Path(tempfile.gettempdir(), f"threadlore-{os.getuid()}", f"{digest}.sock")


@dataclass(frozen=True, slots=True)
class RemoteService:
    """The process that holds the data directory, as a service."""

    path: Path

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        """Perform a request there. Raises its errors, and StoreError if the process stops meanwhile."""
        try:
            reader, writer = await asyncio.open_unix_connection(self.path, limit=codec.MAX_LINE_BYTES)
        except OSError as error:
            raise _build_disconnect_error() from error
        try:
            writer.write(codec.encode(request))
            while (line := await reader.readline()) != END_LINE:
                if not line.endswith(b"\n"):
                    raise _build_disconnect_error()
                yield codec.parse_result(line)
        except ConnectionError as error:
            raise _build_disconnect_error() from error
        finally:
            await _close_writer(writer)


END_LINE = b"{}\n"


def _build_disconnect_error() -> StoreError:
    return StoreError("The process that executed the command has stopped.", hint="Run the command again.")


async def find_service(home: Path) -> RemoteService | None:
    """Connect to the process that holds a data directory, or return None."""
    path = socket_path(home)
    if not _is_own_socket(path):
        return None
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except OSError:
        return None
    await _close_writer(writer)
    return RemoteService(path)


def _is_own_socket(path: Path) -> bool:
    """Whether this is a socket that only the current user can have created."""
    try:
        seen = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(seen.st_mode) and seen.st_uid == os.getuid()


@asynccontextmanager
async def serve_socket(home: Path, perform: Perform) -> AsyncIterator[None]:
    """Serve the socket of a data directory; on exit, running requests are finished first."""
    path = socket_path(home)
    server = _SocketServer(perform)
    listening = await asyncio.start_unix_server(
        server.handle_connection, sock=_bind_socket(path), limit=codec.MAX_LINE_BYTES
    )
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        listening.close()
        await server.wait_until_idle()


def _bind_socket(path: Path) -> socket.socket:
    """Bind a socket that only the owner can reach; replaces the socket of a killed process."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.name != SOCKET_NAME and path.parent.stat().st_uid != os.getuid():
            raise DiskError(
                f"{path.parent} belongs to another user.", hint="Choose a data directory with a shorter path."
            )
        path.unlink(missing_ok=True)
        bound = socket.socket(socket.AF_UNIX)
        before = os.umask(PRIVATE_UMASK | 0o100)
        try:
            bound.bind(str(path))
        finally:
            os.umask(before)
    except OSError as error:
        raise DiskError(f"The socket {path} cannot be created: {error.strerror}.") from error
    return bound


@dataclass(slots=True)
class _SocketServer:
    perform: Perform
    _idle_tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    _active_tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    async def handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle one request until its last result."""
        me = asyncio.current_task()
        assert me is not None  # noqa: S101  - a handler always runs in a task
        self._idle_tasks.add(me)
        try:
            line = await reader.readline()
            self._idle_tasks.discard(me)
            self._active_tasks.add(me)
            if line:
                await self._handle_request(line, reader, writer)
        except (ValueError, ConnectionError) as error:
            log.warning("socket.connection_failed", error=repr(error))
        finally:
            self._idle_tasks.discard(me)
            await _close_writer(writer)
            self._active_tasks.discard(me)

    async def _handle_request(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A client sends nothing after its request: any data means that it left.
        async with child_task(self._send_results(line, writer)) as work, child_task(reader.read(1)) as leaving:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)

    async def _send_results(self, line: bytes, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            try:
                async with aclosing(self.perform(codec.parse_request(line))) as events:
                    async for event in events:
                        writer.write(codec.encode(event))
                        await writer.drain()
                writer.write(END_LINE)
            except EngineError as error:
                writer.write(codec.encode_error(error))
            except Exception as error:
                log.exception("socket.request_failed")
                writer.write(codec.encode_error(EngineError(f"The running process failed: {error!r}.")))
            await writer.drain()

    async def wait_until_idle(self) -> None:
        """Return when no request is running; connections without a request are closed."""
        for task in self._idle_tasks:
            task.cancel()
        await asyncio.gather(*self._idle_tasks, *self._active_tasks, return_exceptions=True)


async def _close_writer(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
