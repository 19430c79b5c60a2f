"""Tell who came to a meeting and who did not: by the labels of minutes, and by sentences about people. Pure.

Only verbs of attending count, and only questions that begin with them: a shop or a parcel may also be missing. The
words of other languages are those of language_rules.json.
"""

from __future__ import annotations

import re

from engine.llm.offline.language_rules import find_pattern, join_patterns, load_words
from engine.llm.offline.words import UPPER, content_stems, is_common, is_stop_word, stem
from engine.text.languages.unspaced import has_unspaced
from engine.text.patterns import compile_late

# Stem that represents any statement that somebody did not come.
ABSENT = "∅"
# The labels under which minutes list who came, and who did not, with the words by which people ask for these.
_LABEL_START = r"\A\W{0,6}(?:(?:people|persons?|members?|also|personnes|personas|pessoas|membres|miembros|membros) )?"
_CAME = compile_late(
    lambda: (
        rf"{_LABEL_START}(?:present|attendees|attend(?:ance|ing)|in attendance|participants|participating"
        rf"|{join_patterns('present_labels')})\b\W{{0,4}}[:：]"
    ),
    re.IGNORECASE,
)
_STAYED_AWAY = compile_late(
    lambda: (
        rf"{_LABEL_START}(?:absent|absentees|excused|(?:apologies|regrets)(?: from)?|not present|missing"
        rf"|{join_patterns('away_labels')})\b\W{{0,4}}[:：]"
    ),
    re.IGNORECASE,
)
# Those of the labels that only stand before people.
_LISTS_ABSENT = compile_late(
    lambda: (
        rf"{_LABEL_START}(?:absent|absentees|(?:apologies|regrets)(?: from)?"
        rf"|{join_patterns('absent_labels')})\b\W{{0,4}}[:：]"
    ),
    re.IGNORECASE,
)
_COMING = content_stems(
    "attend attended attendee participate participated part present came " + " ".join(load_words("present_words"))
)
_STAYING_AWAY = content_stems("absent missed miss missing absentees excused " + " ".join(load_words("away_words")))
_MEETINGS = content_stems("meeting " + " ".join(load_words("meeting_words")))
_ASKED_BY = _COMING | _STAYING_AWAY | frozenset(map(stem, load_words("absence_words")))
_ASKS_FOR_ABSENT = compile_late(
    r"\A\W{0,3}who (?:else )?(?:(?:did(?:n['’]t| not)|could(?:n['’]t| not)) attend\b(?! to\b)"
    r"|did(?:n['’]t| not) show up\b|(?:was|were) absent\b(?!-)|(?:was|were) not (?:in attendance|present)\b)",
    re.IGNORECASE,
)
_SAYS_ABSENT = compile_late(
    r"\b(?:(?:did(?:n['’]t| not)|could(?:n['’]t| not)) (?:attend\b(?! to\b)|show up\b)"
    r"|(?:was|were) (?:absent\b(?!-)|not (?:in attendance|present)\b)|absent (?:was|were)\b)",
    re.IGNORECASE,
)
_NAME = rf"{UPPER}[^\W\d_]{{1,30}}"
_NAME_BEFORE = compile_late(rf"(?:(\w{{1,30}}) )?({_NAME}),? ?\Z")
_NAME_AFTER = compile_late(rf"\W{{1,3}}({_NAME})")
_JOINING = load_words("joining") | {"and"}
MAX_NAME_LENGTH = 40
MAX_LENGTH = 400  # characters of a question that is read


def asks_for_absent(question: str) -> bool:
    """Whether a question is for those who did not come."""
    asked = question[:MAX_LENGTH]
    return bool(_ASKS_FOR_ABSENT.search(asked) or find_pattern("absence_asked").search(asked))


def says_absent(text: str) -> bool:
    """Whether a sentence says of somebody, by name, that this person did not come, or lists such people."""
    label = _LISTS_ABSENT.match(text)
    if label is not None:
        return has_unspaced(label[0]) or _is_person(_NAME_AFTER.match(text, label.end() - 1))
    found = _SAYS_ABSENT.search(text) or find_pattern("absence").search(text)
    if found is None or has_unspaced(found[0]):
        return found is not None
    before = text[max(0, found.start() - 2 * MAX_NAME_LENGTH) : found.start()]
    if not any(map(str.isalnum, before)):
        return _is_person(_NAME_AFTER.match(text, found.end()))
    return _is_person(_NAME_BEFORE.search(before))


def _is_person(found: re.Match[str] | None) -> bool:
    """Whether a capitalized word is a name: none that begins sentences, and none behind an article."""
    if found is None or is_common(found[found.re.groups]):
        return False
    before = found[1].casefold() if found.re.groups > 1 and found[1] else ""
    return not is_stop_word(before) or before in _JOINING


def list_absence_words(stems: set[str]) -> frozenset[str]:
    """Those of the stems of a question for who did not come that only ask for that."""
    return _ASKED_BY & stems


def list_attendance(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a sentence about who came or did not can be asked by: stems of its own, and stems around it."""
    if _CAME.match(text):
        return _COMING, _MEETINGS
    said = frozenset({ABSENT}) if says_absent(text) else frozenset[str]()
    return (_STAYING_AWAY | said, _MEETINGS) if _STAYED_AWAY.match(text) else (said, frozenset())
