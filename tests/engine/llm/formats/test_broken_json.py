"""Broken JSON is read as far as it goes, in time that grows with its length."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.formats.broken_json import read_broken_json
from engine.llm.formats.json_extraction import parse_json_extraction, parse_search_query

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("ab \"'\\n,:{}[]é😀"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", min_size=1), inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(st.text("ab", min_size=1), VALUES, max_size=3))
def test_json_that_is_not_broken_is_read_as_it_is(value: dict[str, object]) -> None:
    plain = json.dumps(value)
    if '\\"' not in plain:
        assert read_broken_json(plain) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\'a\': \'it\'s\', "b": "say "no" twice"}', {"a": "it's", "b": 'say "no" twice'}),
        ('{"a": [1, 2,, 3}, "b": true', {"a": [1, 2, 3]}),
        ('{"a": [{"b": 1, "c": [2}], "d": 3}', {"a": [{"b": 1, "c": [2]}], "d": 3}),
        ('{a: None, c: -1.5e3,, "d": hello}', {"a": None, "c": -1500.0, "d": "hello"}),
        ('{"a": "x\ny\\u00e9\\ud83d\\ude00", "b": "cut of', {"a": "x\nyé😀", "b": "cut of"}),
        ('{"a": "He said "no", and left", "b": [7, y]}', {"a": 'He said "no", and left', "b": [7, "y"]}),
        ('{"a": "no end, "b": "x"}', {"a": "no end", "b": "x"}),
        ('{"a": ["b": 1, "c": 2}, {"b": 3}]}', {"a": [{"b": 1, "c": 2}, {"b": 3}]}),
        ('{a": "x", "b": y z", "c": 1}', {"a": "x", "b": "y z", "c": 1}),
        ('{"a": {"b": [', {"a": {"b": []}}),
        ('{"a": 1} and {"b": 2}', {"a": 1}),
    ],
)
def test_what_can_be_read_is_read(text: str, expected: object) -> None:
    assert read_broken_json(text) == expected


STUCK = r"""["[ " ' [ { {"a": [" "a"\t "a": ] } : , \ \" 9 ", {' `"""


@pytest.mark.share(24)
@pytest.mark.parametrize("unit", [*STUCK.split(" "), "\n", " ", '"\n'], ids=ascii)
@pytest.mark.parametrize("start", ['{"entities": [', '{"a": "', "{'a':"])
def test_a_hostile_reply_takes_a_fraction_of_a_second(unit: str, start: str) -> None:
    reply = start + unit * (60_000 // len(unit))
    started = time.thread_time()
    parse_json_extraction(reply)
    parse_search_query(reply, "Who?")
    assert time.thread_time() - started < 0.5  # a fifth of that on a machine with nothing else to do
