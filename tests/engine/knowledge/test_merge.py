from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge import merge
from engine.knowledge.merge import UNKNOWN_TYPE, Entity, FactCounts, FactRow, Fragment, description_hash

if TYPE_CHECKING:
    from random import Random

CHUNKS = st.integers(1, 4)
LABELS = st.sampled_from(["Ada", "ADA", "ada", "works at, leads", "leads", ""])
TYPES = st.sampled_from(["person", "place", ""])
TEXTS = st.sampled_from(["Ada leads.", "Ada sings.", "Ada left.", ""])


def told(chunk: int, text: str = "said", label: str = "Ada", type_: str = "person", time: int = 0) -> FactRow:
    return FactRow(chunk, time, description_hash(text), label, type_, text)


ROWS = st.lists(st.builds(told, CHUNKS, TEXTS, LABELS, TYPES, st.integers(0, 2)), min_size=1, max_size=12)


@given(ROWS, st.randoms(use_true_random=False))
def test_k8_order_does_not_matter(rows: list[FactRow], random: Random) -> None:
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert merge.count_facts(shuffled) == merge.count_facts(rows)
    assert merge.merge_entity(merge.count_facts(shuffled)) == merge.merge_entity(merge.count_facts(rows))
    assert merge.merge_relation(merge.count_facts(shuffled)) == merge.merge_relation(merge.count_facts(rows))


@given(ROWS)
def test_twice_is_once(rows: list[FactRow]) -> None:
    assert merge.count_facts(rows + rows) == merge.count_facts(rows)


@given(ROWS)
def test_k7_fragments_are_distinct_and_in_the_order_of_time_and_hash(rows: list[FactRow]) -> None:
    fragments = merge.count_facts(rows).fragments
    assert list(fragments) == sorted(fragments)
    assert len({each.text for each in fragments}) == len(fragments)


@given(ROWS)
def test_every_description_of_a_stated_row_is_kept(rows: list[FactRow]) -> None:
    stated = [row for row in rows if row.type] or rows
    assert {each.text for each in merge.count_facts(rows).fragments} == {row.description for row in stated}


def weight(*chunks: int) -> int:
    return merge.merge_relation(merge.count_facts(told(chunk, f"said {n}") for n, chunk in enumerate(chunks))).weight


def test_k8_the_weight_of_a_relation_is_the_number_of_chunks_that_state_it() -> None:
    assert [weight(1), weight(1, 1), weight(1, 1, 1)] == [1, 1, 1]
    assert [weight(1), weight(1, 2), weight(1, 2, 3)] == [1, 2, 3]
    assert [weight(1), weight(1, 1), weight(1, 1, 2)] == [1, 1, 2]


def test_k8_two_records_of_one_chunk_weigh_one() -> None:
    assert weight(7, 7) == 1


def test_k8_a_source_given_again_changes_neither_weight_nor_descriptions() -> None:
    rows = [told(1, "Ada leads."), told(1, "Ada leads.")]
    folded = merge.merge_relation(merge.count_facts(rows))
    assert (folded.weight, len(folded.fragments)) == (1, 1)


def test_k8_the_most_frequent_type_wins_over_a_late_other_one() -> None:
    rows = [told(chunk) for chunk in range(5)] + [told(9, type_="organization", time=9)]
    assert merge.merge_entity(merge.count_facts(rows)).type == "person"


def test_k8_of_types_equally_frequent_the_first_in_the_alphabet_wins_whenever_it_came() -> None:
    rows = [told(1, type_="person"), told(2, type_="organization")]
    assert merge.merge_entity(merge.count_facts(rows)).type == "organization"
    assert merge.merge_entity(merge.count_facts(reversed(rows))).type == "organization"


def test_k8_two_of_a_later_type_outvote_one_of_an_earlier_one() -> None:
    rows = [told(1), told(2, type_="organization"), told(3, type_="organization")]
    assert merge.merge_entity(merge.count_facts(rows)).type == "organization"


def test_the_display_name_is_the_most_frequent_surface_form() -> None:
    rows = [told(1, label="ADA"), told(2, label="Ada"), told(3, label="Ada")]
    assert merge.merge_entity(merge.count_facts(rows)).name == "Ada"


def test_an_entity_counts_chunks_not_mentions() -> None:
    assert merge.merge_entity(merge.count_facts([told(1, "a"), told(1, "b"), told(2, "c")])).mentions == 2


def test_a_missing_end_is_made_from_its_relations() -> None:
    rows = [told(1, "Ada wrote to Bob.", label="Bob", type_=""), told(2, "Bob called.", label="Bob", type_="")]
    made = merge.merge_entity(merge.count_facts(rows))
    assert (made.name, made.type, made.mentions) == ("Bob", UNKNOWN_TYPE, 2)
    assert {each.text for each in made.fragments} == {"Ada wrote to Bob.", "Bob called."}


def test_an_end_that_is_also_stated_is_described_by_what_is_stated_but_counts_both_chunks() -> None:
    rows = [told(1, "Ada wrote to Bob.", label="bob", type_=""), told(2, "A baker.", label="Bob")]
    made = merge.merge_entity(merge.count_facts(rows))
    assert (made.name, made.mentions, [each.text for each in made.fragments]) == ("Bob", 2, ["A baker."])


def test_keywords_are_the_forty_most_frequent_and_ties_are_alphabetical() -> None:
    rows = [told(1, "x", label=", ".join(f"k{n:02}" for n in range(60))), told(2, "x", label="k59 , k59,, k58")]
    kept = merge.merge_relation(merge.count_facts(rows)).keywords.split(", ")
    assert kept == ["k58", "k59", *[f"k{n:02}" for n in range(38)]]


def test_one_text_said_twice_stands_at_its_earliest_time() -> None:
    rows = [told(1, "again", time=9), told(2, "between", time=5), told(3, "again", time=1)]
    assert [(each.time, each.text) for each in merge.count_facts(rows).fragments] == [(1, "again"), (5, "between")]


def test_nothing_told_folds_to_an_unknown_without_a_name() -> None:
    assert merge.merge_entity(FactCounts(0, {})) == Entity("", UNKNOWN_TYPE, 0, ())


def test_a_name_in_two_spaces_becomes_one_whose_counts_add() -> None:
    first = Entity("Ada", "person", 3, (Fragment(1, 1, "a"),))
    second = Entity("ADA", UNKNOWN_TYPE, 2, (Fragment(0, 2, "b"), Fragment(1, 1, "a")))
    assert merge.merge_across_spaces([first, second]) == Entity(
        "Ada", "person", 5, (Fragment(0, 2, "b"), Fragment(1, 1, "a"))
    )
    assert merge.merge_across_spaces([first, second]) == merge.merge_across_spaces([second, first])


@given(st.text(max_size=40))
def test_the_hash_of_a_row_fits_a_signed_integer_of_the_ledger(text: str) -> None:
    assert 0 <= description_hash(text.encode(errors="replace").decode()) < 2**63
