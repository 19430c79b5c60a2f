"""Desks for tests of the bot: a real ledger, stores in memory, and a language that repeats what it was shown."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.admin.ingest.fingerprints import Stamps
from bot.engine_context import Desk
from engine.errors import Refused
from engine.models import Condensed
from engine.options import Options
from engine.parsers import Limits
from engine.text.tokenizer import O200k
from tests.support.engines import light_engine
from tests.support.language import NAME, ToyLanguage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import date
    from pathlib import Path

    from engine.llm.base import Embedder
    from engine.models import Turn
    from engine.usage import Bill

UNREADABLE = "gibberish"


class Parrot(ToyLanguage):
    """Knows of a follow-up what was asked before, and cannot read gibberish."""

    def __init__(self) -> None:
        super().__init__("parrot")
        self.failing["extract", UNREADABLE] = Refused("The parrot does not say that.")

    async def condense(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed:
        said = " ".join([*(turn.text for turn in history if turn.role == "user"), text])
        return Condensed(said, tuple(NAME.findall(said)), tuple(NAME.findall(said)))


@asynccontextmanager
async def desk(home: Path, parrot: Parrot | None = None, embedder: Embedder | None = None) -> AsyncIterator[Desk]:
    """A desk over an engine in this folder."""
    async with light_engine(home, parrot or Parrot(), embedder, Options(quiet=0.0)) as engine:
        yield Desk(engine, Limits(workers=1), Stamps(home / "filed"), O200k().count, engine.forget, engine.add)
