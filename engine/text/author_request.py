"""Recognize requests to summarize what a person wrote, by their words. Pure.

"Summarize what Ada said about the roof", "What did Ada write last week?", "a recap of Ada's messages".
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.text.overviews.request import (
    MAX_REQUEST_CHARACTERS,
    OverviewRequest,
    find_time_span,
    parse_overview_request,
    wants_summary,
)
from engine.text.word_lists import STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engine.models import Question

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
    re.compile(pattern, re.IGNORECASE)
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
_WORD = re.compile(r"\w+")
_AND = re.compile(r",| (?:and|und|et|&) ", re.IGNORECASE)
_IN_CHANNEL = re.compile(r"\bin (?:the (?:channel )?)?#([^\W_][\w-]{0,79})", re.IGNORECASE)
_LATELY = re.compile(
    r"\b(?:since \S{1,20}(?: \S{1,20})?|(?:in |over )?(?:the )?(?:last|past|this) (?:\d{1,4} )?\S{1,20}|yesterday|"
    r"today|\S{1,8} \S{1,8} ago)[\s?.!]{0,5}$",
    re.IGNORECASE,
)
_SUMMARY_PHRASE = "what was said"


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
    return " ".join(_WORD.findall(bare)) or bare
