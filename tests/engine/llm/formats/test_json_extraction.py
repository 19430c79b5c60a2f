from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.formats.json_extraction import (
    build_search_query,
    parse_json_extraction,
    parse_keywords,
    parse_search_query,
)
from engine.models import Extraction, Link, Mention, SearchQuery

ALICE = Mention("Alice", "person", "A clerk")
BOB = Mention("Bob", "person", "A baker")
KNOWS = Link("Alice", "Bob", "knows", "They met")
OBJECT = json.dumps(
    {
        "entities": [
            {"name": "Alice", "type": "Person", "description": "A clerk"},
            {"name": "Bob", "type": "Person", "description": "A baker"},
        ],
        "relationships": [{"source": "Alice", "target": "Bob", "keywords": "knows", "description": "They met"}],
    }
)
FULL = Extraction((ALICE, BOB), (KNOWS,))


@pytest.mark.parametrize(
    "reply",
    [
        OBJECT,
        f"```json\n{OBJECT}\n```",
        f"```{OBJECT}```",
        f"Here is what I found:\n{OBJECT}",
        f"As {{asked}}, here it is: {OBJECT}",
        f"{OBJECT}\nI hope this {{brace}} helps.",
        f"Here:\n```json\n{OBJECT}\n```\nDone {{brace}}.",
        OBJECT.replace('"', "'"),
        OBJECT.replace("}]}", "},]}"),
        OBJECT[:-1],
        f"<think>{{}}</think>{OBJECT}",
        f"{{}} hm</think>{OBJECT}",
    ],
    ids=[
        "K4 plain", "K4 fenced block", "K4 fence on one line", "K4 prose before", "prose with a brace before",
        "K4 trailing brace in prose", "K4 fence in prose", "K4 single quotes", "trailing comma", "brace missing",
        "thoughts", "thoughts unopened",
    ],
)  # fmt: skip
def test_a_json_reply_is_read_however_it_is_wrapped(reply: str) -> None:
    assert parse_json_extraction(reply) == FULL


@pytest.mark.parametrize("cut", ['"Bob"', '"Bob", "type"', '"Bob", "type": "Person", "descr'])
def test_k4_of_a_reply_cut_off_in_the_second_object_the_first_is_recovered(cut: str) -> None:
    reply = '{"entities": [{"name": "Alice", "type": "Person", "description": "A clerk"}, {"name": ' + cut
    assert parse_json_extraction(reply) == Extraction((ALICE,))


@pytest.mark.parametrize(
    "reply",
    [
        f"[{OBJECT}]",
        f"```json\n[{OBJECT}]\n```",
        '{"entities": "none"}',
        '{"entities": {"a": 1}}',
        '{"relationships": 3}',
        "",
        "null",
        "I found nothing.",
        "{",
        "{}",
        '{"',
        '{"a":' * 5000,
    ],
    ids=lambda reply: f"K4 {reply[:24]}",
)
def test_k4_what_is_no_such_object_holds_nothing(reply: str) -> None:
    assert parse_json_extraction(reply) == Extraction()


def test_k4_broken_items_are_skipped_and_the_others_kept() -> None:
    reply = json.dumps(
        {
            "entities": [
                {"name": "Alice", "description": "no type"},
                {"name": "Alice", "type": "Person"},
                {"name": 7, "type": "Person", "description": "no text"},
                "Alice",
                None,
                {"name": "Bob", "type": "Person", "description": "A baker"},
            ],
            "relationships": [
                {"source": "Bob", "target": "bob", "keywords": "self", "description": "Himself"},
                {"source": "Bob", "target": "", "keywords": "x", "description": "Nobody"},
                {"source": "Bob", "target": "Alice", "description": ""},
                ["Bob", "Alice"],
                {"source": "Alice", "target": "Bob", "keywords": ["knows"], "description": "They met"},
            ],
        }
    )
    assert parse_json_extraction(reply) == Extraction((BOB,), (KNOWS,))


def test_names_from_json_escapes_can_be_stored() -> None:
    reply = '{"entities": [{"name": "A\\ud800l", "type": "Person", "description": "\\u0000x"}]}'
    assert parse_json_extraction(reply) == Extraction((Mention("Al", "person", "x"),))


def keywords(high: object = "AI", low: object = "RAG") -> str:
    return json.dumps({"high_level_keywords": high, "low_level_keywords": low})


PLAIN = keywords(["AI"], ["RAG"])


