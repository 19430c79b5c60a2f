"""Questions are proposed about what is close to an answer, not explained by it, and supported by other passages."""

from __future__ import annotations

from typing import Any

import pytest

from bot.answers.suggestions.candidates import Candidate, Evidence, find_heading, propose
from engine import Context, ContextEntity, ContextRelation, Source
from engine.models import SearchQuery
from tests.support.builders import make_source

RULES = "slack:T1:ROOF:file:F1"


def message(passage: str, author: str, text: str, **more: Any) -> Source:
    return make_source(passage=passage, author=author, label=f"{author}, 2026-11-20 10:00", text=text, **more)


def section(passage: str, heading: str, **more: Any) -> Source:
    text = f"{heading}\n\nThis section is long enough for somebody to ask for it, with all that it says about it."
    made = {
        "document": RULES,
        "author": "",
        "title": "Harbour Rules",
        "label": f"Harbour Rules › {heading}",
        "text": text,
    }
    return make_source(passage=passage, **{**made, **more})


CITED = message("m1", "Ada Byron", "The Long Bench gets paint on Monday.")
OTHERS = (
    message(
        "m2", "Bo Lind", "I measured the Long Bench twice, and it is longer than the quay on which it is standing."
    ),
    message("m3", "Cleo Ray", "Hob Lattimer came. The council granted money for the Gannet Tooth and its stair."),
    message("m4", "Dee Moss", "Hob Lattimer sands the Long Bench, and looks at the Gannet Tooth afterwards."),
)


def relate(source: str, target: str) -> ContextRelation:
    return ContextRelation(source, target, "", "", 1.0)


def propose_from(
    *relations: ContextRelation,
    said: str = "When is the Long Bench painted? On Monday.",
    sources: tuple[Source, ...] = OTHERS,
) -> list[tuple[str, str, str]]:
    names = {name for relation in relations for name in (relation.source, relation.target)} | {"Long Bench"}
    entities = tuple(
        ContextEntity(name, "person" if name.startswith("Hob") else "concept", "") for name in sorted(names)
    )
    context = Context(SearchQuery(""), "mix", entities, relations, (CITED, *sources))
    return [
        (candidate.kind, candidate.subject, candidate.other)
        for candidate in propose(Evidence.build(context, said, [CITED]))
    ]


def test_a_person_is_connected_with_what_the_answer_names() -> None:
    found = propose_from(relate("Hob Lattimer", "Long Bench"))
    assert ("connected", "Hob Lattimer", "Long Bench") in found


def test_a_decision_about_a_related_name_is_asked_for_first() -> None:
    assert propose_from(relate("Gannet Tooth", "Long Bench"))[0] == ("decided", "Gannet Tooth", "")


def test_who_wrote_about_the_subject_is_asked_for() -> None:
    assert ("said", "Bo Lind", "Long Bench") in propose_from()


def test_nothing_that_the_answer_explains_or_that_has_a_single_passage_is_asked_for() -> None:
    said = "When is the Long Bench painted? Lattimer, Bo, Dee and Cleo know; the Gannet Tooth is next."
    assert propose_from(relate("Hob Lattimer", "Long Bench"), relate("Gannet Tooth", "Long Bench"), said=said) == []
    assert propose_from(relate("Gannet Tooth", "Long Bench"), sources=OTHERS[1:2]) == []


def test_names_without_a_relation_to_the_answer_are_not_asked_for() -> None:
    assert propose_from(relate("Gannet Tooth", "Hob Lattimer"), sources=OTHERS[1:2]) == []


def test_other_sections_of_a_cited_document_are_asked_for() -> None:
    cited = section("1", "Fees", position=1)
    far, near = section("3", "4. The crane", position=4), section("2", "Lost things", position=2)
    other = section("9", "Opening hours", document="slack:T1:ROOF:file:F2")
    context = Context(SearchQuery(""), "naive", sources=(cited, far, other, near))
    found = propose(Evidence.build(context, "What are the fees?", [cited]))
    assert [(candidate.kind, candidate.subject, candidate.other) for candidate in found] == [
        ("section", "Lost things", "Harbour Rules"),
        ("section", "The crane", "Harbour Rules"),
    ]
    assert found[0].is_supported_by(near)
    assert not found[0].is_supported_by(far)


@pytest.mark.parametrize(
    "heading",
    [
        *("Introduction", "19 April", "lower case", "p. 4", "One two three four five six seven"),
        *("See https://evil.example", "Evil.com", "<!channel> now", "Hi @everyone", "*Bold*", "[a](b)", "A_b", "A\nb"),
        "Harbour :fire: Rules",
        "Rules since:yesterday",
    ],
)
def test_a_heading_with_markup_or_no_meaning_is_not_asked_for(heading: str) -> None:
    assert find_heading(section("1", heading)) == ""


def test_a_passage_supports_a_question_if_it_names_what_that_asks_for() -> None:
    decided = Candidate("decided", "Gannet Tooth", "", 1.0)
    connected = Candidate("connected", "Hob Lattimer", "Long Bench", 1.0)
    said = Candidate("said", "Bo Lind", "Long Bench", 1.0, author="Bo Lind")
    support = {
        each.kind: [source.passage for source in OTHERS if each.is_supported_by(source)]
        for each in (decided, connected, said)
    }
    assert support == {"decided": ["m3"], "connected": ["m4"], "said": ["m2"]}
