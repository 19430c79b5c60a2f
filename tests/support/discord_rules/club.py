"""A guild for tests of the fake, and bare calls of its API."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

import aiohttp

from tests.support.discord_server import FakeDiscord, File, Guild, Permission, Person

READ_WRITE = Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY
POST = ("POST", "/channels/{channel}/messages")
NO_EMBEDS, EPHEMERAL = 4, 64
QUESTION = {"type": 3, "name": "question", "description": "What", "required": True}
MODE = {"type": 3, "name": "mode", "description": "Mode", "choices": [{"name": "Mix", "value": "mix"}]}
COMMANDS = [
    {"name": "ask", "description": "Ask", "options": [QUESTION]},
    {"name": "mode", "description": "Mode", "options": [MODE]},
    {"name": "settings", "description": "Set", "default_member_permissions": str(int(Permission.MANAGE_GUILD))},
    {"name": "learn", "description": "Learn", "contexts": [0]},
    {"name": "Add", "type": 3},
]


class Api:
    """Bare calls with the app's token; `status` and `headers` are those of the last response."""

    def __init__(self, fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
        self.fake, self.session = fake, session
        self.status, self.headers = 0, dict[str, str]()

    async def __call__(self, method: str, path: str, body: Any = None, *files: File) -> Any:
        data = aiohttp.FormData({"payload_json": json.dumps(body)}, quote_fields=False)
        for index, file in enumerate(files):
            data.add_field(f"files[{index}]", io.BytesIO(file.data), filename=file.name)
        headers = {"Authorization": f"Bot {self.fake.token}"}
        sent: dict[str, Any] = {"data": data} if files else {"json": body}
        async with self.session.request(method, self.fake.api + path, headers=headers, **sent) as response:
            self.status, self.headers = response.status, dict(response.headers)
            return await response.json() if response.status != 204 else None

    async def code(self, method: str, path: str, body: Any = None, *files: File) -> int:
        """The code of a refusal; 0: not refused."""
        answer = await self(method, path, body, *files)
        return int(answer["code"]) if self.status >= 400 else 0

    async def invalid_field(self, method: str, path: str, body: Any) -> tuple[str, str]:
        """The path of the field that is refused, and the error."""
        errors, path_of_field = (await self(method, path, body))["errors"], []
        while "_errors" not in errors:
            ((name, errors),) = errors.items()
            path_of_field.append(name)
        return ".".join(path_of_field), errors["_errors"][0]["code"]


class Club:
    """A guild with a channel, and two people in it."""

    def __init__(self, fake: FakeDiscord, api: Api, bot: Permission = READ_WRITE) -> None:
        self.fake, self.api = fake, api
        self.guild: Guild = fake.guild("Club", bot=bot)
        self.shop = fake.channel(self.guild, "shop")
        self.ada, self.bob = fake.member(self.guild, "Ada"), fake.member(self.guild, "Bob")
        self.path = f"/channels/{self.shop.id}/messages"

    async def post(self, content: str = "hello", **body: Any) -> Any:
        return await self.api("POST", self.path, {"content": content} | body)

    def deny(self, power: Permission) -> None:
        """Take one permission from the app."""
        self.fake.overwrites(self.shop, self.fake.bot(self.guild), deny=power)

    async def respond(self, person: Person, kind: int = 5, **data: Any) -> tuple[Any, str]:
        """Let a person use /ask and respond; gives the interaction, and the path of its webhook."""
        if not self.fake.world.commands:
            await self.api("PUT", f"/applications/{self.fake.world.app.id}/commands", COMMANDS)
        using = asyncio.create_task(person.slash("ask", here=self.shop, question="why?"))
        await self.fake.wait_for(lambda: any(not each.response for each in self.fake.world.interactions.values()))
        used = list(self.fake.world.interactions.values())[-1]
        await self.api("POST", f"/interactions/{used.id}/{used.token}/callback", {"type": kind, "data": data})
        await using
        return used, f"/webhooks/{self.fake.world.app.id}/{used.token}"


def buttons(*each: dict[str, Any], rows: int = 1) -> dict[str, Any]:
    usual = {"type": 2, "style": 1, "label": "x", "custom_id": "x"}
    row = {"type": 1, "components": [usual | parts for parts in each]}
    return {"components": [row] * rows}
