"""Downloads of files: the address must be signed, young, and its message still there."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import unquote

from aiohttp import web

from tests.support.discord_server.payloads import attachment_path, signature

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

GONE = "This content is no longer available."


class Cdn:
    """Serves files; `fetched` are the ids that were downloaded."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.fetched: list[str] = []

    def serve(self, request: web.Request) -> web.Response:
        path = request.path.replace("/proxy-attachments/", "/attachments/")
        parts = path.split("/")
        attachment = self._world.attachments.get(parts[3]) if len(parts) == 5 else None
        if attachment is None or attachment.gone or unquote(attachment_path(attachment, self._world)) != path:
            return web.Response(status=404, text=GONE)
        issued, expires = request.query.get("is", ""), request.query.get("ex", "")
        try:
            wanted = signature(attachment, self._world, int(issued, 16))
            late = self._world.clock.seconds() > int(expires, 16)
        except ValueError:
            return web.Response(status=404, text=GONE)
        proof = wanted.rsplit("hm=", 1)[1]
        if late or not hmac.compare_digest(proof, request.query.get("hm", "")):
            return web.Response(status=404, text=GONE)
        self.fetched.append(attachment.id)
        headers = {"Content-Type": attachment.file.kind}
        return web.Response(body=attachment.file.data, headers=headers)
