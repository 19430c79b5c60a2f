"""Recognize what a question asks for by its words: an overview of a place or span, what one person wrote. Pure.

"What was decided lately?", "Summarize this thread", "What happened since Monday?": these name no subject, so a search
would not find their answer; they are answered from all messages of the span. A question with a subject is not one.

Japanese has no spaces between words. What remains of a text beside these words and particles is its subject, and stays.

"Summarize what Ada said about the roof", "What did Ada write last week?", "a recap of Ada's messages".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engine.models import Overview
from engine.text import overview_words as cues
from engine.text.languages.distances import NUMERALS, translate_ago
from engine.text.languages.unspaced import has_unspaced
from engine.text.patterns import compile_late
from engine.text.time_spans import TimeSpan, parse_time_span
from engine.text.word_lists import STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engine.models import OverviewKind, Question


_WORD = compile_late(r"[^\W_]+(?:[-'’:][^\W_]+)*")
MAX_REQUEST_CHARACTERS = 200  # a longer question has a subject
# A question with any other word has a subject.
_KNOWN = STOP_WORDS.union(
    cues.FILL,
    cues.SUMMARIZE,
    cues.HAPPENED,
    cues.DID,
    cues.DECIDED,
    cues.ASKED,
    cues.OPEN,
    cues.THREAD,
    cues.CHANNEL,
    cues.EVERYWHERE,
)

_CHANNEL_NAME = compile_late(r"#([^\W_][\w-]{0,79})")
_POINTS_BACK_STRICT = cues.POINTS_BACK - {"es", "das"}
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
_TRANSLATED = compile_late("|".join(f"(?P<w{at}>{word})" for at, word in enumerate(_WORDS)))
# It begins with the first of the words: a search from each of them would take the square of their number.
_SINCE = compile_late(
    r"(?:(?<![a-z-])(?<![a-z-] )(?P<before>[a-z-]+)|(?<![a-z-]))(?P<time>(?: [a-z-]+)+ )(?:から|以降|以来)"
)
_GRAMMAR = compile_late(
    r"(?:教えてください|教えて|ください|くれますか|お願いします|して|した|しました|しましたか|いますか|いる|ある|ありますか|"
    r"ことは?|もの|まだ|どんな|どの|どれ|って|った|い?ました|い?ます|です|ました|のこと|について|誰か|"
    r"[はがをにのでともかねよへやんだなっいうえるた])++"
)
MAX_NAME_WORDS = 6  # words of the names in a question
_I = frozenset({"i", "me", "my", "ich"})
_NOBODY = (STOP_WORDS - _I) | word_set(
    """
    people everybody everyone others folks anybody anyone somebody someone jeder alle got gets else customers users
    clients staff members guests visitors management board council team press experts critics
    """
)

_NAME = r"(?P<name>[^\s?!.,;:][^\n?!;:]{0,80}?)"
_DONE = (
    r"(?:(?:has|have|had|was|were|just|recently|already) ){0,3}(?:said|wrote|written|posted|shared|reported|saying|"
    r"writing|says|writes|told (?:us|everyone|everybody|me))\b"
)
_ASKED = r"(?:say|write|post|share|report|said|written|posted|shared|reported|been saying|been writing)\b"
_WRITINGS = r"(?:messages|posts|comments|remarks)"
_ENDS = r"(?= (?:about|in|on|from|since|last|this|yesterday|today|here|\S{1,8} \S{1,8} ago)\b|[?.!]|$)"
_OTHER_ENDS = (
    r"(?= (?:la|le|a|o|el|este|esta|cette|hier|ayer|ontem|hoy|hoje|desde|depuis|sobre|sur|en|em|no|na"
    r"|hace|há|faz|il y a)\b|[?.!]|$)"
)
_CLAUSES = tuple(
    compile_late(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bwhat (?:did|has|have) {_NAME} (?:just |recently )?{_ASKED}",
        rf"\b(?:what|everything|anything|all)(?: that| which)? {_NAME} {_DONE}",
        rf"\b{_WRITINGS} (?:by|from|of) {_NAME}{_ENDS}",
        rf"(?:(?<= of )|(?<=summari[sz]e )){_NAME}(?:['’]s?)? {_WRITINGS}\b",
        rf"\bwas hat {_NAME} (?:gesagt|geschrieben)\b",
        rf"\bwas {_NAME} (?:gesagt|geschrieben) hat\b",
        rf"\bce qu(?:e |['’]){_NAME} a (?:dit|écrit)\b",
        rf"\bqu['’](?:a|est-ce qu['’]a) (?:dit|écrit) {_NAME}{_OTHER_ENDS}",
        rf"\bqué (?:ha )?(?:dijo|dicho|escribió|escrito) {_NAME}{_OTHER_ENDS}",
        rf"\bo que (?:o |a )?{_NAME} (?:disse|escreveu|falou)\b",
        rf"\bo que (?:disse|escreveu|falou) (?:o |a )?{_NAME}{_OTHER_ENDS}",
        r"(?P<name>[^\s、。？?は]{1,20}?)(?:さん|くん|ちゃん)?[はが](?:何|なん)(?:と|を|て)(?:言|書|話)\w*",
    )
)
_REQUEST_WORD = compile_late(r"\w+")
_AND = compile_late(r",| (?:and|und|et|&) ", re.IGNORECASE)
_IN_CHANNEL = compile_late(r"\bin (?:the (?:channel )?)?#([^\W_][\w-]{0,79})", re.IGNORECASE)
_LATELY = compile_late(
    r"\b(?:since \S{1,20}(?: \S{1,20})?|(?:in |over )?(?:the )?(?:last|past|this) (?:\d{1,4} )?\S{1,20}|yesterday|"
    r"today|\S{1,8} \S{1,8} ago)[\s?.!]{0,5}$",
    re.IGNORECASE,
)
_SUMMARY_PHRASE = "what was said"


@dataclass(frozen=True, slots=True)
class OverviewRequest:
    """A request for an overview. `place`: the place it names. `is_catch_up`: it asks for what the asker missed.

    `channel`: the name of another channel in the request, without "#".
    """

    overview: Overview
    place: Literal["", "thread", "channel", "everywhere"]
    time_span: TimeSpan
    is_catch_up: bool
    channel: str = ""


def parse_overview_request(text: str, now: datetime) -> OverviewRequest | None:
    """The overview that a question requests; None for any other question."""
    if len(text) > MAX_REQUEST_CHARACTERS:
        return None
    channels = _CHANNEL_NAME.findall(text)
    span, words = parse_time_span(_words(text), now)
    present = set(words)
    if len(channels) > 1 or (words[:1] and words[0] in cues.IS and present & cues.OPEN and "there" not in present):
        return None
    kind = _parse_kind(
        words,
        placed=bool(present & (cues.THREAD | cues.CHANNEL | cues.EVERYWHERE))
        or span.is_bounded
        or bool(present & cues.LATELY),
    )
    if kind is None or not present <= _KNOWN:
        return None
    place: Literal["", "thread", "channel", "everywhere"] = ""
    for name, named in (("thread", cues.THREAD), ("everywhere", cues.EVERYWHERE), ("channel", cues.CHANNEL)):
        if present & named:
            place = name  # type: ignore[assignment]
            break
    recent = not span.is_bounded and (kind != "summary" or not place)
    missed = bool(present & cues.MISSED)
    overview = Overview(kind, recent, widens=recent and not present & cues.LATELY)
    return OverviewRequest(overview, place, span, missed, channels[0] if channels else "")


def wants_summary(text: str) -> bool:
    """Whether a text asks for a summary of anything."""
    return not cues.SUMMARIZE.isdisjoint(_words(text))


def find_time_span(text: str, now: datetime) -> TimeSpan:
    """The time span in a question."""
    return parse_time_span(_words(text), now)[0]


def _words(text: str) -> list[str]:
    """The lower-case words of a text; names of channels become "channel"."""
    bare = translate_request(_CHANNEL_NAME.sub(" channel ", text.replace(";", "")))
    return [word.casefold().replace("’", "'") for word in _WORD.findall(bare)]


def _parse_kind(words: list[str], *, placed: bool) -> OverviewKind | None:
    present = set(words)
    if present & cues.OPEN and (present & cues.ASKED or present & cues.STILL) and not present & _POINTS_BACK_STRICT:
        return "questions"
    if present & cues.DECIDED:
        return None if present & cues.POINTS_BACK else "decisions"
    is_gist = bool(present & cues.KEY and present & cues.POINTS)
    if present & cues.SUMMARIZE or is_gist or present in cues.NEWS or (placed and _reports(words)):
        return None if present & (cues.POINTS_BACK - {"es"}) else "summary"
    return None


def _reports(words: list[str]) -> bool:
    """Whether words without a subject ask what was said or done; of what is done in general only in the past."""
    present = set(words)
    if present & cues.HAPPENED:
        return True
    return not cues.EVERYTHING.isdisjoint(words[:1]) and bool(present & cues.DID) and bool(present & cues.PAST)


def apply_overview_request(question: Question, request: OverviewRequest) -> Question:
    """The question with the requested overview and time span; filters that are already set stay."""
    within = replace(
        question.filters,
        since=question.filters.since or request.time_span.since,
        until=question.filters.until or request.time_span.until,
    )
    overview = replace(request.overview, recent=request.overview.recent and not within.is_active)
    return replace(question, overview=overview, filters=within)


def translate_request(text: str) -> str:
    """The text with English words in place of the Japanese ones of a request; other texts are unchanged."""
    if not has_unspaced(text):
        return text
    values = [*_WORDS.values()]
    english = translate_ago(text)
    english = _TRANSLATED.sub(lambda found: f" {values[int(found.lastgroup[1:])]} " if found.lastgroup else "", english)
    english = _SINCE.sub(lambda found: f"{found['before'] or ''} since {found['time']}", english)
    return _GRAMMAR.sub(" ", english)


def by_author(question: Question, now: datetime) -> tuple[Question, OverviewRequest | None]:
    """The question with the people whose messages it asks about, and the overview that it requests, if any.

    A question with a subject is still searched, but only in the messages of these people.
    """
    found = next(
        (found for clause in _CLAUSES if (found := clause.search(question.text[:MAX_REQUEST_CHARACTERS]))), None
    )
    names = _names(found["name"], question.asker) if found and len(question.text) <= MAX_REQUEST_CHARACTERS else ()
    if found is None or not names:
        return question, parse_overview_request(question.text, now)
    rest = f"{question.text[: found.start()]} {_SUMMARY_PHRASE} {question.text[found.end() :]}"
    asked = parse_overview_request(rest, now)
    if asked is None and not wants_summary(rest):
        return question, None
    question = replace(question, writers=names)
    return (question, asked) if asked else (_restrict_to_time_span(question, rest, now), None)


def channel_of(question: Question) -> str:
    """The channel, without "#", to which a question about people's messages is restricted; empty if there is none."""
    found = _IN_CHANNEL.findall(question.text) if question.writers else []
    return found[0] if len(found) == 1 else ""


