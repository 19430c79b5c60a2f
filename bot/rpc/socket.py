"""The local socket, over which the running process executes commands. Only the owner of the data directory can use it.

The system lets only this user connect; besides, each request carries the key in the data directory, which a process
of the same user in a sandbox cannot read.

HTTP on a Unix socket: a request is posted as JSON, its results stream back as JSON lines. A client that disconnects
cancels its request. aiohttp is imported with the first connection, which keeps the start of commands fast.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import secrets
import socket
import stat
import tempfile
from contextlib import aclosing, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from bot.rpc import codec
from engine.errors import DiskError, EngineError, StoreError
from engine.scheduling.supervisor import child_task
from engine.storage.disk import disk_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from aiohttp import web

    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import OperationResult

    Perform = Callable[[OperationRequest], AsyncGenerator[OperationResult]]

log = structlog.get_logger(__name__)

SOCKET_NAME = "threadlore.sock"
KEY_NAME = "threadlore.key"
URL = "http://threadlore/"  # the name of the host means nothing on a Unix socket
HAND_OVER = "hand-over"  # the path of the request of a bot that starts
HAND_OVER_SECONDS = 5.0  # for the answer to it
MAX_PATH_BYTES = 100  # of a socket path that every system accepts
PRIVATE_MODE = 0o600  # the owner may read and write
READ_SECONDS = 10.0  # for the body of a request
UNAUTHORIZED = 401
DRAIN_SECONDS = 24 * 3600.0  # for requests that are running when the process stops
ACCEPT_TURNS = 4  # of the loop, after which a connection that was accepted waits for its request, or is closed


class HolderEnded(StoreError):
    """The process that holds the data directory ended before the end of a request."""

    hint = "Run the command again."


class HolderUnreached(HolderEnded):
    """The process that holds the data directory has ended; nothing of the request was performed."""


def socket_path(home: Path) -> Path:
    """Path of the socket: in the data directory, or in a private temporary directory if that path is too long."""
    inside = home / SOCKET_NAME
    if len(os.fsencode(inside)) <= MAX_PATH_BYTES:
        return inside
    digest = sha256(os.fsencode(home)).hexdigest()[:16]
    return Path(tempfile.gettempdir(), f"threadlore-{os.getuid()}", f"{digest}.sock")


@dataclass(frozen=True, slots=True)
class RemoteService:
    """The process that holds the data directory, as a service; `key` is the one that it wrote there."""

    path: Path
    key: str = field(repr=False)

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        """Perform a request there. Raises its errors.

        Raises HolderEnded if the process stops before the end, and HolderUnreached if it did not begin.
        """
        import aiohttp  # noqa: PLC0415  - see above

        no_limit = aiohttp.ClientTimeout(total=None)
        connector, headers = aiohttp.UnixConnector(str(self.path)), {"Authorization": _authorization(self.key)}
        try:
            async with (
                aiohttp.ClientSession(connector=connector) as session,
                session.post(
                    URL, data=codec.encode(request), headers=headers, timeout=no_limit, raise_for_status=True
                ) as response,
            ):
                async for line in _split_lines(response.content.iter_any()):
                    yield codec.parse_result(line)
        except aiohttp.ClientResponseError as error:
            message = f"The process that holds the data directory refused the command ({error.status} {error.message})."
            # Another process with a key of its own may have replaced the one that was found.
            kind = HolderUnreached if error.status == UNAUTHORIZED else StoreError
            raise kind(message, hint="Its log says why.") from error
        except aiohttp.ClientConnectorError as error:
            raise HolderUnreached("The process that holds the data directory has ended.") from error
        except aiohttp.ClientError as error:
            raise HolderEnded("The process that executed the command has stopped.") from error

    async def hand_over(self) -> bool:
        """Ask the process to leave the data directory to this one, which it does once no request is running there.

        Returns whether it understands; it may be asked again. Raises HolderUnreached if it has ended.
        """
        import aiohttp  # noqa: PLC0415  - see above

        limit = aiohttp.ClientTimeout(total=HAND_OVER_SECONDS)
        connector, headers = aiohttp.UnixConnector(str(self.path)), {"Authorization": _authorization(self.key)}
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=limit) as session,
                session.post(URL + HAND_OVER, headers=headers) as response,
            ):
                return response.ok
        except aiohttp.ClientError as error:
            raise HolderUnreached("The process that holds the data directory has ended.") from error
        except TimeoutError:
            return False


async def _split_lines(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The lines of a stream; no more of it is kept than the line that is not complete. Raises StoreError."""
    rest = bytearray()
    async for piece in pieces:
        *lines, last = piece.split(b"\n")
        for line in lines:
            yield bytes(rest + line)
            rest.clear()
        rest += last
        if len(rest) > codec.MAX_LINE_BYTES:
            raise StoreError("The process that executed the command sent a line that is too long.")
    if rest:
        yield bytes(rest)


