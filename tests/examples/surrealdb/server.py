"""A SurrealDB server for tests: the embedded engine behind a WebSocket, with the messages of a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import quote

import websockets
from surrealdb import AsyncSurreal
from surrealdb._surrealdb_ext import AsyncEmbeddedDB
from surrealdb.data.cbor import decode, encode
from websockets.asyncio.server import Server, ServerConnection
from websockets.exceptions import ConnectionClosed

USER, PASSWORD = "bot", "a:b@c/d"


class SurrealServer:
    """`address` names a database and a user of it; `port` is open to requests without a user, too."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.port = server.sockets[0].getsockname()[1]

    @property
    def address(self) -> str:
        return f"ws://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/town/hall"

    def drop_connections(self) -> int:
        """Cut every connection; returns how many there were."""
        connections = list(self._server.connections)
        for connection in connections:
            connection.transport.abort()
        return len(connections)


@asynccontextmanager
async def run_surreal_server() -> AsyncIterator[SurrealServer]:
    """A server with a database and a user of that database, until the block is left."""
    database = AsyncEmbeddedDB("mem://")
    await database.connect()

    async def handle(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            async for message in socket:
                assert isinstance(message, bytes)
                try:
                    reply = await database.execute(message)
                except RuntimeError as error:
                    request = decode(message)
                    reply = encode({"id": request["id"], "error": {"code": -32000, "message": str(error)}})
                await socket.send(reply)

    async with websockets.serve(
        handle, "127.0.0.1", 0, subprotocols=[websockets.Subprotocol("cbor")], max_size=None
    ) as server:
        made = SurrealServer(server)
        admin = AsyncSurreal(f"ws://127.0.0.1:{made.port}")
        await admin.connect(f"ws://127.0.0.1:{made.port}")
        await admin.use("town", "hall")
        await admin.query(f"DEFINE USER {USER} ON DATABASE PASSWORD '{PASSWORD}' ROLES EDITOR")
        await admin.close()
        yield made
