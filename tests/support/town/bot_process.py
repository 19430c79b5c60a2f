"""The bot as a process that can be killed, the model that it asks, and what its people see of both."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.support.openai_server import Fault, OpenAIServer
from tests.support.patience import PATIENCE
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import password
from tests.support.town.protocol import Asked
from tests.support.town.slack import SlackTown

POLL_SECONDS = 0.05
CHANNEL = "vault"
Town = SlackTown | DiscordTown
TOWNS: dict[str, Callable[[], Town]] = {"slack": SlackTown, "discord": DiscordTown}
ANSWER = "The safe opens with " + " ".join(f"word{place}" for place in range(30)) + " agate"
FIRST_WORDS = "word2"
HELD_WORDS = 12  # words after which a model that is held says no more


class HoldableModel(OpenAIServer):
    """Answers every question with the same words; while it is held, with the first of them alone."""

    def __init__(self) -> None:
        # The thoughts are empty: an unknown model's first words could be thoughts, and would be shown at the end.
        super().__init__(lambda _: f"<think></think>{ANSWER} [1].")
        self._held: asyncio.Event | None = None
        self._held_requests: list[web.BaseRequest] = []

    @property
    def has_held_streams(self) -> bool:
        """Whether somebody still waits for the rest of an answer that is held."""
        return any(request.transport is not None for request in self._held_requests)

    def hold(self) -> None:
        """Stop each answer after some words, until `release`."""
        self._held = asyncio.Event()

    def release(self) -> None:
        if self._held is not None:
            self._held.set()
        self._held = None

    async def _answer(
        self, request: web.BaseRequest, body: Mapping[str, Any], fault: Fault | None
    ) -> web.StreamResponse:
        held = self._held is not None and body.get("stream")
        return await super()._answer(request, body, Fault("silence", pieces=HELD_WORDS) if held else fault)

    async def _break(self, request: web.BaseRequest, fault: Fault) -> None:
        """Go on once released."""
        if self._held is not None:
            self._held_requests.append(request)
            await self._held.wait()
            self._held_requests.remove(request)

    async def __aexit__(self, *how: object) -> None:
        self.release()
        await super().__aexit__(*how)


@dataclass
class BotProcess:
    """A town, a model, and the bot between them."""

    town: Town
    model: HoldableModel
    data_dir: Path
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """`threadlore serve`, as a process of its own."""
        own = {
            "DATA_DIR": str(self.data_dir),
            "LLM_MODEL": "hosted_vllm/stub",
            "LLM_API_BASE": self.model.api_base,
            "LLM_API_KEY": "none",
            "QUESTIONS_PER_MINUTE": "1000",
        }
        given = {f"THREADLORE_{name.upper()}": value for name, value in (own | self.town.adapter_settings).items()}
        with (self.data_dir.parent / "bot.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", "serve", env=os.environ | given, stdout=log, stderr=log
            )
        await self.wait_for(lambda: self.town.is_connected)

    async def kill(self) -> None:
        """End it as a power failure does."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()
        await self.wait_for(lambda: not self.town.is_connected)

    async def restart(self) -> None:
        """Start again, without faults."""
        self.town.clear_faults()
        self.model.release()
        await self.start()

    async def terminate(self) -> int:
        """End it as a signal does, while the model goes on; gives the exit code."""
        assert self.process is not None
        self.process.terminate()
        self.model.release()
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    # What is seen, and what is kept.

    async def wait_for(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110 - files and screens have no event in common
                await asyncio.sleep(POLL_SECONDS)

    async def ask_and_hold(self, question: str) -> Asked:
        """A question, once some words of its answer are shown; there will be no others."""
        self.model.hold()
        asked = await self.town.ask("ada", CHANNEL, question)
        await self.wait_for(lambda: FIRST_WORDS in self.answer_text(asked))
        assert ANSWER not in self.answer_text(asked)
        return asked

    def answer_text(self, asked: Asked) -> str:
        """All that is read of an answer so far."""
        return "\n".join(post.body for post in self.town.posts(asked))

    async def check_answer(self, asked: Asked, source: str) -> None:
        """Check that there is one answer, with all its words once and with its source."""
        await self._expect(lambda: [post.is_complete for post in self.town.posts(asked)], [True])
        [seen] = self.town.posts(asked)
        assert seen.body.count(ANSWER) == 1, seen
        assert source in seen.sources, seen

    async def check_reactions(self, said: Any, reactions: Sequence[str]) -> None:
        await self._expect(lambda: self.town.reactions(said), [*reactions])

    async def _expect(self, found: Callable[[], object], expected: object) -> None:
        with contextlib.suppress(TimeoutError):
            await self.wait_for(lambda: found() == expected)
        assert found() == expected

    async def wait_for_documents(self, count: int) -> None:
        """Wait until so many documents can be found by questions."""
        await self.wait_for(lambda: len(self._query_titles("status <> 'pending'", "?mode=ro")) == count)

    async def wait_until_answered(self) -> None:
        """Wait until no answer is being written, also none that was begun before a kill."""
        await self.wait_for(
            lambda: not self._query("bot.db", "SELECT id FROM answer WHERE state = 'started'", "?mode=ro")
        )

    def file_titles(self) -> list[str]:
        """The titles of the documents that are files; the bot must have ended."""
        return sorted(self._query_titles("kind = 'file'"))

    def _query_titles(self, those: str, how: str = "") -> list[str]:
        return self._query("ledger.db", f"SELECT title FROM document WHERE {those}", how)

    def _query(self, file: str, statement: str, how: str = "") -> list[str]:
        """The first column of the rows of a database."""
        uri = (self.data_dir / file).as_uri() + how
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            return [row[0] for row in database.execute(statement)]


@contextlib.asynccontextmanager
async def open_bot_process(platform: str, home: Path) -> AsyncIterator[BotProcess]:
    """A running bot in a channel of a platform, in which something was said; killed when left."""
    async with HoldableModel() as model, TOWNS[platform]() as town:
        town.add_channel(CHANNEL, "ada bob")
        lived = BotProcess(town, model, home)
        try:
            await lived.start()
            await town.enable(CHANNEL)
            await lived.wait_for(lambda: platform == "slack" or town.bot_posts("ada", CHANNEL))
            await town.say("ada", CHANNEL, password("agate"))
            await lived.wait_for_documents(1)
            yield lived
        finally:
            if lived.process is not None and lived.process.returncode is None:
                await lived.kill()
