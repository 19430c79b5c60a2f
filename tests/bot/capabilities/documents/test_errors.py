"""Whoever does not run the bot is not told what its models are called, or what they answered."""

from __future__ import annotations

from dataclasses import replace

from bot import texts
from bot.capabilities.access.hints import word_errors
from bot.capabilities.results import StatusResult
from engine import IndexProblem, IndexStatus

QUIET = StatusResult(IndexStatus({"indexed": 1}, 1, 1, 0, 0, 0, 0, 0))


def test_trouble_in_a_status_is_worded_as_in_the_chat() -> None:
    told = replace(QUIET, status=replace(QUIET.status, trouble="http://models.internal:8000 refused parrot-70b."))
    assert word_errors(told) == replace(QUIET, status=replace(QUIET.status, trouble=texts.MODEL_TROUBLE))
    assert word_errors(QUIET) == QUIET


def test_so_is_what_was_not_read() -> None:
    told = IndexProblem("k", "Nets", "rowless", "parrot-70b gave nothing: “Give me text.”", "Buy a parrot-80b.", 2)
    result = word_errors(replace(QUIET, problems=(told,)))
    worded = texts.MODEL_TROUBLE[:1].upper() + texts.MODEL_TROUBLE[1:]
    assert result == replace(QUIET, problems=(IndexProblem("k", "Nets", "rowless", worded, "", 2),))
