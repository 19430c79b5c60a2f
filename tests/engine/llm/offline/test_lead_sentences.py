from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.lead_sentences import MAX_CHARACTERS, merge_lead_sentences


def test_every_fragment_leads_before_any_goes_on_and_none_is_emptied() -> None:
    text = merge_lead_sentences([f"One leads. {'Second of one. ' * 400}", "Two leads.", "one  LEADS."])
    assert text.startswith("One leads. ")
    assert "Two leads." in text
    assert text.casefold().count("one leads.") == 1
    assert (merge_lead_sentences(["word"]), merge_lead_sentences([])) == ("word", "")


@given(st.lists(st.text(max_size=500), max_size=30))
def test_a_summary_is_bounded(fragments: list[str]) -> None:
    assert len(merge_lead_sentences(fragments)) <= MAX_CHARACTERS + 400
