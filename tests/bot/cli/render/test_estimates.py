from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot.capabilities.requests import Ingest
from bot.capabilities.results import Completed, EstimateResult, OperationResult
from bot.cli.render.console import Screen
from bot.cli.render.estimates import ask_to_go_on, format_estimate
from bot.cli.runner import Estimated, accept_estimate
from tests.support.clock import ManualClock

LARGE = EstimateResult(0, 40_000, 3_612_345, is_whole=True, model="some/model", tokens=14_123_456, seconds=3 * 3600)


def test_an_estimate_names_what_is_new_its_tokens_its_price_and_the_time() -> None:
    priced = replace(LARGE, dollars=2.1)
    assert format_estimate(priced) == (
        "To index: 40,000 new messages, about 3,600,000 tokens of text. For the graph, some/model takes about"
        " 14,000,000 tokens ($2.10) and 3 hours. Search finds the texts before that, once they have vectors."
    )
    assert "(price unknown)" in format_estimate(replace(LARGE, dollars=None))
    again = replace(priced, messages=0, chunks=900)
    assert format_estimate(again).startswith("To read again: 900 chunks, about 3,600,000 tokens")
    assert format_estimate(EstimateResult(0, 0, 9, chunks=1)).startswith("To read again: 1 chunk. No model reads them")
    assert "more than 14,000,000" in format_estimate(replace(priced, is_whole=False))


async def test_the_estimate_of_a_request_is_shown_first_and_may_end_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def results() -> AsyncGenerator[OperationResult]:
        yield replace(LARGE, dollars=2.1)

    asked = Estimated(Ingest(("/a",), "s"))
    monkeypatch.setattr("bot.cli.render.estimates.ask_to_go_on", lambda _: False)
    assert not await accept_estimate(Screen(ManualClock()), results(), asked)
    shown = capsys.readouterr().err
    assert shown.startswith("To index: 40,000 new messages")
    assert "Nothing was read." in shown
    assert await accept_estimate(Screen(ManualClock()), results(), replace(asked, yes=True))


async def test_an_estimate_and_who_will_find_it_fit_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def results() -> AsyncGenerator[OperationResult]:
        yield Completed("Every full member of chat:T1 can find what is in 2 open channels. Whoever uses this one, too.")
        yield replace(LARGE, dollars=2.1)

    monkeypatch.setenv("COLUMNS", "40")
    assert await accept_estimate(Screen(ManualClock()), results(), Estimated(Ingest(("/a",), "s"), yes=True))
    assert max(map(len, capsys.readouterr().err.splitlines())) <= 40


def test_programs_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert ask_to_go_on(replace(LARGE, dollars=100.0))
