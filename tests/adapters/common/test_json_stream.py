from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.common import json_stream
from adapters.common.json_stream import JsonStream

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=9), st.lists, max_leaves=5
)


@pytest.fixture(autouse=True, scope="module")
def small_chunks() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK_SIZE", 3)
        yield


def open_stream(text: str) -> JsonStream:
    return JsonStream(io.BytesIO(text.encode()))


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 1]))
def test_lists_are_read_wherever_chunks_end(values: list[Any], indent: int | None) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=indent is None)
    assert list(open_stream(f"\ufeff {text}\n").read_items()) == values


@given(st.dictionaries(st.text(max_size=4).filter(lambda key: key != "messages"), VALUES, max_size=4))
def test_members_before_a_key_are_read_and_then_its_values(members: dict[str, Any]) -> None:
    text = json.dumps({**members, "messages": [1, 2], "later": 3})
    stream = open_stream(text)
    assert stream.read_members(until="messages") == members
    assert list(stream.read_items()) == [1, 2]
    assert open_stream(json.dumps(members)).read_members(until="messages") == members


@pytest.mark.parametrize("text", ["", " ", "[", "[1", "[1,", "[1 2]", "[1}", "{}", "[,]", '["\x00"]', "[tru]"])
def test_what_is_no_complete_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        list(open_stream(text).read_items())
