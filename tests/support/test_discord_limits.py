"""Rate limits of the fake, and what goes wrong on demand."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import aiohttp
import discord
import pytest

from tests.support.discord_server import FakeDiscord, File
from tests.support.discord_server.api_caller import open_caller
from tests.support.discord_server.rates import RateRule
from tests.support.discord_server.recording_client import open_client

POST = ("POST", "/channels/{channel}/messages")


async def test_sixth_message_in_five_seconds_is_rate_limited() -> None:
    async with FakeDiscord() as fake, open_caller(fake) as call:
        club = fake.guild("Maker Club")
        shop, hall = fake.channel(club, "workshop"), fake.channel(club, "hall")
        for left in (4, 3, 2, 1, 0):
            await call("POST", f"/channels/{shop.id}/messages", {"content": "x"})
            assert (call.status, call.headers["X-RateLimit-Remaining"]) == (200, str(left))
        answer = await call("POST", f"/channels/{shop.id}/messages", {"content": "x"})
        assert call.status == 429
        assert 0 < answer["retry_after"] <= 5
        assert not answer["global"]
        assert call.headers["Via"]
        assert call.headers["X-RateLimit-Scope"] == "user"
        assert await call.code("POST", f"/channels/{hall.id}/messages", {"content": "x"}) == 0


async def test_global_limit_is_50_calls_a_second_except_interactions() -> None:
    async with FakeDiscord() as fake, open_caller(fake) as call:
        fake.rates.overall = RateRule(50, 60.0)
        for _ in range(50):
            await call("GET", "/users/@me")
            assert call.status == 200
        answer = await call("GET", "/users/@me")
        assert (call.status, answer["global"], call.headers["X-RateLimit-Global"]) == (429, True, "true")
        assert await call.code("POST", "/interactions/1/x/callback", {"type": 5}) == 10062


async def test_the_client_keeps_to_the_limits_by_the_headers() -> None:
    async with FakeDiscord() as fake:
        fake.rates.rules[POST] = RateRule(2, 0.3)
        shop = fake.channel(fake.guild("Maker Club"), "workshop")
        async with open_client(fake) as client:
            channel: Any = client.get_channel(int(shop.id))
            begun = time.monotonic()
            for at in range(5):
                await channel.send(str(at))
            assert time.monotonic() - begun > 0.5
        assert [call.status for call in fake.calls_to(*POST)] == [200] * 5


async def test_calls_fail_on_demand_and_the_client_tries_again() -> None:
    async with FakeDiscord() as fake:
        shop = fake.channel(fake.guild("Maker Club"), "workshop")
        async with open_client(fake) as client:
            channel: Any = client.get_channel(int(shop.id))
            fake.fail_next(*POST, status=429, seconds=0.05, times=2)
            await channel.send("after two refusals")
            assert [call.status for call in fake.calls_to(*POST)] == [429, 429, 200]
            fake.fail_next(*POST, status=429, via=False)
            with pytest.raises(discord.HTTPException) as shielded:
                await channel.send("the shield says no")
            assert shielded.value.status == 429
            fake.fail_next(*POST, status=403, code=50013)
            with pytest.raises(discord.Forbidden):
                await channel.send("not allowed")
            fake.fail_next(*POST, "hang")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(channel.send("no answer"), 0.1)
        assert [post.content for post in fake.sees(fake.bot(next(iter(fake.world.guilds.values()))), shop).posts] == [
            "after two refusals"
        ]


async def test_a_cut_call_was_not_done_and_a_lost_one_was() -> None:
    async with FakeDiscord() as fake, open_caller(fake) as call:
        shop = fake.channel(fake.guild("Maker Club"), "workshop")
        fake.fail_next(*POST, "reset")
        with pytest.raises(aiohttp.ClientError):
            await call("POST", f"/channels/{shop.id}/messages", {"content": "cut"})
        assert shop.messages == {}
        fake.fail_next(*POST, "lost")
        body = {"content": "once", "nonce": "1", "enforce_nonce": True}
        with pytest.raises(aiohttp.ClientError):
            await call("POST", f"/channels/{shop.id}/messages", body)
        await call("POST", f"/channels/{shop.id}/messages", body)
        assert [message.content for message in shop.messages.values()] == ["once"]


async def test_downloads_fail_on_demand() -> None:
    async with FakeDiscord() as fake:
        club = fake.guild("Maker Club")
        shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
        async with open_client(fake) as client:
            await ada.says(shop, files=[File("a.txt", b"a")])
            (message,) = await client.wait_for_event("message")
            fake.fail_next("GET", "/attachments", status=503)
            with pytest.raises(discord.HTTPException):
                await message.attachments[0].read()
            assert await message.attachments[0].read() == b"a"
