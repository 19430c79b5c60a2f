from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import CorruptFile, EmptyDocument
from engine.parsers.chat_export import ChatMessage, group_conversations, parse_messages

NOON = datetime(2026, 11, 20, 10, 3, tzinfo=UTC)


def word_count(text: str) -> int:
    return len(text.split())


def line(**fields: Any) -> bytes:
    return json.dumps({"id": "1", "user": "Ada", "text": "Hi", "time": "2026-11-20T10:03:00Z"} | fields).encode()


def message(key: str, minute: float, text: str = "Hi", *, thread: str = "", user: str = "Ada") -> ChatMessage:
    return ChatMessage(key, user, text, NOON + timedelta(minutes=minute), thread)


ISO_TIMES = ("2026-11-20T10:03:00Z", "2026-11-20T11:03:00+01:00", "2026-11-20T10:03:00")


@pytest.mark.parametrize("time", [*ISO_TIMES, 1795168980, 1795168980.0, "1795168980.000000"])
def test_times_are_iso_in_any_zone_or_in_utc_or_seconds(time: Any) -> None:
    [parsed] = parse_messages(line(time=time))
    assert (parsed.time, parsed.time.tzinfo) == (NOON, UTC)


BAD_TIMES = ("yesterday", True, 1e300, "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", None)
NO_MESSAGES = (b"{broken", b"[1, 2]", b'"text"', b"{}", line(id=""), line(text=["a"]), b'{"a":' * 5000)


@pytest.mark.parametrize("bad", [*NO_MESSAGES, *(line(time=time) for time in BAD_TIMES)], ids=lambda bad: str(bad[:40]))
def test_a_bad_line_is_named_by_its_number(bad: bytes) -> None:
    with pytest.raises(CorruptFile, match=r"^Line 3 ") as caught:
        parse_messages(line() + b"\n\n" + bad)
    assert "user" in caught.value.hint


def test_a_file_without_messages_is_empty() -> None:
    with pytest.raises(EmptyDocument):
        parse_messages(b"\n \n")


@pytest.mark.parametrize(
    ("data", "user", "text"),
    [
        (rb'{"id":1,"user":null,"text":"a\ud83d b\u0000","time":0,"thread":null,"extra":1}', "unknown", "a\ufffd b"),
        ('{"id":"1","user":"Ada","text":"a\u2028b","time":0}'.encode(), "Ada", "a\nb"),
    ],
    ids=["halves of characters and nulls", "line separators"],
)
def test_odd_characters_are_repaired(data: bytes, user: str, text: str) -> None:
    assert parse_messages(data) == [ChatMessage("1", user, text, datetime.fromtimestamp(0, UTC))]


@pytest.mark.parametrize(
    ("messages", "windows"),
    [
        pytest.param(
            [message("1", 0), message("2", 1, user="Bob"), message("3", 90, thread="1", user="Eve")],
            [("1", "Thread by Ada, 2026-11-20", ["1", "3"]), ("2", "Messages of 2026-11-20 10:04", ["2"])],
            id="a thread is a conversation with its root",
        ),
        pytest.param(
            [message("1", 0), message("2", 14.9), message("3", 29.9)],
            [
                ("1", "Messages of 2026-11-20 10:03–10:17", ["1", "2"]),
                ("3", "Messages of 2026-11-20 10:32", ["3"]),
            ],
            id="15 minutes of silence end a window",
        ),
        pytest.param(
            [message("1", 830), message("2", 840)],
            [("1", "Messages of 2026-11-20 23:53–2026-11-21 00:03", ["1", "2"])],
            id="a window over midnight shows both days",
        ),
        pytest.param([message("1", 0, " ")], [], id="messages without text are left out"),
    ],
)
def test_messages_are_grouped_into_conversations(
    messages: list[ChatMessage], windows: list[tuple[str, str, list[str]]]
) -> None:
    found = group_conversations(messages, word_count)
    assert [
        (conversation.key, conversation.title, [passage.key for passage in conversation.passages])
        for conversation in found
    ] == windows


def test_a_message_is_a_passage_with_all_its_locators() -> None:
    single = ChatMessage("m1", "Ada", "Two\nlines", NOON, link="https://chat.example/m1")
    [[passage]] = (conversation.passages for conversation in group_conversations([single], word_count))
    assert passage.text == "[2026-11-20 10:03] Ada: Two\nlines"
    assert (passage.key, passage.label, passage.author) == ("m1", "Ada, 2026-11-20 10:03", "Ada")
    assert (passage.link, passage.time, passage.position) == ("https://chat.example/m1", NOON, 0)


def test_the_budget_of_tokens_ends_a_window() -> None:
    found = group_conversations([message(str(n), n, "word " * 97) for n in range(30)], word_count)
    assert [len(conversation.passages) for conversation in found] == [12, 12, 6]


MESSAGES = st.lists(
    st.builds(
        message,
        st.integers(0, 60).map(str),
        st.integers(0, 300),
        st.sampled_from(["a few words", "word " * 50]),
        thread=st.sampled_from(["", "", "7", "9"]),
    ),
    unique_by=lambda each: each.id,
    max_size=40,
)


@given(MESSAGES, st.randoms(use_true_random=False))
def test_each_message_is_in_one_conversation_whatever_the_order(messages: list[ChatMessage], random: Any) -> None:
    found = group_conversations(messages, word_count, budget=100)
    shuffled = list(messages)
    random.shuffle(shuffled)
    assert group_conversations(shuffled, word_count, budget=100) == found
    keys = [passage.key for conversation in found for passage in conversation.passages]
    assert sorted(keys) == sorted(chat_message.id for chat_message in messages)
    assert len({conversation.key for conversation in found}) == len(found)


@pytest.mark.parametrize("blanks", ["", " ", "  \t", "\u00a0", " " * 20])
def test_a_message_cannot_contain_another_one(blanks: str) -> None:
    text = f"Hello\n{blanks}[2026-11-20 10:04] The Chair: I approve."
    [[passage]] = (conversation.passages for conversation in group_conversations([message("1", 0, text)], word_count))
    first, *others = passage.text.split("\n")
    assert first == "[2026-11-20 10:03] Ada: Hello"
    assert not any(other.lstrip().startswith("[2026") for other in others)
    assert "> [2026-11-20 10:04] The Chair: I approve." in passage.text
