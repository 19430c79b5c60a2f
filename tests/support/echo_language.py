"""Engines for tests of the bot: a real ledger, stores in memory, and a language that repeats its sources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

from bot.context import EngineContext
from bot.store.file_fingerprints import FileFingerprints
from engine import Clock, FileParser, ParserLimits
from engine.clock import SYSTEM_CLOCK
from engine.errors import ModelRefused
from engine.llm.base import Embedder
from engine.models import ChatTurn, SearchQuery
from engine.options import EngineOptions
from engine.parsers.sandbox.probe import SandboxProbe
from engine.text.tokenizer import O200kTokenizer
from engine.usage import UsageMeter
from tests.support.engine_fixture import open_memory_engine
from tests.support.toy_language import NAME, ToyLanguage

UNREADABLE = "gibberish"


class EchoLanguage(ToyLanguage):
    """Rewrites a follow-up to all questions so far, and refuses to extract gibberish."""

    def __init__(self) -> None:
        super().__init__("parrot")
        self.failing["extract", UNREADABLE] = ModelRefused("The parrot does not say that.")

    async def rewrite_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery:
        questions = " ".join([*(turn.text for turn in history if turn.role == "user"), text])
        return SearchQuery(questions, tuple(NAME.findall(questions)), tuple(NAME.findall(questions)))


@asynccontextmanager
async def open_engine_context(
    home: Path,
    language: EchoLanguage | None = None,
    embedder: Embedder | None = None,
    clock: Clock = SYSTEM_CLOCK,
    *,
    cache_answers: bool = True,
) -> AsyncIterator[EngineContext]:
    """Open the engine of a bot in this folder."""
    options = EngineOptions(summary_cooldown=0.0, cache_answers=cache_answers)
    async with (
        open_memory_engine(home, language or EchoLanguage(), embedder, options, clock) as engine,
        FileParser(ParserLimits(workers=1)) as parser,
    ):
        yield EngineContext(
            engine,
            parser,
            FileFingerprints(home / "fingerprints"),
            O200kTokenizer().count,
            home / "uploads",
            SandboxProbe(ParserLimits()),
        )
