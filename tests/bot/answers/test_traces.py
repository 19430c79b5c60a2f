"""Traces of questions: their steps in order, and nothing private in them."""

from __future__ import annotations

import sys

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.errors import BadSetting
from bot.monitoring.traces import QuestionJourney, QuestionTracer, build_provider, open_tracer
from tests.bot.answers.test_service import ASKED, started_with_tiles
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF

STEPS = ["receive", "prepare", "retrieve", "generate", "post"]


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter: InMemorySpanExporter) -> QuestionTracer:
    return QuestionTracer(build_provider(SimpleSpanProcessor(exporter)).get_tracer("test"))


@started_with_tiles
async def test_an_answer_leaves_a_trace_of_its_steps(
    bot: BotFixture, exporter: InMemorySpanExporter, tracer: QuestionTracer
) -> None:
    bot.metrics.tracer = tracer
    reply = await bot.ask(ROOF, "bob", ASKED)
    *steps, root = exporter.get_finished_spans()
    assert ([step.name for step in steps], root.name, root.parent) == (STEPS, "question", None)
    assert root.context is not None
    assert {step.parent.span_id for step in steps if step.parent} == {root.context.span_id}
    times = [moment or 0 for step in steps for moment in (step.start_time, step.end_time)]
    assert times == sorted(times)
    assert (root.start_time, root.end_time) == (times[0], times[-1])
    [first_word] = root.events
    assert first_word.name == "first word"
    assert times[5] < first_word.timestamp <= times[-1]
    found = dict(root.attributes or {})
    assert reply.target.answer.startswith(str(found.pop("threadlore.reference")))
    assert found.pop("threadlore.tokens.input")
    assert found == {"threadlore.platform": "slack", "threadlore.sources": 1, "threadlore.tokens.output": 10}
    stages = dict(steps[2].attributes or {})
    assert "threadlore.stage.words_ms" in stages
    assert all(isinstance(value, float) for value in stages.values())


@started_with_tiles
async def test_a_trace_holds_no_text_and_no_names(
    bot: BotFixture, exporter: InMemorySpanExporter, tracer: QuestionTracer
) -> None:
    bot.metrics.tracer = tracer
    reply = await bot.ask(ROOF, "bob", ASKED)
    exported = "".join(span.to_json() for span in exporter.get_finished_spans())
    words = {"Tiles", "Monday", "When", "Ada", "bob", "roof", "ROOF", "T1:", "Answered"}
    assert reply.text
    assert not {word for word in words if word in exported}


async def test_without_the_setting_nothing_is_traced_or_imported(bot: BotFixture) -> None:
    async with open_tracer(enabled=False) as off:
        off.record(QuestionJourney("r", "slack", 10.0, 10.5))
    bot.metrics.tracer.record(QuestionJourney("r", "slack", 10.0, 10.5))


async def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(BadSetting, match="OpenTelemetry") as caught:
        async with open_tracer(enabled=True):
            pass
    assert "threadlore[otel]" in caught.value.hint


def test_a_question_that_failed_early_has_the_steps_that_took_place(
    exporter: InMemorySpanExporter, tracer: QuestionTracer
) -> None:
    tracer.record(QuestionJourney("r", "slack", asked_at=20.0, received_at=10.0, posted_at=11.0))
    receive, post, root = exporter.get_finished_spans()
    assert [(each.start_time, each.end_time) for each in (receive, post, root)] == [
        (10_000_000_000, 10_000_000_000),
        (10_000_000_000, 11_000_000_000),
        (10_000_000_000, 11_000_000_000),
    ]
