from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence

import aiohttp
import pytest

from bot.errors import PortInUse
from bot.monitoring import probes
from bot.monitoring.health import (
    NO_ANSWER,
    UNKNOWN_LIMITATIONS,
    ServerHealth,
    ServerState,
    list_health_problems,
    serve_monitoring,
)
from bot.monitoring.metrics import MAX_WORKSPACES, Metrics
from bot.monitoring.report import HealthState
from engine.clock import SYSTEM_CLOCK
from engine.errors import StoreError
from engine.scheduling.supervisor import Supervisor
from engine.usage import Usage
from tests.support.clock import ManualClock
from tests.support.patience import PATIENCE
from tests.support.raw_http import holding

OK = (200, '{"status": "ok", "reasons": []}')
NUMBERS = """\
threadlore_questions_total{outcome="answered",platform="slack"} 1.0
threadlore_time_to_first_token_seconds_bucket{le="0.5",platform="slack"} 1.0
threadlore_llm_tokens_total{purpose="answer",type="input"} 120.0
threadlore_llm_tokens_total{purpose="answer",type="output"} 30.0
threadlore_event_queue_depth 3.0
threadlore_event_queue_age_seconds{workspace="slack:T1"} 7.0
threadlore_processes_taken_over 1.0
threadlore_database_wait_seconds{database="ledger"} 0.25
threadlore_ingest_pending_documents 5.0
threadlore_ingest_given_up 2.0
threadlore_extraction_failures_total 3.0
threadlore_incomplete_chunks{outcome="rowless"} 4.0
threadlore_outdated_chunks 6.0
threadlore_llm_replies_total{outcome="facts",purpose="extract"} 1.0
threadlore_skipped_events_total{event="GUILD_UPDATE",platform="discord"} 1.0
threadlore_retrieval_duration_seconds_bucket{le="0.003",stage="vectors"} 1.0
threadlore_llm_call_duration_seconds_count{purpose="extract"} 1.0
threadlore_platform_last_event_age_seconds{platform="slack"} 12.0
"""


def ready(
    metrics: Metrics,
    list_problems: Callable[[], Sequence[str]] = list,
    **found: Callable[[], Awaitable[Sequence[str]]],
) -> ServerHealth:
    health = ServerHealth(metrics)
    health.become_ready(list_problems, **found)
    return health


async def fetch(port: int, page: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/{page}") as response:
        return response.status, await response.text()


def test_a_platform_that_others_are_connected_to_has_no_age_until_its_next_sign_of_life() -> None:
    clock, name = ManualClock(), "threadlore_platform_last_event_age_seconds"
    metrics = Metrics(clock)
    metrics.forget_activity("discord")
    metrics.record_activity("discord")
    clock.advance(400)
    metrics.forget_activity("discord")
    assert metrics.registry.get_sample_value(name, {"platform": "discord"}) is None
    metrics.record_activity("discord")
    clock.advance(3)
    assert metrics.registry.get_sample_value(name, {"platform": "discord"}) == 3.0


def test_a_stopped_queue_and_a_silent_platform_are_health_problems() -> None:
    clock = ManualClock()
    metrics = Metrics(clock)
    metrics.record_activity("slack")
    assert list_health_problems(metrics, ["slack"], working=True) == []
    clock.advance(400)
    metrics.record_activity("console")
    assert list_health_problems(metrics, ["slack", "discord", "console"], working=False) == [
        "The event queue is not being processed.",
        "No event has been received from discord yet.",
        "No event has been received from slack for 400 seconds.",
    ]


async def test_health_is_ok_or_says_why_not() -> None:
    reasons: Sequence[str] = ()
    async with serve_monitoring("127.0.0.1", 0, ready(Metrics(ManualClock()), lambda: reasons)) as port:
        assert await fetch(port, "healthz") == OK
        reasons = ["The event queue is not being processed."]
        status, text = await fetch(port, "healthz")
    assert status == 503
    assert "event queue" in text


async def test_a_failing_background_task_is_named_and_counted_while_the_bot_works() -> None:
    supervisor, metrics = Supervisor(SYSTEM_CLOCK), Metrics(ManualClock())
    metrics.register_supervisor(supervisor)
    supervisor.record_failure("embed", StoreError("The disk is full."))

    async def limitations() -> list[str]:
        return supervisor.list_problems()

    async with serve_monitoring("127.0.0.1", 0, ready(metrics, list_limitations=limitations)) as port:
        status, page = await fetch(port, "healthz")
        assert (status, json.loads(page)["status"]) == (200, "degraded")
        assert "embed" in page
        _, numbers = await fetch(port, "metrics")
        for name in ("task_failures_total", "task_failing"):
            assert f'threadlore_background_{name}{{task="embed"}} 1.0' in numbers
        supervisor.record_success("embed")
        assert await fetch(port, "healthz") == OK


async def test_the_numbers_can_be_read_by_prometheus() -> None:
    clock = ManualClock()
    metrics, other = Metrics(clock), Metrics(clock)
    metrics.record_question("slack", "answered")
    metrics.record_first_token("slack", 0.4)
    metrics.record_usage([Usage("answer", "some/model", 120, 30), Usage("embed", "other/model", 7)])
    metrics.set_queue_depth(3)
    metrics.set_queue_ages({"slack:T2": 90.0})
    metrics.set_queue_ages({"slack:T1": 7.0})
    metrics.set_takeovers(1)
    metrics.set_database_wait("ledger", 0.25)
    metrics.set_pending_documents(5)
    metrics.set_given_up(2)
    metrics.set_incomplete_chunks({"rowless": 4})
    metrics.set_outdated_chunks(6)
    metrics.record_reply("extract", "facts")
    metrics.record_skipped_event("discord", "GUILD_UPDATE")
    for failures in (2, 3):
        metrics.set_extraction_failures(failures)
    metrics.record_retrieval({"vectors": 2.0})
    metrics.record_llm_call("extract", 1.5)
    metrics.record_activity("slack")
    clock.advance(12)
    async with serve_monitoring("127.0.0.1", 0, ready(metrics)) as port:
        status, text = await fetch(port, "metrics")
    assert status == 200
    assert set(NUMBERS.splitlines()) <= set(text.splitlines())
    assert "slack:T2" not in text
    labels = {"platform": "slack", "outcome": "answered"}
    assert other.registry.get_sample_value("threadlore_questions_total", labels) is None


async def test_a_port_in_use_is_named_with_its_settings() -> None:
    async with serve_monitoring("127.0.0.1", 0, ready(Metrics(ManualClock()))) as port:
        with pytest.raises(PortInUse, match="THREADLORE_MONITORING_PORT"):
            async with serve_monitoring("127.0.0.1", port, ready(Metrics(ManualClock()))):
                pass


@pytest.mark.parametrize("state", list(ServerState))
async def test_a_process_takes_requests_only_while_it_is_ready_and_lives_before_and_after(state: ServerState) -> None:
    health = ServerHealth(Metrics(ManualClock()), state)
    async with serve_monitoring("127.0.0.1", 0, health) as port:
        status, page = await fetch(port, "readyz")
        assert status == (200 if state == "ready" else 503)
        assert json.loads(page) == {"status": state.value, "reasons": []}
        status, page = await fetch(port, "healthz")
        assert (status, json.loads(page)["status"]) == (200, "ok" if state == "ready" else state.value)
        assert (await fetch(port, "metrics"))[0] == 200


async def hang() -> Sequence[str]:
    await asyncio.Event().wait()
    return ()


async def test_probes_answer_in_time_and_say_what_they_could_not_find_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "PROBE_SECONDS", 0.05)
    health = ready(Metrics(ManualClock()), list_limitations=hang, list_obstacles=hang)
    async with serve_monitoring("127.0.0.1", 0, health) as port, asyncio.timeout(PATIENCE):
        for _ in range(2):
            status, page = await fetch(port, "healthz")
            assert (status, json.loads(page)) == (
                200,
                {"status": "degraded", "reasons": [NO_ANSWER, UNKNOWN_LIMITATIONS]},
            )
            status, page = await fetch(port, "readyz")
            assert (status, json.loads(page)) == (503, {"status": "unavailable", "reasons": [NO_ANSWER]})