@pytest.mark.parametrize(
    ("reply", "high"),
    [
        (PLAIN, ("AI",)),
        (f"```json\n{PLAIN}\n```", ("AI",)),
        (f"```json {PLAIN} ```", ("AI",)),
        (keywords("AI, Agents", ["RAG"]), ("AI", "Agents")),
        (f"Of course: {PLAIN} Anything else?", ("AI",)),
        (PLAIN[:-1], ("AI",)),
        (PLAIN[:-1] + ",}", ("AI",)),
        (PLAIN.replace('["AI"]', '["AI",]'), ("AI",)),
        (f"<think>x</think>{PLAIN}", ("AI",)),
        (f"x</think>{PLAIN}", ("AI",)),
    ],
    ids=lambda value: f"K5 {value[:30]}" if isinstance(value, str) else "",
)
def test_k5_keywords_are_read_from_an_object(reply: str, high: tuple[str, ...]) -> None:
    assert parse_keywords(reply) == (True, high, ("RAG",))


@pytest.mark.parametrize("reply", ["There are no keywords.", "[]", "null", "", '["AI"]', "<think>only"], ids=repr)
def test_k5_what_is_no_object_is_invalid(reply: str) -> None:
    assert parse_keywords(reply) == (False, (), ())


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ([1, " a ", None], ("a",)),
        (None, ()),
        ({"a": 1}, ()),
        ("a;b\nc,d", ("a", "b", "c", "d")),
        ("甲，乙；丙", ("甲", "乙", "丙")),
        (["a", "", "a"], ("a",)),
        (12, ()),
    ],
    ids=repr,
)
def test_k5_a_list_is_made_of_what_comes(value: object, kept: tuple[str, ...]) -> None:
    assert parse_keywords(keywords(high=value)) == (True, kept, ("RAG",))


@pytest.mark.parametrize("question", ["Why?", "Why " + "on earth " * 20 + "?"], ids=["short", "long"])
def test_k5_without_keywords_the_question_is_the_keyword_whatever_its_length(question: str) -> None:
    assert build_search_query((), (), question) == SearchQuery(question, (), (question,))
    assert parse_search_query("no idea", question) == SearchQuery(question, (), (question,))


def test_keywords_of_one_kind_are_enough() -> None:
    assert build_search_query(("AI",), (), "q") == SearchQuery("q", ("AI",), ())
    assert build_search_query((), ("RAG",), "q") == SearchQuery("q", (), ("RAG",))


def condensed(question: object) -> str:
    return json.dumps({"question": question, "high_level_keywords": ["AI"], "low_level_keywords": ["RAG"]})


def test_one_reply_holds_the_question_and_its_keywords() -> None:
    assert parse_search_query(condensed(" Who founded Acme? "), "Who?") == SearchQuery(
        "Who founded Acme?", ("AI",), ("RAG",)
    )


@pytest.mark.parametrize("rewritten", ["", "  ", None, 7, "\ud800"], ids=ascii)
def test_a_missing_question_is_the_given_one(rewritten: object) -> None:
    assert parse_search_query(condensed(rewritten), "Who?") == SearchQuery("Who?", ("AI",), ("RAG",))
    assert parse_search_query(PLAIN, "Who?") == SearchQuery("Who?", ("AI",), ("RAG",))


def test_the_rewritten_question_stands_in_for_missing_keywords() -> None:
    assert parse_search_query('{"question": "Who founded Acme?"}', "Who?").low == ("Who founded Acme?",)


@given(st.integers(0, len(OBJECT)), st.text('{}[]",:\\n\n`', max_size=3), st.integers(0, len(OBJECT)))
def test_no_reply_is_too_broken_to_be_read(start: int, noise: str, cut: int) -> None:
    broken = OBJECT[:start] + noise + OBJECT[cut:]
    for reply in (broken, noise + broken):
        parse_json_extraction(reply)
        parse_keywords(reply)
        assert parse_search_query(reply, "Who?").question


@pytest.mark.parametrize("stuck", ["\n", " ", "{", '{"', "`", '"', "[", "<think>", ",", "\\"], ids=ascii)
def test_a_model_that_got_stuck_is_read_in_linear_time(stuck: str) -> None:
    started = time.perf_counter()
    parse_json_extraction(OBJECT[:60] + stuck * (60_000 // len(stuck)))
    parse_keywords(stuck * (60_000 // len(stuck)) + PLAIN)
    assert time.perf_counter() - started < 2
