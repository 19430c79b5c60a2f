"""The Prometheus metrics of the bot."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from bot.monitoring.traces import QuestionTracer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prometheus_client.core import Metric

    from engine import Clock, Usage
    from engine.scheduling.supervisor import Supervisor

LATENCY_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 60.0)  # seconds
MAX_WORKSPACES = 10  # in the ages of the queue, so that many workspaces make no more time series
FAILED = "failed"  # the outcome of a question
ENDED = frozenset({"answered", "nothing", FAILED})  # outcomes that neither a person nor a limit decided
STAGE_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # seconds
WINDOW_SECONDS, MAX_OUTCOMES = 300.0, 1_000  # of questions that are looked at for failures
MIN_SHARE = 0.5  # of the questions in the window


class Metrics:
    """All metrics of one bot in their own registry, and the tracer of its questions.

    Labels hold no text and no names; one holds the ids of workspaces.
    """

    def __init__(self, clock: Clock, tracer: QuestionTracer | None = None) -> None:
        self.registry = CollectorRegistry()
        self.tracer = tracer or QuestionTracer()
        self.failed_questions = FailedQuestions(clock)
        self.unserved = ""  # why nobody can read these metrics and the probes, though their port is set
        self._clock = clock
        self._last_activity: dict[str, float] = {}
        self._tasks: _TaskCollector | None = None
        self._define_question_metrics()
        self._define_event_metrics()
        self._define_ingest_metrics()
        ProcessCollector(registry=self.registry)

    def _define_question_metrics(self) -> None:
        registry = self.registry
        self._questions = Counter(
            "threadlore_questions", "Questions by outcome.", ("platform", "outcome"), registry=registry
        )
        self._feedback = Counter(
            "threadlore_feedback",
            "Ratings of answers; a changed rating counts again.",
            ("platform", "rating"),
            registry=registry,
        )
        self._time_to_first_token = Histogram(
            "threadlore_time_to_first_token_seconds",
            "Seconds from the question to the first words of its answer.",
            ("platform",),
            registry=registry,
            buckets=LATENCY_BUCKETS,
        )
        self._retrieval_duration = Histogram(
            "threadlore_retrieval_duration_seconds",
            "Seconds spent in each stage of retrieval.",
            ("stage",),
            registry=registry,
            buckets=STAGE_BUCKETS,
        )
        self._llm_tokens = Counter(
            "threadlore_llm_tokens", "Tokens of the model calls for questions.", ("purpose", "type"), registry=registry
        )
        self._llm_call_duration = Histogram(
            "threadlore_llm_call_duration_seconds",
            "Seconds per model call; streams count until their last token.",
            ("purpose",),
            registry=registry,
            buckets=LATENCY_BUCKETS,
        )

    def _define_event_metrics(self) -> None:
        self._queue_depth = Gauge(
            "threadlore_event_queue_depth", "Platform events that are not handled yet.", registry=self.registry
        )
        self._queue_age = Gauge(
            "threadlore_event_queue_age_seconds",
            "Age of the oldest event that is not handled yet, by workspace; the ten oldest.",
            ("workspace",),
            registry=self.registry,
        )
        self._takeovers = Gauge(
            "threadlore_processes_taken_over",
            "Ended processes whose work this process has freed since the start.",
            registry=self.registry,
        )
        self._database_wait = Gauge(
            "threadlore_database_wait_seconds",
            "Seconds that reads have waited for a connection since the start.",
            ("database",),
            registry=self.registry,
        )
        self._skipped_events = Counter(
            "threadlore_skipped_events",
            "Events of a platform that could not be read, by name.",
            ("platform", "event"),
            registry=self.registry,
        )
        self._last_event_age = Gauge(
            "threadlore_platform_last_event_age_seconds",
            "Seconds since the last event or ping of a platform.",
            ("platform",),
            registry=self.registry,
        )

    def _define_ingest_metrics(self) -> None:
        self._pending_documents = Gauge(
            "threadlore_ingest_pending_documents", "Documents that are not fully indexed yet.", registry=self.registry
        )
        self._given_up = Gauge(
            "threadlore_ingest_given_up",
            "Documents, entities and relations of which something was given up.",
            registry=self.registry,
        )
        self._extraction_failures = Counter(
            "threadlore_extraction_failures", "Failed model calls for extraction.", registry=self.registry
        )
        self._extraction_failures_seen = 0
        self._incomplete_chunks = Gauge(
            "threadlore_incomplete_chunks",
            "Chunks of which facts may be missing, by what the model gave instead.",
            ("outcome",),
            registry=self.registry,
        )
        self._outdated_chunks = Gauge(
            "threadlore_outdated_chunks",
            "Chunks read for the graph by other settings, another model or prompt than now.",
            registry=self.registry,
        )
        self._reply_outcomes = Counter(
            "threadlore_llm_replies",
            "Replies of models, by purpose and what they gave.",
            ("purpose", "outcome"),
            registry=self.registry,
        )

    def register_supervisor(self, supervisor: Supervisor) -> None:
        """Export the failures of background tasks, instead of those of a former supervisor."""
        if self._tasks is not None:
            self.registry.unregister(self._tasks)
        self._tasks = _TaskCollector(supervisor)
        self.registry.register(self._tasks)

    def record_question(self, platform: str, outcome: str) -> None:
        """Count a question whose handling ended, with an answer or without one."""
        if outcome in ENDED:
            self.failed_questions.record(failed=outcome == FAILED)
        self._questions.labels(platform, outcome).inc()

    def record_feedback(self, platform: str, rating: str) -> None:
        """Count a new or changed rating ("up" or "down") of an answer."""
        self._feedback.labels(platform, rating).inc()

    def record_first_token(self, platform: str, seconds: float) -> None:
        """Record the time from a question to the first words of its answer."""
        self._time_to_first_token.labels(platform).observe(seconds)

    def record_retrieval(self, timings: Mapping[str, float]) -> None:
        """Record the milliseconds that each stage of a retrieval took."""
        for stage, milliseconds in timings.items():
            self._retrieval_duration.labels(stage).observe(milliseconds / 1000)

    def record_usage(self, usage: Iterable[Usage]) -> None:
        """Count the tokens of model calls."""
        for call in usage:
            self._llm_tokens.labels(call.purpose, "input").inc(call.input_tokens)
            self._llm_tokens.labels(call.purpose, "output").inc(call.output_tokens)

    def record_llm_call(self, purpose: str, seconds: float) -> None:
        """Record the duration of one model call."""
        self._llm_call_duration.labels(purpose).observe(seconds)

    def set_queue_depth(self, depth: int) -> None:
        """Update the number of platform events that are not handled yet."""
        self._queue_depth.set(depth)

    def set_queue_ages(self, seconds_by_workspace: Mapping[str, float]) -> None:
        """Update the ages of the oldest unhandled events; workspaces without any are removed."""
        self._queue_age.clear()
        oldest = sorted(seconds_by_workspace.items(), key=lambda item: (-item[1], item[0]))[:MAX_WORKSPACES]
        for workspace, seconds in oldest:
            self._queue_age.labels(workspace).set(seconds)

    def set_database_wait(self, database: str, seconds: float) -> None:
        """Update the time that reads of a database have waited for a connection since the start."""
        self._database_wait.labels(database).set(seconds)

    def set_takeovers(self, total: int) -> None:
        """Update the number of ended processes whose work this one has freed."""
        self._takeovers.set(total)

    def set_pending_documents(self, number: int) -> None:
        """Update the number of documents that are not fully indexed yet."""
        self._pending_documents.set(number)

    def set_given_up(self, number: int) -> None:
        """Update the number of documents, entities and relations of which something was given up."""
        self._given_up.set(number)

    def set_extraction_failures(self, total: int) -> None:
        """Update the number of failed extraction calls since the start."""
        self._extraction_failures.inc(total - self._extraction_failures_seen)
        self._extraction_failures_seen = total

    def set_incomplete_chunks(self, numbers: Mapping[str, int]) -> None:
        """Update the numbers of chunks of which facts may be missing, by what the model gave instead."""
        self._incomplete_chunks.clear()
        for outcome, number in numbers.items():
            self._incomplete_chunks.labels(outcome).set(number)

    def set_outdated_chunks(self, number: int) -> None:
        """Update the number of chunks that another choice of extraction read than today's."""
        self._outdated_chunks.set(number)

    def record_reply(self, purpose: str, outcome: str) -> None:
        """Count a reply of a model by what it gave."""
        self._reply_outcomes.labels(purpose, outcome).inc()

    def record_skipped_event(self, platform: str, event: str) -> None:
        """Count an event that could not be read; `event` is one of the platform's names of events."""
        self._skipped_events.labels(platform, event).inc()

    def record_activity(self, platform: str) -> None:
        """Record an event or ping of a platform."""
        if platform not in self._last_activity:
            self._last_event_age.labels(platform).set_function(lambda: self.seconds_since_activity(platform))
        self._last_activity[platform] = self._clock.monotonic()

    def forget_activity(self, platform: str) -> None:
        """Export no age of a platform that this process is not connected to, until the next sign of life."""
        if self._last_activity.pop(platform, None) is not None:
            self._last_event_age.remove(platform)

    def seconds_since_activity(self, platform: str) -> float:
        """Seconds since the last event or ping; infinite before the first one."""
        return self._clock.monotonic() - self._last_activity.get(platform, float("-inf"))


