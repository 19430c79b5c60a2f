from __future__ import annotations

from engine.text.languages.shares import count_languages

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
