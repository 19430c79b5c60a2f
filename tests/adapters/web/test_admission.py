"""Requests beyond a number are refused in words, and let in again once others have ended."""

from __future__ import annotations

import asyncio

import httpx
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from adapters.web.admission import RequestSlots


async def test_requests_beyond_the_slots_are_told_to_come_back_later() -> None:
    began, let_go = asyncio.Event(), asyncio.Event()

    async def work(scope: Scope, receive: Receive, send: Send) -> None:
        began.set()
        await let_go.wait()
        await PlainTextResponse("done")(scope, receive, send)

    transport = httpx.ASGITransport(RequestSlots(work, limit=1))
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        first = asyncio.create_task(client.get("/"))
        await began.wait()
        refused = await client.get("/")
        assert (refused.status_code, refused.json()["title"]) == (503, "TooBusy")
        assert int(refused.headers["retry-after"]) > 0
        let_go.set()
        assert (await first).text == "done"
        assert (await client.get("/")).text == "done"
