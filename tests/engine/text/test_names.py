from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.names import clean_keywords, clean_name, clean_text, clean_type, normalize_name, remove_unstorable

MARKS = "&amp; &lt; &#xFF06; &#xFDFA; amp; & ; # \" ' “ ” ‘ ’ 《 》 <p> </br> 张 三 1 ２ . A ß İ ﬁ ＂ — Σ ς"
BLANKS = " \u3000\u00a0\u200b\u00ad\u0301\u0345\ud800\x00\t\n"
# Text with everything that the rules look for, next to anything that Unicode has.
TRICKY = st.lists(
    st.one_of(st.sampled_from(MARKS.split()), st.sampled_from(BLANKS), st.text(max_size=3)), max_size=12
).map("".join)

UNCHANGED = ["O'Neil", 'Tom "The Cat" Jones', '"A" "B"', "123", "12.345", "123.45", "A\tB\nC\rD"]
EMPTY = ['"', "“", "''", "  ", ""]
CLEANED = {
    '"Alice"': "Alice",
    "'Bob'": "Bob",
    "“Carol”": "Carol",
    "《红楼梦》": "红楼梦",
    "<p>Alice</p>": "Alice",
    "Alice<br/>": "Alice",
    "张 三": "张三",
    "张三 Lee": "张三Lee",
    "Lee 张三": "Lee张三",
    "&quot;Eve&quot;": "Eve",
    "AT&amp;T": "AT&T",
    "Ａｌｉｃｅ１": "Alice1",
    "Ａ－Ｂ＋Ｃ／Ｄ＊": "A-B+C/D*",
    "a—b": "a-b",
    "（x）": "(x)",
    "a\u3000b": "a b",
    "A\x00B": "AB",
    "A\ud800\x7f\x85B": "AB",
    **dict(zip(UNCHANGED, UNCHANGED, strict=True)),
    **dict.fromkeys(EMPTY, ""),
}


@pytest.mark.parametrize(("written", "kept"), CLEANED.items(), ids=ascii)
def test_k2_names_and_texts_are_cleaned(written: str, kept: str) -> None:
    assert (clean_name(written), clean_text(written)) == (kept, kept)


@pytest.mark.parametrize(
    ("written", "name", "text"),
    [
        ("“A” and “B”", "A and B", "“A” and “B”"),
        *((number, "", number) for number in ("12", "1.2", "1.2.3", "...")),
        ("'张三", "张三", "'张三"),
        ("a\u00a0b", "a b", "a\u00a0b"),
        ("O’Neil", "O'Neil", "O’Neil"),
    ],
    ids=ascii,
)
def test_k2_some_rules_apply_to_names_only(written: str, name: str, text: str) -> None:
    assert (clean_name(written), clean_text(written)) == (name, text)


def test_an_address_keeps_its_parameters() -> None:
    assert clean_text("see https://x.example/?a=1&copy=2&lt=3") == "see https://x.example/?a=1&copy=2&lt=3"


@pytest.mark.parametrize(("character", "kept"), [("x", 256), ("中", 170), ("😀", 128)])
def test_p10_a_long_name_is_cut_between_characters(character: str, kept: int) -> None:
    assert clean_name(character * 300) == character * kept


@given(TRICKY)
def test_clean_names_and_texts_can_be_stored_anywhere(written: str) -> None:
    name, text = clean_name(written), clean_text(written)
    assert (len(name) <= 256, len(name.encode()) <= 512, name.strip()) == (True, True, name)
    assert "\x00" not in name + text.encode().decode()
    assert remove_unstorable(text) == text


NO_TYPES = [
    "Per|son",
    "a/b",
    "a\\b",
    "(x)",
    "（x）",
    "<x",
    "it's",
    "constructor",
    "Prototype",
    "__proto__",
    "",
    " ",
    ",",
]
TYPES = [("Person", "person"), ("Person, Engineer", "person"), (" ,Person，Engineer", "person")]


@pytest.mark.parametrize(
    ("written", "kept"), [*TYPES, ("Natural Object", "naturalobject"), *((wrong, "") for wrong in NO_TYPES)]
)
def test_p6_types_are_one_lower_case_word(written: str, kept: str) -> None:
    assert clean_type(written) == kept


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("works at,employment", "works at,employment"),
        ("works at，employment, ,works at", "works at,employment"),
        ('"works at, employment"', "works at,employment"),
        ("", ""),
    ],
)
def test_keywords_are_separated_by_ascii_commas(written: str, kept: str) -> None:
    assert clean_keywords(written) == kept


@pytest.mark.parametrize(
    "spellings",
    [
        (
            "Ada Lovelace",
            "ADA  lovelace",
            '"Ada Lovelace"',
            "Ａｄａ Lovelace",
            "ada\u00a0lovelace",
            "Ada Love\u00adlace",
        ),
        ("Straße", "STRASSE", "strasse"),
        ("O'Neil", "O’Neil", "O&#39;Neil"),
        ("café", "cafe\u0301", "CAFÉ"),
        ("ﬁle", "file", "FILE"),
        ("张 三", "张三"),
        ("Σίσυφος", "σίσυφοσ"),
        ("\"'Ada'\"", "Ada"),
    ],
    ids=lambda spellings: spellings[0],
)
def test_spellings_of_one_name_have_one_identity(spellings: tuple[str, ...]) -> None:
    assert len(set(map(normalize_name, spellings))) == 1


def test_different_names_stay_apart() -> None:
    names = ["Ada", "Adam", "Ada L.", "C", "C++", "C#", "张三", "张三Lee", "AT&T", "ATT"]
    assert len(set(map(normalize_name, names))) == len(names)


@pytest.mark.parametrize("nothing", ["", '"', "12", "１２", "①", "\u200b", "\ufeff\u3164"], ids=ascii)
def test_text_without_a_name_has_no_identity(nothing: str) -> None:
    assert not normalize_name(nothing)


@given(TRICKY)
def test_an_identity_is_its_own_identity(written: str) -> None:
    key, cleaned = normalize_name(written), clean_name(written)
    assert normalize_name(key) == key == " ".join(key.split())
    assert normalize_name(cleaned.upper()) == normalize_name(normalize_name(cleaned.upper()))
    assert normalize_name(f" {normalize_name(cleaned)}\t") == normalize_name(cleaned)


def test_an_identity_costs_microseconds() -> None:
    started = time.process_time()
    for number in range(2000):
        normalize_name(f"Entity Number {number}")
    assert time.process_time() - started < 0.5
