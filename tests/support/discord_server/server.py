"""The whole fake: one loopback server with API, gateway and downloads, and what a test does with it."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from aiohttp import web

from tests.support.discord_server.faults import Fault, RateLimiter, Trouble
from tests.support.discord_server.gateway import Gateway
from tests.support.discord_server.payloads import attachment_path, sign
from tests.support.discord_server.people.screen import Screen, build_screen
from tests.support.discord_server.routes import channels, interactions, messages
from tests.support.discord_server.routing import MAX_REQUEST, PREFIX, RestApi
from tests.support.discord_server.scenario import GuildAdmin
from tests.support.discord_server.world import World
from tests.support.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.support.clock import ShiftedClock
    from tests.support.discord_server.model import Channel, Message, Ping
    from tests.support.discord_server.people.person import Person
    from tests.support.discord_server.routing import ApiCall

__all__ = ["FakeDiscord", "channels", "interactions", "messages"]
POLL_SECONDS = 0.005
MARGIN = 5 * 1024 * 1024  # above the limit of a request, so that the refusal reaches the client


class FakeDiscord(GuildAdmin):
    """`async with FakeDiscord() as discord:`; a client connects to `api` and `gateway_url` with `token`.

    `privileged`: the intents that are switched on in the developer portal.
    """

    def __init__(self, *, privileged: Iterable[str] = ("members", "message_content")) -> None:
        self.token = "fake.discord.token"
        super().__init__(World(self.token, frozenset(privileged)))
        self.gateway = Gateway(self.world)
        self.rest = RestApi(self.world)
        app = web.Application(client_max_size=MAX_REQUEST + MARGIN)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.world.base = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.rest.closing.set()
        self.gateway.disconnect()
        await self._runner.cleanup()

    @property
    def api(self) -> str:
        """The base URL of the API."""
        return self.world.base + PREFIX

    @property
    def gateway_url(self) -> str:
        return self.world.base.replace("http", "ws", 1) + "/gateway"

    @property
    def clock(self) -> ShiftedClock:
        return self.world.clock

    @property
    def rates(self) -> RateLimiter:
        return self.rest.rates

    @property
    def calls(self) -> list[ApiCall]:
        """Every call of the API."""
        return self.rest.calls

    def calls_to(self, method: str, template: str) -> list[ApiCall]:
        """The calls of one route, named as in Discord's documentation: "/channels/{channel}/messages"."""
        return [call for call in self.calls if (call.method, call.template) == (method, template)]

    @property
    def refusals(self) -> list[ApiCall]:
        """The refused calls."""
        return [call for call in self.calls if call.status >= 400]

    @property
    def pings(self) -> list[Ping]:
        """The notifications that the app's messages sent."""
        return [ping for ping in self.world.pings if ping.author == self.world.app.id]

    @property
    def previews(self) -> list[tuple[Message, str]]:
        """The URLs in the app's messages that the platform fetched."""
        return [(message, url) for message, url in self.world.previews if message.author is self.world.app]

    def sees(self, person: Person, channel: Channel) -> Screen:
        """What a person sees in a channel now."""
        return build_screen(self.world, person.user, channel)

    def dm(self, person: Person) -> Channel:
        """The conversation of a person with the app."""
        return self.world.dm(person.user)

    async def wait_for(self, predicate: Callable[[], Any], timeout: float = PATIENCE) -> Any:  # noqa: ASYNC109 - the caller's patience
        """Wait until the predicate is true, evaluated often and at each lost connection; returns its result."""
        changed = self.world.connections_changed
        async with asyncio.timeout(timeout):
            while not (found := predicate()):
                changed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), POLL_SECONDS)
        return found

    async def wait_until_quiet(self, seconds: float, timeout: float = PATIENCE) -> None:  # noqa: ASYNC109 - the caller's patience
        """Wait until there was no call for some time: for showing, not for tests."""
        async with asyncio.timeout(timeout):
            count = -1
            while count != len(self.calls):
                count = len(self.calls)
                await asyncio.sleep(seconds)

    async def wait_until_connected(self, timeout: float = PATIENCE) -> None:  # noqa: ASYNC109 - the caller's patience
        """Wait until a client is connected."""
        await self.wait_for(lambda: self.gateway.connected, timeout)

    def fail_next(self, method: str, template: str, trouble: Trouble = "status", **how: Any) -> Fault:
        """Let the next calls of a route fail: see `Fault` ("*" is any)."""
        fault = Fault(method, template, trouble, **how)
        self.rest.faults.append(fault)
        return fault

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.path.rstrip("/") == "/gateway":
            return await self.gateway.serve(request)
        if request.path.startswith("/attachments/"):
            status = await self.rest.fail_download(request)
            return self._serve_file(request) if status == 200 else web.Response(status=status)
        return await self.rest.serve(request)

    def _serve_file(self, request: web.Request) -> web.Response:
        """A file, while its message is there and the signature of its URL is valid."""
        attachment = self.world.attachments.get(request.path.split("/")[3])
        if attachment is None or attachment.gone or unquote(attachment_path(attachment)) != request.path:
            return web.Response(status=404)
        query = {name: request.query.get(name, "0") for name in ("ex", "is", "hm")}
        signed = sign(attachment, self.world, int(query["is"], 16))
        sent = "&".join(f"{name}={value}" for name, value in query.items())
        if self.world.clock.time() > int(query["ex"], 16) or not hmac.compare_digest(signed, sent):
            return web.Response(status=404)
        return web.Response(body=attachment.file.data, headers={"Content-Type": attachment.file.kind})
