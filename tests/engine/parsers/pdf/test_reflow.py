from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.parsers.pdf.reflow import dehyphenate, reflow_paragraphs


def _flow(text: str) -> list[str]:
    return [block.text for block in reflow_paragraphs(dehyphenate(text).split("\n"), 1)]


def test_lines_of_a_paragraph_are_joined() -> None:
    text = (
        "The library of the town was founded by Ada and her\n"
        "Brother in the year of the flood, and it has stood\n"
        "there since.\n"
        "A new paragraph begins here."
    )
    first, second = text.replace("\n", " ").split(" A new")
    assert _flow(text) == [first, "A new" + second]


def test_addresses_items_and_figures_stay_lines() -> None:
    address = ["Town Library", "12 Main Street", "Main Town"]
    lines = [*address, "- one item of the list", "- two items", "Total 12 $45.00 17%", "Rent 3 $4.00 2%"]
    assert _flow("\n".join(lines)) == lines


def test_hyphens_of_line_ends_go_and_others_stay() -> None:
    assert (
        dehyphenate("ef\x02ficient Peg\x02IFN state-\nwide well-known A-\nB")
        == "efficient Peg-IFN statewide well-known A-\nB"
    )


def test_ligatures_become_letters() -> None:
    assert dehyphenate("eﬃcient ﬂow") == "efficient flow"


@given(st.text(alphabet="ab1 .-•\n(", max_size=300))
def test_nothing_but_blank_space_changes(text: str) -> None:
    joined = "".join(block.text for block in reflow_paragraphs(text.split("\n"), 1))
    assert "".join(joined.split()) == "".join(text.split())
