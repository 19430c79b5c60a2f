"""What an ingest and an import say of their cost, before a model reads anything."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.capabilities.deps import Deps
from bot.capabilities.documents.lookup import LOCAL_SPACE, build_scope
from bot.capabilities.ingest.estimates import choose_sample, estimate_export, extrapolate_bytes
from bot.capabilities.requests import Ingest
from bot.capabilities.results import EstimateResult, IngestResult
from bot.context import EngineContext
from bot.platform.models import Channel, Location, Message
from engine.ingest.estimate import IndexingEstimate, estimate_indexing
from engine.llm.client.protocol import ModelTraits
from tests.bot.capabilities.conftest import NoParts, last, run
from tests.support.builders import ROOF
from tests.support.fake_platform import START


class FixedEstimator:
    """Knows the price of a model that is never called."""

    reads_messages = True

    async def estimate(self, text_tokens: int) -> IndexingEstimate:
        return estimate_indexing(text_tokens, "some/model", ModelTraits(price_known=True, input_price=1e-6), 8)


@dataclass
class PagedSource:
    """An export of one channel."""

    pages: list[list[Message]]
    omissions: Counter[str] = field(default_factory=Counter)

    def list_channels(self) -> list[Channel]:
        return [Channel(ROOF, "roof", "open")]

    def read_pages(self, location: Location) -> list[list[Message]]:
        assert location == ROOF
        return self.pages


@pytest.fixture
def priced(engine_context: EngineContext) -> EngineContext:
    return replace(engine_context, estimator=FixedEstimator())  # type: ignore[arg-type]


def test_a_sample_takes_files_of_each_suffix_in_turn() -> None:
    paths = [Path(f"{number}.md") for number in range(10)] + [Path("a.PDF")]
    assert choose_sample(paths, 3) == [Path("0.md"), Path("a.PDF"), Path("3.md")]
    assert choose_sample([]) == []


def test_files_that_are_not_read_count_by_the_bytes_of_those_like_them() -> None:
    sizes = {Path("a.md"): 100, Path("b.md"): 1000, Path("c.pdf"): 4000, Path("d.pdf"): 8000, Path("e.csv"): 41}
    tokens = {Path("a.md"): 25, Path("c.pdf"): 40}
    assert extrapolate_bytes(sizes, tokens) == round(25 + 250 + 40 + 80 + 41 * 65 / 4100)
    assert extrapolate_bytes(sizes, {}) == 0


async def test_a_folder_is_estimated_and_nothing_of_it_is_stored(priced: EngineContext, town: Path) -> None:
    request = Ingest((str(town),), LOCAL_SPACE, estimate=True)
    found = last(await run(priced, request), EstimateResult)
    assert (found.files, found.model, found.is_whole) == (3, "some/model", True)
    assert 0 < found.text_tokens < found.tokens
    assert found.dollars
    assert not await priced.engine.documents.list(build_scope([LOCAL_SPACE]))


async def test_what_is_indexed_already_costs_nothing_more(priced: EngineContext, town: Path) -> None:
    last(await run(priced, Ingest((str(town),), LOCAL_SPACE)), IngestResult)
    (town / "new.md").write_text("# Pier\n\nThe pier is closed on Monday.\n")
    found = last(await run(priced, Ingest((str(town),), LOCAL_SPACE, estimate=True)), EstimateResult)
    assert found.files == 1


async def test_without_a_model_nothing_is_read_for_an_estimate(engine_context: EngineContext, town: Path) -> None:
    found = last(await run(engine_context, Ingest((str(town),), LOCAL_SPACE, estimate=True)), EstimateResult)
    assert found == EstimateResult(3, 0, 0)


async def test_the_messages_of_an_export_are_counted(priced: EngineContext) -> None:
    page = [Message(f"m{number}", ROOF, "ada", "Mina sold tickets to the harbor.", START) for number in range(4)]
    steps = [step async for step in estimate_export(Deps(priced, NoParts()), PagedSource([page, page[:1]]))]  # type: ignore[arg-type]
    found = last(steps, EstimateResult)
    assert (found.files, found.messages, found.is_whole) == (0, 5, True)
    assert found.text_tokens > 5 * 14
