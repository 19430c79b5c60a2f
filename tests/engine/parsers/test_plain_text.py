from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CorruptFile
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.passages import MAX_WORDS, word_count
from engine.parsers.plain_text import parse

WESTERN = "Die Bücherei öffnet um neun – “pünktlich”."
CYRILLIC = "Библиотека открывается в девять часов утра и закрывается в шесть часов вечера. " * 3
WESTERN_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "cp1252")
LOG = "\n".join(f"12:00:{n:02} the machine said something number {n}" for n in range(60))
PARAGRAPHS = "\n\n".join(f"Paragraph {n}: " + "word " * 60 for n in range(20))


@pytest.mark.parametrize(
    ("text", "count", "key", "label"),
    [
        pytest.param(PARAGRAPHS, 10, "L5-7", "lines 5–7", id="paragraphs are packed"),
        pytest.param(LOG, 4, "L16-30", "lines 16–30", id="a log without empty lines is cut at lines"),
        pytest.param("A sentence of exactly six words. " * 200, 5, "L1-1.2", "line 1", id="one endless line"),
    ],
)
def test_a_long_text_is_packed_into_narrow_passages(text: str, count: int, key: str, label: str) -> None:
    passages = parse("long.txt", text.encode()).passages
    assert len({passage.key for passage in passages}) == len(passages) == count
    assert (passages[1].key, passages[1].label) == (key, label)
    assert all(word_count(passage.text) <= MAX_WORDS for passage in passages)


def test_a_scrap_at_the_end_joins_its_neighbour() -> None:
    [passage] = parse("a.txt", ("word " * 120 + "\n\nThe end.").encode()).passages
    assert passage.text.endswith("The end.")


@pytest.mark.parametrize(
    ("text", "encoding"), [*((WESTERN, encoding) for encoding in WESTERN_ENCODINGS), (CYRILLIC, "cp1251")]
)
def test_text_is_decoded_from(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)).lstrip("\ufeff") == text


@pytest.mark.parametrize("data", [bytes(range(256)) * 10, b"\x00\x01\x02\x03" * 100, b"text\x00\x07\x01" * 50])
def test_binary_junk_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptFile, match="binary"):
        decode_text(data)


def test_controls_go_and_characters_of_all_scripts_stay() -> None:
    [passage] = parse("a.txt", ("Ada 漢字 🎉 naïve عربى\x07 " + "and so on, " * 20).encode()).passages
    assert passage.text.startswith("Ada 漢字 🎉 naïve عربى and")


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"], include_characters="\n"), max_size=3000))
def test_no_word_is_lost_and_nothing_is_empty(text: str) -> None:
    passages = parse("a.txt", text.encode()).passages
    assert all(passage.text.strip() for passage in passages)
    assert [passage.position for passage in passages] == list(range(len(passages)))
    assert len({passage.key for passage in passages}) == len(passages)
    unmarked = str.maketrans("", "", "\ufeff\ufffd")
    joined = "".join(passage.text for passage in passages)
    assert "".join(joined.translate(unmarked).split()) == "".join(text.translate(unmarked).split())


def test_the_codes_of_a_terminal_go() -> None:
    log = b"\x1b[1;31mRed alert\x1b[0m at \x1b]0;title\x1b\\lock \x1b[K[4m]\x1b(B\x1b[m\x1b7"
    assert parse("a.log", log).passages[0].text == "Red alert at lock [4m]"
