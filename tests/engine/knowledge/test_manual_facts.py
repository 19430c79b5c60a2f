from __future__ import annotations

import pytest

from engine.errors import InvalidDocument
from engine.knowledge.manual_facts import build_manual_document
from engine.models import Extraction, Link, Mention


@pytest.mark.parametrize(
    "facts",
    [
        Extraction(),
        Extraction((Mention("…", "person", "Nobody."),)),
        Extraction((Mention("Emil", "", "No type."),)),
        Extraction(links=(Link("Emil", "emil", "same", "One and the same."),)),
    ],
)
def test_facts_of_which_nothing_would_be_kept_are_refused(facts: Extraction) -> None:
    with pytest.raises(InvalidDocument):
        build_manual_document("here", "hall", facts, None)


def test_a_link_alone_is_a_fact() -> None:
    facts = Extraction(links=(Link("Emil", "Ada", "neighbor", "Next door."),))
    assert build_manual_document("here", "hall", facts, None).passages[0].text == "Emil ~ Ada (neighbor): Next door."
