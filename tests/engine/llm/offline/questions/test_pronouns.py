from __future__ import annotations

import pytest

from engine.llm.offline.questions.pronouns import has_person_pronoun, replace_pronoun


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("where is she?", "where is Mina?"),
        ("who is her boss?", "who is Mina's boss?"),
        ("who pays her?", "who pays Mina?"),
    ],
)
def test_a_pronoun_becomes_a_person(question: str, whole: str) -> None:
    assert has_person_pronoun(question)
    assert replace_pronoun(question, "Mina") == whole
