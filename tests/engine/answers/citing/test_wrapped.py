"""Tags that enclose what a source supports become citations behind it."""

from __future__ import annotations

import pytest

from engine.answers.citations import WrappedCitations

GIVEN = frozenset({1, 2, 3})


def unwrap(text: str, step: int) -> str:
    stage = WrappedCitations(GIVEN)
    return "".join(stage.feed(text[at : at + step]) for at in range(0, len(text), step)) + stage.close()


@pytest.mark.parametrize("step", [1, 4, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<co: 2>Nine</co: 2>.", "Nine [2]."),
        ("<co>Nine</co: 2,3>.", "Nine [2][3]."),
        ('<cite index="2-1,3-4">Nine</cite>.', "Nine [2][3]."),
        ("<cite sources='3'>Nine</cite>, and <co: 1>ten</co>.", "Nine [3], and ten [1]."),
        ('<cite index="9">Nine</cite>.', "Nine."),
        ("<cite>[2]</cite> a < b, 2 < 3 <code>", "<cite>[2]</cite> a < b, 2 < 3 <code>"),
        ("`<co>Nine</co: 2>`", "`<co>Nine</co: 2>`"),
        ("Nine</cite>", "Nine</cite>"),
    ],
)
def test_the_numbers_stand_behind_the_text(text: str, expected: str, step: int) -> None:
    assert unwrap(text, step) == expected
