from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge import merge
from engine.knowledge.merge import UNKNOWN_TYPE, Entity, FactCounts, FactRow, Fragment, description_hash

LABELS = st.sampled_from(["Ada", "ADA", "ada", "works at, leads", "leads", ""])
TYPES = st.sampled_from(["person", "place", ""])
TEXTS = st.sampled_from(["Ada leads.", "Ada sings.", "Ada left.", ""])


def fact(chunk: int, text: str = "said", label: str = "Ada", type_: str = "person", time: int = 0) -> FactRow:
    return FactRow(chunk, time, description_hash(text), label, type_, text)


ROWS = st.lists(st.builds(fact, st.integers(1, 4), TEXTS, LABELS, TYPES, st.integers(0, 2)), min_size=1, max_size=12)


@given(ROWS, st.randoms(use_true_random=False))
def test_k8_neither_order_nor_repetition_of_facts_matters(rows: list[FactRow], random: Random) -> None:
    counts = merge.count_facts(rows)
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert merge.count_facts(shuffled) == merge.count_facts(rows + rows) == counts
    assert merge.merge_entity(merge.count_facts(shuffled)) == merge.merge_entity(counts)
    assert merge.merge_relation(merge.count_facts(shuffled)) == merge.merge_relation(counts)
    assert list(counts.fragments) == sorted(counts.fragments)
    texts = [fragment.text for fragment in counts.fragments]
    assert len(set(texts)) == len(texts)
    assert set(texts) == {row.description for row in [row for row in rows if row.type] or rows}


@pytest.mark.parametrize(
    ("chunks", "weight"), [([1], 1), ([1, 1, 1], 1), ([7, 7], 1), ([1, 2], 2), ([1, 2, 3], 3), ([1, 1, 2], 2)]
)
def test_k8_relations_and_entities_count_the_chunks_that_state_them(chunks: list[int], weight: int) -> None:
    counts = merge.count_facts(fact(chunk, f"said {n}") for n, chunk in enumerate(chunks))
    assert (merge.merge_relation(counts).weight, merge.merge_entity(counts).mentions) == (weight, weight)


def test_k8_a_source_given_again_changes_neither_weight_nor_descriptions() -> None:
    merged = merge.merge_relation(merge.count_facts([fact(1, "Ada leads."), fact(1, "Ada leads.")]))
    assert (merged.weight, len(merged.fragments)) == (1, 1)


@pytest.mark.parametrize(
    ("rows", "type_"),
    [
        ([*(fact(chunk) for chunk in range(5)), fact(9, type_="organization", time=9)], "person"),
        ([fact(1), fact(2, type_="organization")], "organization"),
        ([fact(1, type_="organization"), fact(2)], "organization"),
        ([fact(1), fact(2, type_="organization"), fact(3, type_="organization")], "organization"),
    ],
    ids=["the most frequent wins over a late one", "of two the first in the alphabet", "in any order", "a majority"],
)
def test_k8_types(rows: list[FactRow], type_: str) -> None:
    assert merge.merge_entity(merge.count_facts(rows)).type == type_


IMPLIED = [fact(1, "Ada wrote to Bob.", "Bob", ""), fact(2, "Bob called.", "Bob", "")]
STATED = [fact(1, "Ada wrote to Bob.", "bob", ""), fact(2, "A baker.", "Bob")]


@pytest.mark.parametrize(
    ("rows", "name", "type_", "texts"),
    [
        ([fact(1, label="ADA"), fact(2), fact(3)], "Ada", "person", {"said"}),
        (IMPLIED, "Bob", UNKNOWN_TYPE, {"Ada wrote to Bob.", "Bob called."}),
        (STATED, "Bob", "person", {"A baker."}),
    ],
    ids=["the most frequent form is the name", "a missing end is made from its relations", "but what is stated counts"],
)
def test_entities(rows: list[FactRow], name: str, type_: str, texts: set[str]) -> None:
    merged = merge.merge_entity(merge.count_facts(rows))
    assert (merged.name, merged.type, merged.mentions) == (name, type_, len(rows))
    assert {fragment.text for fragment in merged.fragments} == texts


def test_a_chosen_name_is_displayed_as_it_is_written_most_often() -> None:
    rows = [fact(1, label="Harbor"), fact(2, label="Harbor"), fact(3, label="Old Harbor"), fact(4, label="OLD Harbor")]
    chosen = merge.choose_spelling([*rows, fact(5, label="Old Harbor")], "old harbor")
    assert chosen == merge.merge_entity(merge.count_facts(rows), chosen).name == "Old Harbor"
    assert merge.choose_spelling(rows, "pier") == ""


def test_keywords_are_the_forty_most_frequent_and_ties_are_alphabetical() -> None:
    rows = [fact(1, "x", label=", ".join(f"k{n:02}" for n in range(60))), fact(2, "x", label="k59 , k59,, k58")]
    kept = merge.merge_relation(merge.count_facts(rows)).keywords.split(", ")
    assert kept == ["k58", "k59", *[f"k{n:02}" for n in range(38)]]


def test_a_repeated_text_stands_at_its_earliest_time() -> None:
    rows = [fact(1, "again", time=9), fact(2, "between", time=5), fact(3, "again", time=1)]
    assert [(fragment.time, fragment.text) for fragment in merge.count_facts(rows).fragments] == [
        (1, "again"),
        (5, "between"),
    ]


def test_no_facts_merge_to_an_unknown_without_a_name() -> None:
    assert merge.merge_entity(FactCounts(0, {})) == Entity("", UNKNOWN_TYPE, 0, ())


def test_a_name_in_two_spaces_becomes_one_whose_counts_add() -> None:
    first = Entity("Ada", "person", 3, (Fragment(1, 1, "a"),))
    second = Entity("ADA", UNKNOWN_TYPE, 2, (Fragment(0, 2, "b"), Fragment(1, 1, "a")))
    both = Entity("Ada", "person", 5, (Fragment(0, 2, "b"), Fragment(1, 1, "a")))
    assert merge.merge_across_spaces([first, second]) == merge.merge_across_spaces([second, first]) == both


@given(st.text(max_size=40))
def test_the_hash_of_a_row_fits_a_signed_integer_of_the_ledger(text: str) -> None:
    assert 0 <= description_hash(text.encode(errors="replace").decode()) < 2**63
