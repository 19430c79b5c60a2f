"""Overviews in parts: every source once, and what was said before the time span beside what replaces it."""

from __future__ import annotations

from dataclasses import replace

from engine.answers.overview_parts import split_prompt
from engine.llm.offline.supersession.sources import find_replaced_sources
from engine.models import Context, Overview, Prompt, SearchQuery, Source
from tests.engine.llm.offline.sources import source

NEWS = [
    *(
        source(at, f"[2026-03-0{at} 09:00] Ada: The goose number {at} likes the meadow. {'Honk. ' * 400}")
        for at in (1, 2)
    ),
    source(3, "[2026-03-09 09:00] Bela: The mill tour moves to 18 May."),
]
FORMER = source(4, "[2026-01-02 09:00] Ada: We decided: the mill tour is on 4 May.")
OTHER = source(5, "[2026-01-03 09:00] Ada: The barn door is green.")


def split(*sources: Source) -> list[list[int]]:
    replacements = find_replaced_sources(sources, newest=True)
    context = Context(
        SearchQuery("What?"), "mix", sources=sources, overview=Overview("digest"), replacements=replacements
    )
    parts = split_prompt(Prompt("What?", context, token_budget=0), lambda _: [], lambda text: len(text) // 4)
    return [[each.number for each in part.context.sources] for part in parts]


def test_a_former_statement_stands_beside_what_replaces_it() -> None:
    assert split(*NEWS, FORMER) == [[1], [2], [3, 4]]
    first = source(3, "[2026-02-09 09:00] Bela: The mill tour moves to 18 May.")
    news = [first, *(replace(each, text=each.text.replace("Honk. ", "honk ")) for each in NEWS[:2])]
    assert split(*news, FORMER) == [[3, 4], [1], [2]]


def test_a_former_statement_that_nothing_replaces_is_no_news() -> None:
    assert split(*NEWS, OTHER) == [[1], [2], [3]]


def test_sources_that_fit_stay_together() -> None:
    assert split(NEWS[2], FORMER) == [[3, 4]]
