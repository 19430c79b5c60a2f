from __future__ import annotations

import pytest

from bot.text.speech.kinds.features import name_features


def test_a_word_whose_part_of_speech_is_known_stands_for_its_class() -> None:
    assert "classes ^QADo" in name_features("where does the ladder")
    assert "classes ^QADo" in name_features("Wo ist die Leiter?")


def test_what_begins_after_a_comma_is_named_apart() -> None:
    found = name_features("seit gestern klemmt das Tor, wurde da was geändert")
    assert {"last clause wurde", "last clause wurde da"} <= found
    assert "last clause seit" not in found
    assert not any("clause" in name for name in name_features("wurde da was geändert"))


def test_code_addresses_quotations_and_quoted_lines_are_one_word_each() -> None:
    found = name_features('`x = who()` https://a.example/who "who"\n> who?')
    assert {"word codex", "word urlx", "word quotex"} <= found
    assert "word who" not in found


def test_accents_and_numbers_make_no_difference() -> None:
    assert name_features("¿cuándo llegó el 12?") == name_features("cuando llego el 7?")


def test_a_text_without_blanks_is_named_by_its_characters() -> None:
    assert {"row ですか", "text ends ですか", "question mark"} <= name_features("いつですか？")


@pytest.mark.parametrize("text", ["", "?", "🙏", "\n"])
def test_a_text_without_words_has_features_nevertheless(text: str) -> None:
    assert name_features(text)
