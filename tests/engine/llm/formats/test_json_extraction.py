from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.formats.json_extraction import (
    build_search_query,
    is_addressed_to_bot,
    parse_json_extraction,
    parse_search_query,
)
from engine.models import Extraction, Link, Mention, SearchQuery

ALICE, BOB = Mention("Alice", "person", "A clerk"), Mention("Bob", "person", "A baker")
KNOWS = Link("Alice", "Bob", "knows", "They met")
ENTITIES = [
    {"name": "Alice", "type": "Person", "description": "A clerk"},
    {"name": "Bob", "type": "Person", "description": "A baker"},
]
RELATION = {"source": "Alice", "target": "Bob", "keywords": "knows", "description": "They met"}
OBJECT = json.dumps({"entities": ENTITIES, "relationships": [RELATION]})
FULL = Extraction((ALICE, BOB), (KNOWS,))

ENDS = ['"Bob"', '"Bob", "type"', '"Bob", "type": "Person", "descr']
CUT = '{"entities": [{"name": "Alice", "type": "Person", "description": "A clerk"}, {"name": '
UNTYPED = Mention("Alice", "other", "no type")
BROKEN_ITEMS = {
    "entities": [
        {"name": "Alice", "description": "no type"},
        {"name": "Alice", "type": "Person"},
        {"name": 7, "type": "Person", "description": "no text"},
        *("Alice", None, ENTITIES[1]),
    ],
    "relationships": [
        {"source": "Bob", "target": "bob", "keywords": "self", "description": "Himself"},
        {"source": "Bob", "target": "", "keywords": "x", "description": "Nobody"},
        {"source": "Bob", "target": "Alice", "description": ""},
        *(["Bob", "Alice"], {**RELATION, "keywords": ["knows"]}),
    ],
}
UNSTORABLE = '{"entities": [{"name": "A\\ud800l", "type": "Person", "description": "\\u0000x"}]}'
RENAMED = {"entities": [{"entity": "Bob", "label": "Person", "description": "A baker"}]}
RENAMED_LINK = {"head": "Alice", "tail": "Bob", "relation": "knows", "description": "They met"}
NO_OBJECTS = ["[1, 2]", f'[{{"a": [{OBJECT}]}}]', '{"entities": "none"}', '{"entities": {"a": 1}}']
NO_OBJECTS += ['{"relationships": 3}', "", "null", "I found nothing.", "{", "{}", '{"', '{"a":' * 5000]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(OBJECT, FULL, id="plain"),
        pytest.param(f"```json\n{OBJECT}\n```", FULL, id="fenced block"),
        pytest.param(f"```{OBJECT}```", FULL, id="fence on one line"),
        pytest.param(f"Here is what I found:\n{OBJECT}", FULL, id="prose before"),
        pytest.param(f"As {{asked}}, here it is: {OBJECT}", FULL, id="prose with a brace before"),
        pytest.param(f"{OBJECT}\nI hope this {{brace}} helps.", FULL, id="trailing brace in prose"),
        pytest.param(f"Here:\n```json\n{OBJECT}\n```\nDone {{brace}}.", FULL, id="fence in prose"),
        pytest.param(OBJECT.replace("entities", "Nodes").replace("relationships", "edges"), FULL, id="other lists"),
        pytest.param(f"[{OBJECT}]", FULL, id="an array of it"),
        pytest.param(f"```json\n[{OBJECT}]\n```", FULL, id="a fenced array"),
        pytest.param(f'{{"result": {OBJECT}, "count": 2}}', FULL, id="within another object"),
        pytest.param(
            json.dumps({**RENAMED, "relations": [RENAMED_LINK]}),
            Extraction((BOB,), (KNOWS,)),
            id="other names of fields",
        ),
        pytest.param(OBJECT.replace('"', "'"), FULL, id="single quotes"),
        pytest.param(OBJECT.replace("}]}", "},]}"), FULL, id="trailing comma"),
        pytest.param(OBJECT[:-1], FULL, id="brace missing"),
        pytest.param(f"<think>{{}}</think>{OBJECT}", FULL, id="thinking"),
        pytest.param(f"{{}} hm</think>{OBJECT}", FULL, id="thinking without an opening tag"),
        *(pytest.param(CUT + end, Extraction((ALICE,)), id=end) for end in ENDS),
        *(pytest.param(reply, Extraction(), id=f"no object {reply[:24]}") for reply in NO_OBJECTS),
        pytest.param(json.dumps(BROKEN_ITEMS), Extraction((UNTYPED, BOB), (KNOWS,)), id="broken items"),
        pytest.param(UNSTORABLE, Extraction((Mention("Al", "person", "x"),)), id="escapes that cannot be stored"),
    ],
)
def test_k4_facts_are_read_from_a_json_reply(reply: str, expected: Extraction) -> None:
    assert parse_json_extraction(reply) == expected