def match_authors(name: str, authors: Sequence[str]) -> list[str]:
    """The authors with this name: by their whole name, else by whole words of it."""
    folded = _folded(name)
    same = [author for author in authors if _folded(author) == folded]
    return same or [author for author in authors if f" {folded} " in f" {_folded(author)} "]


def split_names(name: str) -> list[str]:
    """The names in a list such as "Ada and Bob"."""
    return [part.strip() for part in _AND.split(name) if part.strip()]


def _names(name: str, asker: str) -> tuple[str, ...]:
    """The people that the words name; empty if they name nobody. After an @, any word can be a name."""
    words = name.casefold().split()
    if words and words[0] in _I:
        return (asker,) if asker and len(words) == 1 else ()
    if "@" not in name and (
        len(words) > MAX_NAME_WORDS or not _NOBODY.isdisjoint(w.strip(",") for w in words if w != "and")
    ):
        return ()
    return (name.strip(),)


def _restrict_to_time_span(question: Question, rest: str, now: datetime) -> Question:
    """The question restricted to the time span before its subject or at its end; a subject may contain others."""
    end, within = _LATELY.search(rest), question.filters
    span = find_time_span(rest.partition(" about ")[0], now)
    if not span.is_bounded and end:
        span = find_time_span(end[0], now)
    return replace(
        question, filters=replace(within, since=within.since or span.since, until=within.until or span.until)
    )


def _folded(name: str) -> str:
    """A name in lower case without punctuation; unchanged if it is only punctuation."""
    bare = name.strip().removeprefix("@").casefold()
    return " ".join(_REQUEST_WORD.findall(bare)) or bare
