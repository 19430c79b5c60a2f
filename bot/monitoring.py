"""Whether the bot is well, and in numbers: /healthz and /metrics over HTTP, for whoever watches over it."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from bot.errors import BadSetting
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from prometheus_client.core import Metric

    from engine import Supervisor, Usage

SILENCE_LIMIT = 300.0  # seconds without a sign of life after which a platform counts as lost
LATENCY_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 60.0)  # seconds


class Metrics:
    """What is counted, in a registry of its own; it holds no text, no names and no ids. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.registry = CollectorRegistry()
        self._clock = clock
        self._last_activity: dict[str, float] = {}
        self._questions = Counter(
            "threadlore_questions", "Questions, by how they ended.", ("platform", "outcome"), registry=self.registry
        )
        self._feedback = Counter(
            "threadlore_feedback",
            "Thumbs below answers; one that is turned counts again.",
            ("platform", "verdict"),
            registry=self.registry,
        )
        self._time_to_first_token = Histogram(
            "threadlore_first_word_seconds",
            "From the question to the first word of its answer.",
            ("platform",),
            registry=self.registry,
            buckets=LATENCY_BUCKETS,
        )
        self._tokens = Counter(
            "threadlore_tokens", "Tokens of model calls.", ("purpose", "direction"), registry=self.registry
        )
        self._queue_depth = Gauge("threadlore_inbox_depth", "Events not worked on yet.", registry=self.registry)
        self._activity_age = Gauge(
            "threadlore_platform_silence_seconds",
            "Since the last event or ping of a platform.",
            ("platform",),
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)

    def register_supervisor(self, supervisor: Supervisor) -> None:
        """Count the failures of background tasks, and say which are failing."""
        self.registry.register(_TaskCollector(supervisor))

    def record_question(self, platform: str, outcome: str) -> None:
        """A question has ended, with an answer or with what kept it back."""
        self._questions.labels(platform, outcome).inc()

    def record_feedback(self, platform: str, verdict: str) -> None:
        """Somebody thinks so of an answer ("up", "down") who did not before."""
        self._feedback.labels(platform, verdict).inc()

    def record_first_token(self, platform: str, seconds: float) -> None:
        """The first word of an answer came so long after the question."""
        self._time_to_first_token.labels(platform).observe(seconds)

    def record_usage(self, usage: Iterable[Usage]) -> None:
        """Model calls were made."""
        for each in usage:
            self._tokens.labels(each.purpose, "in").inc(each.input_tokens)
            self._tokens.labels(each.purpose, "out").inc(each.output_tokens)

    def set_queue_depth(self, depth: Callable[[], float]) -> None:
        """How the inbox's depth is learnt."""
        self._queue_depth.set_function(depth)

    def record_activity(self, platform: str) -> None:
        """A platform gave a sign of life."""
        if platform not in self._last_activity:
            self._activity_age.labels(platform).set_function(lambda: self.seconds_since_activity(platform))
        self._last_activity[platform] = self._clock()

    def seconds_since_activity(self, platform: str) -> float:
        """Seconds since the last sign of life; infinite if there never was one."""
        return self._clock() - self._last_activity.get(platform, float("-inf"))


class _TaskCollector(Collector):
    """Reads the state of background tasks when it is asked for."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    def collect(self) -> Iterable[Metric]:
        failures = CounterMetricFamily(
            "threadlore_task_failures", "Failures of background tasks since the start.", labels=("task",)
        )
        failing = GaugeMetricFamily(
            "threadlore_task_failing", "Whether a background task is failing at the moment.", labels=("task",)
        )
        for report in self._supervisor.list_reports():
            failures.add_metric((report.name,), report.failures)
            failing.add_metric((report.name,), report.is_failing)
        return failures, failing


def list_health_problems(metrics: Metrics, platforms: Iterable[str], *, working: bool) -> list[str]:
    """Why the bot is not well; nothing if it is. `working`: whether its inbox is worked on."""
    found = [] if working else ["The inbox is not worked on."]
    for platform in sorted(platforms):
        silence = metrics.seconds_since_activity(platform)
        if silence == float("inf"):
            found.append(f"Nothing was heard of {platform} yet.")
        elif silence > SILENCE_LIMIT:
            found.append(f"Nothing was heard of {platform} for {silence:.0f} seconds.")
    return found


@asynccontextmanager
async def serve_monitoring(
    host: str,
    port: int,
    metrics: Metrics,
    complaining: Callable[[], Sequence[str]],
    limiting: Callable[[], Awaitable[Sequence[str]]] | None = None,
) -> AsyncIterator[int]:
    """Serve both pages until left; gives the port (0 lets the system choose). Raises BadSetting.

    `complaining` says why the bot fails (503), `limiting` what is degraded while it goes on working (200).
    """

    async def healthz(_: web.Request) -> web.Response:
        failing, degraded = list(complaining()), await _list_limitations(limiting)
        status = "failing" if failing else "degraded" if degraded else "ok"
        return web.json_response({"status": status, "reasons": failing + degraded}, status=503 if failing else 200)

    async def numbers(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(metrics.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.add_routes([web.get("/healthz", healthz), web.get("/metrics", numbers)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        yield await _bind_port(runner, host, port)
    finally:
        await runner.cleanup()


async def _list_limitations(limiting: Callable[[], Awaitable[Sequence[str]]] | None) -> list[str]:
    try:
        return list(await limiting()) if limiting is not None else []
    except EngineError as error:
        return [str(error)]


async def _bind_port(runner: web.AppRunner, host: str, port: int) -> int:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise BadSetting(
            f"THREADLORE_MONITORING_HOST and THREADLORE_MONITORING_PORT cannot be used: {error.strerror or error}."
        ) from error
    return int(runner.addresses[0][1])
