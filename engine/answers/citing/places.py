"""Tell from the text around a number whether a citation may stand there: no step, count, section, exponent or index.

`before` is the text up to the number, `behind` the text after it. Pure.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from engine.answers.citing.words import (
    ARTICLES,
    BEFORE_INTERVALS,
    COPULAS,
    FIRST_OF_ORDERS,
    GAME_NOUNS,
    GAME_VERBS,
    INDEXED_WORDS,
    INTERVAL_ARTICLES,
    INTERVAL_WORDS,
    KEY_WORDS,
    LINKING_WORDS,
    NEEDING_WORDS,
    NUMBERED_SUFFIXES,
    NUMBERED_WORDS,
    POINTING_WORDS,
    REPORTING_PHRASES,
    REPORTING_SUFFIXES,
    REPORTING_VERBS,
    SHORT_WORDS,
    SINGULAR_NUMBERED_WORDS,
    SPELLED_OUT,
    SUBORDINATING_WORDS,
    TICKET_WORDS,
    UNIT_WORDS,
    WITHIN_WORDS,
)
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MIN_WORDS = 4  # of a clause that a number in parentheses can support
MAX_UNIT_LETTERS = 3  # a shorter word before a superscript is a unit or a variable
MAX_INTERVAL_WORDS = 6  # before an interval that may name it
MAX_COUNT_WORDS = 3  # between a count and its number in parentheses: "five whole days (5)"

_HAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_HAN_CHARACTER = compile_late(rf"[{_HAN}]")
_SENTENCE_END = compile_late(r"[*_\"'”»)]{0,2}(?:[.!?](?=[\s\"'”»*_)|\[]|\Z)|[。！？]|\s{0,8}\n|\s{0,8}\Z)")
_CLAUSE_END = compile_late(r"[*_\"'”»)]{0,2}[,;、，；:](?=\s|\Z|[^\d\s])")
_AFTER_SUPERSCRIPT = compile_late(r"[\s.,;:!?)\]\"'”»*_|。、，；！？]|<sup\b|\Z")
_CLAUSE_START = compile_late(r"[.!?;:,](?=\s)|[。、，；！？\n|(（]")
_LAST_WORD = compile_late(r"([^\W_]{1,40}(?:[.'’-][^\W_]{1,40}){0,3})\.?[\s*_]{0,8}\Z")
_LAST_WORDS = compile_late(r"(?:(?<![\w’'-])([^\W_]{1,40})[ \t*_]{1,4})?(?<![\w’'-])([^\W_]{1,40})[ \t*_]{1,4}\Z")
_TIME = compile_late(r"(?<![\d:])\d{1,2}:\d\d\Z|(?<!\d)\d{1,2}[./]\d{1,2}[./]\d{4}\Z")
_BEHIND_RAISED = compile_late(r"[^\W\d][.,;!?]?(?:\^\d{1,4}|\[\d{1,4}\]) ?\Z")  # "done.^1 ^2"
_BEFORE_SENTENCE = frozenset(".!?:\n|>。！？-•#")
_VARIABLE = compile_late(r"(?:\A|[\s(=+*<>,-])[a-z]\Z")
_CALCULATED = compile_late(r"\s?[-+*/<>=]")
_CALCULATED_BEFORE = compile_late(r"[=+*<>(]\s?[a-z]\Z")
_IDENTIFIER = compile_late(r"[A-Za-z]\Z")
_NAMED_INDEX = compile_late(r"[A-Za-z]{1,2}\d{1,4}")
_ELEMENT_SIGNS = ("∈", "∉", "⊂", "⊆")  # before an interval or a set
_FILE_ENDING = compile_late(r"\.(?:pdf|docx?|xlsx?|pptx?|txt|md|csv|json|png|jpe?g|zip|html?)(?!\w)", re.IGNORECASE)
_PAIR = compile_late(r"\s?(\d{1,4})\s?,\s?(\d{1,4})\s?")
_WORD = compile_late(r"[^\W\d_]+|=")
_ASSIGNED = compile_late(r"\s?(?:[-+*/]?=|\+\+)")
_ASSIGNED_FROM = compile_late(r"[\]`]\s?[-+*/]?=\s?[A-Za-z_]\w{0,30}\Z")
_REPORTED = compile_late(
    rf"(?:\A|[^\w])(?:{'|'.join(sorted(REPORTING_PHRASES, key=len, reverse=True))})\s{{1,3}}"
    rf"(?:(?:{'|'.join(ARTICLES)})\s{{1,3}})?\Z",
    re.IGNORECASE,
)
_REPORTS = compile_late(
    rf"\s{{1,3}}(?:{'|'.join(REPORTING_VERBS)})(?![^\W_])|(?:{'|'.join(REPORTING_SUFFIXES)})", re.IGNORECASE
)


def is_han(character: str) -> bool:
    """Whether a character is of a script without spaces."""
    return _HAN_CHARACTER.match(character) is not None


def read_last_word(before: str) -> str:
    """The last word, folded; empty if a text ends with something else."""
    last = _LAST_WORD.search(before)
    return last[1].casefold() if last else ""


def ends_sentence(behind: str) -> bool:
    """Whether a sentence, line or text ends here."""
    return _SENTENCE_END.match(behind) is not None


def can_end_clause(before: str, numbers: Sequence[int], behind: str, *, has_citation: bool) -> bool:
    """Whether numbers in parentheses here support the clause before them, and are no step, count, section or pair."""
    is_end = ends_sentence(behind) or behind.startswith(("(", "[")) or _CLAUSE_END.match(behind) is not None
    if not is_end or _count_words(before) + has_citation < MIN_WORDS:
        return False
    is_pair = len(numbers) > 1
    is_needed = _needs_object(before) or (is_pair and _ends_with_copula(before))
    return not (_is_counted(before, numbers[0]) or _is_numbered(before) or is_needed or _is_score(before, numbers))


def _needs_object(before: str) -> bool:
    """Whether a clause goes on behind its last word: "at (4, 12)", "from (1, 2), then north"."""
    return _ends_with(before, NEEDING_WORDS) and not _REPORTED.search(before)


def _ends_with_copula(before: str) -> bool:
    """Whether a main clause ends with a verb that needs more: "it is (4, 12)", not "where it is" or "weil er ist"."""
    start, clause = _split_clause(before)
    is_main = start != "," and SUBORDINATING_WORDS.isdisjoint(_list_words(clause))
    return is_main and _ends_with(before, COPULAS)


def _ends_with(before: str, words: Collection[str]) -> bool:
    return before.rstrip(" *_").rpartition(" ")[2].casefold() in words


def _is_score(before: str, numbers: Sequence[int]) -> bool:
    """Whether two falling numbers behind a clause about a game are its score: "won the second set (6, 4)"."""
    is_falling = len(numbers) == 2 and numbers[0] >= numbers[1]
    words = _list_words(_last_clause(before))
    return is_falling and not (GAME_VERBS.isdisjoint(words) or GAME_NOUNS.isdisjoint(words))


def is_interval(before: str, written: str) -> bool:
    """Whether two rising numbers in square brackets are an interval: "the range is [1, 5]", "in the range [2, 4]"."""
    pair = _PAIR.fullmatch(written)
    if pair and before.rstrip().endswith(_ELEMENT_SIGNS):
        return True
    words = _list_words(_last_clause(before))[-MAX_INTERVAL_WORDS:]
    if pair is None or int(pair[1]) >= int(pair[2]) or not words or not SUBORDINATING_WORDS.isdisjoint(words):
        return False
    if words[-1] in BEFORE_INTERVALS:
        return not INTERVAL_WORDS.isdisjoint(words)
    named = words[:-1] if words[-1] in INTERVAL_WORDS else []
    if named and named[-1] in INTERVAL_ARTICLES:
        named = named[:-1]
    return bool(named) and named[-1] in WITHIN_WORDS


def _is_counted(before: str, number: int) -> bool:
    """Whether the number repeats a count among the last words: "five (5)", "costs 5 dollars (5)"."""
    words = [word.strip("*_.,").casefold() for word in before.split()[-MAX_COUNT_WORDS:]]
    return any(word == str(number) or (word, number) in SPELLED_OUT for word in words)


def _is_numbered(before: str) -> bool:
    """Whether the last word is one that has a number of its own, also behind its first number."""
    text = before.rstrip(" *_")
    if text.endswith((*NUMBERED_SUFFIXES, "§")):
        return True
    last = _LAST_WORD.search(text)
    if last and last[1].isdigit():
        head = text[: last.start()].rstrip()
        last = _LAST_WORD.search(head)
        if head.endswith("§"):
            return True
    return (last is not None and last[1].casefold() in NUMBERED_WORDS) or _has_own_number(before)


def can_be_raised(before: str, behind: str) -> bool:
    """Whether a raised number here is no exponent and no part of a unit or formula."""
    if not _AFTER_SUPERSCRIPT.match(behind) or before[-1:] in ("", "\n", "=", "+", "×", "*", "^", "(", "⁻", "⁺"):
        return False
    last = before[-1]
    if _TIME.search(before):
        return True
    if last.isdigit():
        digits = "".join(takewhile(str.isdigit, reversed(before)))
        head = before[: -len(digits)].rstrip()
        return ends_sentence(behind) and digits != "01" and head[-1:].isalpha()
    if not last.isalpha() or is_han(last):
        return not last.isspace() or before.rstrip()[-1:] not in ("", "=", "+", "×")
    letters = read_last_word(before)
    return len(letters) > MAX_UNIT_LETTERS and letters not in UNIT_WORDS


def can_follow_caret(before: str, behind: str) -> bool:
    """Whether a number behind a lone caret is a citation: at the end of a clause, and no exponent."""
    if before[-1:] in ".,;:!?" and before[-2:-1].isalpha() and behind[:1].isspace():  # ", ^2" stands behind its clause
        return True
    if _BEHIND_RAISED.search(before):
        return True
    if not (ends_sentence(behind) or _CLAUSE_END.match(behind)) or before[-1:].isdigit():
        return False
    text = before.rstrip(" ")
    if text == before:
        return can_be_raised(before, behind)
    return _count_words(text) >= MIN_WORDS and (can_be_raised(text, behind) or read_last_word(text) in SHORT_WORDS)


def is_reported(before: str, behind: str) -> bool:
    """Whether "document 2" here is what a statement rests on: "according to document 2", "document 2 says"."""
    return _REPORTED.search(before) is not None or _REPORTS.match(behind) is not None


def is_numbered_thing(before: str, written: str) -> bool:
    """Whether a number in square brackets is that of the word before it: "Ticket [#3]", "Room [3] is", "Press [2]".

    `before` ends before the bracket, `written` is what stands in it. Inside of a sentence, behind an article or a
    preposition, the number is a citation: "the chapter [3]", "they met in room [2]". A citation that is lost is worse
    than a number that looks like one.
    """
    last = _LAST_WORDS.search(before)
    if last is None:
        return False
    word, ahead = last[2].casefold(), (last[1] or "").casefold()
    if "#" in written and word in TICKET_WORDS:
        return True
    start = before[: last.start(1) if ahead else last.start(2)].rstrip(" *_")
    begins = not start or start[-1] in _BEFORE_SENTENCE
    if word in KEY_WORDS:
        return (ahead in FIRST_OF_ORDERS) if ahead else begins or start[-1] == ","
    return word in SINGULAR_NUMBERED_WORDS and ((begins and not ahead) or ahead in KEY_WORDS or ahead in POINTING_WORDS)


def _has_own_number(before: str) -> bool:
    """Whether the last word names a numbered thing, and stands first or behind a word that tells nothing of it."""
    last = _LAST_WORDS.search(before)
    if last is None:
        return False
    word, ahead = last[2].casefold(), (last[1] or "").casefold()
    is_bare = not ahead or ahead in LINKING_WORDS or ahead in KEY_WORDS or ahead in ARTICLES
    return is_bare and (word in SINGULAR_NUMBERED_WORDS or word in KEY_WORDS or word in TICKET_WORDS)


def begins_index(before: str) -> bool:
    """Whether a number in square brackets directly behind may be an index."""
    return bool(_IDENTIFIER.search(before))


def is_index(before: str, behind: str) -> bool:
    """Whether a number in square brackets is an index, or that of a file: `a[3]`, `rows[1] = …`, "plan[2].pdf"."""
    is_assigned = bool(_IDENTIFIER.search(before) and (_ASSIGNED.match(behind) or _FILE_ENDING.match(behind)))
    is_variable = _CALCULATED.match(behind) or not INDEXED_WORDS.isdisjoint(_list_last_words(before))
    is_term = bool(_VARIABLE.search(before) and is_variable) or bool(_CALCULATED_BEFORE.search(before))
    return is_assigned or is_term or bool(_ASSIGNED_FROM.search(before))


def is_named_index(before: str, content: str, behind: str) -> bool:
    """Whether a label with a number directly behind a word is an index, as in `rows[n1] is empty`.

    With a capital letter, or at the end of a clause, it is a citation: "the kiln[S1] is lit at nine[s2]."
    """
    if not (_IDENTIFIER.search(before) and _NAMED_INDEX.fullmatch(content)):
        return False
    is_end = ends_sentence(behind) or behind[:1] in {"[", "【"} or _CLAUSE_END.match(behind) is not None
    is_citation = is_end or content[0].isupper()
    return not is_citation or not INDEXED_WORDS.isdisjoint(_list_last_words(before))


def is_variable(before: str) -> bool:
    """Whether a text ends with a single letter, as the names of lists do."""
    return _VARIABLE.search(before) is not None


def _list_last_words(before: str) -> list[str]:
    return [word.casefold() for word in before.split()[-1 - MAX_COUNT_WORDS :]]


def _list_words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _split_clause(before: str) -> tuple[str, str]:
    """What the last clause stands behind, and the clause."""
    text = before.rstrip()
    starts = list(_CLAUSE_START.finditer(text[:-1]))
    return (starts[-1][0], text[starts[-1].end() :]) if starts else ("", text)


def _last_clause(before: str) -> str:
    return _split_clause(before)[1]


def _count_words(before: str) -> int:
    """The words of the clause at the end of a text; two characters of a script without spaces count as one."""
    clause = _last_clause(before)
    han = len(_HAN_CHARACTER.findall(clause))
    return han // 2 + len(clause.split())
