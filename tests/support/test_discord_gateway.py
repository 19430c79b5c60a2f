"""The gateway of the fake, as the vendor's client meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp
import discord
import pytest

from tests.support.discord_server import FakeDiscord, Permission
from tests.support.discord_server.recording_client import build_all_intents, open_client

if TYPE_CHECKING:
    from collections.abc import Sequence

IDENTIFY = {"op": 2, "d": {"token": "fake.discord.token", "intents": 1, "properties": {}}}
OTHER = {"op": 2, "d": {"token": "another", "intents": 1, "properties": {}}}
RESUME = {"op": 6, "d": {"token": "fake.discord.token", "session_id": "unknown", "seq": 1}}


async def close_code(fake: FakeDiscord, frames: Sequence[Any], query: str = "?v=10&encoding=json") -> int | None:
    """Say this to the gateway; gives the code with which it closes the socket."""
    async with aiohttp.ClientSession() as session, session.ws_connect(fake.gateway_url + query) as socket:
        for frame in frames:
            await (socket.send_str(frame) if isinstance(frame, str) else socket.send_json(frame))
        async for _ in socket:
            pass
        return socket.close_code


async def test_a_client_gets_ready_with_all_channels_roles_and_members() -> None:
    async with FakeDiscord() as fake:
        club = fake.guild("Maker Club")
        fake.channel(club, "workshop")
        fake.channel(club, "ideas", "forum")
        ada = fake.member(club, "Ada", roles=[fake.role(club, "Crew")])
        async with open_client(fake) as client:
            guild = client.guilds[0]
            assert guild.chunked
            assert {member.display_name for member in guild.members} == {"Maker Club owner", "Threadlore", "Ada"}
            assert [channel.name for channel in guild.channels] == ["workshop", "ideas"]
            assert [role.name for role in guild.get_member(int(ada.id)).roles] == ["@everyone", "Crew"]  # type: ignore[union-attr]


async def test_a_wrong_token_is_refused() -> None:
    async with FakeDiscord() as fake:
        token, fake.token = fake.token, "wrong"
        with pytest.raises(discord.LoginFailure):
            async with open_client(fake):
                pass
        fake.token = token


async def test_intents_that_are_not_switched_on_close_with_4014() -> None:
    async with FakeDiscord(privileged=["members"]) as fake:
        with pytest.raises(discord.PrivilegedIntentsRequired):
            async with open_client(fake):
                pass


async def test_without_the_members_intent_only_the_app_is_listed() -> None:
    async with FakeDiscord() as fake:
        club = fake.guild("Maker Club")
        fake.member(club, "Ada")
        async with open_client(fake, discord.Intents.default()) as client:
            assert [member.name for member in client.guilds[0].members] == ["Threadlore"]


async def test_without_message_content_only_mentions_and_dms_have_text() -> None:
    intents = build_all_intents()
    intents.message_content = False
    async with FakeDiscord() as fake:
        club = fake.guild("Maker Club")
        shop = fake.channel(club, "workshop")
        ada = fake.member(club, "Ada")
        async with open_client(fake, intents) as client:
            await ada.says(shop, "a secret")
            await ada.says(shop, f"{fake.bot(club).mention} hello")
            await ada.dms("in private")
            await client.wait_for_event("message", 3)
            texts = [args[0].content for name, args in client.events if name == "message"]
            assert texts == ["", f"{fake.bot(club).mention} hello", "in private"]


async def test_what_was_missed_comes_after_a_resume() -> None:
    async with FakeDiscord() as fake:
        club = fake.guild("Maker Club")
        shop = fake.channel(club, "workshop")
        ada = fake.member(club, "Ada")
        async with open_client(fake) as client:
            fake.gateway.disconnect()
            await fake.wait_for(lambda: not fake.gateway.connected)
            await ada.says(shop, "while you were away")
            (message,) = await client.wait_for_event("message")
            assert message.content == "while you were away"
            assert (fake.gateway.resumes, fake.gateway.identifies) == (1, 1)


async def test_op_7_makes_the_client_resume() -> None:
    async with FakeDiscord() as fake:
        fake.guild("Maker Club")
        async with open_client(fake) as client:
            fake.gateway.reconnect()
            await client.wait_for_event("resumed")
            assert fake.gateway.resumes == 1


async def test_an_invalidated_session_cannot_be_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(self: discord.Client, shard_id: int | None, *, initial: bool = False) -> None:
        """The client's own wait of five seconds before it identifies again."""

    monkeypatch.setattr(discord.Client, "before_identify_hook", at_once)
    async with FakeDiscord() as fake:
        fake.guild("Maker Club")
        async with open_client(fake) as client:
            fake.gateway.invalidate()
            await client.wait_for_event("ready", 2)
            assert (fake.gateway.resumes, fake.gateway.identifies) == (0, 2)


