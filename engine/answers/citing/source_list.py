"""Drop the list of sources that a model adds to its answer: the program adds its own.

A list begins with a heading such as "Sources:" or "### References", and has a line for each source, with its number in
brackets, or with the title of a given source, an address or a file. A numbered list of other things is text. A heading
that no such line follows is text, and so is a line that cites a source itself: "1. The mill burned down [2]" is a
statement. Lines without a heading are dropped if they are a number and a title, or the definition of a footnote.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.answers.citing.words import HEADINGS, LABELS, is_heading, may_become_heading
from engine.answers.links.link_syntax import visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_HEADING = 60  # characters
MAX_ENTRY = 500  # characters of a line of the list; a longer one is text
MIN_CODE = 8  # characters of a line of code; a shorter one may end the code
MIN_TITLE = 4  # characters of a title that can be recognized

_HEADING = re.compile(
    r"\s{0,3}(?:#{1,6}\s{0,4})?(?:[*_]{1,3})?\s{0,4}(?P<words>[^\W\d_][^\d\[\]()|#*_:：.]{0,40}?)\s{0,4}[:：]?\s{0,4}[*_]{0,3}\s{0,4}[:：]?\s{0,4}"
)
_HEADING_MARK = re.compile(r"[#*_:：]")
_RULE = re.compile(r"\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s{0,4}")
_ENTRY = re.compile(
    r"\s{0,6}(?:[-*•+]\s{1,8}|>\s?)?(?:[*_]{0,3})(?:\[\^?(?P<bracket>\d{1,4})\^?\]|【(?P<lens>\d{1,4})】|\((?P<round>\d{1,4})\)"
    r"|(?P<plain>\d{1,4})[.)]|(?P<label>[^\W\d_]{3,10})\s?(?P<word>\d{1,4})(?=\s{0,4}[:.–-]))[*_]{0,3}\s{0,4}[:.–-]?\s{0,4}(?P<rest>.*)",
)
_HTML_ENTRIES = re.compile(r"\s{0,6}(?:(?:</?[ou]l>|<li>[^<>]{1,300}</li>)\s{0,4}){1,40}", re.IGNORECASE)
_BULLET = re.compile(r"\s{0,6}(?:[-*•+]\s{1,8})(?P<rest>.*)")
_DEFINITION = re.compile(r"\s{0,3}\[\^?(?P<number>\d{1,4})\]:\s{0,4}(?P<rest>.*)")
_INLINE = re.compile(
    r"\s{0,3}[*_]{0,3}(?P<words>[^\W\d_][^\d\[\]()|#*_:：]{0,30})[*_]{0,3}\s?[:：]\s?[*_]{0,3}\s{0,4}(?P<list>[\[【].*)"
)
_INLINE_ENTRY = re.compile(r"[\[【]\^?\d{1,4}\^?[\]】]\s?[:.–-]?\s?(?P<title>[^\[\]【】]*)")
_CITATION = re.compile(r"[\[【]\^?\s{0,4}\d[\d,;\s–-]{0,80}\^?[\]】]")
_LINE_START = re.compile(r"[\s#*_\-•+>\[【(\d]")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_FENCE_START = re.compile(r"\s{0,3}(?:`{0,2}|~{0,2})")
_DEFINITION_START = re.compile(r"\s{0,3}\[\^?\d{0,4}\]?")
_NUMBERED_START = re.compile(r"\s{0,6}(?:[-*•+]\s+)?[\[【]\^?\d{0,4}")
_WORDS = re.compile(r"[^\W_]+")
_NAMED = re.compile(r"https?://|\.[a-z]{2,4}\b")  # an address, or the name of a file


class SourceListFilter:
    """Passes a streamed text without a list of sources; a line is held back only while it may belong to one."""

    def __init__(self, given_numbers: frozenset[int], titles: Iterable[str] = ()) -> None:
        self._given = given_numbers
        self._titles = frozenset(
            folded for title in titles for line in title.split("\n") if len(folded := _fold(line)) >= MIN_TITLE
        )
        self._line = ""  # the current line as far as it is held back
        self._passes = False  # the rest of the current line is text
        self._held: list[str] = []  # a heading and the blank lines after it, or blank lines before one
        self._in_list = False
        self._has_heading = False
        self._is_fenced = False
        self._ends_blank = False  # the last line shown is blank
        self._has_text = False  # a list without an answer before it is the answer

    def feed(self, delta: str) -> str:
        """The text that can be shown now."""
        shown: list[str] = []
        at = 0
        while at < len(delta):
            end = delta.find("\n", at) + 1 or len(delta)
            self._read(delta[at:end], shown)
            at = end
        return "".join(shown)

    def close(self) -> str:
        """The remaining text at the end."""
        shown: list[str] = []
        if self._line and not self._passes:
            line, self._line = self._line, ""
            self._read_line(line, shown)
        if self._in_list or (self._has_heading and self._has_text and self._is_dangling()):
            self._held = []
        shown += self._held
        self._held = []
        return "".join(shown)

    def _is_dangling(self) -> bool:
        """Whether only a heading without any line after it is held back."""
        return all(not line.strip() or line.lstrip().startswith(("#", "**")) for line in self._held)

    def _read(self, part: str, shown: list[str]) -> None:
        """Read on within a line; `part` ends at the end of the line or of what has come."""
        if self._passes:
            shown.append(part)
            self._passes = not part.endswith("\n")
            return
        self._line += part
        if part.endswith("\n"):
            line, self._line = self._line, ""
            self._read_line(line, shown)
        elif not self._may_matter(self._line):
            self._release(shown)
            shown.append(self._line)
            self._line, self._passes, self._has_text, self._ends_blank = "", True, True, False

    def _may_matter(self, line: str) -> bool:
        """Whether an incomplete line may be a heading, or belong to a list."""
        if self._is_fenced:
            return len(line) < MIN_CODE
        if self._in_list or self._has_heading:
            return len(line) < MAX_ENTRY and (not line.strip() or bool(_may_be_entry(line)))
        if len(line) > MAX_ENTRY:
            return False
        words = line.strip().lstrip("#*_ ").rstrip("*_: ：").casefold().replace("(s)", "s").removesuffix("(s")
        if len(line) <= MAX_HEADING and may_become_heading(words.removesuffix("(")):
            return True
        inline = _INLINE.match(line)
        return (
            _DEFINITION.match(line) is not None
            or (inline is not None and is_heading(_fold_heading(inline["words"])))
            or (bool(self._titles) and _may_be_numbered(line))
            or _DEFINITION_START.fullmatch(line) is not None
            or _FENCE_START.fullmatch(line) is not None
            or (_FENCE.match(line) is not None and len(line) <= MAX_HEADING)
        )

    def _read_line(self, line: str, shown: list[str]) -> None:
        """Decide about a whole line."""
        if _FENCE.match(line):
            self._is_fenced = not self._is_fenced
            self._show(line, shown)
        elif self._is_fenced:
            self._show(line, shown)
        elif not line.strip():
            self._held.append(line)
        elif self._is_listed(line):
            self._in_list, self._has_heading, self._held = True, False, []
        elif self._is_heading(line):
            self._release(shown)
            self._held.append(line)
            self._has_heading, self._in_list = True, False
        else:
            self._show(line, shown)

    def _show(self, line: str, shown: list[str]) -> None:
        self._release(shown)
        shown.append(line)
        self._has_text, self._ends_blank = True, False

    def _release(self, shown: list[str]) -> None:
        """Show what was held back: no list began with it."""
        if self._in_list:
            self._held = ["\n"] if self._held and not self._ends_blank else []
        if self._held:
            self._ends_blank = not self._held[-1].strip()
        shown += self._held
        self._held, self._has_heading, self._in_list = [], False, False

    def _is_listed(self, line: str) -> bool:
        """Whether a line belongs to a list of sources after an answer."""
        if not self._has_text:
            return False
        if (self._in_list or self._has_heading) and self._is_entry(line):
            return True
        return self._is_inline_list(line) or self._is_definition(line) or self._is_titled(line)

    def _is_heading(self, line: str) -> bool:
        found = _HEADING.fullmatch(line.replace("(s)", "s")) if len(line) <= MAX_HEADING else None
        if found is None or not is_heading(_fold_heading(found["words"])):
            return False
        return bool(_HEADING_MARK.search(line)) or len(line.split()) == 1

    def _is_entry(self, line: str) -> bool:
        """Whether a line after a heading names a source and states nothing."""
        if len(line) > MAX_ENTRY:
            return False
        found = _ENTRY.fullmatch(line.strip("\n"))
        if found:
            return self._names_given(found) and not _CITATION.search(found["rest"])
        if _HTML_ENTRIES.fullmatch(line.strip("\n")):
            return True
        bullet = _BULLET.fullmatch(line.strip("\n"))
        rest = _CITATION.sub("", bullet["rest"] if bullet else line).strip()
        return self._is_title(rest) or (bool(_RULE.fullmatch(line)))

    def _names_given(self, entry: re.Match[str]) -> bool:
        """Whether a numbered line names a source, not a point of the answer: by its mark, or by what it says."""
        has_label = bool(entry["word"]) and entry["label"].casefold() in LABELS
        if entry["bracket"] or entry["lens"] or has_label:
            return int(entry["bracket"] or entry["lens"] or entry["word"]) in self._given
        if not self._titles:
            return bool(entry["plain"]) or int(entry["round"] or entry["word"]) in self._given
        return self._is_title(entry["rest"]) or _NAMED.search(entry["rest"]) is not None

    def _is_inline_list(self, line: str) -> bool:
        """Whether a line lists several sources with their titles: "Sources: [1] Plan, [2] Minutes"."""
        found = _INLINE.fullmatch(line.strip("\n")) if len(line) <= MAX_ENTRY else None
        if found is None or not is_heading(_fold_heading(found["words"])):
            return False
        titles = [_fold(entry["title"]) for entry in _INLINE_ENTRY.finditer(found["list"])]
        named = all(titles) and (len(titles) > 1 or self._is_title(titles[0]))
        return bool(titles) and named and all(len(title.split()) <= 12 for title in titles)

    def _is_definition(self, line: str) -> bool:
        """Whether a line is the definition of a footnote, or of a link, with the number of a source."""
        found = _DEFINITION.fullmatch(line.strip("\n")) if len(line) <= MAX_ENTRY else None
        if found is None or int(found["number"]) not in self._given or _CITATION.search(found["rest"]):
            return False
        rest = found["rest"]
        return (
            not self._titles or self._is_title(rest) or rest.startswith(("http", "<http", "#")) or _names_source(rest)
        )

    def _is_titled(self, line: str) -> bool:
        """Whether a line is nothing but a number and the title of a given source."""
        found = _ENTRY.fullmatch(line.strip("\n")) if self._titles and len(line) <= MAX_ENTRY else None
        return found is not None and bool(found["bracket"] or found["lens"]) and _fold(found["rest"]) in self._titles

    def _is_title(self, text: str) -> bool:
        folded = _fold(text)
        return len(folded) >= MIN_TITLE and any(
            folded == title or title in folded or (folded in title and 2 * len(folded) >= len(title))
            for title in self._titles
        )


def _may_be_entry(line: str) -> bool:
    """Whether an incomplete line after a heading may name a source: it is decided at its end."""
    return _LINE_START.match(line.lstrip()[:1] or " ") is not None or len(line.split()) <= 12


def _may_be_numbered(line: str) -> bool:
    return _NUMBERED_START.match(line) is not None


def _names_source(text: str) -> bool:
    words = _WORDS.findall(text.casefold())
    return len(words) <= 4 and any(word in HEADINGS for word in words)


def _fold(text: str) -> str:
    """The words of a title: without marks, punctuation and a file's extension."""
    return " ".join(_WORDS.findall(visible_text(text).casefold()))


def _fold_heading(words: str) -> str:
    return " ".join(words.casefold().split())
