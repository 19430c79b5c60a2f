from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from tests.support.discord_rules.club import Api, Club
from tests.support.discord_server import Permission
from tests.support.discord_server.model import Intent


@asynccontextmanager
async def gateway(api: Api, op: int, **data: Any) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A socket that has sent a frame."""
    async with api.session.ws_connect(api.fake.gateway_url + "?v=10") as socket:
        assert (await socket.receive_json())["op"] == 10
        await socket.send_json({"op": op, "d": {"token": api.fake.token} | data})
        yield socket


async def events(socket: aiohttp.ClientWebSocketResponse, last: str) -> list[tuple[str, Any]]:
    """The events up to the first of a name."""
    received: list[tuple[str, Any]] = []
    while not received or received[-1][0] != last:
        frame = await socket.receive_json(timeout=5)
        received.append((frame["t"], frame["d"]))
    return received


@pytest.mark.parametrize(
    ("op", "data", "code"),
    [
        pytest.param(2, {"token": "another", "intents": 1}, 4004, id="identify with another token"),
        pytest.param(6, {"token": "another", "session_id": "x", "seq": 1}, 4004, id="resume with another token"),
        pytest.param(8, {"guild_id": "1"}, 4003, id="no session yet"),
        pytest.param(2, {"intents": 1 << 40}, 4013, id="unknown intent"),
        pytest.param(2, {"intents": int(Intent.PRESENCES)}, 4014, id="intent that is switched off"),
    ],
)
async def test_the_gateway_closes_with_the_code_of_the_mistake(api: Api, op: int, data: Any, code: int) -> None:
    async with gateway(api, op, **data) as socket:
        assert await socket.receive(timeout=5)
        assert socket.close_code == code


async def test_a_resumed_session_gets_what_it_missed_and_an_unknown_one_is_invalid(club: Club) -> None:
    async with gateway(club.api, 2, intents=int(Intent.GUILD_MESSAGES)) as socket:
        ready = (await events(socket, "GUILD_CREATE"))[0][1]
    await club.fake.wait_for(lambda: not club.fake.gateway.connected)
    await club.ada.says(club.shop, "while you were away")
    async with gateway(club.api, 6, session_id=ready["session_id"], seq=2) as socket:
        assert [name for name, _ in await events(socket, "RESUMED")] == ["MESSAGE_CREATE", "RESUMED"]
        assert (club.fake.gateway.resumes, club.fake.gateway.identifies) == (1, 1)
    async with gateway(club.api, 6, session_id="unknown", seq=2) as socket:
        assert await socket.receive_json() == {"op": 9, "d": False}


async def test_events_are_those_of_the_intents_and_of_visible_channels(club: Club) -> None:
    board = club.fake.channel(club.guild, "board")
    club.fake.overwrites(board, club.fake.bot(club.guild), deny=Permission.VIEW_CHANNEL)
    intents = Intent.GUILDS | Intent.GUILD_MESSAGES | Intent.DIRECT_MESSAGES
    async with gateway(club.api, 2, intents=int(intents)) as socket:
        await events(socket, "GUILD_CREATE")
        await club.ada.opens_thread(await club.ada.says(board, "hidden"), "hidden thread")
        private = await club.ada.opens_thread(club.shop, "private", private=True)
        await club.ada.says(private, "between us")
        posted = await club.ada.says(club.shop, "a secret")
        await club.bob.says(club.shop, f"<@{club.fake.world.app.id}> why?", reply_to=posted)
        await club.ada.dms("in private")
        club.fake.member(club.guild, "Cleo")
        club.fake.overwrites(board, club.fake.bot(club.guild))
        received = await events(socket, "CHANNEL_UPDATE")
        texts = [data["content"] for name, data in received if name == "MESSAGE_CREATE"]
        assert texts == ["", f"<@{club.fake.world.app.id}> why?", "in private"]
        assert (
            next(data for name, data in received if data.get("referenced_message"))["referenced_message"]["content"]
            == ""
        )
        assert not {"GUILD_MEMBER_ADD", "THREAD_CREATE"} & {name for name, _ in received}
        assert [each["name"] for each in (await events(socket, "THREAD_LIST_SYNC"))[-1][1]["threads"]] == [
            "hidden thread"
        ]


async def test_members_are_listed_only_with_their_intent(club: Club) -> None:
    for intents, names in (
        (Intent.GUILDS | Intent.MEMBERS, {"Club owner", "Threadlore", "Ada", "Bob"}),
        (Intent.GUILDS, set()),
    ):
        async with gateway(club.api, 2, intents=int(intents)) as socket:
            await events(socket, "GUILD_CREATE")
            await socket.send_json({"op": 8, "d": {"guild_id": club.guild.id, "query": "", "limit": 0}})
            if names:
                members = (await events(socket, "GUILD_MEMBERS_CHUNK"))[-1][1]["members"]
                assert {each["user"].get("global_name", each["user"]["username"]) for each in members} == names
            await socket.send_json({"op": 1, "d": None})
            assert await socket.receive_json(timeout=5) == {"op": 11}
