"""The bot as a process that can be killed, the model that it asks, and what its people see of both."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.openai_server import Fault, OpenAIServer
from tests.support.town.protocol import DiscordTown, SlackTown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from aiohttp import web

    from tests.support.town.protocol import Town

TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 0.05
ANSWER = "The safe opens with " + " ".join(f"word{place}" for place in range(30)) + " agate"
FIRST_WORDS = "word2"
HELD_WORDS = 12  # words after which a model that is held says no more


class HoldableModel(OpenAIServer):
    """Answers every question with the same words; while it is held, with the first of them alone."""

    def __init__(self) -> None:
        super().__init__(lambda _: f"{ANSWER} [1].")
        self._held: asyncio.Event | None = None

    def hold(self) -> None:
        """Say no more than some words of each answer from now on, and nothing for the time being."""
        self._held = asyncio.Event()

    def release(self) -> None:
        """Go on with all of them."""
        if self._held is not None:
            self._held.set()
        self._held = None

    async def _answer(
        self, request: web.BaseRequest, body: Mapping[str, Any], fault: Fault | None
    ) -> web.StreamResponse:
        held = self._held is not None and body.get("stream")
        return await super()._answer(request, body, Fault("silence", pieces=HELD_WORDS) if held else fault)

    async def _break(self, request: web.BaseRequest, fault: Fault) -> None:
        """What is silent goes on once it is released."""
        if self._held is not None:
            await self._held.wait()

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
        given = {
            "THREADLORE_DATA_DIR": str(self.data_dir),
            "THREADLORE_LLM_MODEL": "hosted_vllm/stub",
            "THREADLORE_LLM_API_BASE": self.model.api_base,
            "THREADLORE_LLM_API_KEY": "none",
            "THREADLORE_QUESTIONS_PER_MINUTE": "1000",
        }
        log = (self.data_dir.parent / "bot.log").open("ab")
        with log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", "serve", env={**os.environ, **given, **self.town.environment},
                stdout=log, stderr=log,
            )  # fmt: skip
        await self.wait_for(lambda: self.town.is_connected)

    async def kill(self) -> None:
        """End it as the power does."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()
        await self.wait_for(lambda: not self.town.is_connected)

    async def restart(self) -> None:
        """Begin anew, with all well again."""
        self.town.clear_faults()
        self.model.release()
        await self.start()

    async def terminate(self) -> int:
        """End it as a signal does, while the model goes on; gives how it ended."""
        assert self.process is not None
        self.process.terminate()
        self.model.release()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await self.process.wait()

    # What is seen, and what is kept.

    async def wait_for(self, holds: Callable[[], object]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not holds():  # noqa: ASYNC110 - files and screens have no bell in common
                await asyncio.sleep(POLL_SECONDS)

    async def ask_and_hold(self, question: str) -> Any:
        """A question, once some words of its answer are shown; there will be no others."""
        self.model.hold()
        asked = await self.town.ask(question)
        await self.wait_for(lambda: FIRST_WORDS in self.answer_text(asked))
        assert ANSWER not in self.answer_text(asked)
        return asked

    def answer_text(self, asked: Any) -> str:
        """All that is read of an answer so far."""
        return "\n".join(each.text for each in self.town.answers(asked))

    async def check_answer(self, asked: Any, source: str) -> None:
        """One answer, with all its words once, and what it rests on."""
        try:
            await self.wait_for(lambda: any(each.is_complete for each in self.town.answers(asked)))
        except TimeoutError:
            raise AssertionError(self.town.answers(asked)) from None
        [seen] = self.town.answers(asked)
        assert seen.text.count(ANSWER) == 1, seen
        assert source in seen.sources, seen

    async def check_reactions(self, dropped: Any, signs: Sequence[str]) -> None:
        """A file bears exactly these reactions."""
        try:
            await self.wait_for(lambda: self.town.list_reactions(dropped) == [*signs])
        except TimeoutError:
            raise AssertionError(self.town.list_reactions(dropped)) from None

    async def wait_for_documents(self, count: int) -> None:
        """So many documents can be found by questions."""
        await self.wait_for(lambda: len(self._query_titles("status <> 'pending'", "?mode=ro")) == count)

    def file_titles(self) -> list[str]:
        """The titles of the documents that are files; the bot must have ended."""
        return sorted(self._query_titles("kind = 'file'"))

    def _query_titles(self, those: str, how: str = "") -> list[str]:
        uri = (self.data_dir / "ledger.db").as_uri() + how
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as ledger:
            return [title for (title,) in ledger.execute(f"SELECT title FROM document WHERE {those}")]


@contextlib.asynccontextmanager
async def open_bot_process(platform: str, home: Path) -> AsyncIterator[BotProcess]:
    """A running bot in a channel of a platform, in which something was said; killed when left."""
    async with contextlib.AsyncExitStack() as stack:
        model = await stack.enter_async_context(HoldableModel())
        town: Town = SlackTown() if platform == "slack" else DiscordTown()
        await stack.enter_async_context(town)
        lived = BotProcess(town, model, home)
        try:
            await lived.start()
            await town.set_up()
            await lived.wait_for_documents(1)
            yield lived
        finally:
            if lived.process is not None and lived.process.returncode is None:
                await lived.kill()
