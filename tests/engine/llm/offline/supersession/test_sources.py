"""What replaces what among sources, as quotations and prompts show it."""

from __future__ import annotations

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.highlights import find_highlights
from engine.llm.offline.quotes import build_quotations, render_quotations
from engine.llm.offline.supersession.sources import find_replaced_sources, list_changes, put_newer_first
from engine.llm.prompts import render_answer
from engine.models import Context, Prompt, Replacement, SearchQuery
from tests.engine.llm.offline.sources import source

OLD, NEW, NEWEST = (
    "[2026-03-02 09:00] Ada: The mill tour is on 4 May.",
    "[2026-03-09 09:00] Bela: The mill tour is on 11 May now.",
    "[2026-03-16 09:00] Cem: The mill tour moves to 18 May.",
)
QUOTED = """
- Cem (2026-03-16 09:00 UTC): “The mill tour moves to 18 May.” [3]
- Until 2026-03-16: Bela (2026-03-09 09:00 UTC): “The mill tour is on 11 May now.” [2]
- Until 2026-03-09: Ada (2026-03-02 09:00 UTC): “The mill tour is on 4 May.” [1]
""".strip()


def test_a_quotation_that_was_replaced_follows_the_newest_one_and_says_until_when_it_was_valid() -> None:
    candidates = build_candidates([source(1, OLD), source(2, NEW), source(3, NEWEST)])
    for chosen in ([0], [1], [2], [0, 2]):
        marked, order = put_newer_first(candidates, chosen)
        assert render_quotations(build_quotations(order, marked)) == QUOTED


def test_what_was_not_replaced_stays_as_it_is() -> None:
    candidates = build_candidates(
        [source(1, OLD), source(2, "[2026-03-09 09:00] Bela: The barn tour is on 11 May now.")]
    )
    assert put_newer_first(candidates, [0]) == (candidates, [0])


def test_the_model_reads_which_source_replaces_which() -> None:
    sources = (source(1, OLD), source(2, NEW))
    found = find_replaced_sources(sources)
    assert found == (Replacement(2, 1, "The mill tour is on 4 May.", "The mill tour is on 11 May now."),)
    query = SearchQuery("When is the mill tour?")
    prompt = render_answer(Prompt(query.question, Context(query, "mix", sources=sources, replacements=found)))[
        0
    ].content
    assert '{"replaced": "The mill tour is on 4 May.", "in": 1, "by": 2}' in prompt
    alone = Context(query, "mix", sources=sources[:1], replacements=found)
    assert '"replaced"' not in render_answer(Prompt(query.question, alone))[0].content


def test_a_digest_says_what_changed_and_repeats_nothing_that_was_replaced() -> None:
    digest = find_highlights([source(1, OLD), source(2, NEW)], "digest")
    changes = digest.partition("**Changes**")[2].strip().splitlines()
    assert changes[0].startswith("- Bela (2026-03-09 09:00 UTC): “The mill tour is on 11 May now.”")
    assert changes[1].startswith("- Until 2026-03-09: Ada")
    assert digest.count("4 May") == 1


def test_statements_of_a_change_are_listed_by_time() -> None:
    sources = [source(3, NEWEST), source(1, OLD), source(2, NEW)]
    assert list_changes(sources) == ["The mill tour is on 11 May now.", "The mill tour moves to 18 May."]
