"""Turn the Japanese words of a request for an overview into English ones. Pure.

Japanese has no spaces between words. What remains of a text beside these words and particles is its subject, and stays.
"""

from __future__ import annotations

import re

from engine.text.languages.distances import NUMERALS, translate_ago
from engine.text.languages.unspaced import has_unspaced

# The longer of two words that begin alike stands first.
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_WORDS = {
    **{  # 12月 before 2月
        f"(?:{month}|{numeral})月": f"in {name}"
        for month, numeral, name in reversed(list(zip(range(1, 13), NUMERALS, _MONTHS, strict=True)))
    },
    "一昨日": "day-before-yesterday",
    "おととい": "day-before-yesterday",
    "今日": "today",
    "本日": "today",
    "昨日": "yesterday",
    "先週末": "last weekend",
    "週末": "weekend",
    "先週": "last week",
    "今週": "this week",
    "先月": "last month",
    "今月": "this month",
    "去年": "last year",
    "昨年": "last year",
    "今年": "this year",
    "最近": "lately",
    "月曜日?": "monday",
    "火曜日?": "tuesday",
    "水曜日?": "wednesday",
    "木曜日?": "thursday",
    "金曜日?": "friday",
    "土曜日?": "saturday",
    "日曜日?": "sunday",
    "このチャンネル": "channel",
    "チャンネル": "channel",
    "このスレッド": "thread",
    "スレッド": "thread",
    "ここ": "here",
    "どこでも": "everywhere",
    "見逃した?": "missed",
    "見落とし": "missed",
    "要約": "summary",
    "まとめ": "summary",
    "概要": "overview",
    "決定事項": "decisions",
    "決まりました": "decided",
    "決まった": "decided",
    "決めた": "decided",
    "決まり": "decided",
    "決定": "decisions",
    "未解決": "unresolved question",
    "未回答": "unanswered question",
    "質問": "questions",
    "課題": "issues",
    "残って": "still open",
    "答えの?出ていない": "unanswered",
    "回答されていない": "unanswered",
    "答えられていない": "unanswered",
    "話し合": "discussed",
    "話し?": "talked",
    "話題": "talked",
    "議論": "discussed",
    "起こ": "happened",
    "起き": "happened",
    "あった": "happened",
    "ありました": "happened",
    "新しい": "new",
    "何": "what",
    "みんな": "we",
    "私たち": "we",
}
_TRANSLATED = re.compile("|".join(f"(?P<w{at}>{word})" for at, word in enumerate(_WORDS)))
# It begins with the first of the words: a search from each of them would take the square of their number.
_SINCE = re.compile(
    r"(?:(?<![a-z-])(?<![a-z-] )(?P<before>[a-z-]+)|(?<![a-z-]))(?P<time>(?: [a-z-]+)+ )(?:から|以降|以来)"
)
_GRAMMAR = re.compile(
    r"(?:教えてください|教えて|ください|くれますか|お願いします|して|した|しました|しましたか|いますか|いる|ある|ありますか|"
    r"ことは?|もの|まだ|どんな|どの|どれ|って|った|い?ました|い?ます|です|ました|のこと|について|誰か|"
    r"[はがをにのでともかねよへやんだなっいうえるた])++"
)


def translate_request(text: str) -> str:
    """The text with English words in place of the Japanese ones of a request; other texts are unchanged."""
    if not has_unspaced(text):
        return text
    values = [*_WORDS.values()]
    english = translate_ago(text)
    english = _TRANSLATED.sub(lambda found: f" {values[int(found.lastgroup[1:])]} " if found.lastgroup else "", english)
    english = _SINCE.sub(lambda found: f"{found['before'] or ''} since {found['time']}", english)
    return _GRAMMAR.sub(" ", english)
