from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CorruptFile
from engine.parsers.detection.encoding import decode_text
from engine.parsers.passages.packing import MAX_WORDS, word_count
from engine.parsers.plain_text import parse


def test_a_short_text_is_one_passage_labelled_with_its_lines() -> None:
    found = parse("notes.txt", b"\n\nFirst line.\nSecond line.\n\nAnother paragraph.\n")
    assert found.title == "notes.txt"
    (passage,) = found.passages
    assert (passage.key, passage.label) == ("L3-6", "lines 3–6")
    assert passage.text == "First line.\nSecond line.\n\nAnother paragraph."


def test_paragraphs_are_packed_to_narrow_passages() -> None:
    text = "\n\n".join(f"Paragraph {n}: " + "word " * 60 for n in range(20))
    found = parse("long.txt", text.encode())
    assert len(found.passages) == 10
    assert found.passages[1].label == "lines 5–7"
    assert all(word_count(passage.text) <= MAX_WORDS for passage in found.passages)


def test_a_scrap_at_the_end_joins_its_neighbour() -> None:
    text = "word " * 120 + "\n\nThe end."
    (passage,) = parse("a.txt", text.encode()).passages
    assert passage.text.endswith("The end.")


def test_a_log_without_empty_lines_is_cut_at_lines() -> None:
    text = "\n".join(f"12:00:{n:02} the machine said something number {n}" for n in range(60))
    found = parse("a.log", text.encode())
    assert [passage.key for passage in found.passages][:2] == ["L1-15", "L16-30"]


def test_one_endless_line_becomes_several_passages_with_keys_of_their_own() -> None:
    found = parse("a.txt", ("A sentence of exactly six words. " * 200).encode())
    keys = [passage.key for passage in found.passages]
    assert len(keys) > 3
    assert len(set(keys)) == len(keys)
    assert {passage.label for passage in found.passages} == {"line 1"}


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "cp1252"]
)
def test_western_text_is_decoded_from(encoding: str) -> None:
    text = "Die Bücherei öffnet um neun – “pünktlich”."
    assert decode_text(text.encode(encoding)).lstrip("\ufeff") == text


def test_cyrillic_of_an_old_code_page_is_recognised() -> None:
    text = "Библиотека открывается в девять часов утра и закрывается в шесть часов вечера. " * 3
    assert decode_text(text.encode("cp1251")) == text


@pytest.mark.parametrize("data", [bytes(range(256)) * 10, b"\x00\x01\x02\x03" * 100, b"text\x00\x07\x01" * 50])
def test_binary_junk_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptFile, match="binary"):
        decode_text(data)


def test_controls_go_and_characters_of_all_scripts_stay() -> None:
    text = "Ada 漢字 🎉 naïve عربى\x07 " + "and so on, " * 20
    (passage,) = parse("a.txt", text.encode()).passages
    assert passage.text.startswith("Ada 漢字 🎉 naïve عربى and")


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"], include_characters="\n"), max_size=3000))
def test_no_word_is_lost_and_nothing_is_empty(text: str) -> None:
    found = parse("a.txt", text.encode())
    assert all(passage.text.strip() for passage in found.passages)
    assert [passage.position for passage in found.passages] == list(range(len(found.passages)))
    assert len({passage.key for passage in found.passages}) == len(found.passages)
    clean = text.removeprefix("\ufeff").replace("\ufeff", "").replace("\ufffd", "")
    joined = "".join(passage.text for passage in found.passages).replace("\ufffd", "")
    assert "".join(joined.split()) == "".join(clean.split())
