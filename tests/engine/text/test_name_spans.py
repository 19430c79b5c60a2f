from __future__ import annotations

import pytest

from engine.text.names import NameSpan, find_name_spans, longest_spans, title_key


@pytest.mark.parametrize(
    ("question", "known", "named"),
    [
        pytest.param("Who founded the Ada Lovelace Institute?", {"ada lovelace institute"}, {"ada lovelace institute"}),
        pytest.param("Where is Ada's house?", {"ada"}, {"ada"}, id="a possessive"),
        pytest.param("What do James' friends say?", {"james"}, {"james"}, id="a possessive without s"),
        pytest.param("Is “Night Ferry” a film?", {"night ferry"}, {"night ferry"}, id="quoted"),
        pytest.param("when does the ferry leave?", {"ferry"}, set(), id="a single word in lower case is no name"),
        pytest.param("when does the night ferry leave?", {"night ferry"}, {"night ferry"}, id="two words may be"),
        pytest.param("What about it?", {"what"}, set(), id="a function word is no name"),
        pytest.param("what is 17-B?", {"17-b"}, {"17-b"}, id="an identifier"),
        pytest.param(
            "Did Ada Lovelace meet Bob?", {"ada", "ada lovelace", "bob"}, {"ada lovelace", "bob"}, id="longest"
        ),
    ],
)
def test_names_said_in_a_question_are_found(question: str, known: set[str], named: set[str]) -> None:
    assert {span.name for span in longest_spans(find_name_spans(question), known)} == named


def test_the_longest_of_two_names_counts_only_where_it_stands() -> None:
    spans = [NameSpan(0, 2, "new york"), NameSpan(0, 1, "new"), NameSpan(5, 6, "new")]
    assert longest_spans(spans, {"new york", "new"}) == [spans[0], spans[2]]


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Ada Lovelace", "ada lovelace"),
        ("harbor-rules_2026.PDF", "harbor rules 2026"),
        ("Stoker (film)", "stoker"),
        ("(2026)", "(2026)"),
        ("version 1.2", "version 1.2"),
        ("", ""),
    ],
)
def test_a_title_has_a_canonical_form(title: str, key: str) -> None:
    assert title_key(title) == key
