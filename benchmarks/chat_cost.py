"""What it costs to read the demo town with a model: `python -m benchmarks.chat_cost [FILES…]`.

Tokens sent (o200k_base, all calls of extraction and summaries) beside those of the text, read as the defaults have it,
and with every chunk in a call of its own and a second look at each. The model plays by rules, so that the facts of
both can be compared: they must be the same.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hashing import HashingEmbedder
from benchmarks.plumbing import temporary_folder
from benchmarks.rule_model import RuleProvider
from bot import bootstrap
from bot.bootstrap import LazyParts
from bot.capabilities.deps import Deps
from bot.capabilities.requests import Ingest
from bot.capabilities.run import run
from bot.cli.chat import TOWN_DIR
from bot.model_setup.opened import EngineModels
from bot.settings import Settings
from engine.clock import SYSTEM_CLOCK
from engine.llm.client.client import ModelClient
from engine.llm.config import ModelConfig
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import canonical_export, fetch_rows

SPACE = "console:local"
UNBATCHED = {"batch_token_limit": 0, "gleaning": "always"}


@dataclass(frozen=True, slots=True)
class IngestCost:
    """What reading took: tokens of the text, calls, tokens sent and said; and the facts that came of it."""

    text: int
    calls: int
    input_tokens: int
    output_tokens: int
    facts: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """Tokens sent for each token of text."""
        return self.input_tokens / self.text


async def measure_cost(home: Path, paths: Sequence[str], **chosen: object) -> IngestCost:
    """Read files as `threadlore ingest` does, with a model that plays by rules."""
    provider, settings = RuleProvider(), Settings(data_dir=home)
    config = LLMConfig(ModelConfig("rules"), **chosen)  # type: ignore[arg-type]
    language = LiteLLMModel(config, ModelClient(provider=provider), O200kTokenizer().count)
    able = EngineModels(language, HashingEmbedder(), None, language.client)
    async with bootstrap.open_engine(settings, able, SYSTEM_CLOCK) as desk, AsyncExitStack() as stack:
        parts = LazyParts(desk, settings)
        stack.push_async_callback(parts.close)
        async for _ in run(Deps(desk, parts), Ingest(paths=tuple(paths), space=SPACE)):
            pass
        await desk.engine.wait_until_indexed()
        [[text]] = await fetch_rows(desk.engine._ledger, "SELECT SUM(tokens) FROM chunk")
        facts = tuple(await canonical_export(desk.engine))
    return IngestCost(text, provider.calls, provider.input_tokens, provider.output_tokens, facts)


def main() -> None:
    """Print both, and whether their facts are the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=[str(TOWN_DIR)])
    paths = parser.parse_args().files
    print(f"{'':16}{'text':>9}{'calls':>7}{'sent':>9}{'said':>9}{'sent/text':>11}")
    facts = set[tuple[str, ...]]()
    for name, chosen in (("shared calls", {}), ("each alone", UNBATCHED)):
        with temporary_folder() as home:
            cost = asyncio.run(measure_cost(Path(home), paths, **chosen))
        facts.add(cost.facts)
        print(f"{name:16}{cost.text:9,}{cost.calls:7,}{cost.input_tokens:9,}{cost.output_tokens:9,}{cost.ratio:11.2f}")
    print(f"facts are {'the same' if len(facts) == 1 else 'NOT the same'}")


if __name__ == "__main__":
    main()
