"""Messages as documents: which one a message belongs to, and where a run of messages ends."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.ingest.conversations import (
    IndexedMessage,
    choose_window,
    find_page_boundary,
    group_into_runs,
    message_digest,
    split_at_silence,
    to_indexed_message,
)
from bot.platform.models import Location, Message
from bot.store import ConversationRecord
from tests.support.fake_platform import START

ROOF = Location("slack", "T1", "ROOF")
ROOM = ROOF.room


def message(id_: str, minute: float, thread: str = "", text: str = "Hello.") -> Message:
    return Message(id_, Location("slack", "T1", "ROOF", thread), "U1", text, START + timedelta(minutes=minute))


def said(each: Message, tokens: int = 10) -> IndexedMessage:
    made = to_indexed_message(each, "Ada", each.text, "https://chat.example", lambda _: tokens)
    assert made
    return made


def window(first: float, last: float, tokens: int = 100) -> ConversationRecord:
    start, stop = START + timedelta(minutes=first), START + timedelta(minutes=last)
    return ConversationRecord(f"{ROOM}:window:w{first:g}", ROOM, "", start, stop, tokens)


def documents(messages: list[Message], tokens: int = 10) -> dict[str, list[str]]:
    found = group_into_runs([said(each, tokens) for each in messages], ROOM)
    return {run.document.removeprefix(f"{ROOM}:"): [each.message.id for each in run.messages] for run in found}


def test_a_passage_is_a_line_with_time_and_name() -> None:
    made = to_indexed_message(message("1", 0, text="a"), "Ada\nL.", " two \r\nlines\x00 ", "https://chat.example", len)
    assert made
    assert made.passage.text == "[2026-11-20 10:00] Ada L.: two\nlines"
    assert (made.passage.key, made.passage.label, made.tokens) == ("1", "Ada L., 2026-11-20 10:00", 36)


def test_there_is_no_passage_without_words() -> None:
    assert to_indexed_message(message("1", 0), "Ada", " \x00\n", "", len) is None


def test_the_title_of_a_post_is_that_of_its_document() -> None:
    post = Message("1", ROOF, "U1", "Hello.", START, title="Who has\nthe ladder?")
    assert said(post).title == "Who has the ladder?"


def test_a_message_joins_the_window_in_whose_silence_it_falls() -> None:
    late = said(message("9", 24.9))
    assert choose_window(late, [window(0, 10)]) == f"{ROOM}:window:w0"
    assert choose_window(said(message("9", 25)), [window(0, 10)]) == f"{ROOM}:window:9"
    assert choose_window(late, []) == f"{ROOM}:window:9"


def test_of_two_windows_the_nearer_one_counts_and_a_full_one_sends_nobody_to_the_other() -> None:
    late = said(message("9", 20))
    assert choose_window(late, [window(0, 10), window(10, 15)]) == f"{ROOM}:window:w10"
    assert choose_window(late, [window(0, 10), window(10, 15, tokens=1191)]) == f"{ROOM}:window:9"
    assert choose_window(said(message("9", 5)), [window(0, 10), window(10, 15)]) == f"{ROOM}:window:w0"


def test_of_two_windows_at_the_same_end_the_later_one_counts() -> None:
    assert choose_window(said(message("9", 12)), [window(0, 10), window(2, 10.5)]) == f"{ROOM}:window:w2"


def test_the_past_is_cut_at_silences_and_at_the_budget() -> None:
    assert documents([message("1", 0), message("2", 14), message("3", 29), message("4", 44)]) == {
        "window:1": ["1", "2"],
        "window:3": ["3"],
        "window:4": ["4"],
    }
    assert documents([message(str(n), n) for n in range(5)], 500) == {
        "window:0": ["0", "1"],
        "window:2": ["2", "3"],
        "window:4": ["4"],
    }


def test_threads_of_the_past_have_their_roots() -> None:
    told = [message("1", 0), message("2", 1), message("3", 500, "1"), message("4", 600, "elsewhere")]
    assert documents(told) == {"thread:1": ["1", "3"], "thread:elsewhere": ["4"], "window:2": ["2"]}


def test_a_root_whose_replies_are_known_already_goes_to_its_thread() -> None:
    [run] = group_into_runs([said(message("1", 0))], ROOM, {"1"})
    assert (run.document, run.thread) == (f"{ROOM}:thread:1", "1")


def test_the_oldest_run_of_a_page_waits_for_older_ones_with_its_threads() -> None:
    page = [message("5", 70), message("4", 60), message("3", 90, "2"), message("2", 10), message("1", 0)]
    whole, held = split_at_silence(page)
    assert ([each.id for each in whole], [each.id for each in held]) == (["4", "5"], ["1", "2", "3"])


def test_replies_to_what_is_older_than_the_page_wait_for_nothing() -> None:
    whole, held = split_at_silence([message("3", 5, "0"), message("1", 0)])
    assert ([each.id for each in whole], [each.id for each in held]) == (["3"], ["1"])


def test_an_older_page_begins_where_nothing_newer_waits() -> None:
    whole, held = split_at_silence([message("5", 70), message("4", 60), message("2", 10), message("1", 0)])
    assert find_page_boundary(whole, held) == "4"
    assert find_page_boundary(whole, [*held, message("3", 65, "2")]) == "5"
    assert find_page_boundary(whole, [*held, message("3", 99, "2")]) == ""


def test_only_other_words_change_the_digest() -> None:
    first = message("1", 0)
    again = Message("1", ROOF, "U1", "Hello.", START, edited="7", title="x")
    assert message_digest(first) == message_digest(again)
    assert message_digest(first) != message_digest(message("1", 0, text="Hello!"))


@given(st.lists(st.integers(0, 120), min_size=1, max_size=30), st.integers(1, 7))
def test_pages_end_anywhere_without_changing_a_document(minutes: list[int], size: int) -> None:
    told = [message(f"m{number:02}", minute) for number, minute in enumerate(sorted(minutes))]
    newest = told[::-1]
    found: dict[str, list[str]] = {}
    held: list[Message] = []
    for start in range(0, len(newest), size):
        whole, held = split_at_silence([*held, *newest[start : start + size]])
        found |= documents(whole)
    assert found | documents(held) == documents(told)
