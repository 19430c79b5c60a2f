"""What it costs to read the demo town with a model: `python -m tests.bench.chat_cost [FILES…]`.

Tokens sent (o200k_base, all calls of extraction and summaries) beside those of the text, read as the defaults have it,
and with every chunk in a call of its own and a second look at each. The model plays by rules, so that the facts of
both can be compared: they must be the same.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot import bootstrap
from bot.admin.operations import work_on
from bot.admin.requests import Ingest
from bot.cli.demo import TOWN
from bot.settings import Settings
from engine.llm.client.client import Calls
from engine.llm.config import ModelSettings
from engine.llm.remote_model import LLM, LLMSettings
from engine.storage.ledger.queries import stats
from engine.text.tokenizer import O200k
from tests.bench.hashing import HashingEmbedder
from tests.bench.rule_model import RuleProvider

if TYPE_CHECKING:
    from collections.abc import Sequence

SPACE = "console:local"
ALONE = {"shared_tokens": 0, "glean_from": 0}


@dataclass(frozen=True, slots=True)
class Cost:
    """What reading took: tokens of the text, calls, tokens sent and said; and the facts that came of it."""

    text: int
    calls: int
    sent: int
    said: int
    facts: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """Tokens sent for each token of text."""
        return self.sent / self.text


async def cost(home: Path, paths: Sequence[str], **chosen: int) -> Cost:
    """Read files as `threadlore ingest` does, with a model that plays by rules."""
    provider, settings = RuleProvider(), Settings(home=home)
    language = LLM(LLMSettings(ModelSettings("rules"), **chosen), Calls(provider=provider), O200k().count)  # type: ignore[arg-type]
    able = bootstrap.Skills(language, HashingEmbedder(), None, language.calls)
    async with bootstrap.desk(settings, able) as desk:
        async for _ in work_on(desk, Ingest(paths=tuple(paths), space=SPACE)):
            pass
        await desk.engine.settled()
        async with desk.engine._ledger.reader() as db:
            [[text]] = await db.execute_fetchall("SELECT SUM(tokens) FROM chunk")
            facts = tuple([line async for line in stats.canonical(db)])
    return Cost(text, len(provider.asked), provider.sent, provider.said, facts)


def main() -> None:
    """Print both, and whether their facts are the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=[str(TOWN)])
    paths = parser.parse_args().files
    out = sys.stdout.write
    out(f"{'':16}{'text':>9}{'calls':>7}{'sent':>9}{'said':>9}{'sent/text':>11}\n")
    made: list[Cost] = []
    for name, chosen in (("shared calls", {}), ("each alone", ALONE)):
        with tempfile.TemporaryDirectory() as home:
            each = asyncio.run(cost(Path(home), paths, **chosen))
        made.append(each)
        out(f"{name:16}{each.text:9,}{each.calls:7,}{each.sent:9,}{each.said:9,}{each.ratio:11.2f}\n")
    out(f"facts are {'the same' if made[0].facts == made[1].facts else 'NOT the same'}\n")


if __name__ == "__main__":
    main()
