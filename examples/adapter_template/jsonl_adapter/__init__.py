"""A chat platform of JSON lines: events on stdin, the bot's messages on stdout."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from engine.scheduling.supervisor import child_task
from jsonl_adapter.platform import NAME, JsonlPlatform
from jsonl_adapter.settings import JsonlSettings
from jsonl_adapter.translate import parse_event

if TYPE_CHECKING:
    from bot.bot import Bot
    from bot.settings import Settings


async def run(bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Serve stdin and stdout until the input ends or `stop` is set."""
    platform = JsonlPlatform(JsonlSettings.load(settings).files.expanduser().resolve(), _write_line)
    bot.suspend_visibility(NAME)
    bot.attach(platform)
    await bot.reconcile(NAME)
    async with child_task(_receive_lines(bot, platform)) as reading, child_task(stop.wait()) as stopping:
        await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            reading.result()


async def _receive_lines(bot: Bot, platform: JsonlPlatform) -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        bot.record_activity(NAME)
        try:
            event = parse_event(json.loads(line), platform, bot.clock.now())
        except (ValueError, KeyError, TypeError) as error:
            _write_line({"type": "error", "text": f"This line cannot be read: {error!r}"})
            continue
        await bot.receive(event)
        await bot.event_queue.wait_until_idle()


def _write_line(line: dict[str, object]) -> None:
    print(json.dumps(line, ensure_ascii=False), flush=True)