class _TaskCollector(Collector):
    """Reads the state of background tasks at each scrape."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    def collect(self) -> Iterable[Metric]:
        failures = CounterMetricFamily(
            "threadlore_background_task_failures", "Failures of background tasks since the start.", labels=("task",)
        )
        failing = GaugeMetricFamily(
            "threadlore_background_task_failing", "Whether a background task is failing now.", labels=("task",)
        )
        for report in self._supervisor.list_reports():
            failures.add_metric((report.name,), report.failures)
            failing.add_metric((report.name,), report.is_failing)
        return failures, failing


class FailedQuestions:
    """The outcomes of the questions of the last five minutes. A question that was refused, or stopped, is none."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._outcomes: deque[tuple[float, bool]] = deque(maxlen=MAX_OUTCOMES)

    def record(self, *, failed: bool) -> None:
        """Record a question that has ended."""
        self._outcomes.append((self._clock.monotonic(), failed))

    def list_problems(self) -> list[str]:
        """A sentence if at least half of the questions failed."""
        now = self._clock.monotonic()
        recent = [(at, failed) for at, failed in self._outcomes if now - at <= WINDOW_SECONDS]
        failures = [at for at, failed in recent if failed]
        if not failures or len(failures) < MIN_SHARE * len(recent):
            return []
        ago = now - failures[-1]
        return [f"{len(failures)} of the last {len(recent)} questions failed, the last one {ago:.0f} seconds ago."]
