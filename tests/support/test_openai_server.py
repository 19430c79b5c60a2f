from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp


async def test_as_a_process_it_prints_its_port_and_answers() -> None:
    command = (sys.executable, "-m", "tests.support.openai_server", "--port", "0", "--dim", "8")
    root = Path(__file__).parents[2]
    process = await asyncio.create_subprocess_exec(*command, cwd=root, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        port = int(await process.stdout.readline())
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            chat = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
            async with session.post("/v1/chat/completions", json=chat) as reply:
                said = (await reply.json())["choices"][0]["message"]["content"]
            async with session.post("/v1/embeddings", json={"model": "m", "input": ["a"]}) as reply:
                row = (await reply.json())["data"][0]["embedding"]
        assert said == "You said: Hello"
        assert len(row) == 8
    finally:
        process.kill()
        await process.wait()
