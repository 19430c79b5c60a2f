"""Messages as documents: which document a message belongs to, and where a run of messages ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ingest.conversations import (
    IndexedMessage,
    StoredWindow,
    choose_window,
    find_page_boundary,
    group_into_runs,
    message_digest,
    split_at_silence,
    to_indexed_message,
)
from bot.platform.models import Message
from bot.store import ConversationRecord
from tests.support.builders import ROOF, make_message
from tests.support.fake_platform import START

ROOM = ROOF.room


def at(id_: str, minute: float, thread: str = "", text: str = "Hello.") -> Message:
    return make_message(id_, text, location=replace(ROOF, thread=thread), time=START + timedelta(minutes=minute))


def index(message: Message, tokens: int = 10, author: str = "Ada") -> IndexedMessage:
    made = to_indexed_message(message, author, message.text, "https://chat.example", lambda _: tokens)
    assert made
    return made


def window(first: float, last: float, tokens: int = 100) -> StoredWindow:
    start, end = (START + timedelta(minutes=minute) for minute in (first, last))
    record = ConversationRecord(f"{ROOM}:window:w{first:g}", ROOM, "", start, end, tokens)
    ends = {minute: index(at(f"{record.document} {minute}", minute)) for minute in (first, last)}
    return StoredWindow(record, tuple(each.passage for each in ends.values()))


def runs(messages: list[Message], tokens: int = 10) -> dict[str, list[str]]:
    found = group_into_runs([index(message, tokens) for message in messages], ROOM)
    return {run.document.removeprefix(f"{ROOM}:"): [message.message.id for message in run.messages] for run in found}


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


def test_a_passage_is_a_line_with_time_and_name() -> None:
    made = to_indexed_message(at("1", 0, text="a"), "Ada\nL.", " two \r\nlines\x00 ", "https://chat.example", len)
    assert made
    assert made.passage.text == "[2026-11-20 10:00] Ada L.: two\nlines"
    assert (made.passage.key, made.passage.label, made.tokens) == ("1", "Ada L., 2026-11-20 10:00", 36)
    assert to_indexed_message(at("1", 0), "Ada", " \x00\n", "", len) is None
    assert index(make_message(title="Who has\nthe ladder?")).title == "Who has the ladder?"


@pytest.mark.parametrize(
    ("minute", "windows", "expected"),
    [
        pytest.param(24.9, [window(0, 10)], "w0", id="within the silence"),
        pytest.param(25, [window(0, 10)], "9", id="after it"),
        pytest.param(24.9, [], "9", id="no window"),
        pytest.param(20, [window(0, 10), window(10, 15)], "w10", id="the nearer one"),
        pytest.param(20, [window(0, 10), window(10, 15, tokens=1191)], "9", id="a full one sends nobody to the other"),
        pytest.param(0, [window(10, 12), window(5, 6)], "w5", id="the nearest of later ones"),
        pytest.param(0, [window(5, 6, tokens=1191)], "9", id="a full later one"),
        pytest.param(5, [window(0, 10), window(10, 15)], "w0", id="the one around it"),
        pytest.param(12, [window(0, 10), window(2, 10.5)], "w2", id="the later of two that end together"),
    ],
)
def test_a_message_joins_the_nearest_window(minute: float, windows: list[StoredWindow], expected: str) -> None:
    assert choose_window(index(at("9", minute)), windows) == f"{ROOM}:window:{expected}"


@pytest.mark.parametrize(
    ("messages", "tokens", "expected"),
    [
        pytest.param(
            [at("1", 0), at("2", 14), at("3", 29), at("4", 44)],
            10,
            {"window:1": ["1", "2"], "window:3": ["3"], "window:4": ["4"]},
            id="silences",
        ),
        pytest.param(
            [at(str(number), number) for number in range(5)],
            500,
            {"window:0": ["0", "1"], "window:2": ["2", "3"], "window:4": ["4"]},
            id="the budget",
        ),
        pytest.param(
            [at("1", 0), at("2", 1), at("3", 500, "1"), at("4", 600, "elsewhere")],
            10,
            {"thread:1": ["1", "3"], "thread:elsewhere": ["4"], "window:2": ["2"]},
            id="threads with their roots",
        ),
    ],
)
def test_a_history_is_cut_at(messages: list[Message], tokens: int, expected: dict[str, list[str]]) -> None:
    assert runs(messages, tokens) == expected


def test_a_root_whose_replies_are_known_goes_to_its_thread() -> None:
    [run] = group_into_runs([index(at("1", 0))], ROOM, {"1"})
    assert (run.document, run.thread) == (f"{ROOM}:thread:1", "1")


@pytest.mark.parametrize(
    ("page", "whole", "held"),
    [
        pytest.param(
            [at("5", 70), at("4", 60), at("3", 90, "2"), at("2", 10), at("1", 0)],
            ["4", "5"],
            ["1", "2", "3"],
            id="the oldest run waits with its threads",
        ),
        pytest.param([at("3", 5, "0"), at("1", 0)], ["3"], ["1"], id="replies to older messages wait for nothing"),
    ],
)
def test_of_a_page_the_oldest_run_waits_for_older_pages(page: list[Message], whole: list[str], held: list[str]) -> None:
    assert tuple(map(ids, split_at_silence(page))) == (whole, held)


def test_an_older_page_begins_where_nothing_newer_waits() -> None:
    whole, held = split_at_silence([at("5", 70), at("4", 60), at("2", 10), at("1", 0)])
    more: tuple[list[Message], ...] = ([], [at("3", 65, "2")], [at("3", 99, "2")])
    assert [find_page_boundary(whole, [*held, *row]) for row in more] == ["4", "5", ""]


def test_only_what_is_shown_changes_the_digest() -> None:
    first = at("1", 0)
    assert message_digest(first) == message_digest(replace(first, edited="7", by_bot=True))
    assert message_digest(first) != message_digest(replace(first, text="Hello!"))


@given(st.lists(st.integers(0, 120), min_size=1, max_size=30), st.integers(1, 7))
def test_pages_end_anywhere_without_changing_a_document(minutes: list[int], size: int) -> None:
    messages = [at(f"m{number:02}", minute) for number, minute in enumerate(sorted(minutes))]
    newest, found, held = messages[::-1], dict[str, list[str]](), list[Message]()
    for start in range(0, len(newest), size):
        whole, held = split_at_silence([*held, *newest[start : start + size]])
        found |= runs(whole)
    assert found | runs(held) == runs(messages)


BUSY = [  # three conversations at once: the number of a message, its author and text, and its conversation
    *((f"0{number}", f"Guest{number}", "Nice weather today.", "01") for number in range(1, 9)),
    ("1", "Ada", "Does anyone know why the boiler in the north building makes that noise?", "1"),
    ("2", "Ben", "Grace, did you order the ladder for the roof?", "2"),
    ("3", "Grace", "Ben: yes, the ladder comes on Friday.", "2"),
    ("4", "Carl", "Ada: the boiler has air in its pipes, open the valve.", "1"),
    ("5", "Ben", "Grace, great, then the roof can wait until Friday.", "2"),
    ("6", "Ada", "Carl, which valve? The boiler has three.", "1"),
    ("7", "Carl", "Ada: the red one below the boiler.", "1"),
]


def busy(tokens: int = 10) -> tuple[list[IndexedMessage], dict[str, str]]:
    """The busy channel, and the document of each message."""
    indexed = [
        index(at(id_, minute / 4, text=text), tokens, author) for minute, (id_, author, text, _) in enumerate(BUSY)
    ]
    return indexed, {
        message.message.id: run.document for run in group_into_runs(indexed, ROOM) for message in run.messages
    }


def test_conversations_at_the_same_time_become_different_documents() -> None:
    assert busy()[1] == {id_: f"{ROOM}:window:{first}" for id_, _, _, first in BUSY}


@pytest.mark.share(2)
@pytest.mark.parametrize("tokens", [10, 500], ids=["one window each", "several windows each"])
@given(data=st.data())
def test_grouping_again_after_some_documents_were_stored_gives_the_same(tokens: int, data: st.DataObject) -> None:
    indexed, whole = busy(tokens)
    stored = data.draw(st.sets(st.sampled_from(sorted(set(whole.values())))))
    assigned = {id_: document for id_, document in whole.items() if document in stored}
    runs = group_into_runs(indexed, ROOM, (), assigned)
    assert assigned | {message.message.id: run.document for run in runs for message in run.messages} == whole


@pytest.mark.parametrize("tokens", [10, 500], ids=["one window each", "several windows each"])
def test_messages_that_arrive_one_by_one_join_the_conversations_of_a_page(tokens: int) -> None:
    indexed, whole = busy(tokens)
    stored: dict[str, list[IndexedMessage]] = {}
    for each in indexed:
        found = choose_window(each, [to_stored(document, group) for document, group in stored.items()])
        stored.setdefault(found, []).append(each)
        assert found == whole[each.message.id]


def to_stored(document: str, group: list[IndexedMessage]) -> StoredWindow:
    first, last = group[0].message.time, group[-1].message.time
    record = ConversationRecord(document, ROOM, "", first, last, sum(message.tokens for message in group))
    return StoredWindow(record, tuple(message.passage for message in group))


def test_a_reply_of_the_platform_joins_the_message_that_it_quotes() -> None:
    indexed, _ = busy()
    late = replace(at("8", 9, text="Thanks."), replies_to="3")
    found = group_into_runs([*indexed, index(late, author="Dora")], ROOM)
    assert {run.document for run in found if "8" in {message.message.id for message in run.messages}} == {
        f"{ROOM}:window:2"
    }
