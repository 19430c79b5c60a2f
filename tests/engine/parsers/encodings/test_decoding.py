from __future__ import annotations

from random import Random

import pytest

from engine.errors import CorruptFile
from engine.parsers.base import ParserLimits
from engine.parsers.encodings.decoding import decode, decode_text, find_doubt
from engine.parsers.sandbox.worker import parse_file

RUSSIAN = "Ведомость сдать мастеру до вторника. Весы стоят у северных ворот."
CZECH = "Příští zkouška bude v úterý, řekla vedoucí Kateřina Šťastná."
LITHUANIAN = "Krosnį kūrena pirmadienį. Prašome iki vakaro atnešti plytų; sąmatą patvirtino taryba, žvyrą atveš rytoj."
POLISH = "Następna próba odbędzie się we wtorek, mówi żona młynarza."
GERMAN = "Übung für Köche: Äpfel schälen, süße Soße rühren, größere Stücke weglegen."
GREEK = "Η επόμενη δοκιμή γίνεται την Τρίτη στη βόρεια πύλη."
SIMPLIFIED = "下一次演练在星期二举行，请大家准时到北门集合。"
TRADITIONAL = "下一次演練在星期二舉行，請大家準時到北門集合。"
JAPANESE = "次の訓練は火曜日に北門で行います。遅れないでください。"
KOREAN = "다음 훈련은 화요일에 북문에서 합니다. 늦지 마세요."


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        (RUSSIAN, ("cp1251", "koi8-r", "iso8859-5", "cp866")),
        (CZECH, ("cp1250", "iso8859-2")),
        (POLISH, ("cp1250", "iso8859-2")),
        (GERMAN, ("cp1252", "cp850", "mac-roman")),
        (LITHUANIAN, ("cp1257",)),
        (GREEK, ("cp1253", "iso8859-7")),
        (SIMPLIFIED, ("gbk", "gb18030")),
        (TRADITIONAL, ("big5",)),
        (JAPANESE, ("shift_jis", "euc_jp", "iso2022_jp")),
        (KOREAN, ("euc_kr", "cp949")),
        ("Größe: 9 m", ("cp1252", "cp850")),
        ("Сдать до вторника", ("cp1251", "koi8-r", "cp866")),
        ("Příští zkouška", ("cp1250",)),
    ],
)
def test_a_short_text_is_read_in_its_own_code_page(text: str, encodings: tuple[str, ...]) -> None:
    assert {name: decode_text(text.encode(name)) for name in encodings} == dict.fromkeys(encodings, text)


def test_a_letter_after_much_english_is_read_too() -> None:
    text = "The scale is at the north gate.\n" * 5000 + "Ведомость сдать мастеру до вторника.\n"
    assert decode_text(text.encode("koi8-r")) == text


@pytest.mark.parametrize(
    "head",
    ['<?xml version="1.0" encoding="{}"?>', '<meta charset="{}">', "# -*- coding: {} -*-", '@charset "{}";'],
)
def test_the_declared_encoding_counts_before_the_guess(head: str) -> None:
    text = head.format("iso-8859-15") + "\nFee: 9 €"
    assert decode_text(text.encode("iso-8859-15")) == text


@pytest.mark.parametrize("name", ["no-such-encoding", "utf-8", "hex", "big5"])
def test_a_wrong_declaration_does_not_count(name: str) -> None:
    text = f'<?xml version="1.0" encoding="{name}"?>{RUSSIAN}'
    assert decode_text(text.encode("cp1251")) == text


def test_a_few_strange_bytes_leave_the_rest_utf_8() -> None:
    decoded = decode(f"{RUSSIAN} {GERMAN} ".encode() + "Äpfel".encode("cp1252"))
    assert decoded.text == f"{RUSSIAN} {GERMAN} Äpfel"
    assert decoded.doubt is not None
    assert "not UTF-8" in decoded.doubt.reason


def test_doubt_is_stated() -> None:
    [omission] = parse_file("a.txt", "va être".encode("cp1252"), ParserLimits()).omissions
    assert "cp125" in omission.reason
    assert find_doubt(RUSSIAN.encode("koi8-r")) is None
    assert find_doubt(GERMAN.encode()) is None


@pytest.mark.share(5)
@pytest.mark.parametrize("seed", range(5))
def test_random_bytes_are_no_text(seed: int) -> None:
    random = Random(seed)
    with pytest.raises(CorruptFile):
        decode_text(bytes(random.randrange(1, 256) for _ in range(2000)))
    with pytest.raises(CorruptFile):
        decode_text(bytes(random.randrange(160, 256) for _ in range(2000)))
