from __future__ import annotations

import pytest

from engine.errors import BadInput
from engine.knowledge.manual_facts import stated
from engine.models import Link, Mention, Reading


@pytest.mark.parametrize(
    "told",
    [
        Reading(),
        Reading((Mention("…", "person", "Nobody."),)),
        Reading((Mention("Emil", "", "No type."),)),
        Reading(links=(Link("Emil", "emil", "same", "One and the same."),)),
    ],
)
def test_a_statement_of_which_nothing_would_be_kept_is_refused(told: Reading) -> None:
    with pytest.raises(BadInput):
        stated("here", "hall", told, None)


def test_a_link_alone_is_a_statement() -> None:
    told = Reading(links=(Link("Emil", "Ada", "neighbour", "Next door."),))
    assert stated("here", "hall", told, None).passages[0].text == "Emil ~ Ada (neighbour): Next door."
