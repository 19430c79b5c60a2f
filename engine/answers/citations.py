"""Check a streamed answer: keep citations of given sources, links that occur in a source, and no other mentions.

Two stages, neither of which depends on how the text is cut into deltas: first citations, then links and mentions. The
order matters, because dropping a citation may join the text around it into an address.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.answers.links.stream import LinkFilter
from engine.text.stream_rewriter import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MAX_LIST_CHARACTERS = 200  # longest list of numbers in brackets
MAX_PADDING = 16  # spaces before a dropped citation that are dropped with it
SEPARATOR_DOT = "·"  # replaces a dropped citation whose neighbors would otherwise join into a citation or code

REGEX_FLAGS = re.IGNORECASE | re.DOTALL
BLANK = r"[\s\u00ad\u200b-\u200d\u2060\ufeff]"
OPENING_BRACKETS = "[【［"
BRACKET = re.compile(r"[\[\]【】［］]")
LIST_ITEM = rf"(?:\^|(?:sources?|refs?)[.:]?{BLANK}*+)?\d{{1,9}}(?:{BLANK}*+[-‐-―−]{BLANK}*+\d{{1,9}})?"
LIST_COMMA = rf"(?:[,;&，、；]|and){BLANK}*+"
CITATION_SUFFIX = r"(?::\d+)?†.*"  # some models end a citation like this: 【4:0†file】
NUMBER_LIST = re.compile(
    rf"\A{BLANK}*+{LIST_ITEM}(?:(?:{BLANK}++(?:{LIST_COMMA})?|{LIST_COMMA}){LIST_ITEM})*(?:{BLANK}|[,;\\])*+(?:{CITATION_SUFFIX})?\Z",
    REGEX_FLAGS,
)
NUMBER_RANGE = re.compile(rf"(\d{{1,9}})(?:{BLANK}*[-‐-―−]{BLANK}*(\d{{1,9}}))?")
PARTIAL_LIST = re.compile(rf"(?:\^|(?:sources?|refs?)[.:]?)?(?:{BLANK}|[\d,;&，、；^‐-―−\\-])*", REGEX_FLAGS)
LIST_LIKE = re.compile(rf"(?:{BLANK}|[\w,;&，、；^‐-―−\\.:-])*")
SPACES = re.compile(r"[ \t\u00a0]*")


class CitationFilter:
    """Filters citations, links and mentions in the stream of an answer.

    `numbers`: of the sources given to the model. `texts`: their texts and links, whose addresses may be shown.
    `titles`: of the sources; file names in them may be shown. `question`: its links and mentions may be repeated.

    Citations are `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `[source 1]`, `【1】`. Valid numbers are renumbered in the order of
    first use, each in its own brackets; others are removed with the spaces before them. Code is unchanged: `a[1]`
    between backticks is not a citation. Nor is a single year in brackets.
    """

    def __init__(
        self, numbers: Collection[int], texts: Iterable[str], question: str, titles: Iterable[str] = ()
    ) -> None:
        self.rewriter = CitationRewriter(frozenset(numbers))
        self.link_filter = LinkFilter.from_texts(texts, question, titles)

    @property
    def used_numbers(self) -> tuple[int, ...]:
        """The cited numbers as the model was given them, in the order of first use: the first is shown as [1]."""
        return tuple(self.rewriter.new_numbers)

    def feed(self, delta: str) -> str:
        """Add a piece of the reply; returns the text that can be shown now."""
        return self.link_filter.feed(self.rewriter.feed(delta))

    def close(self) -> str:
        """End the reply; returns the remaining text."""
        return self.link_filter.feed(self.rewriter.close()) + self.link_filter.close()


class CitationRewriter(StreamRewriter):
    """First stage: renumber citations and remove invalid ones."""

    special = re.compile(r"[ \t\u00a0\\\[【［`]")

    def __init__(self, given_numbers: frozenset[int], *, certain: bool = True) -> None:
        super().__init__(certain=certain)
        self.given_numbers = given_numbers
        self.new_numbers: dict[int, int] = {}
        self.in_text_bracket = False  # after a plain bracket, followed only by characters of a list of numbers

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        edge = self.skip_spaces(at)
        if edge - at > MAX_PADDING:
            return RewriteStep(edge - MAX_PADDING, self.buffer[at : edge - MAX_PADDING])
        begin = edge + self.buffer.startswith("\\", edge)
        if begin == len(self.buffer):
            return RewriteStep(begin, self.buffer[at:]) if final else None
        if self.buffer[begin] not in OPENING_BRACKETS:
            return RewriteStep(begin, self.buffer[at:begin])
        return self.rewrite_bracket(at, begin, final=final)

    def rewrite_code(self, code: str, *, certain: bool) -> str:
        if certain:
            return code
        inner = CitationRewriter(self.given_numbers, certain=False)
        inner.new_numbers = self.new_numbers
        return inner.feed(code) + inner.close()

    def skip_spaces(self, at: int) -> int:
        """The position after the spaces that start here."""
        found = SPACES.match(self.buffer, at)
        return found.end() if found else at

    def rewrite_bracket(self, at: int, begin: int, *, final: bool) -> RewriteStep | None:
        """Rewrite a bracket at `begin`, with the spaces before it from `at`: a citation or plain text."""
        edge = BRACKET.search(self.buffer, begin + 1, begin + MAX_LIST_CHARACTERS)
        if edge is None:
            return self.rewrite_unclosed(at, begin, final=final)
        cited = None if edge[0] in OPENING_BRACKETS else self.parse_numbers(self.buffer[begin + 1 : edge.start()])
        if cited is None:
            return RewriteStep(begin + 1, self.buffer[at : begin + 1])
        return RewriteStep(edge.end(), self.render_citations(self.buffer[at : self.skip_spaces(at)], cited))

    def rewrite_unclosed(self, at: int, begin: int, *, final: bool) -> RewriteStep | None:
        """A bracket that is not closed yet: wait. At the end remove half a citation; defuse one that is too long."""
        content = self.buffer[begin + 1 : begin + MAX_LIST_CHARACTERS]
        short = len(self.buffer) - begin < MAX_LIST_CHARACTERS
        if short and not final:
            return None
        if not PARTIAL_LIST.fullmatch(content) or (short and not any(map(str.isdigit, content))):
            return RewriteStep(begin + 1, self.buffer[at : begin + 1])
        return (
            RewriteStep(len(self.buffer), "")
            if short
            else RewriteStep(begin + 1, self.buffer[at:begin] + SEPARATOR_DOT)
        )

    def parse_numbers(self, content: str) -> list[int] | None:
        """The valid numbers in brackets, or None if the content is not a list of numbers."""
        if not NUMBER_LIST.fullmatch(content):
            return None
        spans = [
            (int(low), int(high or low))
            for low, high in NUMBER_RANGE.findall(re.sub(CITATION_SUFFIX, "", content, flags=REGEX_FLAGS))
        ]
        if len(spans) == 1 and any(1900 <= number <= 2099 and number not in self.given_numbers for number in spans[0]):
            return None
        listed = [number for span in spans for number in sorted(self.given_numbers) if min(span) <= number <= max(span)]
        return list(dict.fromkeys(listed))

    def render_citations(self, before: str, cited: list[int]) -> str:
        """The citations with their new numbers; empty if no number is valid."""
        if not cited:
            if self.in_text_bracket:
                return before + SEPARATOR_DOT
            return (before or SEPARATOR_DOT) if self.tail.endswith(("`", "~")) else ""
        return before + "".join(
            f"[{self.new_numbers.setdefault(number, len(self.new_numbers) + 1)}]" for number in cited
        )

    def record_step(self, read: str, wrote: str) -> None:
        super().record_step(read, wrote)
        if wrote and wrote[-1] in OPENING_BRACKETS:
            self.in_text_bracket = True
        else:
            self.in_text_bracket = self.in_text_bracket and bool(LIST_LIKE.fullmatch(wrote))
