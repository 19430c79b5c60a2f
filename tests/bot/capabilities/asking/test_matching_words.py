"""Words of a search match in their forms, without accents and in every script; the text around them is shown."""

from __future__ import annotations

import pytest

from bot.capabilities.asking.matching_words import SoughtWords, build_excerpt


def mark(search: str, text: str, **options: int) -> str:
    """The excerpt, with its matches in brackets."""
    pieces = build_excerpt(text, SoughtWords.parse(search).find_spans(text), **options)
    return "".join(f"[{piece}]" if is_match else piece for piece, is_match in pieces)


@pytest.mark.parametrize(
    ("search", "text", "shown"),
    [
        ("ferries", "The ferry leaves, the FERRIES left.", "The [ferry] leaves, the [FERRIES] left."),
        ("cafe", "Le café ferme.", "Le [café] ferme."),
        ("wi-fi", "The Wi-Fi is down.", "The [Wi]-[Fi] is down."),
        ("the", "The ferry and the mill.", "[The] ferry and [the] mill."),
        ("the ferry", "The ferry and the mill.", "The [ferry] and the mill."),
        ("切符", "フェリーの切符は三百円です。", "フェリーの[切符]は三百円です。"),
        ("b1", "Room B1, not B12.", "Room [B1], not B12."),
        ("", "The ferry.", "The ferry."),
    ],
)
def test_matches_are_marked(search: str, text: str, shown: str) -> None:
    assert mark(search, text) == shown


def test_more_of_the_words_count_more_and_a_phrase_is_needed() -> None:
    words = SoughtWords.parse("ferry tickets")
    assert [words.count(text) for text in ("A ferry.", "Ferry tickets.", "A mill.")] == [1, 2, 0]
    phrase = SoughtWords.parse('ferry "at  noon"')
    assert phrase.count("The ferry leaves at noon.") > 0
    assert phrase.count("The ferry leaves at one, not noon.") == 0


def test_an_excerpt_begins_before_its_match_and_ends_at_a_word() -> None:
    text = f"{'Rain and wind. ' * 40}The ferry leaves. {'Sun and calm. ' * 40}"
    shown = mark("ferry", text)
    assert shown.startswith("… ")
    assert "[ferry] leaves." in shown
    assert shown.endswith(" …")
    assert len(shown) < 340
    assert mark("zeppelin", text).startswith("Rain and wind.")


def test_matches_in_hostile_texts_take_linear_time() -> None:
    for text in ("x" * 20_000, "́" * 20_000, '"' * 20_000, "切" * 20_000):
        words = SoughtWords.parse(text[:500])
        assert len("".join(piece for piece, _ in build_excerpt(text, words.find_spans(text)))) < 400
