from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.languages.unspaced import SLICE_CHARACTERS, normalize_text

JOINING = "aé\u0301\u0327か\u3099ｶ\uff9e각\u1100\u1161\u11a8น้ำ\u0e38\u0e48\u1025\u102eㄱㅏㅠㄳﾡￂﾣ ﬁ①字"


@given(st.text(JOINING, min_size=1, max_size=40), st.integers(0, 60))
def test_slices_do_not_change_the_form(unit: str, shift: int) -> None:
    text = "x" * (SLICE_CHARACTERS - shift) + unit * 3 + "字" * SLICE_CHARACTERS + unit
    assert normalize_text("NFKC", text) == unicodedata.normalize("NFKC", text)


@pytest.mark.long
@pytest.mark.parametrize("unit", ["\u0301\u0327", "\u0327\u0301", "\uff9e"])
def test_many_marks_on_one_letter_take_a_moment(unit: str) -> None:
    started = time.thread_time()
    normalize_text("NFKC", "a" + unit * 100_000)
    assert time.thread_time() - started < 2  # in one piece 40
