"""OpenTelemetry traces of questions: when each was asked, retrieved, answered and posted, without any text or name.

Off unless THREADLORE_TRACES is set; the exporter reads the standard variables, such as OTEL_EXPORTER_OTLP_ENDPOINT.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

SERVICE = "threadlore"
LIBRARY_HINT = "Install the extra: pip install 'threadlore[otel]'."
FLUSH_TIMEOUT_MS = 5_000


@dataclass(frozen=True, slots=True)
class QuestionJourney:
    """The moments of a question, in seconds since 1970: when the person asked, and when each step had ended.

    `reference`: the short id that is shown to people. `stages`: milliseconds by stage of retrieval, which overlap.
    """

    reference: str
    platform: str
    asked_at: float
    received_at: float  # by the handler, from the event queue
    prepared_at: float | None = None  # the audience, the history and attached files are known
    retrieved_at: float | None = None
    first_word_at: float | None = None
    generated_at: float | None = None
    posted_at: float | None = None
    stages: Mapping[str, float] = field(default_factory=dict)
    sources: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def retrieval_timings(self) -> dict[str, float]:
        """The stages of retrieval with the whole, which includes rewriting the question."""
        end = self.retrieved_at or 0.0
        return {**self.stages, "all": (end - (self.prepared_at or end)) * 1000}

    @property
    def steps(self) -> list[tuple[str, float, float]]:
        """The steps that took place, in order: name, start and end."""
        ends = (
            ("receive", self.received_at),
            ("prepare", self.prepared_at),
            ("retrieve", self.retrieved_at),
            ("generate", self.generated_at),
            ("post", self.posted_at),
        )
        steps, start = list[tuple[str, float, float]](), min(self.asked_at, self.received_at)
        for name, end in ends:
            if end is not None:
                steps.append((name, start, end))
                start = end
        return steps


class QuestionTracer:
    """Makes spans of journeys; without a tracer of OpenTelemetry it does nothing."""

    def __init__(self, tracer: Any = None) -> None:
        self._tracer = tracer

    def record(self, journey: QuestionJourney) -> None:
        """Export one question: a span, with one span for each of its steps."""
        if self._tracer is None:
            return
        from opentelemetry import trace  # noqa: PLC0415 - it needs the extra `otel`

        steps = journey.steps
        attributes = {
            "threadlore.reference": journey.reference,
            "threadlore.platform": journey.platform,
            "threadlore.sources": journey.sources,
            "threadlore.tokens.input": journey.input_tokens,
            "threadlore.tokens.output": journey.output_tokens,
        }
        root = self._tracer.start_span("question", start_time=_to_nanoseconds(steps[0][1]), attributes=attributes)
        inside = trace.set_span_in_context(root)
        for name, start, end in steps:
            stages = _name_stages(journey.stages) if name == "retrieve" else {}
            started = {"start_time": _to_nanoseconds(start), "context": inside, "attributes": stages}
            self._tracer.start_span(name, **started).end(_to_nanoseconds(end))
        if journey.first_word_at is not None:
            root.add_event("first word", timestamp=_to_nanoseconds(journey.first_word_at))
        root.end(_to_nanoseconds(steps[-1][2]))


def _name_stages(stages: Mapping[str, float]) -> dict[str, float]:
    return {f"threadlore.stage.{name.replace(' ', '_')}_ms": milliseconds for name, milliseconds in stages.items()}


def _to_nanoseconds(seconds: float) -> int:
    return int(seconds * 1_000_000_000)


@asynccontextmanager
async def open_tracer(*, enabled: bool) -> AsyncIterator[QuestionTracer]:
    """A tracer that exports until the end of the block. Raises BadSetting if the library is missing."""
    if not enabled:
        yield QuestionTracer()
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        raise BadSetting("THREADLORE_TRACES needs OpenTelemetry, which is not installed.", hint=LIBRARY_HINT) from error
    provider = build_provider(BatchSpanProcessor(OTLPSpanExporter()))
    try:
        yield QuestionTracer(provider.get_tracer(SERVICE))
    finally:
        await asyncio.to_thread(provider.force_flush, FLUSH_TIMEOUT_MS)
        await asyncio.to_thread(provider.shutdown)


def build_provider(processor: Any) -> Any:
    """A provider whose resource names the service only, not the machine."""
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - it needs the extra `otel`
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415

    provider = TracerProvider(resource=Resource({"service.name": SERVICE}), shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return provider
