"""What a prompt holds of what a question needs: `python -m benchmarks.prompts [--data DATA] [--sets NAME …]`.

For the demo town and every data set, at several token budgets: the share of gold passages among the sources of the
prompt, of questions that have all of them there, and the mean tokens of the prompt. Each row of the table is once with
all rows of the graph that fit (as LightRAG has it) and once with those that no source says. The interval is that of
the paired difference of the shares at a budget. Vectors: MiniLM, kept between runs.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from benchmarks.plumbing import temporary_folder
from benchmarks.quality.__main__ import BENCH, ingest
from benchmarks.quality.scores import paired_interval
from benchmarks.quality.sets import SETS, BenchSet, load_set, missing_file
from benchmarks.replay_language import StoredEmbedder
from bot import bootstrap
from bot.bootstrap import LazyParts
from bot.capabilities.deps import Deps
from bot.capabilities.requests import Ingest
from bot.capabilities.run import run
from bot.cli.chat import TOWN_DIR
from bot.model_setup.opened import EngineModels
from bot.settings import Settings
from engine import Engine, EngineOptions, Question, Scope
from engine.clock import SYSTEM_CLOCK
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.prompts import render_answer
from engine.models import Context
from engine.options import RankingOptions
from engine.retrieval.sources import build_prompt
from engine.text.tokenizer import O200kTokenizer
from tests.acceptance.demo_questions import TownQuestion, load_held_out, load_tuning

BUDGETS = (3_000, 6_000, 12_000, 30_000)
TOWN_SPACE = "console:local"
ROWS = {"all rows": RankingOptions(graph_rows="all", graph_token_share=0.5), "unsaid rows": RankingOptions()}
COUNT = O200kTokenizer().count

ShareOfGold = Callable[[Context], float]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, and how much of its gold a context shows as sources."""

    question: Question
    share: ShareOfGold


@dataclass(frozen=True, slots=True)
class PromptScore:
    """The share of gold in the prompt of one question, and the tokens of the prompt."""

    share: float
    tokens: int


def list_asked(data: BenchSet, limit: int) -> list[AskedQuestion]:
    """Questions of a data set, evenly spread."""
    step = max(1, len(data.questions) // limit) if limit else 1

    def rate(gold: frozenset[str]) -> ShareOfGold:
        def share(context: Context) -> float:
            shown = {source.passage if data.by_passage else source.document for source in context.sources}
            return len(gold & shown) / len(gold)

        return share

    return [
        AskedQuestion(Question(question.text, Scope(frozenset({question.space}), frozenset())), rate(question.gold))
        for question in data.questions[::step]
    ]


def list_town_questions() -> list[AskedQuestion]:
    """The questions about the demo town that have an answer."""
    scope = Scope(frozenset({TOWN_SPACE}), frozenset())
    answerable = [question for question in (*load_held_out(), *load_tuning()) if question.answerable]
    return [AskedQuestion(Question(question.question, scope), _rate_town(question)) for question in answerable]


def _rate_town(asked: TownQuestion) -> ShareOfGold:
    def share(context: Context) -> float:
        texts = [" ".join(source.text.split()) for source in context.sources]
        return mean(any(" ".join(gold.contains.split()) in text for text in texts) for gold in asked.gold)

    return share


async def score(engine: Engine, asked: AskedQuestion, budget: int) -> PromptScore:
    """Retrieve the context of a question within a budget, and render its prompt."""
    question = Question(asked.question.text, asked.question.scope, max_total_tokens=budget)
    context = await engine.retrieve(question)
    messages = render_answer(build_prompt(question, context, SYSTEM_CLOCK.now()))
    return PromptScore(asked.share(context), sum(COUNT(message.content) for message in messages))


def print_table(name: str, scores: dict[tuple[str, int], list[PromptScore]]) -> None:
    """Gold and tokens at each budget, and the difference to all rows of the graph at 30,000 tokens."""
    baseline = [100 * each.share for each in scores[next(iter(ROWS)), BUDGETS[-1]]]
    print(f"\n{name}: {len(baseline)} questions")
    print(
        f"{'':14}{'budget':>8}{'gold %':>8}{'all %':>8}{'tokens':>8}   gold against all rows at {BUDGETS[-1]:,} [95 %]"
    )
    for (rows, budget), found in scores.items():
        shares = [100 * each.share for each in found]
        whole = mean(100.0 * (each.share == 1) for each in found)
        apart = "{:+6.1f} [{:+.1f}, {:+.1f}]".format(*paired_interval(shares, baseline))
        tokens = mean(each.tokens for each in found)
        print(f"{rows:14}{budget:8,}{mean(shares):8.1f}{whole:8.1f}{tokens:8,.0f}   {apart}", flush=True)


async def measure_town(home: Path, embedder: StoredEmbedder) -> None:
    """Read the demo town once without a model, and ask with both kinds of rows."""
    scores: dict[tuple[str, int], list[PromptScore]] = {}
    settings = Settings(data_dir=home)
    able = EngineModels(None, embedder, None, None)  # type: ignore[arg-type]
    async with bootstrap.open_engine(settings, able, SYSTEM_CLOCK) as desk:
        parts = LazyParts(desk, settings)
        try:
            async for _ in run(Deps(desk, parts), Ingest(paths=(str(TOWN_DIR),), space=TOWN_SPACE)):
                pass
            await desk.engine.wait_until_indexed()
        finally:
            await parts.close()
    for rows, ranking in ROWS.items():
        async with Engine.open(home, embedder=embedder, options=EngineOptions(ranking=ranking)) as engine:
            await fill(scores, rows, engine, list_town_questions())
    print_table("Demo town", scores)


async def fill(
    scores: dict[tuple[str, int], list[PromptScore]], rows: str, engine: Engine, asked: Sequence[AskedQuestion]
) -> None:
    """Score all questions at all budgets."""
    for budget in BUDGETS:
        scores[rows, budget] = [await score(engine, question, budget) for question in asked]


async def measure_set(data: BenchSet, home: Path, embedder: StoredEmbedder, limit: int) -> None:
    """Read a data set once, and ask with both kinds of rows."""
    scores: dict[tuple[str, int], list[PromptScore]] = {}
    for rows, ranking in ROWS.items():
        options = EngineOptions(ranking=ranking)
        async with Engine.open(home, language=data.language, embedder=embedder, options=options) as engine:
            await ingest(engine, data.documents)
            await fill(scores, rows, engine, list_asked(data, limit))
    print_table(data.name, scores)


async def measure(arguments: argparse.Namespace) -> None:
    embedder = StoredEmbedder(await MiniLMEmbedder.open(), BENCH / "quality-vectors.npz")
    with temporary_folder() as folder:
        home = Path(arguments.home or folder)
        if arguments.town:
            await measure_town(home / "town", embedder)
        for name in arguments.sets:
            if arguments.data is None or (missing := missing_file(arguments.data, name)):
                print(f"\n{name}: skipped, because {missing if arguments.data else 'DATA'} does not exist")
                continue
            await measure_set(load_set(arguments.data, name), home / name, embedder, arguments.limit)
            embedder.save()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder that holds the data sets")
    parser.add_argument("--home", help="keep the data directories here, and use them again")
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--no-town", dest="town", action="store_false", help="leave out the demo town")
    parser.add_argument("--limit", type=int, default=100, help="questions of a set, at most about; 0 for all")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