async def find_service(home: Path) -> RemoteService | None:
    """Connect to the process that holds a data directory, or return None."""
    path = socket_path(home)
    if not _is_own_socket(path):
        return None
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except OSError:
        return None
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return RemoteService(path, read_key(home))


def _is_own_socket(path: Path) -> bool:
    """Whether this is a socket that only the current user can have created."""
    try:
        seen = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(seen.st_mode) and seen.st_uid == os.getuid()


@asynccontextmanager
async def serve_socket(
    home: Path, perform: Perform, hand_over: Callable[[], None] | None = None
) -> AsyncIterator[None]:
    """Serve the socket of a data directory; on exit, running requests are finished first.

    `hand_over`: called when a bot that starts asks for the data directory; None if it is not left to one.
    """
    path, key = socket_path(home), _write_key(home)
    with closing(_bind_socket(path)) as bound:
        async with child_task(_run_server(bound, key, perform, hand_over)):
            try:
                yield
            finally:
                path.unlink(missing_ok=True)


async def _run_server(bound: socket.socket, key: str, perform: Perform, hand_over: Callable[[], None] | None) -> None:
    """Wait for the first connection, then serve until cancelled."""
    connected, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(bound, connected.set)
    try:
        await connected.wait()
    finally:
        loop.remove_reader(bound)
    web: Any = await asyncio.to_thread(importlib.import_module, "aiohttp.web")
    app = web.Application(client_max_size=codec.MAX_LINE_BYTES)
    app.router.add_post("/", partial(_handle_request, key, perform))
    if hand_over is not None:
        app.router.add_post(f"/{HAND_OVER}", partial(_handle_handover, key, hand_over))
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=DRAIN_SECONDS)
    await runner.setup()
    site = web.SockSite(runner, bound)
    starting = asyncio.create_task(site.start())
    try:
        await asyncio.shield(starting)
        await asyncio.Event().wait()
    finally:
        await asyncio.wait([starting])  # a server whose start is cancelled accepts connections, and closes none
        await site.stop()
        for _ in range(ACCEPT_TURNS):
            await asyncio.sleep(0)
        await runner.cleanup()


async def _handle_request(key: str, perform: Perform, request: web.Request) -> web.StreamResponse:
    from aiohttp import web  # noqa: PLC0415  - see above

    _check_key(key, request)
    async with asyncio.timeout(READ_SECONDS):
        body = await request.read()
    response = web.StreamResponse()
    with suppress(ConnectionError):
        await response.prepare(request)
        async with aclosing(_perform_lines(perform, body)) as lines:
            async for line in lines:
                await response.write(line)
    return response


async def _handle_handover(key: str, hand_over: Callable[[], None], request: web.Request) -> web.StreamResponse:
    from aiohttp import web  # noqa: PLC0415  - see above

    _check_key(key, request)
    hand_over()
    return web.Response()


def _check_key(key: str, request: web.Request) -> None:
    from aiohttp import web  # noqa: PLC0415  - see above

    given = request.headers.get("Authorization", "")
    if not secrets.compare_digest(given.encode("utf-8", "replace"), _authorization(key).encode()):
        log.warning("socket.key_refused")
        raise web.HTTPUnauthorized


async def _perform_lines(perform: Perform, body: bytes) -> AsyncGenerator[bytes]:
    """Perform a request; yields a line for each result, and one for an error."""
    try:
        async with aclosing(perform(codec.parse_request(body))) as results:
            async for result in results:
                yield codec.encode(result)
    except EngineError as error:
        yield codec.encode_error(error)
    except Exception as error:
        log.exception("socket.request_failed")
        name = type(error).__name__  # its text may quote what others wrote
        yield codec.encode_error(EngineError(f"The running process failed: {name}.", hint="Its log says more."))


def read_key(home: Path) -> str:
    """The key that the running process expects, empty if it cannot be read."""
    try:
        return (home / KEY_NAME).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def _write_key(home: Path) -> str:
    """Make a new key, which only the owner can read; replaces that of a process that ended. Raises DiskError."""
    key, file = secrets.token_urlsafe(32), home / KEY_NAME
    part = file.with_suffix(".part")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE), "w", encoding="ascii") as out:
            out.write(key)
        part.replace(file)
    except OSError as error:
        raise disk_error(f"The file {file} cannot be written", file, error) from error
    return key


def _authorization(key: str) -> str:
    return f"Bearer {key}"


def _bind_socket(path: Path) -> socket.socket:
    """Bind a socket that only the owner can reach; replaces the socket of a killed process."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = path.parent.lstat()
        if path.name != SOCKET_NAME and not (stat.S_ISDIR(folder.st_mode) and folder.st_uid == os.getuid()):
            raise DiskError(
                f"{path.parent} belongs to another user.", hint="Choose a data directory with a shorter path."
            )
        path.unlink(missing_ok=True)
        bound = socket.socket(socket.AF_UNIX)
        bound.bind(str(path))
        path.chmod(PRIVATE_MODE)
        bound.listen()  # nobody can connect before
    except OSError as error:
        raise disk_error(f"The socket {path} cannot be created", path, error) from error
    return bound