async def test_client_drops_a_zombie_connection() -> None:
    async with FakeDiscord(heartbeat=0.2) as fake:
        fake.guild("Maker Club")
        async with open_client(fake, heartbeat_timeout=0.5) as client:
            fake.gateway.stop_responding()
            await client.wait_for_event("resumed")


async def test_changes_of_a_guild_reach_the_client() -> None:
    async with FakeDiscord() as fake:
        club = fake.guild("Maker Club")
        crew = fake.role(club, "Crew")
        async with open_client(fake) as client:
            ada = fake.member(club, "Ada")
            await client.wait_for_event("member_join")
            fake.gives(ada, crew)
            await client.wait_for_event("member_update")
            fake.changes_role(club, crew, Permission.MANAGE_GUILD)
            await client.wait_for_event("guild_role_update")
            shop = fake.channel(club, "workshop")
            await client.wait_for_event("guild_channel_create")
            fake.overwrites(shop, club.roles[club.id], deny=Permission.VIEW_CHANNEL)
            await client.wait_for_event("guild_channel_update")
            fake.removes_channel(shop)
            await client.wait_for_event("guild_channel_delete")
            fake.removes(ada)
            await client.wait_for_event("member_remove")
            fake.outage(club)
            await client.wait_for_event("guild_unavailable")
            fake.recovers(club)
            await client.wait_for_event("guild_available", 2)
            fake.removes(fake.bot(club))
            await client.wait_for_event("guild_remove")


async def test_guild_join_differs_from_guild_available() -> None:
    async with FakeDiscord() as fake:
        club = fake.guild("Maker Club")
        async with open_client(fake) as client:
            fake.guild("Rowing Club")
            (joined,) = await client.wait_for_event("guild_join")
            assert joined.name == "Rowing Club"
            fake.outage(club)
            fake.recovers(club)
            (back,) = await client.wait_for_event("guild_available", 2)
            assert back.name == "Maker Club"


async def test_hidden_channels_send_no_events() -> None:
    async with FakeDiscord() as fake:
        club = fake.guild("Maker Club")
        shop, board = fake.channel(club, "workshop"), fake.channel(club, "board")
        fake.overwrites(board, fake.bot(club), deny=Permission.VIEW_CHANNEL)
        ada = fake.member(club, "Ada")
        async with open_client(fake) as client:
            await ada.says(board, "hidden")
            await ada.opens_thread(await ada.says(board, "hidden too"), "hidden thread")
            await ada.says(shop, "shown")
            (message,) = await client.wait_for_event("message")
            assert message.content == "shown"
            assert "thread_create" not in client.event_names()


WRONG = [
    ([OTHER], 4004),
    ([{"op": 3, "d": {}}], 4003),
    ([IDENTIFY, IDENTIFY], 4005),
    (["{"], 4002),
    ([IDENTIFY, {"op": 99}], 4001),
    ([IDENTIFY | {"d": IDENTIFY["d"] | {"intents": 1 << 40}}], 4013),  # type: ignore[operator]
    ([IDENTIFY, *[{"op": 3, "d": {}}] * 120], 4008),
    (["x" * 5000], 4002),
]


@pytest.mark.parametrize(("frames", "code"), WRONG, ids=[f"{code} {at}" for at, (_, code) in enumerate(WRONG)])
async def test_the_gateway_closes_with_the_code_of_the_mistake(frames: list[Any], code: int) -> None:
    async with FakeDiscord() as fake:
        assert await close_code(fake, frames) == code


async def test_unsupported_gateway_version_is_refused() -> None:
    async with FakeDiscord() as fake:
        assert await close_code(fake, [IDENTIFY], "?v=6") == 4012


async def test_unknown_session_is_invalid() -> None:
    async with (
        FakeDiscord() as fake,
        aiohttp.ClientSession() as session,
        session.ws_connect(fake.gateway_url + "?v=10") as socket,
    ):
        assert (await socket.receive_json())["op"] == 10
        await socket.send_json(RESUME)
        assert await socket.receive_json() == {"op": 9, "d": False}
