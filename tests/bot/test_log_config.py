from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from bot.monitoring import log_config
from engine.clock import SYSTEM_CLOCK
from tests.support.clock import ManualClock


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = logging.root.handlers[:]
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = before


def fail() -> None:
    api_key = f"sk-{'secret'.upper()}"
    raise ValueError(len(api_key))


def log_a_failure() -> None:
    try:
        fail()
    except ValueError:
        structlog.get_logger("test").exception("worker stopped", hint="Wait.")


def test_a_trace_shows_where_but_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    log_config.configure_logging(SYSTEM_CLOCK, debug=True)
    log_a_failure()
    shown = capsys.readouterr().err
    assert "worker stopped" in shown
    assert "in fail" in shown
    assert "sk-SECRET" not in shown


def test_nothing_is_logged_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    log_config.configure_logging(SYSTEM_CLOCK, debug=False)
    log_a_failure()
    assert capsys.readouterr() == ("", "")


def test_a_server_tells_its_operator_in_lines_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    log_config.configure_logging(SYSTEM_CLOCK, debug=False, serving=True)
    structlog.get_logger("somewhere").debug("a detail")
    structlog.get_logger("somewhere").info("slack.connected", platform="slack")
    [line] = capsys.readouterr().err.splitlines()
    shown = json.loads(line)
    assert (shown["event"], shown["level"], shown["platform"]) == ("slack.connected", "info", "slack")
    assert shown["timestamp"].endswith("Z")


def test_a_server_shows_so_many_warnings_of_one_kind_and_then_how_many_there_were() -> None:
    clock = ManualClock()
    limiter = log_config.LogLimiter(clock)
    shown = [limiter.count("refused") for _ in range(100)]
    assert shown == [0] * log_config.MAX_WARNINGS + [None] * (100 - log_config.MAX_WARNINGS)
    assert limiter.count("another") == 0
    clock.advance(60.0)
    assert [limiter.count("refused") for _ in range(2)] == [100 - log_config.MAX_WARNINGS, 0]


def test_a_line_tells_the_time_of_the_clock(capsys: pytest.CaptureFixture[str]) -> None:
    log_config.configure_logging(ManualClock(), debug=False, serving=True)
    structlog.get_logger("somewhere").info("slack.connected")
    assert json.loads(capsys.readouterr().err)["timestamp"] == "2026-11-20T10:00:00Z"


def test_nobody_fills_the_log_of_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    log_config.configure_logging(SYSTEM_CLOCK, debug=False, serving=True)
    for number in range(1000):
        log_a_failure()
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received: %d", number)
        structlog.get_logger("somewhere").info("documents.indexed")
    lines = capsys.readouterr().err.splitlines()
    assert sum("worker stopped" in line for line in lines) == log_config.MAX_WARNINGS
    assert sum("Invalid HTTP" in line for line in lines) == log_config.MAX_WARNINGS
    assert sum("documents.indexed" in line for line in lines) == 1000
