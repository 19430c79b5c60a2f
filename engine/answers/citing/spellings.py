"""Write citations that stand outside of square brackets in square brackets: (1), Source 1, ¹, <ref>1</ref>, $^{1}$.

Such a number may mean something else: a step, a count, a section, an exponent. It is a citation only if all its numbers
were given, if its place in the sentence is that of a citation, and if no source says the same words with this number.
Everything else stays as it is. What is written is checked and renumbered like any citation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from engine.answers.citing.number_list import (
    BY_LENGTH,
    NAME_START,
    NAMED,
    PARTIAL_NAMED,
    SUPERSCRIPTS,
    WORD_LOOKAHEAD,
    CopiedNumbers,
    TableColumns,
    is_named_source,
    may_become_list,
    read_list,
)
from engine.answers.citing.places import (
    can_be_raised,
    can_end_clause,
    can_follow_caret,
    is_han,
    read_last_word,
)
from engine.answers.citing.words import (
    INLINE_LABELS,
    LABELS,
    PLACEHOLDER_WORDS,
)
from engine.answers.links.link_syntax import CLOSING_BRACKETS, OPENING_BRACKETS, visible_text
from engine.text.patterns import compile_late
from engine.text.stream_rewriter import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.answers.citing.number_list import NumberList

MAX_RANGE = 40  # numbers between raised ones
LOOKAHEAD = 8  # characters after a number that decide what it means

_DIGITS = str.maketrans(SUPERSCRIPTS, "0123456789")
_SUPERSCRIPT = compile_late(rf"⁽?[{SUPERSCRIPTS}]{{1,4}}(?:[,˒⸴·‧⁻][{SUPERSCRIPTS}]{{1,4}}){{0,9}}⁾?")
_CIRCLES = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_OTHER_CIRCLES = "❶❷❸❹❺❻❼❽❾❿", "➀➁➂➃➄➅➆➇➈➉", "➊➋➌➍➎➏➐➑➒➓", "⓵⓶⓷⓸⓹⓺⓻⓼⓽⓾", "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽"
_CIRCLED_NUMBERS = {mark: number for marks in (_CIRCLES, *_OTHER_CIRCLES) for number, mark in enumerate(marks, 1)}
CIRCLED = "".join(_CIRCLED_NUMBERS)
_CIRCLED = compile_late(rf"[{CIRCLED}](?:[,、]?[{CIRCLED}]){{0,9}}")
_PARENTHESIS = compile_late(r"[(（]([^()（）\n]{1,80})[)）]")
_PARTIAL_PARENTHESIS = compile_late(r"[(（]([^()（）\n]{0,80})\Z")
_TAG = compile_late(
    r"<(sup|ref|refs|cite|citation|source|doc)(\s[^<>\n]{0,60})?>\s{0,4}(?:<a(?:\s[^<>\n]{0,100})?>)?"
    r"\s{0,4}([^<>\n]{0,80}?)\s{0,4}(?:</a>\s{0,4})?</\1>"
    r"|<(ref|cite|citation|source|doc)\s{1,4}(?:id|name|n|src|ref|number)\s?=\s?[\"']?(\d{1,4})[\"']?\s{0,4}/?>",
    re.IGNORECASE,
)
_PARTIAL_TAG = compile_late(
    r"<(?:s|su|r|re|c|ci|cit|cita|citat|citati|citatio|so|sou|sour|sourc|d|do|(?:sup|refs?|cite|citation|source|doc)"
    r"(?:\s[^<>\n]{0,60})?(?:>(?:[^<>\n]|<a(?:\s[^<>\n]{0,100})?>|</a>){0,90}(?:<a\s[^<>\n]{0,100}|</?[a-z]{0,10})?)?)?"
    r"\Z",
    re.IGNORECASE,
)
_BRACES = compile_late(r"(?:\{\d{1,4}\}){1,9}|(?:<\d{1,4}>){1,9}")
_PARTIAL_BRACES = compile_late(r"(?:\{\d{1,4}\}){0,8}\{\d{0,4}\Z|(?:<\d{1,4}>){0,8}<\d{0,4}\Z")
_CARET = compile_late(r"\^((?:\[[\d,;\s–-]{1,40}\]){1,9}|[\d,;\s]{0,40}\d|\([\d,;\s]{1,40}\))\^")
_LONE_CARET = compile_late(r"\^(\[\d{1,4}\](?:\[\d{1,4}\]){0,8}|\d{1,4}(?:,\s?\d{1,4}){0,9}|\(\d{1,4}\)|\{\d{1,4}\})")
_PARTIAL_CARET = compile_late(r"\^(?:[\[\]()\d,;\s–-]{0,60}|\{\d{0,4})\Z")
_LATEX = compile_late(r"\$\s?\^\s?\{?\s?\[?([\d,;\s–-]{1,40})\]?\s?\}?\s?\$")
_PARTIAL_LATEX = compile_late(r"\$\s?(?:\^[\s\{\[\d,;\]\}–-]{0,50})?\Z")
_COMMAND = compile_late(
    r"\\(?:cite[a-z]{0,6}|textsuperscript|footnotemark|footcite)\*?(?:\{([^{}\n]{1,60})\}|\[([\d, ]{1,40})\])"
)
_PARTIAL_COMMAND = compile_late(r"\\(?:[a-z]{1,16}\*?(?:[\{\[][^{}\[\]\n]{0,60})?)?\Z")
_CELL = compile_late(r"\|([ \t]{0,20})([^|\n]{1,60}?)([ \t]{0,20})(?=\|)")
_PARTIAL_CELL = compile_late(r"\|[^|\n]{0,100}\Z")
_MARKER = compile_late(
    r"(?:\ue200?)?cite(?:\ue202?turn\d{1,3}[a-z]{1,10}\d{1,3}){1,9}\ue201?|\ue200[^\ue200\ue201\n]{0,80}\ue201"
)
_PARTIAL_MARKER = compile_late(r"\ue200[^\ue200\ue201\n]{0,80}\Z|c(?:i(?:t(?:e(?:t(?:u(?:r(?:n\w{0,40})?)?)?)?)?)?)?\Z")

_MARKS = {
    "$": (_LATEX, _PARTIAL_LATEX, True),
    "\\": (_COMMAND, _PARTIAL_COMMAND, False),
}  # with whether the number stands where an exponent might
_SQUARE = compile_late(rf"[\n{re.escape(OPENING_BRACKETS + CLOSING_BRACKETS)}]")

_HAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_NUMBERS = compile_late(r"\d+")
_RUN = compile_late(rf"(⁻?)([{SUPERSCRIPTS}]+)")


class _Rewriter(Protocol):
    """Rewrites what begins at a position; None if it depends on text to come."""

    def __call__(self, at: int, *, final: bool) -> RewriteStep | None: ...


class SpellingRewriter(StreamRewriter):
    """First stage: write citations of other spellings as `[1]`, but for what the answer copies from its sources."""

    special = compile_late(
        rf"[`(（^<{{$\\|\ue200{SUPERSCRIPTS}⁽{CIRCLED}]|(?<![^\W_{_HAN}])(?:cite(?=turn|tu?r?\Z|\Z)|ci?t?\Z)"
        rf"|(?<![^\W_{_HAN}])(?:{NAME_START.pattern}|(?:{'|'.join(map(re.escape, BY_LENGTH))}))",
        re.IGNORECASE,
    )

    def __init__(self, given_numbers: frozenset[int], copied: CopiedNumbers) -> None:
        super().__init__()
        self._given = given_numbers
        self._copied = copied
        self._columns = TableColumns()
        self._has_counter = False  # a number in parentheses of this line is no citation
        self._has_citation = False  # one is
        self._in_bracket = False  # after a square bracket of this line that is not closed

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        if self._in_bracket:  # the next stage reads all that is in brackets
            return self._keep(at)
        character = self.buffer[at]
        if character == "^":
            return self._rewrite_caret(at, final=final)
        if character in _MARKS:
            whole, partial, is_raised = _MARKS[character]
            return self._rewrite_mark(at, (whole, partial), final=final, is_raised=is_raised)
        return self._find_rewriter(character)(at, final=final)

    def _find_rewriter(self, character: str) -> _Rewriter:
        """What rewrites a citation that begins with this character."""
        if character in SUPERSCRIPTS or character == "⁽":
            return self._rewrite_superscript
        if character in CIRCLED:
            return self._rewrite_circled
        rewriters: dict[str, _Rewriter] = {
            "(": self._rewrite_parenthesis,
            "（": self._rewrite_parenthesis,
            "<": self._rewrite_angle,
            "{": self._rewrite_braces,
            "|": self._rewrite_cell,
            "\ue200": self._remove_marker,
        }
        return rewriters.get(character, self._rewrite_word)

    def record_step(self, read: str, wrote: str) -> None:
        super().record_step(read, wrote)
        self._columns.record(read)
        for bracket in _SQUARE.finditer(read):
            self._in_bracket = bracket[0] in OPENING_BRACKETS
        if "\n" in read:
            self._has_counter = self._has_citation = False

    def _keep(self, at: int, length: int = 1) -> RewriteStep:
        return RewriteStep(at + length, self.buffer[at : at + length])

    # In parentheses.

    def _rewrite_parenthesis(self, at: int, *, final: bool) -> RewriteStep | None:
        found = _PARENTHESIS.match(self.buffer, at)
        if found is None:
            partial = _PARTIAL_PARENTHESIS.match(self.buffer, at)
            waits = not final and partial and may_become_list(visible_text(partial[1]), INLINE_LABELS)
            return None if waits else self._keep(at)
        seen = visible_text(found[1])
        listed = read_list(seen, INLINE_LABELS)
        if listed is None:
            return self._keep(at)
        if not final and self._is_near_end(found.end()):
            return None
        is_named = listed.is_labeled and not self._copied.has(seen)
        if listed.is_given(self._given) and (is_named or self._is_cited_parenthesis(found, listed)):
            self._has_citation = True
            return RewriteStep(found.end(), listed.render())
        self._has_counter = self._has_counter or not listed.is_labeled
        return self._keep(at)

    def _is_cited_parenthesis(self, found: re.Match[str], listed: NumberList) -> bool:
        """Whether a number in parentheses ends a clause, and is no step, count or section."""
        if self._has_counter or listed.is_labeled or listed.is_loose or any(low != high for low, high in listed.spans):
            return False
        before = self.tail
        if before[-1:] in ("", "\n") or (before[-1].isalnum() and not is_han(before[-1])):
            return False
        numbers, behind = [low for low, _ in listed.spans], self.buffer[found.end() :]
        fits = can_end_clause(before, numbers, behind, has_citation=self._has_citation)
        return fits and not self._is_copied(before, found[0])

    def _is_copied(self, before: str, written: str) -> bool:
        last = read_last_word(before)
        return bool(last) and self._copied.has(f"{last}{written}")

    def _rewrite_circled(self, at: int, *, final: bool) -> RewriteStep | None:
        """Numbers in circles at the end of a clause; elsewhere they are points of a list."""
        found = _CIRCLED.match(self.buffer, at)
        assert found is not None  # noqa: S101  - the caller saw one
        if not final and self._is_near_end(found.end()):
            return None
        numbers = [_CIRCLED_NUMBERS[mark] for mark in found[0] if mark in CIRCLED]
        behind = self.buffer[found.end() :]
        fits = can_end_clause(self.tail, numbers, behind, has_citation=self._has_citation)
        if fits and not self._has_counter and self._given.issuperset(numbers):
            self._has_citation = True
            return _cite(found, numbers)
        self._has_counter = True
        return self._keep(at, len(found[0]))

    # Raised numbers, tags and commands.

    def _rewrite_superscript(self, at: int, *, final: bool) -> RewriteStep | None:
        found = _SUPERSCRIPT.match(self.buffer, at)
        if found is None:
            return None if len(self.buffer) == at + 1 and not final else self._keep(at)
        if not final and self._is_near_end(found.end()):
            return None
        numbers = self._read_superscript(found[0])
        behind = self.buffer[found.end() :]
        if numbers and can_be_raised(self.tail, behind) and not self._is_copied(self.tail, found[0]):
            return _cite(found, numbers)
        return self._keep(at, len(found[0]))

    def _read_superscript(self, written: str) -> list[int]:
        """The numbers; several digits are one number if it is given, else several. Empty if one was not given."""
        numbers: list[int] = []
        for hyphen, run in _RUN.findall(written):
            digits = run.translate(_DIGITS)
            if hyphen:
                numbers += range(numbers[-1] + 1, min(int(digits), numbers[-1] + MAX_RANGE))
            numbers += [int(digits)] if int(digits) in self._given else map(int, digits)
        return numbers if all(number in self._given for number in numbers) else []

    def _rewrite_caret(self, at: int, *, final: bool) -> RewriteStep | None:
        """Numbers between carets, or behind one at the end of a clause."""
        if not final and (_PARTIAL_CARET.match(self.buffer, at) or len(self.buffer) - at < LOOKAHEAD):
            return None
        if _CARET.match(self.buffer, at):
            return self._rewrite_mark(at, (_CARET, _PARTIAL_CARET), final=final, is_raised=True)
        found = _LONE_CARET.match(self.buffer, at)
        if found is None:
            return self._keep(at)
        if not final and self._is_near_end(found.end()):
            return None
        listed = read_list(found[1].replace("][", ",").strip("[](){}"), ())
        fits = can_follow_caret(self.tail, self.buffer[found.end() :])
        return self._cite_given(at, found, listed if fits else None)

    def _rewrite_mark(
        self, at: int, forms: Sequence[re.Pattern[str]], *, final: bool, is_raised: bool = False
    ) -> RewriteStep | None:
        """A list in marks like `^1^`, `$^{1}$`, or after a command of LaTeX; `forms`: whole, and begun."""
        found = forms[0].match(self.buffer, at)
        if found is None:
            return None if forms[1].match(self.buffer, at) and not final else self._keep(at)
        if not final and self._is_near_end(found.end()):
            return None
        content = next(filter(None, found.groups()), "").replace("][", ",").strip("[]() ")
        listed = read_list(visible_text(content), INLINE_LABELS)
        behind = self.buffer[found.end() :]
        fits = not is_raised or can_be_raised(self.tail, behind) or self.tail.endswith(" ")
        return self._cite_given(at, found, listed if fits else None)

    def _rewrite_angle(self, at: int, *, final: bool) -> RewriteStep | None:
        """A tag, or a number in angle brackets."""
        is_number = self.buffer[at + 1 : at + 2].isdecimal() or (len(self.buffer) == at + 1 and not final)
        return self._rewrite_braces(at, final=final) if is_number else self._rewrite_tag(at, final=final)

    def _rewrite_braces(self, at: int, *, final: bool) -> RewriteStep | None:
        """Numbers in braces or angle brackets at the end of a clause; elsewhere they are placeholders or keys."""
        found = _BRACES.match(self.buffer, at)
        if not final and (_PARTIAL_BRACES.match(self.buffer, at) or (found and self._is_near_end(found.end()))):
            return None
        if found is None:
            return self._keep(at)
        numbers = [int(digits) for digits in _NUMBERS.findall(found[0])]
        fits = self.tail[-1:] not in "=$%\"'{<" and can_end_clause(
            self.tail, numbers, self.buffer[found.end() :], has_citation=self._has_citation
        )
        if fits and self._given.issuperset(numbers) and PLACEHOLDER_WORDS.isdisjoint(_list_words(self.tail)):
            self._has_citation = True
            return _cite(found, numbers)
        return self._keep(at, len(found[0]))

    def _cite_given(self, at: int, found: re.Match[str], listed: NumberList | None) -> RewriteStep:
        """Cite the numbers of a list if they are given; else keep a character."""
        if listed and listed.is_given(self._given):
            return RewriteStep(found.end(), listed.render())
        return self._keep(at)

    def _is_near_end(self, end: int) -> bool:
        return len(self.buffer) - end < LOOKAHEAD

    def _rewrite_tag(self, at: int, *, final: bool) -> RewriteStep | None:
        found = _TAG.match(self.buffer, at)
        if found is None:
            return None if _PARTIAL_TAG.match(self.buffer, at) and not final else self._keep(at)
        if not final and self._is_near_end(found.end()):
            return None
        content = (found[3] or found[5] or "").replace("][", ",").strip("[]() ")
        listed = read_list(visible_text(content), INLINE_LABELS)
        is_raised = (found[1] or "").lower() == "sup"
        fits = not is_raised or can_be_raised(self.tail, self.buffer[found.end() :])
        return self._cite_given(at, found, listed if fits else None)

    # Words and cells.

    def _rewrite_cell(self, at: int, *, final: bool) -> RewriteStep | None:
        """A cell in a column of sources."""
        if not self._columns.is_cited_after(self.buffer[at]):
            return self._keep(at)
        found = _CELL.match(self.buffer, at)
        if found is None:
            return None if _PARTIAL_CELL.match(self.buffer, at) and not final else self._keep(at)
        listed = read_list(visible_text(found[2]).strip("() "), LABELS)
        if listed is None or not listed.is_given(self._given):
            return self._keep(at)
        return RewriteStep(found.end(), f"|{found[1]}{listed.render()}{found[3]}")

    def _rewrite_word(self, at: int, *, final: bool) -> RewriteStep | None:
        """A word with a number behind it: "according to Source 1"."""
        if self.buffer[at] == "c":
            return self._remove_marker(at, final=final)
        if self.tail[-1:].isalnum() and not is_han(self.tail[-1]) and self.buffer[at].isascii():
            return self._keep(at)
        if not final and (PARTIAL_NAMED.match(self.buffer, at) or NAME_START.match(self.buffer, at)):
            return None
        found = NAMED.match(self.buffer, at)
        if found is None:
            return self._keep(at)
        listed = read_list(found["list"], ())
        behind = self.buffer[found.end() : found.end() + WORD_LOOKAHEAD]
        fits = not self._copied.has(found[0]) and is_named_source(found, self.tail, behind)
        if not fits or listed is None or not listed.is_given(self._given):
            return self._keep(at, len(found["label"]))
        gap = "" if is_han(found["label"][-1]) else " "
        gap = found["gap"] if set("*_") & set(found["gap"]) else gap
        return RewriteStep(found.end(), f"{found['label']}{gap}{listed.render()}")

    def _remove_marker(self, at: int, *, final: bool) -> RewriteStep | None:
        """A citation of a search tool, whose numbers are not ours: dropped."""
        found = _MARKER.match(self.buffer, at)
        if found is not None and (found.end() < len(self.buffer) or final):
            return RewriteStep(found.end(), "")
        waits = found is not None or _PARTIAL_MARKER.match(self.buffer, at)
        return None if waits and not final else self._keep(at)


def _cite(found: re.Match[str], numbers: Iterable[int]) -> RewriteStep:
    return RewriteStep(found.end(), "".join(f"[{number}]" for number in numbers))


def _list_words(text: str) -> list[str]:
    """The last words of a text, folded."""
    return [word.strip(".,;:!?*_\"'()").casefold() for word in text.split()[-12:]]
