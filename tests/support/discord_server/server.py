"""The whole fake: one loopback server with API, gateway and downloads; the stage on which tests play."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from tests.support.discord_server.cdn import Cdn
from tests.support.discord_server.faults import Fault, Trouble
from tests.support.discord_server.gateway import Gateway
from tests.support.discord_server.rest import MOST_REQUEST, PREFIX, RestApi
from tests.support.discord_server.scenario import GuildAdmin
from tests.support.discord_server.screen import Screen, build_screen
from tests.support.discord_server.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.support.discord_server.ids import Clock
    from tests.support.discord_server.model import Channel, Message, Ping
    from tests.support.discord_server.people import Person
    from tests.support.discord_server.rates import RateLimiter
    from tests.support.discord_server.routing import ApiCall

SLACK = 5 * 1024 * 1024
"""How much more than is allowed is read, so that the refusal can be said."""


class FakeDiscord(GuildAdmin):
    """`async with FakeDiscord() as discord:`; a client is pointed at `api` and `gateway_url` with `token`.

    `privileged`: the intents switched on in the developer portal. `heartbeat`: seconds. `port` 0 takes a free one.
    """

    def __init__(
        self,
        *,
        token: str = "fake.discord.token",
        privileged: Iterable[str] = ("members", "message_content"),
        heartbeat: float = 41.25,
        port: int = 0,
    ) -> None:
        super().__init__(World(token, frozenset(privileged)))
        self.token = token
        self.gateway = Gateway(self.world, heartbeat)
        self.rest = RestApi(self.world)
        self.cdn = Cdn(self.world)
        self._port = port
        app = web.Application(client_max_size=MOST_REQUEST + SLACK)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self.world.base = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.rest.closing.set()
        self.gateway.disconnect()
        await self._runner.cleanup()

    @property
    def api(self) -> str:
        """The base of the API."""
        return self.world.base + PREFIX

    @property
    def gateway_url(self) -> str:
        return self.world.base.replace("http", "ws", 1) + "/gateway"

    @property
    def clock(self) -> Clock:
        return self.world.clock

    @property
    def rates(self) -> RateLimiter:
        return self.rest.rates

    @property
    def calls(self) -> list[ApiCall]:
        """Every call of the API, with how it was answered."""
        return self.rest.calls

    def calls_to(self, method: str, template: str) -> list[ApiCall]:
        """The calls of one route, named as in the documentation: "/channels/{channel}/messages"."""
        return [call for call in self.calls if (call.method, call.template) == (method, template)]

    @property
    def refusals(self) -> list[ApiCall]:
        """The calls that were answered with an error."""
        return [call for call in self.calls if call.status >= 400]

    @property
    def pings(self) -> list[Ping]:
        """Whom the app really made look."""
        return [ping for ping in self.world.pings if ping.author == self.world.app.id]

    @property
    def previews(self) -> list[tuple[Message, str]]:
        """Addresses in the app's messages that the platform fetched."""
        return [(message, url) for message, url in self.world.previews if message.author is self.world.app]

    def sees(self, person: Person, channel: Channel) -> Screen:
        """What somebody sees in a channel now."""
        return build_screen(self.world, person.user, channel)

    def dm(self, person: Person) -> Channel:
        """Somebody's conversation with the app."""
        return self.world.dm(person.user)

    async def wait_for(self, predicate: Callable[[], Any], timeout: float = 5.0) -> Any:  # noqa: ASYNC109 - the caller's patience
        """Wait until something holds, looking again at every change; gives what the predicate gave."""
        return await self.world.wait_for(predicate, timeout)

    async def wait_until_quiet(self, seconds: float, timeout: float = 60.0) -> None:  # noqa: ASYNC109 - the caller's patience
        """Wait until nothing was called for a while: for showing, not for tests."""
        async with asyncio.timeout(timeout):
            count = -1
            while count != len(self.calls):
                count = len(self.calls)
                await asyncio.sleep(seconds)

    async def wait_until_connected(self, timeout: float = 10.0) -> None:  # noqa: ASYNC109 - the caller's patience
        """Wait until a client is connected."""
        await self.wait_for(lambda: self.gateway.connected, timeout)

    def fail_next(self, method: str, template: str, trouble: Trouble = "status", **how: Any) -> Fault:
        """Let the next calls of a route go wrong: see `Fault` ("*" is any)."""
        fault = Fault(method, template, trouble, **how)
        self.rest.faults.append(fault)
        return fault

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.path.rstrip("/") == "/gateway":
            return await self.gateway.serve(request)
        if request.path.startswith(("/attachments/", "/proxy-attachments/", "/ephemeral-attachments/")):
            status = await self.rest.fail_download(request)
            return self.cdn.serve(request) if status == 200 else web.Response(status=status)
        return await self.rest.serve(request)
