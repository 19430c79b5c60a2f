"""What replaces what among sources, as quotations and prompts show it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.highlights import find_highlights
from engine.llm.offline.quotes import build_quotations, render_quotations
from engine.llm.offline.supersession.clauses import parse_text
from engine.llm.offline.supersession.sources import (
    MAX_STATEMENTS,
    can_replace_others,
    find_replaced_sources,
    list_changes,
    put_newer_first,
    split_former,
)
from engine.llm.prompts import render_answer
from engine.models import Context, Prompt, Replacement, SearchQuery, Source
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


def shared(number: int, text: str, day: int) -> Source:
    """A passage of a file of March."""
    return replace(source(number, text, title="plan.pdf"), time=datetime(2026, 3, day, tzinfo=UTC))


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


def test_of_two_that_say_much_the_same_the_later_one_comes_first_and_neither_is_replaced() -> None:
    earlier = source(1, "[2026-03-02 09:00] Ada: Members may bring two guests to the mill.")
    later = source(2, "[2026-03-09 09:00] Bela: Members bring guests to the mill by the side door.")
    candidates = build_candidates([earlier, later])
    assert put_newer_first(candidates, [0, 1]) == (candidates, [1, 0])
    unlike = build_candidates([earlier, source(2, "[2026-03-09 09:00] Bela: The weir is closed.")])
    assert put_newer_first(unlike, [0, 1]) == (unlike, [0, 1])


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


def test_a_message_before_a_contradiction_may_be_beyond_the_statements_that_are_compared() -> None:
    correction = source(1, "[2026-03-02 12:00] Ada: no, Brandt builds it since yesterday", "c1")
    parts = "\n\n".join(f"Part {at} of the mill weighs {at} kilograms." for at in range(MAX_STATEMENTS))
    built = source(3, "[2026-03-02 11:00] Bela: Nagel builds the footbridge.", "c1")
    filling = shared(2, parts, 1)
    assert find_replaced_sources([correction, filling, built]) == ()
    found = find_replaced_sources([filling, built, replace(correction, number=4)], newest=True)
    assert [(replaced_source.older, replaced_source.newer) for replaced_source in found] == [(3, 4)]


def test_of_a_long_time_span_the_newest_statements_are_compared() -> None:
    talk = [source(at + 9, f"[2026-03-01 09:00] Ada: Goose {at} likes grass.") for at in range(MAX_STATEMENTS)]
    found = find_replaced_sources([*talk, source(1, OLD), source(2, NEW)], newest=True)
    assert [(replaced_source.older, replaced_source.newer) for replaced_source in found] == [(1, 2)]
    assert "**Changes**" in find_highlights([*talk, source(1, OLD), source(2, NEW)], "digest")


def test_a_message_that_says_more_is_not_said_to_hold_no_longer() -> None:
    said = "[2026-03-02 09:00] Ada: We decided to hire Orla as a guide. The mill tour is on 4 May."
    candidates = build_candidates([source(1, said), source(2, NEW)])
    marked, order = put_newer_first(candidates, [0])
    assert (order, [one.until for one in marked]) == ([1, 0], ["", ""])
    digest = find_highlights([source(1, said), source(2, NEW)], "digest")
    assert "hire Orla" in digest.partition("**Decisions**")[2].partition("**Changes**")[0]


def test_a_file_of_which_one_sentence_was_replaced_is_still_new() -> None:
    digest = find_highlights([shared(1, "The mill tour is on 4 May.", 2), source(2, NEW)], "digest")
    assert digest.endswith("**New files**\n- plan.pdf [1]")


def test_what_was_said_before_the_time_span_is_no_news() -> None:
    former = source(3, "[2026-01-02 09:00] Ada: We decided: the mill tour is on 4 May.")
    old_file = replace(shared(4, "The mill tour is on 4 May.", 2), time=datetime(2026, 1, 3, tzinfo=UTC))
    hello = source(1, "[2026-03-02 09:00] Bela: The mill has a new door.")
    sources = [hello, source(2, NEW), former, old_file]
    assert split_former(sources) == (sources[:2], sources[2:])
    assert split_former(sources[:2]) == (sources[:2], [])
    digest = find_highlights(sources, "digest")
    assert "Until 2026-03-09: Ada" in digest
    assert "**Decisions**" not in digest
    assert "**New files**" not in digest


def test_former_statements_never_crowd_out_what_was_chosen() -> None:
    days = [f"[2026-03-{day:02} 09:00] Ada: The mill tour is on {day} May now." for day in range(10, 16)]
    other = "[2026-03-02 09:00] Bela: The barn door is green."
    candidates = build_candidates([source(at, text) for at, text in enumerate([*days, other], 1)])
    _, order = put_newer_first(candidates, [0, 6])
    assert order == [5, 4, 0, 6]


def test_the_day_until_which_something_held_is_that_of_the_asker() -> None:
    late = source(2, "[2026-03-09 23:30] Bela: The mill tour is on 11 May now.")
    for zone, day in ((UTC, "2026-03-09"), (ZoneInfo("Europe/Berlin"), "2026-03-10")):
        marked, _ = put_newer_first(build_candidates([source(1, OLD), late]), [0], zone=zone)
        assert marked[0].until == day
        assert f"Until {day}" in find_highlights([source(1, OLD), late], "digest", zone)


def test_of_a_list_only_the_item_that_was_replaced_says_so() -> None:
    listed = shared(1, "- The price of the pump is 40 euros\n- The lid weighs 2 kg\n- The valve weighs 3 kg", 2)
    newer = source(2, "[2026-03-09 09:00] Bela: The price of the pump is 45 euros now.")
    candidates = build_candidates([listed, newer])
    marked, order = put_newer_first(candidates, [0, 1, 2])
    lines = render_quotations(build_quotations(order, marked)).splitlines()
    assert [line.startswith("- Until 2026-03-09: ") for line in lines] == [False, True, False]
    assert "45 euros" in lines[0]
    assert all(name in lines[2] for name in ("lid", "valve"))


def test_of_sources_without_two_times_nothing_is_parsed() -> None:
    undated = [replace(source(number, f"The mill tour number {number} is on 4 May."), time=None) for number in (1, 2)]
    before = parse_text.cache_info()
    assert find_replaced_sources(undated) == find_replaced_sources([source(1, OLD), *undated]) == ()
    assert parse_text.cache_info() == before


def test_questions_and_remarks_replace_nothing() -> None:
    assert all(can_replace_others(source(1, text)) for text in (NEW, NEWEST))
    for said in ("Is the mill tour on 11 May now?", "Who comes to the mill tour?", "Thanks, the mill tour was lovely."):
        remark = source(2, f"[2026-03-23 09:00] Dina: {said}")
        assert not can_replace_others(remark)
        assert find_replaced_sources([source(1, OLD), remark]) == ()
