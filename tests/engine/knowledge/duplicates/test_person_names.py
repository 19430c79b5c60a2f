from __future__ import annotations

import pytest

from engine.knowledge.duplicates.suggestions import (
    SUGGESTION_SCORE,
    PairFeatures,
    has_initials_of,
    has_other_initial,
    is_candidate,
    omits_middle_name,
    score_pair,
    split_person_name,
)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("nora p. quill", "nora quill"),
        ("n. quill", "nora quill"),
        ("n.p. quill", "nora petra quill"),
        ("quill, n.", "nora p. quill"),
        ("nora i. quill", "nora quill"),
        ("dr. n. quill", "nora quill"),
        ("prof. nora p. quill", "n. quill"),
        ("quill n.", "nora quill"),
        ("quill n. p.", "nora petra quill"),
        ("th. quill", "thomas quill"),
        ("нора п. квилл", "нора квилл"),
    ],
)
def test_initials_and_full_names_are_suggested_without_another_sign(a: str, b: str) -> None:
    assert has_initials_of(a, b)
    assert is_candidate(a, b, 0.0)
    assert score_pair(PairFeatures(a, b)) >= SUGGESTION_SCORE


def test_an_omitted_middle_name_is_suggested_for_persons_only() -> None:
    names = ("nora quill", "nora petra quill")
    assert omits_middle_name(*names)
    assert score_pair(PairFeatures(*names, same_type=True, are_persons=True)) >= SUGGESTION_SCORE
    assert score_pair(PairFeatures("east river", "east mill river")) < SUGGESTION_SCORE


@pytest.mark.parametrize(
    ("a", "b"), [("nora p. quill", "nora b. quill"), ("n. quill", "o. quill"), ("hepatitis a", "hepatitis b")]
)
def test_another_initial_speaks_against_a_pair(a: str, b: str) -> None:
    assert has_other_initial(a, b)
    assert not is_candidate(a, b, 0.99)
    assert score_pair(PairFeatures(a, b, 0.99, 5, 5)) == 0.0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("dr. quill", "nora quill"),
        ("th. quill", "nora quill"),
        ("st. quill", "otto quill"),
        ("nora quill", "otto quill"),
        ("n. quill", "otto quill"),
        ("quill", "nora quill"),
        ("c++ guide", "c. guide"),
    ],
)
def test_other_names_have_no_initials_in_common(a: str, b: str) -> None:
    assert not has_initials_of(a, b)
    assert not omits_middle_name(a, b)


def test_a_name_with_digits_or_signs_is_no_name_of_a_person() -> None:
    assert split_person_name("v. 2 pump") == split_person_name("a/b test") == ()
    assert split_person_name("quill, nora p.") == ("nora", "p", "quill")
