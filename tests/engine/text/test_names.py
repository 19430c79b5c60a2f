from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.names import clean_keywords, clean_name, clean_text, clean_type, normalize_name, remove_unstorable

MARKS = "&amp; &lt; &#xFF06; &#xFDFA; amp; & ; # \" ' “ ” ‘ ’ 《 》 <p> </br> 张 三 1 ２ . A ß İ ﬁ ＂ — Σ ς"
# Text with all that the rules look at, next to anything that Unicode has.
TRICKY = st.lists(
    st.one_of(
        st.sampled_from(MARKS.split()),
        st.sampled_from(" \u3000\u00a0\u200b\u00ad\u0301\u0345\ud800\x00\t\n"),
        st.text(max_size=3),
    ),
    max_size=12,
).map("".join)

K2_BOTH = {
    '"Alice"': "Alice",
    "'Bob'": "Bob",
    "“Carol”": "Carol",
    "《红楼梦》": "红楼梦",
    "O'Neil": "O'Neil",
    "<p>Alice</p>": "Alice",
    "Alice<br/>": "Alice",
    "张 三": "张三",
    "张三 Lee": "张三Lee",
    "Lee 张三": "Lee张三",
    'Tom "The Cat" Jones': 'Tom "The Cat" Jones',
    '"A" "B"': '"A" "B"',
    "&quot;Eve&quot;": "Eve",
    "AT&amp;T": "AT&T",
    "Ａｌｉｃｅ１": "Alice1",
    "Ａ－Ｂ＋Ｃ／Ｄ＊": "A-B+C/D*",
    "a—b": "a-b",
    "（x）": "(x)",
    "a\u3000b": "a b",
    "123": "123",
    "12.345": "12.345",
    "123.45": "123.45",
    "A\x00B": "AB",
    "A\ud800\x7f\x85B": "AB",
    "A\tB\nC\rD": "A\tB\nC\rD",
    '"': "",
    "“": "",
    "''": "",
    "  ": "",
    "": "",
}


@pytest.mark.parametrize(("written", "kept"), K2_BOTH.items(), ids=lambda text: f"K2 {text!a}")
def test_names_and_texts_are_cleaned(written: str, kept: str) -> None:
    assert (clean_name(written), clean_text(written)) == (kept, kept)


@pytest.mark.parametrize(
    ("written", "name", "text"),
    [
        ("“A” and “B”", "A and B", "“A” and “B”"),
        ("12", "", "12"),
        ("1.2", "", "1.2"),
        ("1.2.3", "", "1.2.3"),
        ("...", "", "..."),
        ("'张三", "张三", "'张三"),
        ("a\u00a0b", "a b", "a\u00a0b"),
        ("O’Neil", "O'Neil", "O’Neil"),
    ],
    ids=lambda text: f"K2 {text!a}",
)
def test_some_rules_hold_for_names_only(written: str, name: str, text: str) -> None:
    assert (clean_name(written), clean_text(written)) == (name, text)


def test_an_address_keeps_its_parameters() -> None:
    assert clean_text("see https://x.example/?a=1&copy=2&lt=3") == "see https://x.example/?a=1&copy=2&lt=3"


@pytest.mark.parametrize(
    ("written", "kept"), [("x" * 300, "x" * 256), ("中" * 200, "中" * 170), ("😀" * 200, "😀" * 128)], ids=repr
)
def test_p10_a_long_name_is_cut_between_characters(written: str, kept: str) -> None:
    assert clean_name(written) == kept


@given(TRICKY)
def test_whatever_comes_a_clean_name_can_be_stored_anywhere(written: str) -> None:
    name = clean_name(written)
    assert len(name) <= 256
    assert len(name.encode()) <= 512
    assert "\x00" not in name
    assert name == name.strip()


@given(TRICKY)
def test_whatever_comes_a_clean_text_can_be_stored_anywhere(written: str) -> None:
    assert "\x00" not in clean_text(written).encode().decode()
    assert remove_unstorable(clean_text(written)) == clean_text(written)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Person", "person"),
        ("Person, Engineer", "person"),
        (" ,Person，Engineer", "person"),
        ("Natural Object", "naturalobject"),
        ("Per|son", ""),
        ("a/b", ""),
        ("a\\b", ""),
        ("(x)", ""),
        ("（x）", ""),
        ("<x", ""),
        ("it's", ""),
        ("constructor", ""),
        ("Prototype", ""),
        ("__proto__", ""),
        ("", ""),
        ("  ", ""),
        (",", ""),
    ],
    ids=lambda text: f"P6 {text!r}",
)
def test_types_are_one_lower_case_word(written: str, kept: str) -> None:
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
def test_keywords_are_parted_by_ascii_commas(written: str, kept: str) -> None:
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
    assert len({normalize_name(spelling) for spelling in spellings}) == 1


def test_different_names_stay_apart() -> None:
    names = ["Ada", "Adam", "Ada L.", "C", "C++", "C#", "张三", "张三Lee", "AT&T", "ATT"]
    assert len({normalize_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("nothing", ["", '"', "12", "１２", "①", "\u200b", "\ufeff\u3164"], ids=ascii)
def test_what_is_no_name_has_no_identity(nothing: str) -> None:
    assert not normalize_name(nothing)


@given(TRICKY)
def test_an_identity_is_its_own_identity(written: str) -> None:
    key = normalize_name(written)
    assert normalize_name(key) == key
    assert key == " ".join(key.split())


@given(TRICKY)
def test_cleaning_first_does_not_change_the_identity_of_a_cleaned_name(written: str) -> None:
    name = clean_name(written)
    assert normalize_name(name.upper()) == normalize_name(normalize_name(name.upper()))
    assert normalize_name(f" {normalize_name(name)}\t") == normalize_name(name)


def test_an_identity_costs_microseconds() -> None:
    started = time.perf_counter()
    for number in range(2000):
        normalize_name(f"Entity Number {number}")
    assert time.perf_counter() - started < 0.5
