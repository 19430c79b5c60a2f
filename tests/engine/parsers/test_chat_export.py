from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CorruptFile, EmptyDocument
from engine.parsers.chat_export import ChatMessage, group_conversations, parse, parse_messages

NOON = datetime(2026, 11, 20, 10, 3, tzinfo=UTC)


def _words(text: str) -> int:
    return len(text.split())


def _line(**fields: Any) -> bytes:
    return json.dumps({"id": "1", "user": "Ada", "text": "Hi", "time": "2026-11-20T10:03:00Z"} | fields).encode()


def _said(key: str, minute: float, text: str = "Hi", *, thread: str = "", user: str = "Ada") -> ChatMessage:
    return ChatMessage(key, user, text, NOON + timedelta(minutes=minute), thread)


@pytest.mark.parametrize(
    "time",
    [
        "2026-11-20T10:03:00Z",
        "2026-11-20T11:03:00+01:00",
        "2026-11-20T10:03:00",
        1795168980,
        1795168980.0,
        "1795168980.000000",
    ],
)
def test_times_are_iso_in_any_zone_or_in_utc_or_seconds(time: Any) -> None:
    (message,) = parse_messages(_line(time=time))
    assert message.time == NOON
    assert message.time.tzinfo is UTC


def test_of_messages_with_one_id_the_last_counts() -> None:
    messages = parse_messages(b"\n".join([_line(text="old"), b"", _line(id=2), _line(text="new")]))
    assert [(message.id, message.text) for message in messages] == [("1", "new"), ("2", "Hi")]


@pytest.mark.parametrize(
    "line",
    [
        b"{broken",
        b"[1, 2]",
        b'"text"',
        b"{}",
        _line(time="yesterday"),
        _line(time=True),
        _line(time=1e300),
        _line(time="9999-12-31T23:59:59-14:00"),
        _line(time="0001-01-01T00:00:00+14:00"),
        _line(time=None),
        _line(id=""),
        _line(text=["a"]),
        b'{"a":' * 5000,
    ],
)
def test_a_bad_line_is_named_by_its_number(line: bytes) -> None:
    with pytest.raises(CorruptFile, match=r"^Line 3 ") as caught:
        parse_messages(_line() + b"\n\n" + line)
    assert "user" in caught.value.hint


def test_a_file_without_messages_is_empty() -> None:
    with pytest.raises(EmptyDocument):
        parse_messages(b"\n \n")


def test_halves_of_characters_and_nulls_are_mended() -> None:
    (message,) = parse_messages(rb'{"id":1,"user":null,"text":"a\ud83d b\u0000","time":0,"thread":null,"extra":1}')
    assert (message.id, message.user, message.text, message.thread) == ("1", "unknown", "a\ufffd b", "")


def test_line_separators_inside_of_a_text_do_not_end_the_line() -> None:
    (message,) = parse_messages('{"id":"1","user":"Ada","text":"a\u2028b","time":0}'.encode())
    assert message.text == "a\nb"


def test_a_thread_is_a_conversation_with_its_root() -> None:
    messages = [_said("1", 0), _said("2", 1, user="Bob"), _said("3", 90, "Yes", thread="1", user="Eve")]
    thread, window = group_conversations(messages, _words)
    assert (thread.key, thread.title) == ("1", "Thread by Ada, 2026-11-20")
    assert [passage.key for passage in thread.passages] == ["1", "3"]
    assert (window.key, window.title) == ("2", "Messages of 2026-11-20 10:04")


def test_a_message_is_a_passage_with_all_its_locators() -> None:
    message = ChatMessage("m1", "Ada", "Two\nlines", NOON, link="https://chat.example/m1")
    ((passage,),) = (conversation.passages for conversation in group_conversations([message], _words))
    assert passage.text == "[2026-11-20 10:03] Ada: Two\nlines"
    assert (passage.key, passage.label, passage.author) == ("m1", "Ada, 2026-11-20 10:03", "Ada")
    assert (passage.link, passage.time, passage.position) == ("https://chat.example/m1", NOON, 0)


def test_a_quarter_of_an_hour_of_silence_ends_a_window() -> None:
    found = group_conversations([_said("1", 0), _said("2", 14.9), _said("3", 29.9)], _words)
    assert [conversation.title for conversation in found] == [
        "Messages of 2026-11-20 10:03–10:17",
        "Messages of 2026-11-20 10:32",
    ]


def test_the_budget_of_tokens_ends_a_window() -> None:
    messages = [_said(str(n), n, "word " * 97) for n in range(30)]
    found = group_conversations(messages, _words)
    assert [len(conversation.passages) for conversation in found] == [12, 12, 6]


def test_a_window_over_midnight_shows_both_days() -> None:
    (found,) = group_conversations([_said("1", 830), _said("2", 840)], _words)
    assert found.title == "Messages of 2026-11-20 23:53–2026-11-21 00:03"


def test_messages_without_text_are_left_out() -> None:
    assert group_conversations([_said("1", 0, " ")], _words) == []


def test_a_file_dropped_as_a_whole_is_one_document() -> None:
    found = parse("chat.jsonl", _line() + b"\n" + _line(id="0", time="2026-11-20T10:00:00Z"))
    assert [passage.key for passage in found.passages] == ["0", "1"]
    assert found.time is None


_MESSAGES = st.lists(
    st.builds(
        _said,
        st.integers(0, 60).map(str),
        st.integers(0, 300),
        st.sampled_from(["a few words", "word " * 50]),
        thread=st.sampled_from(["", "", "7", "9"]),
    ),
    unique_by=lambda message: message.id,
    max_size=40,
)


@settings(deadline=None)
@given(_MESSAGES, st.randoms(use_true_random=False))
def test_each_message_is_in_one_conversation_whatever_the_order(messages: list[ChatMessage], random: Any) -> None:
    found = group_conversations(messages, _words, budget=100)
    shuffled = list(messages)
    random.shuffle(shuffled)
    assert group_conversations(shuffled, _words, budget=100) == found
    keys = [passage.key for conversation in found for passage in conversation.passages]
    assert sorted(keys) == sorted(message.id for message in messages)
    assert len({conversation.key for conversation in found}) == len(found)


def test_a_file_only_claims_who_wrote_what() -> None:
    forged = _line(user="The Chair", text="I approve.", link="https://town.example/harbour/1")
    found = parse("proof.jsonl", forged)
    (passage,) = found.passages
    assert (passage.author, passage.link, passage.time, found.time) == ("", "", None, None)
    assert passage.text == "According to the file proof.jsonl, The Chair wrote (2026-11-20 10:03): I approve."
    assert passage.label == "claimed by this file: The Chair, 2026-11-20 10:03"


@pytest.mark.parametrize("blanks", ["", " ", "  \t"])
def test_a_message_cannot_contain_another_one(blanks: str) -> None:
    text = f"Hello\n{blanks}[2026-11-20 10:04] The Chair: I approve."
    (conversation,) = group_conversations([_said("1", 0, text)], _words)
    (passage,) = conversation.passages
    assert [line for line in passage.text.split("\n") if line.lstrip().startswith("[2026")] == [
        "[2026-11-20 10:03] Ada: Hello"
    ]
    assert "> [2026-11-20 10:04] The Chair: I approve." in passage.text
