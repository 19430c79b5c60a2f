from __future__ import annotations

import pytest

from engine.text.languages.detection import count_languages

CHAT = """[2026-03-02 09:14] Ada: Das Boot hat ein Leck, wir müssen es heute noch flicken.
[2026-03-02 09:15] Bob: The pump is in the shed, but it has no fuel.
[2026-03-02 09:16] Carl: ok
[2026-03-02 09:17] Dora: 明日の会議は三時からです。
[2026-03-02 09:18] Emil: 我们明天上午在港口见面。
[2026-03-02 09:19] Ada: 회의는 세 시에 시작합니다.
[2026-03-02 09:20] Bob: https://example.org/a/b/c/d"""


def test_each_line_counts_in_its_own_language() -> None:
    assert count_languages([CHAT]) == {"de": 1, "en": 1, "ja": 1, "zh": 1, "ko": 1}


def test_nothing_is_counted_without_texts() -> None:
    assert count_languages(()).total() == 0


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("Brod ima rupu na pramcu pa ga moramo popraviti još danas.", "other"),
        ("Mkutano utaanza kesho saa tatu asubuhi katika ofisi ya bandari.", "other"),
        ("Sino ang huling gumamit ng bomba mula sa bodega noong nakaraang linggo?", "other"),
        ("Човен має дірку біля носа, і ми повинні полагодити його сьогодні.", "other"),
        ("کشتی کے اگلے حصے کے قریب سوراخ ہے اور ہمیں آج ہی اسے ٹھیک کرنا ہے۔", "other"),
        ("ნავს ცხვირთან ნახვრეტი აქვს.", "other"),
        ("thanks Bob, great work everyone", ""),
        ("parse_row(buffer[0], buffer[1]) => map(index, value) | sum(index * value)", ""),
        ("2026-03-02 09:14 INFO worker 3 job 17 done 0.31 s, job 18 done 0.44 s", ""),
    ],
)
def test_prose_in_a_language_that_is_not_told_apart_counts_as_another(line: str, language: str) -> None:
    assert count_languages([line]) == ({language: 1} if language else {})
