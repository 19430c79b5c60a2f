"""Short values after the same label."""

from __future__ import annotations

from engine.llm.offline.supersession.relation import has_same_label


def test_the_same_label_with_another_short_value_is_the_same_thing() -> None:
    assert has_same_label("Night watch in week 12: Fintan", "night watch in week 12: Orla")
    assert not has_same_label("Night watch in week 13: Fintan", "Night watch in week 12: Orla")


def test_a_label_of_one_word_and_a_long_text_say_nothing() -> None:
    assert not has_same_label("Reminder: roof", "Reminder: fence")
    assert not has_same_label("Night watch in week 12: Fintan, who has the key", "Night watch in week 12: Orla")
