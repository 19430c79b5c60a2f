"""Earlier answers keep their citations: as numbers of this prompt, or as titles."""

from __future__ import annotations

from engine.llm.source_lines import cite_history
from engine.models import ChatTurn, CitedSource
from tests.engine.llm.test_prompts import make_source

DIARY = CitedSource(1, "kiln", "p1", "Kiln [diary]")
MINUTES = CitedSource(2, "minutes", "p7", "minutes.pdf")
ASKED = ChatTurn("user", "What about [1]?")


def cited(text: str, *passages: tuple[int, str, str]) -> str:
    sources = [
        make_source(number=number, document=document, passage=passage, text="")
        for number, document, passage in passages
    ]
    asked, answered = cite_history((ASKED, ChatTurn("assistant", text, (DIARY, MINUTES))), sources)
    assert asked == ASKED
    assert answered.sources == ()
    return answered.text


def test_a_source_that_is_given_again_has_its_new_number() -> None:
    assert cited("Lit [1][2]. Cold [2].", (7, "minutes", "p7"), (1, "kiln", "p2")) == "Lit (Kiln diary)[7]. Cold [7]."


def test_another_source_is_named_once_by_its_title() -> None:
    assert cited("Lit [1]. Cold [1] [2].") == "Lit (Kiln diary). Cold (minutes.pdf)."


def test_a_number_without_a_source_is_removed_and_code_stays() -> None:
    assert cited("Lit [3]. `a[1]` [1]") == "Lit. `a[1]` (Kiln diary)"