def keywords(high: object = "AI", **more: object) -> str:
    return json.dumps({"high_level_keywords": high, "low_level_keywords": ["RAG"], **more})


PLAIN = keywords(["AI"])


@pytest.mark.parametrize(
    ("reply", "high"),
    [
        *((reply, ("AI",)) for reply in (PLAIN, f"```json\n{PLAIN}\n```", f"```json {PLAIN} ```")),
        *((reply, ("AI",)) for reply in (f"Of course: {PLAIN} Anything else?", PLAIN[:-1], PLAIN[:-1] + ",}")),
        (PLAIN.replace('["AI"]', '["AI",]'), ("AI",)),
        *((f"{thinking}</think>{PLAIN}", ("AI",)) for thinking in ("<think>x", "x")),
        (keywords("AI, Agents"), ("AI", "Agents")),
        (keywords([1, " a ", None]), ("a",)),
        *((keywords(wrong), ()) for wrong in (None, 12, {"a": 1})),
        (keywords("a;b\nc,d"), ("a", "b", "c", "d")),
        (keywords("甲，乙；丙"), ("甲", "乙", "丙")),
        (keywords(["a", "", "a"]), ("a",)),
    ],
)
def test_k5_keywords_are_read_from_an_object(reply: str, high: tuple[str, ...]) -> None:
    assert parse_search_query(reply, "Who?") == SearchQuery("Who?", high, ("RAG",))


@pytest.mark.parametrize("reply", ["There are no keywords.", "[]", "null", "", '["AI"]', "<think>only"])
def test_k5_a_reply_without_an_object_is_invalid(reply: str) -> None:
    assert parse_search_query(reply, "Who?") == SearchQuery("Who?", (), ("Who?",))


@pytest.mark.parametrize("question", ["Why?", "Why " + "on earth " * 20 + "?"], ids=["short", "long"])
def test_k5_without_keywords_the_question_is_the_keyword_whatever_its_length(question: str) -> None:
    assert build_search_query((), (), question) == SearchQuery(question, (), (question,))
    assert parse_search_query("no idea", question) == SearchQuery(question, (), (question,))


def test_keywords_of_one_kind_are_enough() -> None:
    assert build_search_query(("AI",), (), "q") == SearchQuery("q", ("AI",), ())
    assert build_search_query((), ("RAG",), "q") == SearchQuery("q", (), ("RAG",))


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        (keywords(question=" Who founded Acme? "), "Who founded Acme?"),
        *((keywords(question=wrong), "Who?") for wrong in ("", "  ", None, 7, "\ud800")),
        (PLAIN, "Who?"),
    ],
)
def test_a_reply_holds_the_question_or_the_original_one_is_used(reply: str, question: str) -> None:
    assert parse_search_query(reply, "Who?") == SearchQuery(question, ("AI",), ("RAG",))


def test_the_rewritten_question_replaces_missing_keywords() -> None:
    assert parse_search_query('{"question": "Who founded Acme?"}', "Who?").low == ("Who founded Acme?",)


