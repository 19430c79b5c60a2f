"""Check a streamed answer: keep citations of given sources, links that occur in a source, and no other mentions.

Stages, none of which depends on how the text is cut into deltas: drop a list of sources; write all spellings of
citations in brackets, at first those that enclose a text; check and renumber them; check links and mentions. The order
matters, because dropping a citation may join the text around it into an address.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.answers.citing.number_list import CopiedNumbers, read_bracket, read_timed
from engine.answers.citing.places import (
    begins_index,
    is_index,
    is_interval,
    is_named_index,
    is_numbered_thing,
    is_variable,
)
from engine.answers.citing.source_list import SourceListFilter
from engine.answers.citing.spellings import SpellingRewriter
from engine.answers.links.link_syntax import BRACKET, OPENING_BRACKET, OPENING_BRACKETS, PARTIAL_ENTITY, visible_text
from engine.answers.links.stream import LinkFilter
from engine.text.stream_rewriter import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


_NAMES = "index|indexes|indices|ids|source|sources|doc|docs|document|documents|doc_id|source_id|source_ids"
_OPENING = re.compile(
    rf"<(?:co(?::\s?(?P<co>[\d,\s]{{1,40}}))?|cite\s{{1,4}}(?:{_NAMES})\s?=\s?[\"']?(?P<cite>[\d,;:\s-]{{1,60}})[\"']?)\s?>",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"</(?:co(?::\s?(?P<co>[\d,\s]{1,40}))?|cite)\s?>", re.IGNORECASE)
_PARTIAL = re.compile(r"</?(?:co(?::[\d,\s]{0,42})?|c(?:i(?:t(?:e(?:\s[^<>\n]{0,80})?)?)?)?)?\Z", re.IGNORECASE)
_NUMBER = re.compile(r"(?:\A|[,;])\s?(\d{1,4})")  # behind a hyphen or a colon stands a sentence of the source


class WrappedCitations(StreamRewriter):
    """Writes citations that enclose what they support behind it: `<co: 1>Nine</co: 1>`, `<cite index="1">…</cite>`."""

    special = re.compile("<")

    def __init__(self, given_numbers: frozenset[int]) -> None:
        super().__init__()
        self._given = given_numbers
        self._open: list[int] | None = None  # of the tag that is not closed yet

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        if opening := _OPENING.match(self.buffer, at):
            self._open = self._read(opening["co"] or opening["cite"])
            return RewriteStep(opening.end(), "")
        closing = _CLOSING.match(self.buffer, at)
        if closing and self._open is not None:
            numbers, self._open = self._read(closing["co"]) or self._open, None
            cited = "".join(f"[{number}]" for number in numbers)
            return RewriteStep(closing.end(), f" {cited}" if cited else "")
        return None if _PARTIAL.match(self.buffer, at) and not final else self.plain_step(at)

    def _read(self, numbers: str | None) -> list[int]:
        found = (int(digits) for digits in _NUMBER.findall(numbers or ""))
        return [number for number in dict.fromkeys(found) if number in self._given]


MAX_LIST_CHARACTERS = 200  # longest list of numbers in brackets, as written
MAX_PADDING = 16  # spaces before a dropped citation that are dropped with it
SEPARATOR_DOT = "·"  # replaces a dropped citation whose neighbors would otherwise join into a citation or code

CITATION_SUFFIX = re.compile(r"(?::\d+)?†.*", re.DOTALL)  # some models end a citation like this: 【4:0†file】
DROPPED_MARKS = frozenset(("cite_start", "cite_end", "cite: start", "cite: end"))  # of a model's own notation
INDEX_LOOKAHEAD = 6  # characters after `rows[1]` that tell an assignment, or the ending of a file
HYPHEN = "[-‐-―−]"
NUMBER_LIST = re.compile(
    rf"(?:\d|[\s,;、&^(){{}}]|{HYPHEN}|[.:!?'\"](?!\d)|(?:and|sources?|refs?)(?![^\W\d]))*",
    re.IGNORECASE,
)
NUMBER_RANGE = re.compile(rf"(\d+)(?:\s*{HYPHEN}\s*(\d+))?")
RANGE_TAIL = re.compile(rf" ?{HYPHEN} ?[\[【](\d{{1,4}})[\]】]")  # "[2]–[4]": the numbers between are meant too
PARTIAL_RANGE = re.compile(rf" ?{HYPHEN} ?(?:[\[【]\d{{0,4}})?| |")
YEAR = r"(?:19|20)\d\d"
YEAR_OR_DATE = re.compile(rf"({YEAR})(?: ?{HYPHEN} ?({YEAR})|{HYPHEN}(?:0[1-9]|1[0-2])(?:{HYPHEN}[0-3]\d)?)?")
MAX_DIGITS = 9  # of a number; a longer one was not given
PARTIAL_FORM = re.compile(r"(?:&[#\w;]{0,80}|<[^<>]{0,80}|:\w{0,12}|[A-Za-z]{1,10})\Z")
JOINING_TAIL = re.compile(r"(?:[`~\\]|&[#0-9A-Za-z;]{0,80})\Z")  # the start of code, an escape or an entity
SPACES = re.compile(r"[ \t\u00a0]*")


class CitationFilter:
    """Filters citations, links and mentions in the stream of an answer.

    `numbers`: of the sources given to the model. `texts`: their texts and links, whose addresses may be shown.
    `titles`: of the sources; file names in them may be shown. `question`: its links and mentions may be repeated.

    Citations are `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `[source 1]`, `【1】`, and all that a platform shows like one:
    with entities, escapes, marks, invisible characters, digits of another kind; and the spellings outside of brackets
    that `SpellingRewriter` reads. Valid numbers are renumbered in the
    order of first use, each in its own brackets; others are removed with the spaces before them. Code is unchanged:
    `a[1]` between backticks is not a citation. Nor is a year or a date in brackets.
    """

    def __init__(
        self, numbers: Collection[int], texts: Iterable[str], question: str, titles: Iterable[str] = ()
    ) -> None:
        given, texts, titles = frozenset(numbers), tuple(texts), tuple(titles)
        self.source_list = SourceListFilter(given, titles)
        self.wrapped = WrappedCitations(given)
        copied = CopiedNumbers((*texts, *titles, question))
        self.spellings = SpellingRewriter(given, copied)
        self.rewriter = CitationRewriter(given, copied)
        self.link_filter = LinkFilter.from_texts(texts, question, titles)

    @property
    def used_numbers(self) -> tuple[int, ...]:
        """The cited numbers as the model was given them, in the order of first use: the first is shown as [1]."""
        return tuple(self.rewriter.new_numbers)

    def feed(self, delta: str) -> str:
        """Add a piece of the reply; returns the text that can be shown now."""
        return self.link_filter.feed(self.rewriter.feed(self.spellings.feed(self._unwrap(delta))))

    def _unwrap(self, delta: str) -> str:
        return self.wrapped.feed(self.source_list.feed(delta))

    def close(self) -> str:
        """End the reply; returns the remaining text."""
        unwrapped = self.wrapped.feed(self.source_list.close()) + self.wrapped.close()
        spelled = self.spellings.feed(unwrapped) + self.spellings.close()
        cited = self.rewriter.feed(spelled) + self.rewriter.close()
        return self.link_filter.feed(cited) + self.link_filter.close()


class CitationRewriter(StreamRewriter):
    """Renumber citations and remove invalid ones. A labeled one that a source contains is quoted, in parentheses."""

    special = re.compile(rf"[ \t\u00a0\\&`{re.escape(OPENING_BRACKETS)}]")

    def __init__(
        self,
        given_numbers: frozenset[int],
        copied: CopiedNumbers,
        *,
        certain: bool = True,
        new_numbers: dict[int, int] | None = None,
    ) -> None:
        super().__init__(certain=certain)
        self.given_numbers = given_numbers
        self.copied = copied
        self.new_numbers = {} if new_numbers is None else new_numbers  # one for a text and the code in it
        self.in_text_bracket = False  # after a plain bracket that is not closed
        self.has_index = False  # in this line

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        edge = self.skip_spaces(at)
        if edge - at > MAX_PADDING:
            return RewriteStep(edge - MAX_PADDING, self.buffer[at : edge - MAX_PADDING])
        begin = edge + self.buffer.startswith("\\", edge)
        if begin == len(self.buffer):
            return RewriteStep(begin, self.buffer[at:]) if final else None
        if not final and PARTIAL_ENTITY.match(self.buffer, begin):
            return None
        opening = OPENING_BRACKET.match(self.buffer, begin)
        if opening is None:
            end = max(begin, at + 1)
            return RewriteStep(end, self.buffer[at:end])
        return self.rewrite_bracket(at, opening, final=final)

    def rewrite_code(self, code: str, *, certain: bool) -> str:
        if certain:
            return code
        inner = CitationRewriter(self.given_numbers, self.copied, certain=False, new_numbers=self.new_numbers)
        return inner.feed(code) + inner.close()

    def skip_spaces(self, at: int) -> int:
        """The position after the spaces that start here."""
        found = SPACES.match(self.buffer, at)
        return found.end() if found else at

    def rewrite_bracket(self, at: int, opening: re.Match[str], *, final: bool) -> RewriteStep | None:
        """Rewrite a bracket, with the spaces before it from `at`: a citation or plain text."""
        edge = BRACKET.search(self.buffer, opening.end(), opening.end() + MAX_LIST_CHARACTERS)
        if edge is None:
            return self.rewrite_unclosed(at, opening, final=final)
        if edge.end() == len(self.buffer) and edge[0][0] == "&" and edge[0][-1] != ";" and not final:
            return None
        if edge["opening"]:
            return RewriteStep(opening.end(), self.buffer[at : opening.end()])
        return self.rewrite_closed(at, opening, edge, final=final)

    def rewrite_closed(
        self, at: int, opening: re.Match[str], edge: re.Match[str], *, final: bool
    ) -> RewriteStep | None:
        """Rewrite a bracket whose end is known."""
        content, before = self.buffer[opening.end() : edge.start()], self.buffer[at : self.skip_spaces(at)]
        if content in DROPPED_MARKS:
            return RewriteStep(edge.end(), before + self.render_citations("", []))
        cited = self.parse_numbers(content)
        if edge.end() == len(self.buffer) and not final and self.copied.has_bracket(content):
            return None
        is_link = self.buffer.startswith("(", edge.end())
        if self.copied.has_bracket(content, is_given=bool(cited) and not is_link):
            return self.rewrite_copied(at, opening, edge)
        if cited is None:
            return RewriteStep(opening.end(), self.buffer[at : opening.end()])
        return self.rewrite_cited(at, opening, edge, cited, final=final)

    def rewrite_cited(
        self, at: int, opening: re.Match[str], edge: re.Match[str], cited: list[int], *, final: bool
    ) -> RewriteStep | None:
        """Rewrite a bracket with a list of numbers, of which those in `cited` were given."""
        if not final and self.depends_on_rest(at, opening, edge, cited):
            return None
        if other := self.find_other_meaning(at, opening, edge):
            return RewriteStep(edge.end(), other)
        before, end = self.buffer[at : self.skip_spaces(at)], edge.end()
        if len(cited) == 1 and (found := RANGE_TAIL.match(self.buffer, end)) and int(found[1]) in self.given_numbers:
            cited, end = self.list_given([(cited[0], max(cited[0], int(found[1])))]), found.end()
        return RewriteStep(end, self.render_citations(before, cited))

    def rewrite_copied(self, at: int, opening: re.Match[str], edge: re.Match[str]) -> RewriteStep:
        """Write a quoted bracket in parentheses, because a reader takes plain ones for a citation; a link stays one."""
        if self.buffer.startswith("(", edge.end()):
            return RewriteStep(opening.end(), self.buffer[at : opening.end()])
        before, content = self.buffer[at : self.skip_spaces(at)], self.buffer[opening.end() : edge.start()]
        return RewriteStep(edge.end(), f"{before}({content})")

    def depends_on_rest(self, at: int, opening: re.Match[str], edge: re.Match[str], cited: list[int]) -> bool:
        """Whether text to come may make a citation an index, or the start of a range."""
        may_be_index = at == opening.start() and begins_index(self.tail)
        if may_be_index and len(self.buffer) < edge.end() + INDEX_LOOKAHEAD:
            return True
        return len(cited) == 1 and PARTIAL_RANGE.fullmatch(self.buffer, edge.end()) is not None

    def find_other_meaning(self, at: int, opening: re.Match[str], edge: re.Match[str]) -> str:
        """What a number in brackets that is no citation becomes: an index is code, that of a thing is in parentheses.

        In plain brackets a reader would take it for a citation. Empty if it is one.
        """
        content, gap = self.buffer[opening.end() : edge.start()], self.buffer[at : opening.start()]
        if not gap and is_named_index(self.tail, content, self.buffer[edge.end() :]):
            return self.buffer[at : edge.end()]
        if self.certain and is_interval(self.tail, content):
            return f"{gap}`[{content}]`"
        if not content.strip("#").isdecimal():
            return ""
        is_like = self.has_index and is_variable(self.tail)
        if not gap and self.certain and (is_like or is_index(self.tail, self.buffer[edge.end() :])):
            self.has_index = True
            return f"`[{content}]`"
        return f"{gap}({content})" if is_numbered_thing(self.tail + gap, content) else ""

    def rewrite_unclosed(self, at: int, opening: re.Match[str], *, final: bool) -> RewriteStep | None:
        """A bracket that is not closed yet: wait. At the end remove half a citation; defuse one that is too long."""
        content = self.buffer[opening.end() : opening.end() + MAX_LIST_CHARACTERS]
        short = len(content) < MAX_LIST_CHARACTERS
        if short and not final:
            return None
        seen = visible_text(content if short else PARTIAL_FORM.sub("", content))
        if not NUMBER_LIST.fullmatch(seen) or (short and not any(map(str.isdigit, seen))):
            return RewriteStep(opening.end(), self.buffer[at : opening.end()])
        if short:
            return RewriteStep(len(self.buffer), "")
        return RewriteStep(opening.end(), self.buffer[at : self.skip_spaces(at)] + SEPARATOR_DOT)

    def parse_numbers(self, content: str) -> list[int] | None:
        """The valid numbers in brackets, or None if the content does not read as a list of numbers."""
        seen = CITATION_SUFFIX.sub("", visible_text(content.replace("～", "–")))  # it is no mark of Markdown
        if (timed := read_timed(seen)) is not None:
            return self.list_given([(timed, timed)])
        spans = [(_parse_number(low), _parse_number(high or low)) for low, high in NUMBER_RANGE.findall(seen)]
        if not spans or not NUMBER_LIST.fullmatch(seen):
            return self.parse_labeled(seen)
        year = YEAR_OR_DATE.fullmatch(seen.strip())
        if year and not {int(group) for group in year.groups() if group} <= self.given_numbers:
            return None
        return self.list_given(spans)

    def parse_labeled(self, seen: str) -> list[int] | None:
        """The valid numbers of a list in another spelling; without a word for sources all must be valid."""
        listed = read_bracket(seen)
        if listed is None or not (listed.is_labeled or listed.is_given(self.given_numbers)):
            return None
        return self.list_given(listed.spans)

    def list_given(self, spans: Iterable[tuple[int, int]]) -> list[int]:
        """The numbers of sources that the model was given, within ranges such as 2–4, each once."""
        numbers = sorted(self.given_numbers)
        listed = (number for span in spans for number in numbers if min(span) <= number <= max(span))
        return list(dict.fromkeys(listed))

    def render_citations(self, before: str, cited: list[int]) -> str:
        """The citations with their new numbers; empty if no number is valid."""
        if not cited:
            if self.in_text_bracket:
                return before + SEPARATOR_DOT
            return (before or SEPARATOR_DOT) if JOINING_TAIL.search(self.tail) else ""
        separator = " " if not before and self.tail.endswith("\\") else before
        return separator + "".join(
            f"[{self.new_numbers.setdefault(number, len(self.new_numbers) + 1)}]" for number in cited
        )

    def record_step(self, read: str, wrote: str) -> None:
        super().record_step(read, wrote)
        self.has_index = self.has_index and "\n" not in read
        for bracket in BRACKET.finditer(wrote):
            self.in_text_bracket = bool(bracket["opening"])


def _parse_number(digits: str) -> int:
    """The number, or one that is never given if it is very long."""
    plain = digits.lstrip("0")
    return int(plain or 0) if len(plain) <= MAX_DIGITS else 10**MAX_DIGITS
