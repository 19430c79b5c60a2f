from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog

from bot import log_config


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def fail() -> None:
    api_key = f"sk-{'secret'.upper()}"
    raise ValueError(len(api_key))


def log_a_failure() -> None:
    try:
        fail()
    except ValueError:
        structlog.get_logger("test").exception("worker stopped", hint="Wait.")


def test_a_trace_shows_where_but_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    log_config.configure_logging(debug=True)
    log_a_failure()
    shown = capsys.readouterr().err
    assert "worker stopped" in shown
    assert "in fail" in shown
    assert "sk-SECRET" not in shown


def test_nothing_is_logged_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    log_config.configure_logging(debug=False)
    log_a_failure()
    assert capsys.readouterr() == ("", "")


def test_a_server_tells_its_operator_in_lines_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    log_config.configure_logging(debug=False, serving=True)
    structlog.get_logger("somewhere").debug("a detail")
    structlog.get_logger("somewhere").info("slack.connected", platform="slack")
    [line] = capsys.readouterr().err.splitlines()
    shown = json.loads(line)
    assert (shown["event"], shown["level"], shown["platform"]) == ("slack.connected", "info", "slack")
    assert shown["timestamp"].endswith("Z")