@pytest.mark.parametrize(
    ("value", "expected"), [*((yes, True) for yes in (True, "Yes", 1)), *((no, False) for no in (False, "no", None, 2))]
)
def test_a_message_is_for_the_bot_only_after_a_clear_yes(value: object, *, expected: bool) -> None:
    assert is_addressed_to_bot(json.dumps({"for_you": value})) == expected


@given(st.integers(0, len(OBJECT)), st.text('{}[]",:\\n\n`', max_size=3), st.integers(0, len(OBJECT)))
def test_no_reply_is_too_broken_to_be_read(start: int, noise: str, cut: int) -> None:
    broken = OBJECT[:start] + noise + OBJECT[cut:]
    for reply in (broken, noise + broken):
        parse_json_extraction(reply)
        assert parse_search_query(reply, "Who?").question


@pytest.mark.share(5)
@pytest.mark.parametrize("stuck", ["\n", " ", "{", '{"', "`", '"', "[", "<think>", ",", "\\"], ids=ascii)
def test_a_model_that_got_stuck_is_read_in_linear_time(stuck: str) -> None:
    started = time.process_time()
    parse_json_extraction(OBJECT[:60] + stuck * (60_000 // len(stuck)))
    parse_search_query(stuck * (60_000 // len(stuck)) + PLAIN, "Who?")
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "reply",
    [
        (
            '{"entity": "Quay", "type": "Location", "description": "long"}\n{"source": "Quay", "target": "Tar", '
            '"description": "sold"}'
        ),
        (
            '[{"name": "Quay", "type": "Location", "description": "long"}, {"from": "Quay", "to": "Tar", '
            '"description": "sold"}]'
        ),
    ],
)
def test_facts_need_no_list_around_them(reply: str) -> None:
    found = parse_json_extraction(reply)
    assert [mention.name for mention in found.mentions] == ["Quay"]
    assert [(link.source, link.target) for link in found.links] == [("Quay", "Tar")]


@pytest.mark.parametrize("reply", [json.dumps(OBJECT), f"```json\n{json.dumps(OBJECT)}\n```"])
def test_an_object_may_be_quoted_as_a_text_of_json(reply: str) -> None:
    assert parse_json_extraction(reply) == FULL


def test_the_description_of_a_tool_is_no_fact() -> None:
    assert parse_json_extraction('{"name": "look", "type": "function", "description": "looks up"}') == Extraction()


def test_entities_may_be_held_by_their_names() -> None:
    found = parse_json_extraction('{"entities": {"Quay": {"type": "Location", "description": "long"}}}')
    assert [mention.name for mention in found.mentions] == ["Quay"]


def test_an_identifier_is_a_name_where_it_reads_like_one() -> None:
    reply = '{"nodes": [{"id": "%s", "type": "Location", "description": "long"}]}'
    assert [mention.name for mention in parse_json_extraction(reply % "Long Quay").mentions] == ["Long Quay"]
    assert parse_json_extraction(reply % "n1") == Extraction()


@pytest.mark.parametrize(
    "reply",
    [
        '[{"subject": "Ada", "predicate": "works at", "object": "Quay"}]',
        '{"nodes": [{"id": "Ada"}], "edges": [{"from": "Ada", "to": "Quay", "label": "WORKS_AT"}]}',
        '{"relations": [{"head": "Ada", "relation": "works at", "tail": "Quay"}]}',
    ],
)
def test_a_triple_states_what_its_parts_say(reply: str) -> None:
    (link,) = parse_json_extraction(reply).links
    assert (link.source, link.target, link.description) == ("Ada", "Quay", "Ada works at Quay")


def test_an_entity_without_a_type_is_one() -> None:
    (mention,) = parse_json_extraction("{'entities': [{'name': 'Quay', 'type': None, 'description': 'long'}]}").mentions
    assert (mention.name, mention.type) == ("Quay", "other")
