"""The lines above quotations."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.notices import (
    is_closest,
    is_written,
    match_closest,
    match_corrections,
    render_closest,
    render_corrections,
)


@pytest.mark.parametrize("gaps", [(), ("Oslo",), ("a”b\nc", "d", "e", "f", "g")])
def test_the_line_above_the_closest_passages_is_recognized(gaps: tuple[str, ...]) -> None:
    line = render_closest(gaps)
    assert is_closest(f"{line}\n- “Ada rows.” [1]")
    assert is_closest(f"{render_corrections([('hreon', 'heron')])}\n{line}\n“Ada rows.” [1]")
    assert not is_closest(f"“Ada rows.” [1]\n“Bo rows.” [2]\n{line}")
    assert (match_closest(line) is None) == (not gaps)


def test_corrections_are_recognized() -> None:
    line = render_corrections([("hreon", "heron"), ("secrte", "secret")])
    assert line == "I searched for “heron”, “secret” instead of “hreon”, “secrte”."
    found = match_corrections(line)
    assert found is not None
    assert found["written"] == "“hreon”, “secrte”"
    assert match_corrections("I searched for it.") is None


def test_a_word_that_is_shown_was_found() -> None:
    assert is_written("Farmácia", "A farmácia abre às 8h.")
    assert is_written("磨坊", "磨坊的钟")
    assert not is_written("farm", "A farmácia abre às 8h.")
