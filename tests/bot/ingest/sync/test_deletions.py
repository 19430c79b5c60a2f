"""Which stored messages of a thread a listing should contain."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.ingest.sync.deletions import find_missing
from bot.platform.models import Message
from bot.platform.ports import ThreadPage
from bot.store import MessageRecord
from tests.support.builders import ROOF, make_message
from tests.support.fake_platform import START

THREAD = replace(ROOF, thread="m0")


def post(number: int) -> Message:
    """A message of the thread that m0 begins, in the minute of its number."""
    place = THREAD if number else ROOF
    return make_message(f"m{number}", location=place, time=START + timedelta(minutes=number))


KNOWN = [MessageRecord(ROOF.room, f"m{number}", "m0", "ada", post(number).time, "") for number in range(5)]


@pytest.mark.parametrize(
    ("listed", "is_complete", "missing"),
    [
        ((0, 1, 2, 3, 4), True, []),
        ((0, 2, 4), True, ["m1", "m3"]),
        ((), True, ["m0", "m1", "m2", "m3", "m4"]),
        ((2, 4), False, ["m3"]),
        ((0, 2, 4), False, ["m3"]),
        ((2,), False, ["m3", "m4"]),
        ((), False, []),
        ((0,), False, []),
    ],
)
def test_it_lacks_what_is_within_its_reach(listed: tuple[int, ...], *, is_complete: bool, missing: list[str]) -> None:
    page = ThreadPage([post(number) for number in listed], is_complete=is_complete)
    assert [record.id for record in find_missing(page, KNOWN)] == missing


def test_of_two_messages_of_a_moment_both_are_within_reach() -> None:
    twin = replace(KNOWN[2], id="m9")
    assert find_missing(ThreadPage([post(2)], is_complete=False), [KNOWN[1], twin]) == [twin]


def test_the_root_is_never_within_reach() -> None:
    root = replace(KNOWN[0], time=KNOWN[4].time)
    assert find_missing(ThreadPage([post(2)], is_complete=False), [root]) == []
