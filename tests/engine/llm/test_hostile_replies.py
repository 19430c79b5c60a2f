"""No reply of a model stops the event loop for longer than a quarter of a second, at any call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from zlib import crc32

import pytest
from structlog.testing import capture_logs

from engine.engine import Engine
from engine.errors import EngineError
from engine.llm.base import EventRequest, RewriteRequest
from engine.llm.client.client import ModelClient
from engine.llm.config import ModelConfig
from engine.llm.picture_describer import LiteLLMPictureDescriber
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.llm.reranker import LiteLLMReranker
from engine.models import Excerpt, Question, SummaryInput
from engine.usage import UsageMeter
from tests.engine.llm.hostile_replies import HOSTILE, HostileProvider
from tests.support.builders import make_source
from tests.support.engine_fixture import HERE, doc, open_memory_engine
from tests.support.loop_turns import LoopTurns, measure_turns
from tests.support.tokenizers import CharacterTokenizer

LONGEST_TURN = 0.25  # seconds
SHARE = 18  # one in so many replies is tried at a call
ANSWERED = 6  # one in so many is given as an answer
MODEL = ModelConfig("openai/hostile")
TOKENIZER = CharacterTokenizer()
EXCERPTS = [Excerpt("Ada runs the mill.", "Mill"), Excerpt("Bob bakes.", "Bakery")]
SUMMARIES = [SummaryInput("Ada", ("She mills.", "She runs it.")), SummaryInput("Mill", ("It is old.", "It stands."))]
DAY = date(2026, 11, 20)
REWRITE = RewriteRequest("Who runs the mill?", (), DAY)

Call = Callable[[LiteLLMModel, UsageMeter], Awaitable[object]]
CALLS: dict[str, Call] = {
    "extract": lambda model, meter: model.extract(EXCERPTS[0], meter),
    "extract together": lambda model, meter: model.extract_batch(EXCERPTS, meter),
    "rewrite": lambda model, meter: model.rewrite_query(REWRITE.text, (), meter),
    "rewrite unaddressed": lambda model, meter: model.rewrite_unaddressed_query(REWRITE.text, (), meter),
    "rewrite with filters": lambda model, meter: model.rewrite_query_with_filters(REWRITE, meter),
    "judge": lambda model, meter: model.judge_event(EventRequest("a decision about the mill", [make_source()]), meter),
    "summarize": lambda model, meter: model.summarize(SUMMARIES[:1], meter),
    "summarize together": lambda model, meter: model.summarize(SUMMARIES, meter),
    "describe": lambda model, _: LiteLLMPictureDescriber(MODEL, model.client, record_nothing).describe(b"jpeg"),
    "rerank": lambda model, meter: LiteLLMReranker(MODEL, model.client, TOKENIZER).rerank("mill?", ["a", "b"], meter),
}


async def attempt(call: Awaitable[object]) -> None:
    """Make a call that may be refused."""
    with suppress(EngineError):
        await call


def call_model(call: str, form: str, reply: str) -> Awaitable[object]:
    return CALLS[call](hostile_model(reply, extraction_format=form), UsageMeter())


async def find_turns(make: Callable[[], Awaitable[object]]) -> LoopTurns:
    """The longest turn of a call; the quickest of three if one was long, since a busy processor is a slower one."""
    turns = await measure_turns(attempt(make()))
    for _ in range(2):
        if turns.longest < LONGEST_TURN:
            break
        turns = min(turns, await measure_turns(attempt(make())), key=lambda each: each.longest)
    return turns


async def record_nothing(_: UsageMeter) -> None:
    """Usage does not matter here."""


def hostile_model(reply: str, **config: object) -> LiteLLMModel:
    client = ModelClient(provider=HostileProvider(reply))
    return LiteLLMModel(LLMConfig(MODEL, gleaning_threshold=1, **config), client, len)  # type: ignore[arg-type]


@pytest.mark.share(4)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("form", ["tuples", "json"])
async def test_a_hostile_reply_to_a_call_stops_the_loop_for_a_moment_only(
    call: str, form: str, *, thorough: bool
) -> None:
    first = 0 if thorough else crc32(f"{call} {form}".encode()) % SHARE
    for name, reply in list(HOSTILE.items())[first :: 1 if thorough else SHARE]:
        turns = await find_turns(partial(call_model, call, form, reply))
        assert turns.longest < LONGEST_TURN, (name, turns)


@pytest.mark.parametrize("call", ["extract", "rewrite", "summarize", "describe"])
async def test_a_reply_that_is_too_long_is_cut_off_and_its_usage_says_so(call: str) -> None:
    meter = UsageMeter()
    with capture_logs() as logs, suppress(EngineError):
        await CALLS[call](hostile_model(HOSTILE["one token"]), meter)
    assert [log["event"] for log in logs][:1] == ["llm.reply_cut_off"]
    assert all(item.cut_off for item in meter.items)


async def ask(engine: Engine) -> None:
    await (await engine.ask(Question("Who runs the mill?", HERE))).collect_text()


async def add(engine: Engine, key: str) -> None:
    await engine.documents.add(doc(key, f"{key} bakes."))
    await engine.wait_until_indexed()


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[tuple[Engine, HostileProvider]]:
    provider = HostileProvider("entity<|#|>Ada<|#|>person<|#|>She runs the mill.<|COMPLETE|>")
    language = LiteLLMModel(LLMConfig(MODEL), ModelClient(provider=provider), len)
    async with open_memory_engine(tmp_path, language) as opened:
        yield opened, provider


@pytest.mark.long
async def test_a_hostile_answer_or_fact_stops_the_loop_for_a_moment_only(
    engine: tuple[Engine, HostileProvider], *, thorough: bool
) -> None:
    opened, provider = engine
    await opened.documents.add(doc("mill", "Ada runs the mill, see https://a.example/b."))
    await opened.wait_until_indexed()
    for number, (name, reply) in enumerate([*HOSTILE.items()][:: 1 if thorough else ANSWERED]):
        provider.reply = reply
        turns = await find_turns(partial(ask, opened))
        assert turns.longest < LONGEST_TURN, (name, turns)
        if thorough:
            turns = await measure_turns(attempt(add(opened, f"d{number}")))
        assert turns.longest < LONGEST_TURN, (name, turns)