async def test_a_process_is_ready_while_its_doors_and_its_database_are() -> None:
    obstacles: list[str] = []

    async def list_obstacles() -> list[str]:
        return obstacles

    health = ready(Metrics(ManualClock()), list_obstacles=list_obstacles)
    listening = health.expect_door("web")
    async with serve_monitoring("127.0.0.1", 0, health) as port:
        assert (await fetch(port, "readyz"))[0] == 503
        listening.set()
        assert (await fetch(port, "readyz"))[0] == 200
        obstacles.append("The database could not be reached.")
        assert (await fetch(port, "readyz"))[0] == 503
        obstacles.clear()
        health.state = ServerState.DRAINING
        assert (await fetch(port, "readyz"))[0] == 503


async def test_health_is_degraded_while_questions_fail() -> None:
    clock = ManualClock()
    metrics = Metrics(clock)
    health = ready(metrics)
    for outcome in ("answered", "refused", "stopped", "failed"):
        metrics.record_question("slack", outcome)
    clock.advance(20)
    reason = "1 of the last 2 questions failed, the last one 20 seconds ago."
    assert await health.describe() == HealthState("degraded", (reason,))
    metrics.record_question("slack", "nothing")
    assert (await health.describe()).status == "ok"
    for _ in range(4):
        metrics.record_question("api", "failed")
    assert (await health.describe()).status == "degraded"
    clock.advance(301)
    assert (await health.describe()).status == "ok"


async def test_a_probe_that_fails_says_so() -> None:
    async def fail() -> Sequence[str]:
        raise StoreError("The disk is full.")

    health = ready(Metrics(ManualClock()), list_obstacles=fail)
    assert await health.describe() == HealthState("degraded", ("The disk is full.",), is_ready=False)


def test_the_ages_of_few_workspaces_are_shown_however_many_wait() -> None:
    metrics = Metrics(ManualClock())
    metrics.set_queue_ages({f"slack:T{number}": float(number) for number in range(1_000)})
    shown = [sample.labels["workspace"] for sample in next(iter(metrics._queue_age.collect())).samples]
    assert shown == [f"slack:T{number}" for number in range(999, 999 - MAX_WORKSPACES, -1)]


HALF = b"GET /healthz HTTP/1.1\r\nHost: he"


async def test_strangers_who_keep_connections_open_do_not_hide_the_probes() -> None:
    async with serve_monitoring("127.0.0.1", 0, ready(Metrics(ManualClock()))) as port, holding(port, 80, HALF):
        assert (await fetch(port, "healthz"))[0] == 200
        assert (await fetch(port, "metrics"))[0] == 200
