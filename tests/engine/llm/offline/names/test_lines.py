from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.names.lines import join_wrapped_lines

WRAPPED = """\
The keeper of the old lamp house met Ebbe
Vosk and the master of the Skelby Har-
bour Trust, who came by the long way."""
LIST = """\
- The first of the long items is the lamp
- The second of the long items is a rope
- The third of the items is a hatch here"""
NAMED = """\
Ebbe Vosk moved to the new office in Skelby
Tolv Arrend stays in the old one in Quayham
Anna Holm works from home in a town near it"""
TABLE = """\
day | opens | who holds the keys of the lamp house
monday | nine | the keeper of the lamp and the rope
friday | nine | the keeper of the rope and the hatch"""
UNSPACED = "門が開く時間は来週の月曜日から午前九時になりますので荷物を準備してくださいよろしくお願いします"
LONG_WORDS = f"{UNSPACED}\n{UNSPACED}\nSkelbyの門\nhttps://ember.example/{'a/' * 30}\nhttps://ember.example/"
LINES = "Lamp house\nRope walk of the Skelby Harbour Trust today\nHatch\nA last line that is nearly as long as that."


def test_lines_that_a_width_has_cut_are_joined_and_their_hyphens_go() -> None:
    assert "met Ebbe Vosk and the master of the Skelby Harbour Trust" in join_wrapped_lines(WRAPPED)


@pytest.mark.parametrize(
    ("end", "start", "joined"),
    [("a SARS-", "CoV test", "SARS-CoV"), ("a well-", "known lamp", "well-known"), ("a mem-", "brane", "membrane")],
)
def test_a_hyphen_stays_before_a_capital_and_in_a_word_that_has_it_elsewhere(end: str, start: str, joined: str) -> None:
    text = f"This well-known line is of the usual width {end}\n{start} ends it."
    assert joined in join_wrapped_lines(text)


@pytest.mark.parametrize("text", [LIST, LINES, NAMED, TABLE, LONG_WORDS, "one line", "Bo-\nAda", "", "\n\n"])
def test_lines_that_end_on_purpose_stay(text: str) -> None:
    assert join_wrapped_lines(text) == text


@given(st.text(alphabet=" \n-aB.", max_size=300))
def test_nothing_but_blanks_and_hyphens_goes(text: str) -> None:
    def strip(whole: str) -> str:
        return whole.replace("-", "").replace("\n", "").replace(" ", "")

    assert strip(join_wrapped_lines(text)) == strip(text)
